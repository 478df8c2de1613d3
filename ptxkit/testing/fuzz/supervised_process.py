"""A process that asks, watched: what hangs or kills it is recorded, and another process goes on behind it."""

from __future__ import annotations

import multiprocessing
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Queue

from ptxkit.device import Cubin, NoDeviceError
from ptxkit.fast_dataclasses import dataclass, field
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
from ptxkit.testing.oracles.device_process import DeviceLaunch, DeviceProcess, DeviceResult, wait_for_message

HANG_SECONDS = 20.0
"""For one example, when nothing else is said; with time of the GPU's process on top."""

MINIMIZE_SECONDS = 20.0
"""For making one smaller that fails."""

START_SECONDS = 120.0
"""Until a new process has begun its first example: it loads the instruction table."""

_STACK_FRAME = re.compile(r'File ".*[/\\](\w+\.py)", line \d+ in (\w+)')

IsNew = Callable[[str], bool]
"""Whether a cause has not been seen; asked once for each failure."""


@dataclass(frozen=True, slots=True)
class FuzzWorkUnit:
    """Some examples of a campaign, which are done together. number: which share of the campaign."""

    campaign: FuzzCampaign
    number: int
    numbers: range


@dataclass(slots=True)
class FuzzUnitResult:
    """What came of a share. failures: (number, example), with causes. reason: why some were skipped."""

    unit: FuzzWorkUnit
    run_count: int = 0
    skip_count: int = 0
    reason: str = ""
    failures: list[tuple[int, Example]] = field(default_factory=list)
    seconds: float = 0.0


class GpuPool:
    """The processes with GPUs, one each, for whoever asks; none is begun before it is needed."""

    def __init__(self, processes: Sequence[DeviceProcess]) -> None:
        self._processes = tuple(processes)
        self._free: Queue[DeviceProcess] = Queue()
        for each in processes:
            self._free.put(each)

    def run(self, cubin: Cubin | None, launches: Sequence[DeviceLaunch]) -> list[DeviceResult]:
        """The answers of the GPU that is free next. Raises NoDeviceError."""
        process = self._free.get()
        try:
            return process.run(cubin, launches)
        finally:
            self._free.put(process)

    @property
    def target(self) -> str:
        """What code is compiled for: that of the first GPU, as those of one machine are alike. Raises NoDeviceError."""
        if not self._processes:
            raise NoDeviceError("no GPU is used")
        return self._processes[0].target

    def end(self) -> None:
        """Ends the processes."""
        for each in self._processes:
            each.end()


class _ProcessLostError(Exception):
    """The process hangs or is gone. at: the example; why: in a few words, and the place."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(why)
        self.at, self.why = at, why


class SupervisedFuzzer:
    """One such process at a time. seconds: how long an example may take; shrinking: how long one that fails is made
    smaller. Use it in a `with`."""

    def __init__(self, gpus: GpuPool, seconds: float = HANG_SECONDS, shrinking: float = MINIMIZE_SECONDS) -> None:
        self._gpus = gpus
        self._seconds = seconds
        self._minimize_seconds = shrinking
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="ptxkit-fuzz-")
        self._stack = Path(self._folder.name, "stack")

    def __enter__(self) -> SupervisedFuzzer:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        self._folder.cleanup()

    def run(self, share: FuzzWorkUnit, is_new: IsNew) -> FuzzUnitResult:
        """Asks about all of a share."""
        outcome = FuzzUnitResult(share)
        waiting = [share.numbers]
        while waiting:
            numbers = waiting.pop()
            if not numbers:
                continue
            before = outcome.run_count
            try:
                self._run(share.campaign, numbers, outcome, is_new)
            except _ProcessLostError as lost:
                self.end()
                done = outcome.run_count - before
                if all(number != lost.at for number, _ in outcome.failures):  # otherwise it was made smaller
                    outcome.failures.append((lost.at, self._lost_example(share.campaign, lost, is_new)))
                    outcome.run_count += 1
                waiting += [range(lost.at + 1, numbers.stop), range(numbers.start + done, lost.at)]
        return outcome

    def _run(self, campaign: FuzzCampaign, numbers: range, outcome: FuzzUnitResult, is_new: IsNew) -> None:
        connection = self._ensure_started()
        connection.send((campaign, numbers))
        asked, skipped = outcome.run_count, outcome.skip_count
        for said in self._messages(connection, numbers.start):
            match said:
                case ExampleStarted(_, count, passed_over, reason, _) | UnitDone(count, passed_over, reason):
                    outcome.run_count, outcome.skip_count = asked + count, skipped + passed_over
                    outcome.reason = reason or outcome.reason
                case ExampleFailed(number, example):
                    if outcome.failures and outcome.failures[-1][0] == number:
                        outcome.failures[-1] = (number, example)  # made smaller
                        continue
                    outcome.failures.append((number, example))
                    connection.send(is_new(example.cause))
                case LaunchRequest(cubin, launches):
                    connection.send(self._gpus.run(cubin, launches))
                case TargetRequest():
                    connection.send(self._gpus.target)

    def _messages(self, connection: Connection, first: int) -> Iterator[WorkerMessage]:
        """What the process says until it is done. Raises _LostError."""
        at, seconds = first, START_SECONDS
        while True:
            try:
                if not self._has_message(connection, seconds):
                    raise _ProcessLostError(at, f"hangs{self._stack_location()}")
                said: WorkerMessage = connection.recv()
            except (EOFError, OSError):
                raise _ProcessLostError(at, f"the process ends with {self._exit_status()}") from None
            yield said
            if isinstance(said, UnitDone):
                return
            if isinstance(said, ExampleStarted):
                at, seconds = said.number, self._seconds * said.time_factor

    def _has_message(self, connection: Connection, seconds: float) -> bool:
        """Whether the process says something within so many seconds of its own time."""
        pid = (self._process.pid if self._process is not None else None) or 0
        return wait_for_message(connection, pid, seconds)

    def _lost_example(self, campaign: FuzzCampaign, lost: _ProcessLostError, is_new: IsNew) -> Example:
        """The example that was lost, made in this process: making it is what might hang, but where a cause is new."""
        example = Example("", ())
        if is_new(lost.why):
            try:
                example = find_kind(campaign.oracle).make(campaign, lost.at)
            except Exception as error:  # then there is nothing to keep but the number
                example = Example("", (), options={"number": lost.at, "not made": str(error)})
        return Example(example.oracle, example.texts, example.launch, example.options, lost.why, lost.why)

    def _ensure_started(self) -> Connection:
        if self._connection is None:
            context = multiprocessing.get_context("spawn")
            mine, other = context.Pipe()
            self._stack.write_text("")
            self._process = context.Process(
                target=serve, args=(other, str(self._stack), self._seconds, self._minimize_seconds)
            )
            self._process.start()
            other.close()
            self._connection = mine
        return self._connection

    def _stack_location(self) -> str:
        """Where the process said that it stood: the main thread comes last, and its innermost call first."""
        told = self._stack.read_text(errors="replace").rpartition("most recent call first")[2]
        place = _STACK_FRAME.search(told)
        return f" at {place[1]}:{place[2]}" if place else ""

    def _exit_status(self) -> str:
        if self._process is None:
            return "nothing"
        self._process.join(5)
        code = self._process.exitcode
        return f"signal {-code}" if code is not None and code < 0 else f"status {code}"

    def end(self) -> None:
        """Ends the process; the next share begins another."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None
