"""Shared memory that multiplications read, and that copies fill again: which filling must wait for which reading.

A place is filled and read in turns: the filling of round n+1 must come after the reading of round n is complete. Turns
are counted where they can be: every instruction that reads the place reads it equally often, one thread fills it.

Source: PTX ISA, "wgmma.wait_group", "tcgen05.commit", "Async Proxy".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ptxkit.analysis.causality import NEVER
from ptxkit.analysis.collectives import WARPGROUP
from ptxkit.analysis.inflight import Copy
from ptxkit.analysis.kernel import World
from ptxkit.analysis.order import Handover
from ptxkit.analysis.program import Step
from ptxkit.analysis.tensor_memory import Use, commits_of, wait_behind
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.touches import is_async_write
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import Access, MbarrierArrive
from ptxkit.records import dataclass

#: How many executions of one instruction are counted on: a thread's accesses have no gap so far.
MAX_TURNS = 12
_GROUPS = ("wgmma", "tcgen05")


@dataclass(frozen=True, slots=True)
class Turn:
    """A reading of round n by a multiplication of `reader`, and the filling of round n+1 by `filler`."""

    reader: Thread
    reading: Copy
    filler: Thread
    position: int
    filling: Event


def turns_of(world: World) -> Iterator[Turn]:
    """The readings and the fillings after them, by places."""
    fillers: dict[int, list[tuple[Thread, int, Event]]] = defaultdict(list)
    reads = {thread: _readings(thread) for thread in world.threads.values()}
    places = {place for by_place in reads.values() for place in by_place}
    if not places:
        return
    for thread in world.threads.values():
        for position, event in thread.accesses:
            if is_async_write(event) and event.address in places and event.visit < MAX_TURNS:
                fillers[event.address].append((thread, position, event))
    for place, fillings in fillers.items():
        if len({thread.tid for thread, _, _ in fillings}) == 1:
            for reader, by_place in reads.items():
                for copies in by_place.get(place, {}).values():
                    for copy, (filler, position, event) in zip(copies, fillings[1:], strict=False):
                        yield Turn(reader, copy, filler, position, event)


def _readings(thread: Thread) -> dict[int, dict[Step, list[Copy]]]:
    """A thread's readings by place and instruction, without places that its instructions read unequally often."""
    found: dict[int, dict[Step, list[Copy]]] = defaultdict(lambda: defaultdict(list))
    for copy in thread.copies:
        effect, place = copy.event.effect, copy.event.address
        reads = copy.group in _GROUPS and isinstance(effect, Access) and effect.via == "descriptor"
        if reads and isinstance(place, int) and copy.event.visit < MAX_TURNS:
            found[place][copy.event.step].append(copy)
    return {place: steps for place, steps in found.items() if len({len(copies) for copies in steps.values()}) == 1}


def is_over(world: World, turn: Turn) -> bool | None:
    """Whether the filling comes after the reading is complete; None where the two may be of other rounds."""
    if turn.filler is turn.reader:
        if turn.reading.position > turn.position:
            return None
        told_of = _may_be_told(world, turn)
        return told_of if told_of is not None else True if _done(turn.reader, turn.reading, turn.position) else None
    if any(world.order(turn.filler, turn.position, turn.reader, turn.reading.position)):
        return None
    team = [t for t in world.threads.values() if t.tid // WARPGROUP == turn.reader.tid // WARPGROUP]
    told = False
    for thread in team if turn.reading.group == "wgmma" else [turn.reader]:
        for copy in thread.copies_at.get((turn.reading.event.step, turn.reading.event.visit), ()):
            if thread is turn.filler and _done(thread, copy, turn.position):
                return True  # the group is the warpgroup's, and the thread that fills has waited for it itself
            for way in world.order(thread, copy.position, turn.filler, turn.position):
                told = True
                if _is_complete_at(world, thread, copy, way, turn):
                    return True
    # Released too early is proven; where no barrier leads from the one to the other, another thread may stand between.
    return False if told else None


def _is_complete_at(world: World, thread: Thread, copy: Copy, way: Handover, turn: Turn) -> bool:
    event = thread.trace.events[way.released]
    if isinstance(event, Event) and isinstance(event.effect, MbarrierArrive) and event.effect.asynchronous:
        return True
    told = _may_be_told(world, turn)
    return told if told is not None else _done(thread, copy, way.released)


def _may_be_told(world: World, turn: Turn) -> bool | None:
    """Whether the thread that fills may learn of a commit that takes the reading in; None where there is none, or where
    nobody knows at which mbarrier."""
    if turn.reading.group != "tcgen05":
        return None
    use = Use(turn.reader, turn.reading.position, turn.reading.event)
    barriers = {commit.barrier for commit in commits_of(use)}
    if not barriers or None in barriers:
        return None
    return any(_may_tell(world, other, barrier, turn) for other in world.threads.values() for barrier in barriers)


def _may_tell(world: World, other: Thread, barrier: int | None, turn: Turn) -> bool:
    """Whether a thread waits on the mbarrier of a commit, and the thread that fills may learn of that, by whomever."""
    since = turn.reading.position if other is turn.reader else -1
    waited = wait_behind(other, barrier, since, len(other.trace.events)) if barrier is not None else None
    if other is turn.filler:
        return waited is not None and waited < turn.position
    if waited is None:
        return other.trace.ended != "exit"
    causality = world.causality
    giver, taker = causality.path_of(other.tid), causality.path_of(turn.filler.tid)
    event = other.trace.events[waited]
    told = causality.places(giver.group).get((event.step, event.visit), 0)
    until = causality.places(taker.group).get((turn.filling.step, turn.filling.visit), NEVER)
    return causality.may_precede(giver, told, taker, until)


def _done(thread: Thread, copy: Copy, until: int) -> bool:
    """Whether a thread knows before a position that its multiplication is complete; where nobody knows at which object
    a commit tells of it, any wait is taken for the right one."""
    if copy.group == "wgmma":
        return copy.done is not None and copy.done < until
    return any(
        copy.position < position < until for positions in thread.marks.acquires.values() for position in positions
    )
