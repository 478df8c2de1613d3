"""Plays through how the threads of a CTA, or of all CTAs of a cluster, synchronise: barriers, and phases of mbarriers.

One actor comes first: it goes on whenever it can, the others take a step only while it waits, and what completes
asynchronously is put off until nobody else can move. The manual allows this schedule as much as any other. So a wait of
the first actor passes in the earliest phase that can let it pass, and where everybody waits and nothing is under way,
the kernel can hang.

Source: PTX ISA, "Phase of the mbarrier object", "Tracking asynchronous operations by the mbarrier object",
"cp.async.mbarrier.arrive".
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from heapq import heappop, heappush, heapreplace

from ptxkit.analysis.actors import Actor
from ptxkit.analysis.budget import MAX_REHEARSED
from ptxkit.analysis.meetings import Meeting, Meetings
from ptxkit.analysis.objects import Excess, Object, Objects
from ptxkit.analysis.places import Place, place_of, places_of
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import (
    Barrier,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierInvalidate,
    MbarrierTrack,
    MbarrierWait,
)
from ptxkit.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Stuck:
    """An actor that waits for ever, since the event of that number. state: of the mbarrier it waits for; arrived:
    threads at the barrier it waits at, of `wanted`."""

    actor: int
    event: Event
    since: int
    state: Object | None = None
    arrived: int = 0
    wanted: int = 0


@dataclass(slots=True)
class Rehearsal:
    """What came of it. phases: by (actor, number of its event): of a wait, the phases complete when it passed; of an
    arrival or a copy, the number of the phase that it counts in, from 1: that of the mbarrier which its operand names,
    where it counts for those of several CTAs. Where one mbarrier is made after the other in the same place, the later
    one's phases are counted on.

    stuck: who waits at the end, if nobody can move. uneven: events at one barrier that name different numbers of
    threads. vague: something could not be played as it is: a parity or an address that nobody knows. finished: it was
    played to its end. uneven_bytes: mbarriers that are due bytes at the end, or have had some that nobody announced.
    overfull: the first announcement after which an mbarrier was due more bytes than it can count, with these bytes.
    """

    phases: dict[tuple[int, int], int] = field(default_factory=dict)
    stuck: list[Stuck] = field(default_factory=list)
    excess: list[Excess] = field(default_factory=list)
    uneven: list[tuple[Event, Event]] = field(default_factory=list)
    uneven_bytes: list[Place] = field(default_factory=list)
    overfull: list[tuple[Event, int]] = field(default_factory=list)
    vague: bool = False
    finished: bool = True


class _Stage:
    """The state of one rehearsal. size: CTAs of the cluster. hasty: asynchronous arrivals are not put off."""

    def __init__(self, actors: Sequence[Actor], size: int, hasty: bool) -> None:
        self.actors = actors
        self.size = size
        self.hasty = hasty
        self.result = Rehearsal()
        self.objects = Objects(actors)
        self.meetings = Meetings(actors, self._has_left)
        self.at = [0] * len(actors)
        self.blocked: list[tuple[Meeting, int] | None] = [None] * len(actors)
        #: By actor: the mbarrier that it waited for in vain, and the phases that were complete then.
        self.held: list[tuple[Place, Object, int] | None] = [None] * len(actors)
        self.result.vague = fed_by_many(actors)
        self.later: deque[tuple[int, int, Event, Place]] = deque()
        self.played = 0

    def waits_for(self, actor: int) -> Meeting | Object | None:
        """What holds up an actor that could not step; None where it is at its end."""
        waiting, held = self.blocked[actor], self.held[actor]
        return waiting[0] if waiting is not None else held[1] if held is not None else None

    def moved(self) -> Sequence[Meeting | Object]:
        """What has changed since it was asked last, so that it may let somebody pass."""
        changed, opened = self.objects.changed, self.meetings.opened
        if not changed and not opened:
            return ()
        found: tuple[Meeting | Object, ...] = (*changed, *opened)
        changed.clear()
        opened.clear()
        return found

    def step(self, actor: int) -> bool:
        """Plays the next event of an actor; whether it could."""
        waiting = self.blocked[actor]
        if waiting is not None:
            if waiting[0].opened < waiting[1]:
                return False
            self.blocked[actor] = None
            self._may_leave(actor)
            return True
        held = self.held[actor]
        if held is not None and held[1].phase == held[2] and self.objects.get(held[0]) is held[1]:
            return False
        number = self.at[actor]
        events = self.actors[actor].events
        if number >= len(events):
            return False
        event = events[number]
        if not self._play(actor, number, event):
            return False
        self.at[actor] = number + 1
        self.played += 1
        self._may_leave(actor)
        # Behind the end of a walk that was cut short nobody knows who else would have come, or waited.
        self.objects.is_cut |= number + 1 == len(events) and self.actors[actor].ended != "exit"
        return True

    def _play(self, actor: int, number: int, event: Event) -> bool:
        effect = event.effect
        if isinstance(effect, Barrier):
            self.blocked[actor] = self.meetings.meet(actor, effect, event)
            return True
        own = self.actors[actor].rank
        places = places_of(own, event)
        if places is None or any(rank >= self.size for rank, _ in places):
            self.result.vague = True
            return True
        if isinstance(effect, MbarrierInit):
            self.objects.begin(places[0], event.amount, (event.step, event.visit, self.actors[actor].warps))
            return True
        self.objects.now = self.played
        for place in places:
            known = self.objects.get(place)
            if known is None:
                self.result.vague = True  # PTX501 speaks of it
            elif isinstance(effect, MbarrierWait):
                return self._wait(actor, number, event, place, known)
            else:
                self._signal(actor, number, event, place, known)
        return True

    def _wait(self, actor: int, number: int, event: Event, place: Place, known: Object) -> bool:
        assert isinstance(event.effect, MbarrierWait)
        passes = self.objects.passes(actor, event.effect, event, place, known)
        self.held[actor] = None if passes else (place, known, known.phase)
        if passes:
            self.result.phases[(actor, number)] = known.past + known.phase
        self.result.vague |= place[0] != self.actors[actor].rank  # no thread can wait in another CTA
        return passes

    def _signal(self, actor: int, number: int, event: Event, place: Place, known: Object) -> None:
        """An operation on an mbarrier that holds up nobody."""
        times = len(self.actors[actor].tids)
        match event.effect:
            case MbarrierInvalidate():
                self.objects.end(place)
            case MbarrierExpect():
                self.objects.expect(known, event, event.size, times)
            case MbarrierTrack() as effect:
                known.pending += 0 if effect.counted else times
                self._later(actor, number, event, place)
            case MbarrierComplete():
                self._counts_in(actor, number, event, place, known)
                self.objects.begin_copy(known, event.size, times)
                self.later.append((actor, number, event, place))
            case MbarrierArrive(asynchronous=True):
                self._later(actor, number, event, place)
            case MbarrierArrive():
                self._counts_in(actor, number, event, place, known)
                self.objects.arrive(actor, event, place, known)

    def _later(self, actor: int, number: int, event: Event, place: Place) -> None:
        """Puts an asynchronous arrival off; a hasty one comes at once."""
        self.later.append((actor, number, event, place))
        if self.hasty:
            self.later.rotate(1)
            self.deliver()

    def _counts_in(self, actor: int, number: int, event: Event, place: Place, known: Object) -> None:
        """Notes the phase of an operation: of one on several mbarriers, that of the one which is named."""
        if place == place_of(self.actors[actor].rank, event):
            self.result.phases[(actor, number)] = known.past + known.phase + 1

    def deliver(self) -> bool:
        """Lets the oldest asynchronous operation complete; whether there was one."""
        if not self.later:
            return False
        actor, number, event, place = self.later.popleft()
        known = self.objects.get(place)
        if known is None:
            return True
        times = len(self.actors[actor].tids)
        if isinstance(event.effect, MbarrierComplete):
            self.objects.end_copy(known, event.size, times)
            return True
        each = event.amount if isinstance(event.amount, int) else 1
        self._counts_in(actor, number, event, place, known)
        self.objects.count(known, each * times, actor, event, place)
        return True

    def _has_left(self, actor: int) -> bool:
        told = self.actors[actor]
        return self.blocked[actor] is None and self.at[actor] >= len(told.events) and told.ended == "exit"

    def _may_leave(self, actor: int) -> None:
        if self.at[actor] >= len(self.actors[actor].events) and self._has_left(actor):
            self.meetings.somebody_left()

    # ------------------------------------------------------------------------------------ the end

    def end(self) -> Rehearsal:
        """What came of it, once nobody can move."""
        result = self.result
        result.excess, result.uneven = self.objects.excess, self.meetings.uneven
        result.overfull = self.objects.overfull
        result.vague |= self.objects.vague or self.meetings.vague
        result.finished = self.played < MAX_REHEARSED
        if result.finished:
            result.stuck, result.uneven_bytes = self._stuck(), self.objects.uneven()
        return result

    def _stuck(self) -> list[Stuck]:
        """Who waits."""
        found: list[Stuck] = []
        for actor, told in enumerate(self.actors):
            waiting = self.blocked[actor]
            if waiting is not None:
                number, meeting = self.at[actor] - 1, waiting[0]
                wanted = self.meetings.wanted(meeting)
                found.append(Stuck(actor, told.events[number], number, None, meeting.arrived, wanted))
            elif self.at[actor] < len(told.events):
                event = told.events[self.at[actor]]
                place = place_of(told.rank, event)
                known = None if place is None else self.objects.get(place)
                found.append(Stuck(actor, event, self.at[actor], known))
        return found


def fed_by_many(actors: Sequence[Actor]) -> bool:
    """Whether copies of unknown size complete on one mbarrier from several CTAs: then nobody knows which of them are
    enough for a phase."""
    feeders: dict[Place, int] = {}
    for actor in actors:
        for event in actor.events:
            if isinstance(event.effect, MbarrierComplete) and not isinstance(event.size, int):
                for place in places_of(actor.rank, event) or ():
                    if feeders.setdefault(place, actor.rank) != actor.rank:
                        return True
    return False


def rehearse(
    actors: Sequence[Actor], first: int = 0, size: int = 1, *, hasty: bool = False, in_turn: bool = False
) -> Rehearsal:
    """Plays the actors of a CTA, or of the CTAs of a cluster of a size, one of them first.

    hasty: asynchronous arrivals come at once, which the manual allows as well: some may then be too many. in_turn: each
    actor that can takes one step, and then the next one does, which it allows as well.
    """
    stage = _Stage(actors, size, hasty)
    order = [first, *(n for n in range(len(actors)) if n != first)]
    ready = list(range(len(order)))  # places in the order, as a heap: who is not known to wait; later turns are behind
    waiting: dict[int, list[int]] = defaultdict(list)  # by what they wait for
    while stage.played < MAX_REHEARSED:
        if ready:
            actor = order[ready[0] % len(order)]
            if not stage.step(actor):
                place, held_by = heappop(ready), stage.waits_for(actor)
                if held_by is not None:
                    waiting[id(held_by)].append(place)
            elif in_turn:
                heapreplace(ready, ready[0] + len(order))
        elif not stage.meetings.open_all() and not stage.deliver() and not stage.meetings.take_parts():
            break
        for thing in stage.moved():
            for place in waiting.pop(id(thing), ()):
                heappush(ready, place)
    return stage.end()
