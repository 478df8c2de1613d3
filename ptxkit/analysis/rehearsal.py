"""Plays through how the threads of a CTA synchronise: barriers, and the phases of mbarriers.

One actor comes first: it goes on whenever it can, the others take a step only while it waits, and what completes
asynchronously is put off until nobody else can move. The manual allows this schedule as much as any other. So a wait of
the first actor passes in the earliest phase that can let it pass, and where everybody waits and nothing is under way,
the kernel can hang.

Source: PTX ISA, "Phase of the mbarrier object", "Tracking asynchronous operations by the mbarrier object",
"mbarrier.test_wait / mbarrier.try_wait", "bar, barrier", "cp.async.mbarrier.arrive".
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence

from ptxkit.analysis.actors import Actor
from ptxkit.analysis.budget import MAX_REHEARSED
from ptxkit.analysis.space import CTA_BITS
from ptxkit.analysis.terms import Value
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

#: The mask of all lanes.
_FULL = 0xFFFFFFFF


@dataclass(slots=True)
class Object:
    """An mbarrier. count: arrivals that a phase needs. pending: those still to come. bytes: those still to come; copies
    of unknown size (`boxes`) bring what is left. phase: phases that are complete. observed: the latest that some wait
    has told of. arrivals: the events that arrived in the current phase, each with its actor.
    """

    count: int
    pending: int
    bytes: int = 0
    boxes: int = 0
    phase: int = 0
    observed: int = 0
    arrivals: list[Event] = field(default_factory=list)
    last: tuple[Event, ...] = ()
    touched: int = 0

    @property
    def is_complete(self) -> bool:
        return self.pending == 0 and self.bytes == 0 and not self.boxes


@dataclass(frozen=True, slots=True)
class Excess:
    """An arrival that its phase has no room for.

    phase: the number of the phase, from 1. others: the arrivals before it. unobserved: the phase began before any
    thread had observed the one before; else all arrivals of the phase were there already.
    """

    actor: int
    event: Event
    phase: int
    others: tuple[Event, ...]
    unobserved: bool
    count: int


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
    arrival or a copy, the number of the phase that it counts in, from 1.

    stuck: who waits at the end, if nobody can move. uneven: events at one barrier that name different numbers of
    threads. vague: something could not be played as it is: a parity or an address that nobody knows. finished: it was
    played to its end.
    """

    phases: dict[tuple[int, int], int] = field(default_factory=dict)
    stuck: list[Stuck] = field(default_factory=list)
    excess: list[Excess] = field(default_factory=list)
    uneven: list[tuple[Event, Event]] = field(default_factory=list)
    vague: bool = False
    finished: bool = True


@dataclass(slots=True)
class _Meeting:
    """A barrier. opened: how often it did. arrived: threads that have come since. wanted: the number of threads that it
    waits for and the event that said so; None for all. rounds: by warp, in which round each of its arrivals counts.
    own: by actor, how often it arrived, and in which round it did so last. warp: of a parted warp, its number.
    """

    opened: int = 0
    arrived: int = 0
    wanted: tuple[int, Event] | None = None
    rounds: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    own: dict[int, tuple[int, int]] = field(default_factory=dict)
    warp: int | None = None


