"""The process that asks: it tells its parent which example it begins, so that one which hangs or dies is known.

It gets (campaign, numbers), and sends `Begun` for each example, `Failed` where one fails (and hears whether it should
be made smaller: then sends it again), `Launch` where a kernel is to be launched (and hears the answers), `Which` where
it wants to know the GPU, `Done` last.
"""

from __future__ import annotations

import faulthandler
import signal
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, TypeAlias

from ptxkit.garbage import keep_all
from ptxkit.records import dataclass
from ptxkit.testing import judging
from ptxkit.testing.device_process import end_with_parent
from ptxkit.testing.judging import Judging

if TYPE_CHECKING:
    from ptxkit.device import Cubin
    from ptxkit.testing.device_process import Answer, DeviceLaunch
    from ptxkit.testing.examples import Example
    from ptxkit.testing.fuzz.questions import Campaign

MOST_MEMORY = 6 << 30
"""Bytes of address space of the process; over it Python says MemoryError, and the machine lives on."""

TOLD_AFTER = 0.7
"""The part of the time for one example after which the process writes where it stands."""


@dataclass(frozen=True, slots=True)
class Begun:
    """An example is begun. asked, skipped: of this share, before it. reason: why some were skipped.

    patience: how many times as long as usual it may take.
    """

    number: int
    asked: int
    skipped: int
    reason: str
    patience: float


@dataclass(frozen=True, slots=True)
class Failed:
    """An example failed; the answer is whether to make it smaller."""

    number: int
    example: Example


@dataclass(frozen=True, slots=True)
class Launch:
    """Kernels to launch; the answer is what `DeviceProcess.run` gives."""

    cubin: Cubin | None
    launches: tuple[DeviceLaunch, ...]


@dataclass(frozen=True, slots=True)
class Which:
    """Asks which GPU launches; the answer is `DeviceProcess.target`."""


@dataclass(frozen=True, slots=True)
class Done:
    """All of the numbers are asked."""

    asked: int
    skipped: int
    reason: str


Said: TypeAlias = Begun | Failed | Launch | Which | Done


class _Elsewhere:
    """Launches where the parent says."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @cached_property
    def target(self) -> str:
        self._connection.send(Which())
        return str(self._connection.recv())

    def run(self, cubin: Cubin | None, launches: Sequence[DeviceLaunch]) -> list[Answer]:
        self._connection.send(Launch(cubin, tuple(launches)))
        answers: list[Answer] = self._connection.recv()
        return answers


def serve(connection: Connection, stack: str, seconds: float, shrinking: float) -> None:
    """What runs in the process. stack: a file for where it stands; seconds: how long one example may take; shrinking:
    how long one that fails is made smaller."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    _limit_memory()
    judging.begin(Judging(process=_Elsewhere(connection)))
    with open(stack, "w") as file:
        while True:
            try:
                campaign, numbers = connection.recv()
            except EOFError:
                return
            _share(
                connection,
                campaign,
                numbers,
                shrinking,
                lambda patience: faulthandler.dump_traceback_later(seconds * TOLD_AFTER * patience, file=file),
            )


def _limit_memory() -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def _share(
    connection: Connection, campaign: Campaign, numbers: range, shrinking: float, rearm: Callable[[float], None]
) -> None:
    from ptxkit.testing.fuzz.asking import asked, cause_again
    from ptxkit.testing.minimise import minimised
    from ptxkit.testing.replaying import can_be_smaller

    count = skipped = 0
    reason = ""

    def beat(number: int, patience: float = 1.0) -> None:
        rearm(patience)
        connection.send(Begun(number, count, skipped, reason, patience))

    for each in asked(campaign, numbers, beat):
        count += 1
        if each.skipped:
            skipped, reason = skipped + 1, each.skipped
        if each.failed is None:
            continue
        number = each.number
        connection.send(Failed(number, each.failed))
        if connection.recv() and can_be_smaller(each.failed):

            def again(example: Example, number: int = number) -> str:
                beat(number)
                return cause_again(example)

            connection.send(Failed(number, minimised(each.failed, again, shrinking)))
    faulthandler.cancel_dump_traceback_later()
    keep_all()  # tables and what is remembered of instructions
    connection.send(Done(count, skipped, reason))
