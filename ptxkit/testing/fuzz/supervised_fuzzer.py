"""Runs examples in supervised processes: a hang or a crash is recorded, and another process continues after it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from queue import Queue

from ptxkit.device import Cubin, NoDeviceError
from ptxkit.device_runs.device_launch import DeviceLaunch, DeviceResult
from ptxkit.device_runs.device_process import DeviceProcess
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.processes.supervised_process import ProcessLostError, ProcessTimeoutError, SupervisedProcess
from ptxkit.testing.corpus.examples import Example
from ptxkit.testing.fuzz.campaign_kinds import FuzzCampaign, find_kind
from ptxkit.testing.fuzz.worker import (
    ExampleFailed,
    ExampleStarted,
    LaunchRequest,
    TargetRequest,
    UnitDone,
    WorkerMessage,
    serve,
)
from ptxkit.testing.limits import FUZZER_START_SECONDS, HANG_SECONDS, MINIMIZE_SECONDS

_STACK_FRAME = re.compile(r'File ".*[/\\](\w+\.py)", line \d+ in (\w+)')

IsNew = Callable[[str], bool]
"""A function that returns whether a cause is new; it is called once for each failure."""


@dataclass(frozen=True, slots=True)
class FuzzWorkUnit:
    """Consecutive examples of a campaign. number: the index of the work unit in the campaign."""

    campaign: FuzzCampaign
    number: int
    numbers: range


@dataclass(slots=True)
class FuzzUnitResult:
    """The result of a work unit. failures: (number, example), with causes. reason: the reason why some were skipped."""

    unit: FuzzWorkUnit
    run_count: int = 0
    skip_count: int = 0
    reason: str = ""
    failures: list[tuple[int, Example]] = field(default_factory=list)
    seconds: float = 0.0


class GpuPool:
    """The processes with GPUs, one for each GPU, for all callers; each is started on first use."""

    def __init__(self, processes: Sequence[DeviceProcess]) -> None:
        self._processes = tuple(processes)
        self._free: Queue[DeviceProcess] = Queue()
        for each in processes:
            self._free.put(each)

    def run(self, cubin: Cubin | None, launches: Sequence[DeviceLaunch]) -> list[DeviceResult]:
        """Returns the results of the next free GPU. Raises NoDeviceError."""
        process = self._free.get()
        try:
            return process.run(cubin, launches)
        finally:
            self._free.put(process)

    @property
    def target(self) -> str:
        """The target of compiled code: that of the first GPU, since those of one machine are equal. Raises
        NoDeviceError."""
        if not self._processes:
            raise NoDeviceError("no GPU is used")
        return self._processes[0].target

    def end(self) -> None:
        """Terminates the processes."""
        for each in self._processes:
            each.end()


class _ExampleLostError(Exception):
    """The process hangs or has ended. at: the example; why: a short reason, and the location."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(why)
        self.at, self.why = at, why


class SupervisedFuzzer:
    """One supervised process at a time. seconds: the limit for an example; shrinking: the limit for the reduction of a
    failing one. It is a context manager."""

    def __init__(self, gpus: GpuPool, seconds: float = HANG_SECONDS, shrinking: float = MINIMIZE_SECONDS) -> None:
        self._gpus = gpus
        self._seconds = seconds
        self._minimize_seconds = shrinking
        self._process: SupervisedProcess | None = None

    def __enter__(self) -> SupervisedFuzzer:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def run(self, share: FuzzWorkUnit, is_new: IsNew) -> FuzzUnitResult:
        """Runs all examples of a work unit."""
        outcome = FuzzUnitResult(share)
        waiting = [share.numbers]
        while waiting:
            numbers = waiting.pop()
            if not numbers:
                continue
            before = outcome.run_count
            try:
                self._run(share.campaign, numbers, outcome, is_new)
            except _ExampleLostError as lost:
                self.end()
                done = outcome.run_count - before
                if all(number != lost.at for number, _ in outcome.failures):  # otherwise it was reduced
                    outcome.failures.append((lost.at, self._lost_example(share.campaign, lost, is_new)))
                    outcome.run_count += 1
                waiting += [range(lost.at + 1, numbers.stop), range(numbers.start + done, lost.at)]
        return outcome

    def _run(self, campaign: FuzzCampaign, numbers: range, outcome: FuzzUnitResult, is_new: IsNew) -> None:
        process = self._process = self._process or SupervisedProcess(serve, self._minimize_seconds)
        asked, skipped = outcome.run_count, outcome.skip_count
        for message in self._messages(process, campaign, numbers):
            match message:
                case ExampleStarted(_, count, passed_over, reason, _) | UnitDone(count, passed_over, reason):
                    outcome.run_count, outcome.skip_count = asked + count, skipped + passed_over
                    outcome.reason = reason or outcome.reason
                case ExampleFailed(number, example):
                    if outcome.failures and outcome.failures[-1][0] == number:
                        outcome.failures[-1] = (number, example)  # reduced
                        continue
                    outcome.failures.append((number, example))
                    process.send(is_new(example.cause))
                case LaunchRequest(cubin, launches):
                    process.send(self._gpus.run(cubin, launches))
                case TargetRequest():
                    process.send(self._gpus.target)

    def _messages(self, process: SupervisedProcess, campaign: FuzzCampaign, numbers: range) -> Iterator[WorkerMessage]:
        """Handles the messages of the process until all numbers are complete. Raises _ExampleLostError."""
        at, seconds = numbers.start, FUZZER_START_SECONDS
        try:
            process.send((campaign, numbers))
            while True:
                with process.time_limit(seconds):
                    message: WorkerMessage = process.receive()
                yield message
                if isinstance(message, UnitDone):
                    return
                if isinstance(message, ExampleStarted):
                    at, seconds = message.number, self._seconds * message.time_factor
        except ProcessTimeoutError as lost:
            raise _ExampleLostError(at, f"hangs{_innermost_call(lost.errors)}") from None
        except ProcessLostError as lost:
            sys.stderr.write(lost.errors)
            raise _ExampleLostError(at, f"the process ends with {lost}") from None

    def _lost_example(self, campaign: FuzzCampaign, lost: _ExampleLostError, is_new: IsNew) -> Example:
        """Returns the lost example. It is created in this process, where its creation might hang, so only for a new
        cause.
        """
        example = Example("", ())
        if is_new(lost.why):
            try:
                example = find_kind(campaign.oracle).make(campaign, lost.at)
            except Exception as error:  # then only the number can be saved
                example = Example("", (), options={"number": lost.at, "not made": str(error)})
        return Example(example.oracle, example.texts, example.launch, example.options, lost.why, lost.why)

    def end(self) -> None:
        """Terminates the process; the next work unit starts another one."""
        process, self._process = self._process, None
        if process is not None:
            process.close()


def _innermost_call(errors: str) -> str:
    """Returns the innermost location of the main thread, or an empty text if the process did not report it."""
    place = _STACK_FRAME.search(errors.rpartition("most recent call first")[2])
    return f" at {place[1]}:{place[2]}" if place else ""
