"""Locates the single wrong parity, mbarrier or count that explains a deadlock at mbarriers, or excess arrivals.

In a ring, every thread waits for another one, and the deadlock does not show which wait is wrong. This module tests
hypotheses of a single fault: the parity of all waits of one instruction, the mbarriers for which they wait, the count
of the mbarriers at which the same instructions arrive, or the mbarriers at which one instruction arrives. A hypothesis
is accepted if all threads reach their ends in a simulation with the other value.

On a fresh mbarrier, a wait for parity 1 succeeds immediately. This suits a thread that writes memory after the wait,
but not one that reads memory which is not yet written. In a ring where producer and consumer both begin with parity 0,
the fault is therefore in the producer.

Source: PTX ISA, "Phases of the mbarrier object", "mbarrier.test_wait / mbarrier.try_wait", "mbarrier.init".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from operator import is_
from typing import TypeAlias

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_HYPOTHESES
from ptxkit.analysis.symexec.trace import GroupTrace, TraceEvent, UnknownCall
from ptxkit.analysis.sync.mbarrier_location import MbarrierLocation, locations_of
from ptxkit.analysis.sync.sync_schedule import ScheduleResult, simulate_schedule
from ptxkit.analysis.sync.thread_classes import ThreadClass
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.effects import (
    Access,
    MbarrierArrive,
    MbarrierExpect,
    MbarrierInit,
    MbarrierTrack,
    MbarrierWait,
)


@dataclass(frozen=True, slots=True)
class WrongParity:
    """The waits of one instruction use the wrong parity.

    parity: the parity that the first of them should use.
    """

    wait: Step
    parity: int


@dataclass(frozen=True, slots=True)
class WrongMbarrier:
    """The waits of one instruction are for the wrong mbarriers.

    own: the address of the mbarrier of the first wait. other: the address of the mbarrier for which it should wait. The
    other waits have the same distance between the two addresses.
    """

    wait: Step
    own: int
    other: int


@dataclass(frozen=True, slots=True)
class WrongArrival:
    """The arrivals of one instruction are at the wrong mbarriers.

    In a ring, a thread that waited for the mbarrier of a slot arrives at another one of the same slot. wait: the wait
    before the arrivals. waited: the address of its mbarrier before the first arrival. other: the address at which that
    one should arrive. The other arrivals have the same distance between the two addresses.
    """

    arrival: Step
    wait: Step
    waited: int
    other: int


@dataclass(frozen=True, slots=True)
class WrongCount:
    """A wrong count in the initialization of the mbarriers at some locations, with the count that it should be."""

    inits: tuple[Step, ...]
    locations: frozenset[MbarrierLocation]
    initial_count: int
    count: int


PhaseFault: TypeAlias = WrongParity | WrongMbarrier | WrongArrival | WrongCount
_Hypothesis: TypeAlias = tuple[PhaseFault, list[ThreadClass]]
"""A fault, and the threads as they would be without it."""


class PhaseFaultLocalizer:
    """Tests hypotheses of a single fault for a set of actors.

    groups: the traces of all threads, by rank. schedules: the simulated schedules, by priority actor.
    """

    def __init__(
        self,
        actors: Sequence[ThreadClass],
        groups: Sequence[Sequence[GroupTrace]],
        schedules: Mapping[int, ScheduleResult],
    ) -> None:
        self._thread_classes = actors
        self._groups = groups
        self._schedules = schedules

    def find(self) -> PhaseFault | None:
        """Returns the fault; None where no schedule fails, or no single fault explains the failures."""
        played = self._schedules.values()
        if not any(each.blocked_threads or each.excess_arrivals for each in played) or any(
            a.end_reason != "exit" for a in self._thread_classes
        ):
            return None
        partly = any(
            each.excess_arrivals or any(s.mbarrier and s.mbarrier.arrivals for s in each.blocked_threads)
            for each in played
        )
        counts, parities = self._count_hypotheses(), self._parity_hypotheses()
        ordered: tuple[Iterator[_Hypothesis], ...] = (counts, parities) if partly else (parities, counts)
        for supposed in (*ordered, self._mbarrier_hypotheses(), self._arrival_hypotheses()):
            for fault, actors in islice(supposed, MAX_HYPOTHESES):
                changed = fault.wait if isinstance(fault, WrongParity | WrongMbarrier) else None
                if self._completes(actors, changed):
                    return fault
        return None

    def _parity_hypotheses(self) -> Iterator[_Hypothesis]:
        """Yields each waiting instruction with the other parity, beginning with those of deadlocked threads."""
        waits = [e for actor in self._thread_classes for e in actor.events if _waits_for_known_parity(e)]
        for step in self._waiting_steps():
            first = next(e.amount for e in waits if e.step is step)
            assert isinstance(first, int)
            yield WrongParity(step, 1 - (first & 1)), self._with_changed_events(partial(_flip_parity, step))

    def _mbarrier_hypotheses(self) -> Iterator[_Hypothesis]:
        """Yields each waiting instruction with other initialized mbarriers, all at one distance from its own."""
        made = self._initialized_mbarriers()
        for step in self._waiting_steps():
            own = {
                place
                for actor in self._thread_classes
                for event in actor.events
                if event.step is step
                for place in locations_of(actor.rank, event) or ()
            }
            rank, first = min(own, default=(0, 0))
            for distance in sorted({at - first for other, at in made if other == rank} - {0}, key=abs):
                if all((other, at + distance) in made and (other, at + distance) not in own for other, at in own):
                    fault = WrongMbarrier(step, first, first + distance)
                    yield fault, self._with_changed_events(partial(_move_wait, step, distance))

    def _arrival_hypotheses(self) -> Iterator[_Hypothesis]:
        """Yields each arriving instruction at other mbarriers, all at one distance from that of the wait before it."""
        made = self._initialized_mbarriers()
        for step, waits in self._arrivals_after_waits().items():
            rank, wait, first = waits[0][0], waits[0][2].step, waits[0][2].address
            if not isinstance(first, int) or any(each.step is not wait for _, _, each in waits):
                continue
            for distance in sorted({at - first for other, at in made if other == rank} - {0}, key=abs):
                moved = {id(event): each.address + distance for _, event, each in waits}  # type: ignore[operator]
                is_other = any(event.address != moved[id(event)] for _, event, _ in waits)
                if is_other and all((other, moved[id(event)]) in made for other, event, _ in waits):
                    fault = WrongArrival(step, wait, first, first + distance)
                    yield fault, self._with_changed_events(partial(_move_arrival, moved))

    def _arrivals_after_waits(self) -> dict[Step, list[tuple[int, TraceEvent, TraceEvent]]]:
        """Returns the arrivals of each instruction at mbarriers of its CTA: its rank, the arrival, the wait before.

        Instructions with an arrival before any wait, or at an unknown address, are missing.
        """
        found: dict[Step, list[tuple[int, TraceEvent, TraceEvent]]] = defaultdict(list)
        excluded: set[Step] = set()
        for actor in self._thread_classes:
            wait: TraceEvent | None = None
            for event in actor.events:
                if isinstance(event.effect, MbarrierWait):
                    wait = event
                elif isinstance(event.effect, MbarrierArrive | MbarrierTrack | MbarrierExpect):
                    if wait is None or not all(_is_own_mbarrier(actor.rank, each) for each in (event, wait)):
                        excluded.add(event.step)
                    else:
                        found[event.step].append((actor.rank, event, wait))
        return {step: waits for step, waits in found.items() if step not in excluded}

    def _initialized_mbarriers(self) -> set[MbarrierLocation]:
        return {
            place
            for actor in self._thread_classes
            for event in actor.events
            if isinstance(event.effect, MbarrierInit)
            for place in locations_of(actor.rank, event) or ()
        }

    def _waiting_steps(self) -> list[Step]:
        """Returns the instructions that wait for known parities, beginning with those of deadlocked threads."""
        waits = {e.step for actor in self._thread_classes for e in actor.events if _waits_for_known_parity(e)}
        blocked = {blocked.event.step for played in self._schedules.values() for blocked in played.blocked_threads}
        return sorted(waits, key=lambda step: (step not in blocked, step.start))

    def _count_hypotheses(self) -> Iterator[_Hypothesis]:
        """Yields the mbarriers with incomplete phases or excess arrivals, with the actual number of arrivals."""
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
            equal = {
                other
                for other, init in inits.items()
                if init.amount == made.amount and not arrivals[other].keys().isdisjoint(arrivals[place])
            }
            steps = tuple(sorted({inits[other].step for other in equal}, key=lambda step: step.start))
            for count in dict.fromkeys((found, sum(arrivals[place].values()))):
                if count and count != made.amount:
                    fault = WrongCount(steps, frozenset(equal), made.amount, count)
                    yield fault, self._with_changed_events(partial(_replace_count, equal, count))

    def _unbalanced_mbarriers(self) -> dict[MbarrierLocation, int]:
        """Returns the mbarriers with missing or excess arrivals, and the number of arrivals in the last phase."""
        found: dict[MbarrierLocation, int] = {}
        for played in self._schedules.values():
            for blocked in played.blocked_threads:
                places = locations_of(self._thread_classes[blocked.thread_class].rank, blocked.event)
                if blocked.mbarrier is not None and blocked.mbarrier.state.pending_arrivals and places:
                    state = blocked.mbarrier.state
                    found.setdefault(places[0], state.count - state.pending_arrivals)
            for excess in played.excess_arrivals[:1]:
                found.setdefault(excess.location, 0)
        return found

    def _with_changed_events(self, other: Callable[[int, TraceEvent], TraceEvent]) -> list[ThreadClass]:
        """Returns the actors with replaced events; those without such events are the same objects.

        other: maps the rank of the CTA and an event to the new event, or to the same one.
        """
        changed: list[ThreadClass] = []
        for each in self._thread_classes:
            events = tuple(other(each.rank, event) for event in each.events)
            changed.append(each if all(map(is_, events, each.events)) else replace(each, events=events))
        return changed

    def _completes(self, actors: Sequence[ThreadClass], changed: Step | None) -> bool:
        """Returns whether all actors reach their ends for each priority without a read of unwritten memory.

        changed: the wait with the changed parity. Where it succeeds on a fresh mbarrier, memory must be written after
        it, not read.
        """
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
        """Returns the kind of the first access to cluster memory between a wait and the next one.

        The result is None if there is no access.
        """
        group = next(group for group in self._groups[actor.rank] if actor.tids[0] in group.tids)
        events = iter(group.events)
        for event in events:
            if (event.step, event.visit) == (wait.step, wait.visit):
                break
        for event in events:
            if isinstance(event, UnknownCall) or isinstance(event.effect, MbarrierWait):
                return None
            if not isinstance(event.effect, Access) or event.effect.proxy == "tensormap":
                continue  # a tensor map is not data that the ring transfers
            if event.effect.space not in ("global", "local", "param", "const"):
                return event.effect.kind
        return None


def _flip_parity(step: Step, _: int, event: TraceEvent) -> TraceEvent:
    """Flips the parity of the waits of one instruction, and returns other events unchanged."""
    is_wrong = event.step is step and _waits_for_known_parity(event)
    return event._replace(amount=1 - (event.amount & 1)) if is_wrong else event  # type: ignore[operator]


def _move_wait(step: Step, distance: int, _: int, event: TraceEvent) -> TraceEvent:
    """Moves the waits of one instruction at known mbarriers to others, and returns other events unchanged."""
    if event.step is not step or not isinstance(event.address, int):
        return event
    return event._replace(address=event.address + distance)


def _move_arrival(addresses: Mapping[int, int], _: int, event: TraceEvent) -> TraceEvent:
    """Moves the arrivals whose identities have an address, and returns other events unchanged."""
    return event._replace(address=addresses[id(event)]) if id(event) in addresses else event


def _is_own_mbarrier(rank: int, event: TraceEvent) -> bool:
    """Returns whether the operand of an event is the address of one mbarrier in the CTA's own window."""
    return isinstance(event.address, int) and locations_of(rank, event) == ((rank, event.address),)


def _replace_count(places: set[MbarrierLocation], count: int, rank: int, event: TraceEvent) -> TraceEvent:
    """Replaces the count of an initialization at some locations, and returns other events unchanged."""
    is_made = isinstance(event.effect, MbarrierInit) and not places.isdisjoint(locations_of(rank, event) or ())
    return event._replace(amount=count) if is_made else event


def _waits_for_known_parity(event: TraceEvent) -> bool:
    return isinstance(event.effect, MbarrierWait) and event.effect.by == "parity" and isinstance(event.amount, int)
