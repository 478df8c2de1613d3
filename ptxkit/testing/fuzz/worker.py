"""The process of a campaign: it reports each example before running it, so that a hang or a crash can be attributed.

It receives (campaign, numbers), and sends `ExampleStarted` for each example, `ExampleFailed` for a failure (the reply
states whether to reduce it, and then it is sent again), `LaunchRequest` to launch a kernel (the reply has the results),
`TargetRequest` for the target of the GPU, and `UnitDone` last.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from ptxkit.fast_dataclasses import dataclass
from ptxkit.gc_control import freeze_all
from ptxkit.processes.child_process import ParentChannel, limit_memory
from ptxkit.testing.limits import MAX_WORKER_MEMORY
from ptxkit.testing.oracles import session
from ptxkit.testing.oracles.session import OracleSession

if TYPE_CHECKING:
    from ptxkit.device import Cubin
    from ptxkit.device_runs.device_launch import DeviceLaunch, DeviceResult
    from ptxkit.testing.corpus.examples import Example
    from ptxkit.testing.fuzz.campaign_kinds import FuzzCampaign


@dataclass(frozen=True, slots=True)
class ExampleStarted:
    """An example begins. asked, skipped: numbers of examples of this work unit so far. reason: the reason why some were
    skipped. patience: the factor by which it may take longer than usual.
    """

    number: int
    run_count: int
    skip_count: int
    reason: str
    time_factor: float


@dataclass(frozen=True, slots=True)
class ExampleFailed:
    """An example failed; the reply states whether to reduce it."""

    number: int
    example: Example


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """Kernels to launch; the reply is the result of `DeviceProcess.run`."""

    cubin: Cubin | None
    launches: tuple[DeviceLaunch, ...]


@dataclass(frozen=True, slots=True)
class TargetRequest:
    """Requests the target of the GPU; the reply is `DeviceProcess.target`."""


@dataclass(frozen=True, slots=True)
class UnitDone:
    """All examples are complete."""

    run_count: int
    skip_count: int
    reason: str


WorkerMessage: TypeAlias = ExampleStarted | ExampleFailed | LaunchRequest | TargetRequest | UnitDone


class _ParentLauncher:
    """Launches kernels through the parent process."""

    def __init__(self, channel: ParentChannel) -> None:
        self._channel = channel

    @cached_property
    def target(self) -> str:
        self._channel.send(TargetRequest())
        return str(self._channel.receive())

    def run(self, cubin: Cubin | None, launches: Sequence[DeviceLaunch]) -> list[DeviceResult]:
        self._channel.send(LaunchRequest(cubin, tuple(launches)))
        answers: list[DeviceResult] = self._channel.receive()
        return answers


def serve(channel: ParentChannel, shrinking: float) -> None:
    """The main loop of the process. shrinking: seconds for the reduction of a failing example."""
    limit_memory(MAX_WORKER_MEMORY)
    session.begin_session(OracleSession(process=_ParentLauncher(channel)))
    while True:
        campaign, numbers = channel.receive()
        _run_unit(channel, campaign, numbers, shrinking)


def _run_unit(channel: ParentChannel, campaign: FuzzCampaign, numbers: range, shrinking: float) -> None:
    from ptxkit.testing.fuzz.example_replay import can_minimize
    from ptxkit.testing.fuzz.executor import recheck_cause, run_examples
    from ptxkit.testing.fuzz.minimize import minimize

    count = skipped = 0
    reason = ""

    def beat(number: int, patience: float = 1.0) -> None:
        channel.send(ExampleStarted(number, count, skipped, reason, patience))

    for each in run_examples(campaign, numbers, beat):
        count += 1
        if each.skip_reason:
            skipped, reason = skipped + 1, each.skip_reason
        if each.failure is None:
            continue
        number = each.number
        channel.send(ExampleFailed(number, each.failure))
        if channel.receive() and can_minimize(each.failure):

            def again(example: Example, number: int = number) -> str:
                beat(number)
                return recheck_cause(example)

            channel.send(ExampleFailed(number, minimize(each.failure, again, shrinking)))
    freeze_all()  # tables and caches of instructions
    channel.send(UnitDone(count, skipped, reason))
