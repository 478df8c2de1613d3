"""Barriers as a rehearsal plays them: who has come, and when they open.

Each CTA has barriers of its own, and each warp one; the threads of all CTAs of a cluster share one more.
Source: PTX ISA, "bar, barrier", "barrier.cluster", "bar.warp.sync".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TypeAlias

from ptxkit.analysis.actors import Actor
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import Barrier
from ptxkit.records import dataclass, field

#: The mask of all lanes.
_FULL = 0xFFFFFFFF

#: The level of a barrier, the CTA (its rank), and the barrier's number or the warp's.
Key: TypeAlias = tuple[str, int, int]


@dataclass(slots=True)
class Meeting:
    """A barrier. opened: how often it did. arrived: threads that have come since. wanted: the number of threads that it
    waits for and the event that said so; None for all. rounds: by warp, in which round each of its arrivals counts.
    parts: the warps of which only some lanes have come, and do not count yet. own: by actor, how often it arrived, and
    in which round it did so last. waited: by actor, how often it did. members: the actors that a barrier of all waits
    for.
    """

    members: tuple[int, ...]
    opened: int = 0
    arrived: int = 0
    wanted: tuple[int, Event] | None = None
    rounds: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    parts: set[int] = field(default_factory=set)
    own: dict[int, tuple[int, int]] = field(default_factory=dict)
    waited: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    present: int | None = None
    """The threads of its members that are still there; None where nobody has counted them since one left."""


class Meetings:
    """All barriers of one rehearsal.

    has_left: whether an actor has left the kernel, so that nobody waits for it. uneven: events at one barrier that name
    different numbers of threads. vague: something could not be played as it is. opened: those that have since somebody
    looked.
    """

    def __init__(self, actors: Sequence[Actor], has_left: Callable[[int], bool]) -> None:
        self._actors = actors
        self._warps = [sorted(each.warps) for each in actors]
        self._with_lanes_of: dict[tuple[int, int], list[int]] = defaultdict(list)  # actors, by CTA and warp
        for index, each in enumerate(actors):
            for warp in self._warps[index]:
                self._with_lanes_of[(each.rank, warp)].append(index)
        self._has_left = has_left
        self._meetings: dict[Key, Meeting] = {}
        self.uneven: list[tuple[Event, Event]] = []
        self.vague = False
        self.opened: list[Meeting] = []

    def meet(self, actor: int, effect: Barrier, event: Event) -> tuple[Meeting, int] | None:
        """Plays an actor's part in a barrier; the barrier, and the round of it that the actor waits for now."""
        key = self._key(self._actors[actor], effect, event)
        if key is None:
            return None
        meeting = self._meetings.get(key)
        if meeting is None:
            meeting = self._meetings[key] = Meeting(self._members(key))
        if effect.level == "cluster" and not _alternates(meeting, actor, effect.action):
            self.vague = True  # PTX613 speaks of it
        if effect.action != "wait":
            self._say(meeting, effect, event)
            self._come(actor, meeting)
        if effect.action == "arrive":
            return None
        meeting.waited[actor] += 1
        return meeting, meeting.own.get(actor, (0, 1))[1]

    def _key(self, told: Actor, effect: Barrier, event: Event) -> Key | None:
        """Which barrier it is; None where some lanes only meet: nobody here is held up by that."""
        if effect.level == "warp":
            mask = event.amount  # -1 is as wide as an immediate is
            whole = mask is None or (isinstance(mask, int) and mask & _FULL == _FULL)
            return ("warp", told.rank, told.tids[0] // 32) if whole else None
        if effect.level == "cluster":
            return ("cluster", 0, 0)
        if isinstance(event.amount, int):
            return ("cta", told.rank, event.amount)
        self.vague |= event.amount is not None
        return ("cta", told.rank, 0)

    def _members(self, key: Key) -> tuple[int, ...]:
        level, rank, number = key
        return tuple(
            index
            for index, told in enumerate(self._actors)
            if level == "cluster" or (told.rank == rank and (level == "cta" or told.tids[0] // 32 == number))
        )

    def _say(self, meeting: Meeting, effect: Barrier, event: Event) -> None:
        """Notes how many threads the barrier is said to wait for."""
        if effect.threads is None:
            return
        if not isinstance(event.size, int):
            self.vague = True
        elif meeting.wanted is not None and meeting.wanted[0] != event.size and (meeting.arrived or meeting.parts):
            self.uneven.append((meeting.wanted[1], event))
        else:
            meeting.wanted = (event.size, event)

    def _come(self, actor: int, meeting: Meeting) -> None:
        """Counts the threads of an actor. A barrier that waits for a number of threads takes warps as a whole: when the
        last of its lanes comes, or when nobody else can move."""
        before, _ = meeting.own.get(actor, (0, 0))
        last = meeting.opened + 1
        if meeting.wanted is None:
            meeting.arrived += len(self._actors[actor].tids)
        else:
            for warp in self._warps[actor]:
                rounds = meeting.rounds[warp]
                rounds.extend([meeting.opened] * (before - len(rounds)))  # from when it waited for all threads
                if len(rounds) == before:
                    if warp in meeting.parts:
                        self._count(meeting, warp)
                    rounds.append(meeting.opened + 1)
                    meeting.parts.add(warp)
                last = rounds[before]
                if warp in meeting.parts and self._is_whole(meeting, warp, actor):
                    self._count(meeting, warp)
        meeting.own[actor] = (before + 1, last)
        self.open(meeting)

    def _is_whole(self, meeting: Meeting, warp: int, comes: int) -> bool:
        """Whether all lanes of a warp have come to what it is at, but for those that have left, when an actor comes."""
        times = len(meeting.rounds[warp])
        return all(
            meeting.own.get(member, (0, 0))[0] + (member == comes) >= times or self._has_left(member)
            for member in self._with_lanes_of[(self._actors[comes].rank, warp)]
        )

    def _count(self, meeting: Meeting, warp: int) -> None:
        """A warp has come. In which round, its first lanes were told when they came."""
        meeting.parts.discard(warp)
        self.vague |= meeting.rounds[warp][-1] != meeting.opened + 1
        meeting.arrived += 32
        self.open(meeting)

    def take_parts(self) -> bool:
        """Counts a warp of which the other lanes do not come; whether there was one."""
        for meeting in self._meetings.values():
            if meeting.parts:
                self._count(meeting, min(meeting.parts))
                return True
        return False

    def open(self, meeting: Meeting) -> bool:
        """Opens a barrier that all have come to; whether it did."""
        if not meeting.arrived or meeting.arrived < self.wanted(meeting):
            return False
        self.opened.append(meeting)
        meeting.opened += 1
        meeting.arrived = 0
        return True

    def open_all(self) -> bool:
        """Opens the barriers that nobody else comes to, since the others have left; whether there were any."""
        opened = [self.open(meeting) for meeting in self._meetings.values()]
        return any(opened)

    def wanted(self, meeting: Meeting) -> int:
        """How many threads must come. Those that have left the kernel are not waited for."""
        if meeting.wanted is not None:
            return meeting.wanted[0]
        if meeting.present is None:
            left = self._has_left
            meeting.present = sum(len(self._actors[member].tids) for member in meeting.members if not left(member))
        return meeting.present

    def somebody_left(self) -> None:
        """Takes note that an actor has left the kernel: it is not waited for any more."""
        for meeting in self._meetings.values():
            meeting.present = None


def _alternates(meeting: Meeting, actor: int, action: str) -> bool:
    """Whether an actor arrives and waits in turn."""
    arrived, waited = meeting.own.get(actor, (0, 0))[0], meeting.waited[actor]
    return arrived == waited if action == "arrive" else arrived == waited + 1
