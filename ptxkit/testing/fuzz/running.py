"""Runs campaigns: shares that are not done yet, in threads that each watch a process, or on other machines."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import count
from queue import Queue
from threading import Event, Lock, Thread
from typing import Protocol

from ptxkit.device import NoDeviceError
from ptxkit.records import dataclass
from ptxkit.testing.device_process import DeviceProcess, gpus
from ptxkit.testing.fuzz.errors import CannotRunError
from ptxkit.testing.fuzz.questions import Campaign, kind_of
from ptxkit.testing.fuzz.store import Store
from ptxkit.testing.fuzz.watched import HANG_SECONDS, SHRINKING_SECONDS, Gpus, Outcome, Share, Watched


@dataclass(frozen=True, slots=True)
class Limits:
    """When campaigns end: after so many examples of each, or so many seconds of all. hang: seconds for one example."""

    examples: int | None = None
    seconds: float | None = None
    hang: float = HANG_SECONDS


class Runner(Protocol):
    """Does shares somewhere, in any order, and takes them no sooner than it can do them."""

    def outcomes(self, shares: Iterator[Share], store: Store) -> Iterator[Outcome]: ...


def run(
    campaigns: Sequence[Campaign], store: Store, limits: Limits, runner: Runner, told: Callable[[Outcome], None]
) -> None:
    """Runs campaigns side by side until a limit is met. told: hears of each share that is done and stored."""
    spent = Spent(campaigns)
    for outcome in runner.outcomes(shares(campaigns, store, limits, spent), store):
        spent.add(outcome)
        store.add(outcome)
        told(outcome)


_SMALL_PART = 10
"""How many times as large as its first share in such a run a campaign's other shares are."""


class Spent:
    """The time that each campaign has had in this run. A share that is not done counts as the longest that was."""

    def __init__(self, campaigns: Sequence[Campaign]) -> None:
        self._seconds = dict.fromkeys(campaigns, 0.0)
        self._longest = dict.fromkeys(campaigns, 0.0)
        self._begun = dict.fromkeys(campaigns, 0)

    def begin(self, campaign: Campaign) -> None:
        """A share of it is handed out."""
        self._begun[campaign] += 1

    def add(self, outcome: Outcome) -> None:
        """A share is done."""
        campaign = outcome.share.campaign
        self._begun[campaign] -= 1
        self._seconds[campaign] += outcome.seconds
        self._longest[campaign] = max(self._longest[campaign], outcome.seconds)

    def least(self, among: Iterable[Campaign]) -> Campaign:
        """The one that has had the least; of those that have had nothing, the one with the fewest shares under way."""
        return min(
            among, key=lambda each: (self._seconds[each] + self._begun[each] * self._longest[each], self._begun[each])
        )


def shares(campaigns: Sequence[Campaign], store: Store, limits: Limits, spent: Spent) -> Iterator[Share]:
    """What is to be done, of the campaign that has had the least time; it ends when the time is over."""
    end = None if limits.seconds is None else time.monotonic() + limits.seconds
    return _in_turns({each: _shares_of(each, store.done(each), limits) for each in campaigns}, end, spent)


def _in_turns(waiting: dict[Campaign, Iterator[Share]], end: float | None, spent: Spent) -> Iterator[Share]:
    while waiting and (end is None or time.monotonic() <= end):
        campaign = spent.least(waiting)
        share = next(waiting[campaign], None)
        if share is None:
            del waiting[campaign]
        else:
            spent.begin(campaign)
            yield share


def _shares_of(campaign: Campaign, done: Mapping[int, int], limits: Limits) -> Iterator[Share]:
    """The first share of a run that time ends is a small one, so that each campaign has its turn."""
    size, examples, is_first = kind_of(campaign.oracle).share, limits.examples, limits.seconds is not None
    for number in count():
        first = number * size
        if examples is not None and first >= examples:
            return
        last = first + size if examples is None else min(first + size, examples)
        if is_first and number not in done:
            last = min(last, first + max(1, size // _SMALL_PART))
        if done.get(number, 0) < last - first:
            yield Share(campaign, number, range(first, last))
            is_first = False


def devices() -> list[DeviceProcess]:
    """A process for each GPU, begun. Raises CannotRunError."""
    found = [DeviceProcess(gpu=number) for number in range(gpus())]
    try:
        for each in found:
            each.begin()
    except NoDeviceError as error:
        for each in found:
            each.end()
        raise CannotRunError(str(error)) from error
    return found


class Here:
    """Shares on this machine. jobs: processes; they share the GPUs, each of which has one process. hang: seconds for
    one example; shrinking: for making one smaller that fails."""

    def __init__(
        self,
        jobs: int,
        processes: Sequence[DeviceProcess],
        hang: float = HANG_SECONDS,
        shrinking: float = SHRINKING_SECONDS,
    ) -> None:
        self._jobs = jobs
        self._processes = processes
        self._hang = hang
        self._shrinking = shrinking

    def outcomes(self, shares: Iterator[Share], store: Store) -> Iterator[Outcome]:
        """As they come."""
        known = _Known(store)
        results: Queue[Outcome | Exception | None] = Queue()
        lock, stop = Lock(), Event()
        with ExitStack() as stack:
            every_gpu = Gpus(self._processes)
            stack.callback(every_gpu.end)
            watched = [stack.enter_context(Watched(every_gpu, self._hang, self._shrinking)) for _ in range(self._jobs)]
            stack.callback(stop.set)

            def work(mine: Watched) -> None:
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


class _Known:
    """Causes that have an example, for all threads."""

    def __init__(self, store: Store) -> None:
        self._lock = Lock()
        self._causes = store.causes_known()

    def is_new(self, oracle: str) -> Callable[[str], bool]:
        def asked(cause: str) -> bool:
            with self._lock:
                known = self._causes.setdefault(oracle, set())
                new = cause not in known
                known.add(cause)
                return new

        return asked
