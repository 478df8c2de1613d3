"""Who is rehearsed together: the threads of a CTA, or those of all CTAs of its cluster; and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from ptxkit.analysis.actors import Actor, actors_of, synchronises
from ptxkit.analysis.budget import MAX_ACTORS, MAX_CTAS, MAX_RANKS, MAX_REHEARSALS, MAX_REHEARSED
from ptxkit.analysis.explore import Exploration
from ptxkit.analysis.phase_faults import OtherCount, OtherParity, PhaseFaults
from ptxkit.analysis.places import Place, places_of
from ptxkit.analysis.rehearsal import Rehearsal, rehearse
from ptxkit.analysis.trace import Event, Trace
from ptxkit.isa.effects import Barrier, Effect, MbarrierArrive, MbarrierTrack


class Cast:
    """The CTAs of a cluster, or a CTA alone, walked under one scenario."""

    def __init__(self, ctas: Sequence[Exploration]) -> None:
        self._ctas = ctas
        self.size = ctas[0].scenario.launch.cluster_size

    @cached_property
    def actors(self) -> list[Actor]:
        """The threads of all CTAs by how they synchronise, CTA by CTA."""
        return [actor for cta in self._ctas for actor in actors_of(cta.groups, cta.scenario.rank)]

    def at(self, place: Place) -> Sequence[Event]:
        """All that is done with the mbarrier at a place."""
        return self._by_place.get(place, ())

    @cached_property
    def _by_place(self) -> Mapping[Place, Sequence[Event]]:
        found: dict[Place, list[Event]] = {}
        for actor in self.actors:
            for event in actor.events:
                if not isinstance(event.effect, Barrier):
                    for place in dict.fromkeys(places_of(actor.rank, event) or ()):
                        found.setdefault(place, []).append(event)
        return found

    @cached_property
    def is_known(self) -> bool:
        """Whether all threads of all CTAs were walked, and call nothing that is not here."""
        return (
            len(self._ctas) == self.size <= MAX_CTAS
            and all(cta.is_whole for cta in self._ctas)
            and not any(group.opaque for cta in self._ctas for group in cta.groups)
        )

    @cached_property
    def rehearsals(self) -> dict[int, Rehearsal]:
        """By the actor that comes first: each kind of actor, of the CTAs that rules look at.

        Empty where not all of it is known: threads that nobody walked, code that is not here, addresses or parities
        that are not numbers.
        """
        if not self.is_known or not 0 < len(self.actors) <= MAX_ACTORS * self.size:
            return {}
        if self._keeps_step:
            return dict.fromkeys(self._leads, Rehearsal())
        found: dict[int, Rehearsal] = {}
        for first in self._leads:
            if found and self._only_meets:
                found[first] = next(iter(found.values()))
                continue
            found[first] = rehearse(self.actors, first, self.size)
            if found[first].vague or not found[first].finished:
                return {}
        return found

    @cached_property
    def _only_meets(self) -> bool:
        """Whether the actors only wait for all others at barriers: it comes to the same, whoever is first."""
        return all(_is_meeting(event.effect) for actor in self.actors for event in actor.events)

    @property
    def _keeps_step(self) -> bool:
        """Whether all threads meet at the same barriers of their CTAs, one after the other, and those of a warp at the
        same ones of theirs, too: then each of them opens."""
        if not self._only_meets or sum(len(actor.events) for actor in self.actors) >= MAX_REHEARSED:
            return False
        whole: set[Sequence[tuple[Effect, object]]] = set()
        by_warp: dict[tuple[int, int], Sequence[tuple[Effect, object]]] = {}
        for actor in self.actors:
            met = tuple((event.effect, event.amount) for event in actor.events)
            whole.add(tuple(each for each in met if synchronises(each[0], warp=False)))
            if any(by_warp.setdefault((actor.rank, warp), met) != met for warp in actor.warps):
                return False
        return len(whole) == 1 and all(isinstance(number, int | None) for _, number in next(iter(whole)))

    @cached_property
    def hasty(self) -> list[Rehearsal]:
        """The rehearsals with asynchronous arrivals that come at once, the last with all actors in turn; none where
        there are no such arrivals."""
        if not any(_is_late(event) for actor in self.actors for event in actor.events):
            return []
        found = [rehearse(self.actors, first, self.size, hasty=True) for first in self.rehearsals]
        return [*found, rehearse(self.actors, 0, self.size, hasty=True, in_turn=True)] if found else []

    @cached_property
    def fault(self) -> OtherParity | OtherCount | None:
        """The one parity or count that is to blame where rehearsals end badly; None where none is, or more are."""
        groups = [cta.groups for cta in self._ctas]
        return PhaseFaults(self.actors, groups, self.rehearsals).find()

    @property
    def _leads(self) -> list[int]:
        """The actors that come first."""
        found: dict[int, None] = {}
        for cta in self._ctas:
            if cta.scenario.rank < MAX_RANKS:
                own = [n for n, actor in enumerate(self.actors) if actor.rank == cta.scenario.rank]
                found.update(dict.fromkeys(self._alike[n] for n in own[:MAX_REHEARSALS]))
        return list(found)

    @cached_property
    def _alike(self) -> list[int]:
        """By actor: the first one that does the same, but for meetings of its warp."""
        seen: dict[tuple[int, ...], int] = {}
        told = [
            (actor.rank, *(id(e) for e in actor.events if synchronises(e.effect, warp=False))) for actor in self.actors
        ]
        return [seen.setdefault(events, number) for number, events in enumerate(told)]

    def phases_of(self, rank: int, trace: Trace) -> Mapping[int, int]:
        """What a rehearsal with its threads first says of the phases in a thread's trace, by position."""
        number = next(
            (n for n, actor in enumerate(self.actors) if actor.rank == rank and trace.tid in actor.tids), None
        )
        first = None if number is None else self._alike[number]
        if first is None or first not in self.rehearsals:
            return {}
        phases = self.rehearsals[first].phases
        events = enumerate(self.actors[first].events)
        told = [phases.get((first, index)) for index, e in events if synchronises(e.effect, warp=False)]
        own = [at for at, e in enumerate(trace.events) if isinstance(e, Event) and synchronises(e.effect, warp=False)]
        return {position: phase for position, phase in zip(own, told, strict=True) if phase is not None}


def _is_meeting(effect: Effect) -> bool:
    """Whether all threads of a CTA, or of a warp, wait for each other."""
    return (
        isinstance(effect, Barrier)
        and effect.level in ("cta", "warp")
        and (effect.action, effect.threads) == ("sync", None)
    )


def _is_late(event: Event) -> bool:
    """Whether an arrival comes when something else is complete."""
    effect = event.effect
    return isinstance(effect, MbarrierTrack) or (isinstance(effect, MbarrierArrive) and effect.asynchronous)
