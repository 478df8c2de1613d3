"""Runs campaigns: pending work units, in threads that each supervise a process, or on other machines."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import count
from queue import Queue
from threading import Event, Lock, Thread
from typing import Protocol

from ptxkit.device import NoDeviceError
from ptxkit.device_runs.device_process import DeviceProcess, count_gpus
from ptxkit.fast_dataclasses import dataclass
from ptxkit.testing.fuzz.campaign_kinds import FuzzCampaign, find_kind
from ptxkit.testing.fuzz.errors import CannotRunError
from ptxkit.testing.fuzz.store import FuzzStore
from ptxkit.testing.fuzz.supervised_fuzzer import FuzzUnitResult, FuzzWorkUnit, GpuPool, SupervisedFuzzer
from ptxkit.testing.limits import HANG_SECONDS, MINIMIZE_SECONDS


@dataclass(frozen=True, slots=True)
class FuzzLimits:
    """The limits of campaigns: a number of examples for each, or seconds for all. hang: seconds for one example."""

    examples: int | None = None
    seconds: float | None = None
    hang: float = HANG_SECONDS


class FuzzRunner(Protocol):
    """Runs work units in any order, and requests each when it can run it."""

    def outcomes(self, shares: Iterator[FuzzWorkUnit], store: FuzzStore) -> Iterator[FuzzUnitResult]: ...


def run_campaigns(
    campaigns: Sequence[FuzzCampaign],
    store: FuzzStore,
    limits: FuzzLimits,
    runner: FuzzRunner,
    report: Callable[[FuzzUnitResult], None],
) -> None:
    """Runs campaigns concurrently until a limit is reached. report: receives each work unit that is complete and
    stored."""
    spent = TimeAccounts(campaigns)
    for outcome in runner.outcomes(schedule_work(campaigns, store, limits, spent), store):
        spent.add(outcome)
        store.add(outcome)
        report(outcome)


_FIRST_UNIT_DIVISOR = 10
"""The factor by which the first work unit of a campaign is smaller than the others in such a run."""


class TimeAccounts:
    """The time of each campaign in this run. A running work unit counts as the longest one so far."""

    def __init__(self, campaigns: Sequence[FuzzCampaign]) -> None:
        self._seconds = dict.fromkeys(campaigns, 0.0)
        self._longest = dict.fromkeys(campaigns, 0.0)
        self._running = dict.fromkeys(campaigns, 0)

    def begin(self, campaign: FuzzCampaign) -> None:
        """Records the start of a work unit."""
        self._running[campaign] += 1

    def add(self, outcome: FuzzUnitResult) -> None:
        """Records the end of a work unit."""
        campaign = outcome.unit.campaign
        self._running[campaign] -= 1
        self._seconds[campaign] += outcome.seconds
        self._longest[campaign] = max(self._longest[campaign], outcome.seconds)

    def least_served(self, among: Iterable[FuzzCampaign]) -> FuzzCampaign:
        """Returns the campaign with the least time; of those without any, the one with the fewest running work
        units.
        """
        return min(
            among,
            key=lambda each: (self._seconds[each] + self._running[each] * self._longest[each], self._running[each]),
        )


def schedule_work(
    campaigns: Sequence[FuzzCampaign], store: FuzzStore, limits: FuzzLimits, spent: TimeAccounts
) -> Iterator[FuzzWorkUnit]:
    """Yields pending work units, of the campaign with the least time, until the time limit."""
    end = None if limits.seconds is None else time.monotonic() + limits.seconds
    return _interleave(
        {each: _campaign_units(each, store.completed_units(each), limits) for each in campaigns}, end, spent
    )


def _interleave(
    waiting: dict[FuzzCampaign, Iterator[FuzzWorkUnit]], end: float | None, spent: TimeAccounts
) -> Iterator[FuzzWorkUnit]:
    while waiting and (end is None or time.monotonic() <= end):
        campaign = spent.least_served(waiting)
        share = next(waiting[campaign], None)
        if share is None:
            del waiting[campaign]
        else:
            spent.begin(campaign)
            yield share


def _campaign_units(campaign: FuzzCampaign, done: Mapping[int, int], limits: FuzzLimits) -> Iterator[FuzzWorkUnit]:
    """Yields the work units of a campaign. The first one is small if the run has a time limit, so that all campaigns
    get a turn.
    """
    size, examples, is_first = find_kind(campaign.oracle).examples_per_unit, limits.examples, limits.seconds is not None
    for number in count():
        first = number * size
        if examples is not None and first >= examples:
            return
        last = first + size if examples is None else min(first + size, examples)
        if is_first and number not in done:
            last = min(last, first + max(1, size // _FIRST_UNIT_DIVISOR))
        if done.get(number, 0) < last - first:
            yield FuzzWorkUnit(campaign, number, range(first, last))
            is_first = False


def start_devices() -> list[DeviceProcess]:
    """Starts a process for each GPU. Raises CannotRunError."""
    found = [DeviceProcess(gpu=number) for number in range(count_gpus())]
    try:
        for each in found:
            each.begin()
    except NoDeviceError as error:
        for each in found:
            each.end()
        raise CannotRunError(str(error), "choose oracles that need no GPU") from error
    return found


class LocalFuzzRunner:
    """Work units on this machine. jobs: processes; they share the GPUs, each of which has one process. hang: seconds
    for one example; shrinking: seconds for the reduction of a failing one."""

    def __init__(
        self,
        jobs: int,
        processes: Sequence[DeviceProcess],
        hang: float = HANG_SECONDS,
        shrinking: float = MINIMIZE_SECONDS,
    ) -> None:
        self._jobs = jobs
        self._processes = processes
        self._hang = hang
        self._shrinking = shrinking

    def outcomes(self, shares: Iterator[FuzzWorkUnit], store: FuzzStore) -> Iterator[FuzzUnitResult]:
        """Yields results as they arrive."""
        known = _KnownCauses(store)
        results: Queue[FuzzUnitResult | Exception | None] = Queue()
        lock, stop = Lock(), Event()
        with ExitStack() as stack:
            every_gpu = GpuPool(self._processes)
            stack.callback(every_gpu.end)
            watched = [
                stack.enter_context(SupervisedFuzzer(every_gpu, self._hang, self._shrinking)) for _ in range(self._jobs)
            ]
            stack.callback(stop.set)

            def work(mine: SupervisedFuzzer) -> None:
                try:
                    while not stop.is_set():
                        with lock:
                            share = next(shares, None)
                        if share is None:
                            break
                        began = time.monotonic()
                        outcome = mine.run(share, known.is_new(share.campaign.oracle))
                        outcome.seconds = time.monotonic() - began
                        results.put(outcome)
                except Exception as error:  # the main thread raises it
                    results.put(error)
                results.put(None)

            for each in watched:
                Thread(target=work, args=(each,), daemon=True).start()
            running = len(watched)
            while running:
                outcome = results.get()
                if isinstance(outcome, Exception):
                    raise outcome
                if outcome is None:
                    running -= 1
                else:
                    yield outcome


class _KnownCauses:
    """The causes for which an example is saved, for all threads."""

    def __init__(self, store: FuzzStore) -> None:
        self._lock = Lock()
        self._causes = store.known_causes()

    def is_new(self, oracle: str) -> Callable[[str], bool]:
        def is_new_cause(cause: str) -> bool:
            with self._lock:
                known = self._causes.setdefault(oracle, set())
                new = cause not in known
                known.add(cause)
                return new

        return is_new_cause
