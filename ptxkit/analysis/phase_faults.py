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

from ptxkit.analysis.actors import Actor
from ptxkit.analysis.places import Place, places_of
from ptxkit.analysis.program import Step
from ptxkit.analysis.rehearsal import Rehearsal, rehearse
from ptxkit.analysis.trace import Event, GroupTrace, Opaque
from ptxkit.isa.effects import Access, MbarrierArrive, MbarrierInit, MbarrierTrack, MbarrierWait
from ptxkit.records import dataclass, replace

#: Parities and counts that are supposed to be wrong, each: every one is played anew with each kind of actor first.
MAX_SUPPOSED = 8


@dataclass(frozen=True, slots=True)
class OtherParity:
    """The waits of one instruction ask for the wrong parity. parity: what the first of them should ask for."""

    wait: Step
    parity: int


@dataclass(frozen=True, slots=True)
class OtherCount:
    """The mbarriers at some places, made with `old` arrivals a phase by `inits`, have `count`."""

    inits: tuple[Step, ...]
    places: frozenset[Place]
    old: int
    count: int


class PhaseFaults:
    """The suppositions about one cast. groups: by rank, the walks of all threads. rehearsals: by who comes first."""

    def __init__(
        self, actors: Sequence[Actor], groups: Sequence[Sequence[GroupTrace]], rehearsals: Mapping[int, Rehearsal]
    ) -> None:
        self._actors = actors
        self._groups = groups
        self._rehearsals = rehearsals

    def find(self) -> OtherParity | OtherCount | None:
        """What is to blame; None where nothing is wrong, or no one thing alone explains it."""
        played = self._rehearsals.values()
        if not any(each.stuck or each.excess for each in played) or any(a.ended != "exit" for a in self._actors):
            return None
        supposed = [*self._counts()][:MAX_SUPPOSED], [*self._parities()][:MAX_SUPPOSED]
        partly = any(each.excess or any(s.state and s.state.arrivals for s in each.stuck) for each in played)
        for each, actors in (pair for pairs in (supposed if partly else supposed[::-1]) for pair in pairs):
            if self._goes_well(actors, each.wait if isinstance(each, OtherParity) else None):
                return each
        return None

    def _parities(self) -> Iterator[tuple[OtherParity, list[Actor]]]:
        """Each instruction that waits, with the other parity; those first at which somebody waits for ever."""
        waits = [e for actor in self._actors for e in actor.events if _asks_for_parity(e)]
        stuck = {stuck.event.step for played in self._rehearsals.values() for stuck in played.stuck}
        for step in sorted({e.step for e in waits}, key=lambda step: (step not in stuck, step.start)):
            first = next(e.amount for e in waits if e.step is step)
            assert isinstance(first, int)
            yield OtherParity(step, 1 - (first & 1)), self._with(partial(_turned, step))

    def _counts(self) -> Iterator[tuple[OtherCount, list[Actor]]]:
        """The objects at which phases do not end, or have too many arrivals, with as many as arrive there."""
        arrivals: dict[Place, dict[Step, int]] = defaultdict(lambda: defaultdict(int))
        inits: dict[Place, Event] = {}
        for actor in self._actors:
            seen: set[tuple[Place, Step]] = set()
            for event in actor.events:
                for place in places_of(actor.rank, event) or ():
                    if isinstance(event.effect, MbarrierInit):
                        inits[place] = event
                    elif isinstance(event.effect, MbarrierArrive | MbarrierTrack) and (place, event.step) not in seen:
                        seen.add((place, event.step))
                        each = event.amount if isinstance(event.amount, int) else 1
                        arrivals[place][event.step] += each * len(actor.tids)
        for place, found in self._uneven().items():
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
                    fault = OtherCount(steps, frozenset(alike), made.amount, count)
                    yield fault, self._with(partial(_counted, alike, count))

    def _uneven(self) -> dict[Place, int]:
        """The objects whose phases lack arrivals, or have too many, and how many came in the last one."""
        found: dict[Place, int] = {}
        for played in self._rehearsals.values():
            for stuck in played.stuck:
                places = places_of(self._actors[stuck.actor].rank, stuck.event)
                if stuck.state is not None and stuck.state.pending and places:
                    found.setdefault(places[0], stuck.state.count - stuck.state.pending)
            for excess in played.excess[:1]:
                found.setdefault(excess.place, 0)
        return found

    def _with(self, other: Callable[[int, Event], Event]) -> list[Actor]:
        """The actors with other events. other: makes one of the rank of the CTA and what is there."""
        return [replace(each, events=tuple(other(each.rank, e) for e in each.events)) for each in self._actors]

    def _goes_well(self, actors: Sequence[Actor], changed: Step | None) -> bool:
        """Whether all come to their ends, whoever is first, and nobody reads behind a wait that a fresh object lets
        pass. changed: the wait with another parity: behind that one, memory must be filled."""
        for first in self._rehearsals:
            played = rehearse(actors, first, len(self._groups))
            if played.vague or not played.finished or played.stuck or played.excess or played.uneven:
                return False
            for (actor, number), phases in played.phases.items():
                event = actors[actor].events[number]
                if not phases and _asks_for_parity(event):
                    kind = self._used_behind(actors[actor], event)
                    if kind == "read" or (kind != "write" and event.step is changed):
                        return False
        return True

    def _used_behind(self, actor: Actor, wait: Event) -> str | None:
        """What the first access to memory of the cluster between a wait and the next one does; None without any."""
        group = next(group for group in self._groups[actor.rank] if actor.tids[0] in group.tids)
        events = iter(group.events)
        for event in events:
            if (event.step, event.visit) == (wait.step, wait.visit):
                break
        for event in events:
            if isinstance(event, Opaque) or isinstance(event.effect, MbarrierWait):
                return None
            if isinstance(event.effect, Access) and event.effect.space not in ("global", "local", "param", "const"):
                return event.effect.kind
        return None


def _turned(step: Step, _: int, event: Event) -> Event:
    """A wait of one instruction for the other parity; all else as it is."""
    is_wrong = event.step is step and _asks_for_parity(event)
    return replace(event, amount=1 - (event.amount & 1)) if is_wrong else event  # type: ignore[operator]


def _counted(places: set[Place], count: int, rank: int, event: Event) -> Event:
    """An initialisation at one of some places with another count; all else as it is."""
    is_made = isinstance(event.effect, MbarrierInit) and not places.isdisjoint(places_of(rank, event) or ())
    return replace(event, amount=count) if is_made else event


def _asks_for_parity(event: Event) -> bool:
    """Whether an event waits for a parity that is known."""
    return isinstance(event.effect, MbarrierWait) and event.effect.by == "parity" and isinstance(event.amount, int)