class _Stage:
    """The state of one rehearsal."""

    def __init__(self, actors: Sequence[Actor]) -> None:
        self.actors = actors
        self.result = Rehearsal()
        self.objects: dict[int, Object] = {}
        self.meetings: dict[tuple[str, int], _Meeting] = {}
        self.at = [0] * len(actors)
        self.blocked: list[tuple[_Meeting, int] | None] = [None] * len(actors)
        self.observed: list[Counter[int]] = [Counter() for _ in actors]
        self.tokens: list[Counter[int]] = [Counter() for _ in actors]
        self.later: deque[tuple[int, int, Event]] = deque()
        self.played = 0
        self.changes = 0

    # ------------------------------------------------------------------------------------ one step

    def step(self, actor: int) -> bool:
        """Plays the next event of an actor; whether it could."""
        waiting = self.blocked[actor]
        if waiting is not None:
            if waiting[0].opened < waiting[1]:
                return False
            self.blocked[actor] = None
            return True
        number = self.at[actor]
        events = self.actors[actor].events
        if number >= len(events):
            return False
        event = events[number]
        if not self._play(actor, number, event):
            return False
        self.at[actor] = number + 1
        self.played += 1
        return True

    def _play(self, actor: int, number: int, event: Event) -> bool:
        effect = event.effect
        if isinstance(effect, Barrier):
            self._meet(actor, effect, event)
            return True
        if not isinstance(event.address, int) or event.address >> CTA_BITS:
            self.result.vague = True
            return True
        if isinstance(effect, MbarrierInit):
            count = event.amount if isinstance(event.amount, int) else 0
            self.result.vague |= not count
            self.changes += 1
            self.objects[event.address] = Object(count, count)
            return True
        known = self.objects.get(event.address)
        if known is None:
            self.result.vague = True  # PTX501 speaks of it
            return True
        times = len(self.actors[actor].tids)
        match effect:
            case MbarrierWait():
                return self._wait(actor, number, effect, event, known)
            case MbarrierInvalidate():
                del self.objects[event.address]
            case MbarrierExpect():
                known.touched = self.played
                known.bytes += self._bytes(event.size) * times
            case MbarrierTrack():
                known.pending += 0 if effect.counted else times
                self.later.append((actor, number, event))
            case MbarrierComplete():
                self.result.phases[(actor, number)] = known.phase + 1
                self._started(known, event.size, times)
                self.later.append((actor, number, event))
            case MbarrierArrive(asynchronous=True):
                self.later.append((actor, number, event))
            case MbarrierArrive():
                self._arrive(actor, number, event, known)
        return True

    # ------------------------------------------------------------------------------------ mbarriers

    def _bytes(self, size: Value | None) -> int:
        if isinstance(size, int):
            return size
        self.result.vague = True
        return 0

    def _started(self, known: Object, size: Value | None, times: int) -> None:
        if not isinstance(size, int):
            known.boxes += times

    def _arrive(self, actor: int, number: int, event: Event, known: Object) -> None:
        effect = event.effect
        assert isinstance(effect, MbarrierArrive)
        each = event.amount if isinstance(event.amount, int) else None
        self.result.vague |= each is None or (effect.expect is not None and not isinstance(event.expect, int))
        self.result.phases[(actor, number)] = known.phase + 1
        assert isinstance(event.address, int)
        self.tokens[actor][event.address] = known.phase
        for _ in self.actors[actor].tids:
            if isinstance(event.expect, int):
                known.bytes += event.expect
            if effect.drop:
                known.count -= each or 0
            self._count(known, each or 1, actor, event)

    def _count(self, known: Object, arrivals: int, actor: int, event: Event) -> None:
        known.touched = self.played
        for _ in range(arrivals):
            if known.phase > known.observed:
                self._exceeds(known, actor, event, known.last, unobserved=True)
                known.observed = known.phase
            if known.pending == 0:
                self._exceeds(known, actor, event, tuple(known.arrivals), unobserved=False)
                continue
            known.pending -= 1
            known.arrivals.append(event)
            self._settle(known)

    def _exceeds(self, known: Object, actor: int, event: Event, others: tuple[Event, ...], *, unobserved: bool) -> None:
        excess = Excess(actor, event, known.phase + 1, tuple(dict.fromkeys(others)), unobserved, known.count)
        self.result.excess.append(excess)

    def _settle(self, known: Object) -> None:
        """Ends the phase when all of it is there."""
        if known.is_complete:
            self.changes += 1
            known.phase += 1
            known.pending = known.count
            known.last, known.arrivals = tuple(known.arrivals), []

    def _wait(self, actor: int, number: int, effect: MbarrierWait, event: Event, known: Object) -> bool:
        assert isinstance(event.address, int)
        seen = self.observed[actor]
        if effect.by == "state":
            passes = known.phase > self.tokens[actor][event.address]
        elif isinstance(event.amount, int):
            passes = known.phase & 1 != event.amount & 1
        else:
            self.result.vague = True
            passes = known.phase > seen[event.address]
        if passes:
            self.result.phases[(actor, number)] = known.phase
            seen[event.address] = known.phase
            known.observed = max(known.observed, known.phase)
        return passes

    # ------------------------------------------------------------------------------------ barriers

    def _meet(self, actor: int, effect: Barrier, event: Event) -> None:
        if effect.level == "warp":
            if event.amount is not None and event.amount != _FULL:
                return  # some lanes only: nobody here is held up by that
            key = ("warp", self.actors[actor].tids[0] // 32)
        else:
            if effect.level == "cta" and not isinstance(event.amount, int):
                self.result.vague |= event.amount is not None
            key = (effect.level, event.amount if effect.level == "cta" and isinstance(event.amount, int) else 0)
        meeting = self.meetings.setdefault(key, _Meeting())
        meeting.warp = key[1] if effect.level == "warp" else None
        if effect.action != "wait":
            self._say(meeting, effect, event)
            self._come(actor, meeting)
        if effect.action != "arrive":
            self.blocked[actor] = (meeting, meeting.own.get(actor, (0, 1))[1])

    def _say(self, meeting: _Meeting, effect: Barrier, event: Event) -> None:
        """Notes how many threads the barrier is said to wait for."""
        if effect.threads is None:
            return
        if not isinstance(event.size, int):
            self.result.vague = True
        elif meeting.wanted is not None and meeting.wanted[0] != event.size and meeting.arrived:
            self.result.uneven.append((meeting.wanted[1], event))
        else:
            meeting.wanted = (event.size, event)

    def _come(self, actor: int, meeting: _Meeting) -> None:
        """Counts the threads of an actor. A barrier that waits for a number of threads takes warps as a whole: lanes
        that come on their own count once for all of the warp."""
        before, _ = meeting.own.get(actor, (0, 0))
        last = meeting.opened + 1
        if meeting.wanted is None:
            meeting.arrived += len(self.actors[actor].tids)
        else:
            for warp in sorted(self.actors[actor].warps):
                rounds = meeting.rounds[warp]
                rounds.extend([meeting.opened] * (before - len(rounds)))  # from when it waited for all threads
                if len(rounds) == before:
                    rounds.append(meeting.opened + 1)
                    meeting.arrived += 32
                    self.open(meeting)
                last = rounds[before]
        meeting.own[actor] = (before + 1, last)
        self.open(meeting)

    def open(self, meeting: _Meeting) -> bool:
        """Opens a barrier that all have come to; whether it did."""
        if not meeting.arrived or meeting.arrived < self.wanted(meeting):
            return False
        self.changes += 1
        meeting.opened += 1
        meeting.arrived = 0
        return True

    def wanted(self, meeting: _Meeting) -> int:
        """How many threads must come. Those that have left the kernel are not waited for."""
        if meeting.wanted is not None:
            return meeting.wanted[0]
        members = [
            (number, told)
            for number, told in enumerate(self.actors)
            if meeting.warp is None or told.tids[0] // 32 == meeting.warp
        ]
        return sum(len(told.tids) for number, told in members if not self._has_left(number))

    def _has_left(self, actor: int) -> bool:
        told = self.actors[actor]
        return self.blocked[actor] is None and self.at[actor] >= len(told.events) and told.ended == "exit"

    # ------------------------------------------------------------------------------------ later

    def deliver(self) -> bool:
        """Lets the oldest asynchronous operation complete; whether there was one."""
        if not self.later:
            return False
        actor, number, event = self.later.popleft()
        assert isinstance(event.address, int)
        known = self.objects.get(event.address)
        if known is None:
            return True
        times = len(self.actors[actor].tids)
        if isinstance(event.effect, MbarrierComplete):
            if isinstance(event.size, int):
                known.bytes -= event.size * times
            else:
                known.boxes -= times
                if not known.boxes:
                    known.bytes = 0
            self._settle(known)
            return True
        each = event.amount if isinstance(event.amount, int) else 1
        self.result.phases[(actor, number)] = known.phase + 1
        self._count(known, each * times, actor, event)
        return True

    def stuck(self) -> list[Stuck]:
        """Who waits, when nobody can move."""
        found: list[Stuck] = []
        for actor, told in enumerate(self.actors):
            waiting = self.blocked[actor]
            if waiting is not None:
                number, meeting = self.at[actor] - 1, waiting[0]
                found.append(Stuck(actor, told.events[number], number, None, meeting.arrived, self.wanted(meeting)))
            elif self.at[actor] < len(told.events):
                event = told.events[self.at[actor]]
                known = self.objects.get(event.address) if isinstance(event.address, int) else None
                found.append(Stuck(actor, event, self.at[actor], known))
        return found


def rehearse(actors: Sequence[Actor], first: int = 0) -> Rehearsal:
    """Plays the actors of a CTA, one of them first."""
    stage = _Stage(actors)
    order = [first, *(n for n in range(len(actors)) if n != first)]
    waiting = [-1] * len(actors)  # by actor: how much had changed when it last had to wait
    while stage.played < MAX_REHEARSED:
        for actor in order:
            if waiting[actor] != stage.changes:
                if stage.step(actor):
                    break
                waiting[actor] = stage.changes
        else:
            opened = [stage.open(meeting) for meeting in stage.meetings.values()]
            if not any(opened) and not stage.deliver():
                break
            stage.changes += 1
    result = stage.result
    result.finished = stage.played < MAX_REHEARSED
    result.stuck = stage.stuck() if result.finished else []
    return result
