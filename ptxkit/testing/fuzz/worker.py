"""The process that asks: it tells its parent which example it begins, so that one which hangs or dies is known.

It gets (campaign, numbers), and sends `ExampleStarted` for each example, `ExampleFailed` where one fails (and hears
whether it should
be made smaller: then sends it again), `Launch` where a kernel is to be launched (and hears the answers),
`TargetRequest` where it wants to know the GPU, `UnitDone` last.
"""

from __future__ import annotations

import faulthandler
import signal
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, TypeAlias

from ptxkit.fast_dataclasses import dataclass
from ptxkit.gc_control import freeze_all
from ptxkit.testing.oracles import session
from ptxkit.testing.oracles.device_process import end_with_parent
from ptxkit.testing.oracles.session import OracleSession

if TYPE_CHECKING:
    from ptxkit.device import Cubin
    from ptxkit.testing.corpus.examples import Example
    from ptxkit.testing.fuzz.campaign_kinds import FuzzCampaign
    from ptxkit.testing.oracles.device_process import DeviceLaunch, DeviceResult

MAX_MEMORY_BYTES = 6 << 30
"""Bytes of address space of the process; over it Python says MemoryError, and the machine lives on."""

STACK_DUMP_FRACTION = 0.7
"""The part of the time for one example after which the process writes where it stands."""


@dataclass(frozen=True, slots=True)
class ExampleStarted:
    """An example is begun. asked, skipped: of this share, before it. reason: why some were skipped.

    patience: how many times as long as usual it may take.
    """

    number: int
    run_count: int
    skip_count: int
    reason: str
    time_factor: float


@dataclass(frozen=True, slots=True)
class ExampleFailed:
    """An example failed; the answer is whether to make it smaller."""

    number: int
    example: Example


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """Kernels to launch; the answer is what `DeviceProcess.run` gives."""

    cubin: Cubin | None
    launches: tuple[DeviceLaunch, ...]


@dataclass(frozen=True, slots=True)
class TargetRequest:
    """Asks which GPU launches; the answer is `DeviceProcess.target`."""


@dataclass(frozen=True, slots=True)
class UnitDone:
    """All of the numbers are asked."""

    run_count: int
    skip_count: int
    reason: str


WorkerMessage: TypeAlias = ExampleStarted | ExampleFailed | LaunchRequest | TargetRequest | UnitDone


class _ParentLauncher:
    """Launches where the parent says."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @cached_property
    def target(self) -> str:
        self._connection.send(TargetRequest())
        return str(self._connection.recv())

    def run(self, cubin: Cubin | None, launches: Sequence[DeviceLaunch]) -> list[DeviceResult]:
        self._connection.send(LaunchRequest(cubin, tuple(launches)))
        answers: list[DeviceResult] = self._connection.recv()
        return answers


def serve(connection: Connection, stack: str, seconds: float, shrinking: float) -> None:
    """What runs in the process. stack: a file for where it stands; seconds: how long one example may take; shrinking:
    how long one that fails is made smaller."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    _limit_memory()
    session.begin_session(OracleSession(process=_ParentLauncher(connection)))
    with open(stack, "w") as file:
        while True:
            try:
                campaign, numbers = connection.recv()
            except EOFError:
                return
            _run_unit(
                connection,
                campaign,
                numbers,
                shrinking,
                lambda patience: faulthandler.dump_traceback_later(seconds * STACK_DUMP_FRACTION * patience, file=file),
            )


def _limit_memory() -> None:
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))


def _run_unit(
    connection: Connection, campaign: FuzzCampaign, numbers: range, shrinking: float, rearm: Callable[[float], None]
) -> None:
    from ptxkit.testing.fuzz.example_replay import can_minimize
    from ptxkit.testing.fuzz.executor import recheck_cause, run_examples
    from ptxkit.testing.fuzz.minimize import minimize

    count = skipped = 0
    reason = ""

    def beat(number: int, patience: float = 1.0) -> None:
        rearm(patience)
        connection.send(ExampleStarted(number, count, skipped, reason, patience))

    for each in run_examples(campaign, numbers, beat):
        count += 1
        if each.skip_reason:
            skipped, reason = skipped + 1, each.skip_reason
        if each.failure is None:
            continue
        number = each.number
        connection.send(ExampleFailed(number, each.failure))
        if connection.recv() and can_minimize(each.failure):

            def again(example: Example, number: int = number) -> str:
                beat(number)
                return recheck_cause(example)

            connection.send(ExampleFailed(number, minimize(each.failure, again, shrinking)))
    faulthandler.cancel_dump_traceback_later()
    freeze_all()  # tables and what is remembered of instructions
    connection.send(UnitDone(count, skipped, reason))
