"""Which one parity, or one count, is to blame where threads wait for phases of mbarriers for ever, or arrive too often.

In a ring everybody waits for everybody else, and any of them could be blamed. Here one thing is supposed to be wrong,
the parity of all waits of one instruction or the count of the mbarriers that the same instructions arrive at; and it is
to blame if the threads, played again with another one, all come to their ends. A fresh mbarrier lets a wait for parity
1 pass: that is for who fills memory behind it, never for who reads there what is not filled yet. So of a ring in which
producer and consumer both begin with parity 0, the producer is wrong.

Source: PTX ISA, "Phase of the mbarrier object", "mbarrier.test_wait / mbarrier.try_wait", "mbarrier.init".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import GroupTrace, TraceEvent, UnknownCall
from ptxkit.analysis.sync.mbarrier_location import MbarrierLocation, locations_of
from ptxkit.analysis.sync.sync_schedule import ScheduleResult, simulate_schedule
from ptxkit.analysis.sync.thread_classes import ThreadClass
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.effects import Access, MbarrierArrive, MbarrierInit, MbarrierTrack, MbarrierWait

#: Parities and counts that are supposed to be wrong, each: every one is played anew with each kind of actor first.
MAX_HYPOTHESES = 8


@dataclass(frozen=True, slots=True)
class WrongParity:
    """The waits of one instruction ask for the wrong parity. parity: what the first of them should ask for."""

    wait: Step
    parity: int


@dataclass(frozen=True, slots=True)
class WrongCount:
    """The mbarriers at some places, made with `old` arrivals a phase by `inits`, have `count`."""

    inits: tuple[Step, ...]
    locations: frozenset[MbarrierLocation]
    initial_count: int
    count: int


class PhaseFaultLocalizer:
    """The suppositions about one cast. groups: by rank, the walks of all threads. rehearsals: by who comes first."""

    def __init__(
        self,
        actors: Sequence[ThreadClass],
        groups: Sequence[Sequence[GroupTrace]],
        rehearsals: Mapping[int, ScheduleResult],
    ) -> None:
        self._thread_classes = actors
        self._groups = groups
        self._schedules = rehearsals

    def find(self) -> WrongParity | WrongCount | None:
        """What is to blame; None where nothing is wrong, or no one thing alone explains it."""
        played = self._schedules.values()
        if not any(each.blocked_threads or each.excess_arrivals for each in played) or any(
            a.end_reason != "exit" for a in self._thread_classes
        ):
            return None
        supposed = [*self._count_hypotheses()][:MAX_HYPOTHESES], [*self._parity_hypotheses()][:MAX_HYPOTHESES]
        partly = any(
            each.excess_arrivals or any(s.mbarrier and s.mbarrier.arrivals for s in each.blocked_threads)
            for each in played
        )
        for each, actors in (pair for pairs in (supposed if partly else supposed[::-1]) for pair in pairs):
            if self._completes(actors, each.wait if isinstance(each, WrongParity) else None):
                return each
        return None

    def _parity_hypotheses(self) -> Iterator[tuple[WrongParity, list[ThreadClass]]]:
        """Each instruction that waits, with the other parity; those first at which somebody waits for ever."""
        waits = [e for actor in self._thread_classes for e in actor.events if _waits_for_known_parity(e)]
        stuck = {stuck.event.step for played in self._schedules.values() for stuck in played.blocked_threads}
        for step in sorted({e.step for e in waits}, key=lambda step: (step not in stuck, step.start)):
            first = next(e.amount for e in waits if e.step is step)
            assert isinstance(first, int)
            yield WrongParity(step, 1 - (first & 1)), self._with_changed_events(partial(_flip_parity, step))

    def _count_hypotheses(self) -> Iterator[tuple[WrongCount, list[ThreadClass]]]:
        """The objects at which phases do not end, or have too many arrivals, with as many as arrive there."""
        arrivals: dict[MbarrierLocation, dict[Step, int]] = defaultdict(lambda: defaultdict(int))
        inits: dict[MbarrierLocation, TraceEvent] = {}
        for actor in self._thread_classes:
            seen: set[tuple[MbarrierLocation, Step]] = set()
            for event in actor.events:
                for place in locations_of(actor.rank, event) or ():
                    if isinstance(event.effect, MbarrierInit):
                        inits[place] = event
                    elif isinstance(event.effect, MbarrierArrive | MbarrierTrack) and (place, event.step) not in seen:
                        seen.add((place, event.step))
                        each = event.amount if isinstance(event.amount, int) else 1
                        arrivals[place][event.step] += each * len(actor.tids)
        for place, found in self._unbalanced_mbarriers().items():
            made = inits.get(place)
            if made is None or not isinstance(made.amount, int):
                continue
            alike = {
                other
                for other, init in inits.items()
                if init.amount == made.amount and not arrivals[other].keys().isdisjoint(arrivals[place])
            }
            steps = tuple(sorted({inits[other].step for other in alike}, key=lambda step: step.start))
            for count in dict.fromkeys((found, sum(arrivals[place].values()))):
                if count and count != made.amount:
                    fault = WrongCount(steps, frozenset(alike), made.amount, count)
                    yield fault, self._with_changed_events(partial(_replace_count, alike, count))

    def _unbalanced_mbarriers(self) -> dict[MbarrierLocation, int]:
        """The objects whose phases lack arrivals, or have too many, and how many came in the last one."""
        found: dict[MbarrierLocation, int] = {}
        for played in self._schedules.values():
            for stuck in played.blocked_threads:
                places = locations_of(self._thread_classes[stuck.thread_class].rank, stuck.event)
                if stuck.mbarrier is not None and stuck.mbarrier.pending_arrivals and places:
                    found.setdefault(places[0], stuck.mbarrier.count - stuck.mbarrier.pending_arrivals)
            for excess in played.excess_arrivals[:1]:
                found.setdefault(excess.location, 0)
        return found

    def _with_changed_events(self, other: Callable[[int, TraceEvent], TraceEvent]) -> list[ThreadClass]:
        """The actors with other events. other: makes one of the rank of the CTA and what is there."""
        return [replace(each, events=tuple(other(each.rank, e) for e in each.events)) for each in self._thread_classes]

    def _completes(self, actors: Sequence[ThreadClass], changed: Step | None) -> bool:
        """Whether all come to their ends, whoever is first, and nobody reads behind a wait that a fresh object lets
        pass. changed: the wait with another parity: behind that one, memory must be filled."""
        for first in self._schedules:
            played = simulate_schedule(actors, first, len(self._groups))
            if (
                played.is_approximate
                or not played.is_complete
                or played.blocked_threads
                or played.excess_arrivals
                or played.count_mismatches
            ):
                return False
            for (actor, number), phases in played.phases.items():
                event = actors[actor].events[number]
                if not phases and _waits_for_known_parity(event):
                    kind = self._first_access_after(actors[actor], event)
                    if kind == "read" or (kind != "write" and event.step is changed):
                        return False
        return True

    def _first_access_after(self, actor: ThreadClass, wait: TraceEvent) -> str | None:
        """What the first access to memory of the cluster between a wait and the next one does; None without any."""
        group = next(group for group in self._groups[actor.rank] if actor.tids[0] in group.tids)
        events = iter(group.events)
        for event in events:
            if (event.step, event.visit) == (wait.step, wait.visit):
                break
        for event in events:
            if isinstance(event, UnknownCall) or isinstance(event.effect, MbarrierWait):
                return None
            if isinstance(event.effect, Access) and event.effect.space not in ("global", "local", "param", "const"):
                return event.effect.kind
        return None


def _flip_parity(step: Step, _: int, event: TraceEvent) -> TraceEvent:
    """A wait of one instruction for the other parity; all else as it is."""
    is_wrong = event.step is step and _waits_for_known_parity(event)
    return replace(event, amount=1 - (event.amount & 1)) if is_wrong else event  # type: ignore[operator]


def _replace_count(places: set[MbarrierLocation], count: int, rank: int, event: TraceEvent) -> TraceEvent:
    """An initialisation at one of some places with another count; all else as it is."""
    is_made = isinstance(event.effect, MbarrierInit) and not places.isdisjoint(locations_of(rank, event) or ())
    return replace(event, amount=count) if is_made else event


def _waits_for_known_parity(event: TraceEvent) -> bool:
    """Whether an event waits for a parity that is known."""
    return isinstance(event.effect, MbarrierWait) and event.effect.by == "parity" and isinstance(event.amount, int)
