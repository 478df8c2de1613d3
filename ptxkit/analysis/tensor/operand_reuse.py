"""Shared memory that multiplications read and copies fill again: which copy must wait for which multiplication.

A buffer is filled and read alternately: the copy of round n+1 must follow the completed reads of round n. Rounds
are counted only where every instruction that reads the buffer reads it equally often, and one thread fills it.

Source: PTX ISA, "wgmma.wait_group", "tcgen05.commit", "Async Proxy".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ptxkit.analysis.context.collective_participation import WARPGROUP
from ptxkit.analysis.context.happens_before import NEVER
from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.access_ranges import is_async_write
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.analysis.sync.sync_edges import SyncEdge
from ptxkit.analysis.tensor.tensor_memory import TmemUse, commits_of, first_wait_after
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, MbarrierArrive

#: How many executions of one instruction are counted on: a thread's accesses have no gap so far.
MAX_EXECUTIONS = 12
_MMA_GROUPS = ("wgmma", "tcgen05")


@dataclass(frozen=True, slots=True)
class OperandReuse:
    """A reading of round n by a multiplication of `reader`, and the filling of round n+1 by `filler`."""

    reader: ThreadView
    read: AsyncCopy
    writer: ThreadView
    position: int
    write: TraceEvent


def find_operand_reuses(world: ScenarioFacts) -> Iterator[OperandReuse]:
    """The readings and the fillings after them, by places."""
    fillers: dict[int, list[tuple[ThreadView, int, TraceEvent]]] = defaultdict(list)
    reads = {thread: _operand_reads(thread) for thread in world.threads.values()}
    places = {place for by_place in reads.values() for place in by_place}
    if not places:
        return
    for thread in world.threads.values():
        for position, event in thread.accesses:
            if is_async_write(event) and event.address in places and event.visit < MAX_EXECUTIONS:
                fillers[event.address].append((thread, position, event))
    for place, fillings in fillers.items():
        if len({thread.tid for thread, _, _ in fillings}) == 1:
            for reader, by_place in reads.items():
                for copies in by_place.get(place, {}).values():
                    for copy, (filler, position, event) in zip(copies, fillings[1:], strict=False):
                        yield OperandReuse(reader, copy, filler, position, event)


def _operand_reads(thread: ThreadView) -> dict[int, dict[Step, list[AsyncCopy]]]:
    """A thread's readings by place and instruction, without places that its instructions read unequally often."""
    found: dict[int, dict[Step, list[AsyncCopy]]] = defaultdict(lambda: defaultdict(list))
    for copy in thread.copies:
        effect, place = copy.event.effect, copy.event.address
        reads = copy.group in _MMA_GROUPS and isinstance(effect, Access) and effect.via == "descriptor"
        if reads and isinstance(place, int) and copy.event.visit < MAX_EXECUTIONS:
            found[place][copy.event.step].append(copy)
    return {place: steps for place, steps in found.items() if len({len(copies) for copies in steps.values()}) == 1}


def is_read_complete(world: ScenarioFacts, turn: OperandReuse) -> bool | None:
    """Whether the filling comes after the reading is complete; None where the two may be of other rounds."""
    if turn.writer is turn.reader:
        if turn.read.position > turn.position:
            return None
        told_of = _may_observe_commit(world, turn)
        return (
            told_of if told_of is not None else True if _is_complete_by(turn.reader, turn.read, turn.position) else None
        )
    if any(world.sync_edges(turn.writer, turn.position, turn.reader, turn.read.position)):
        return None
    team = [t for t in world.threads.values() if t.tid // WARPGROUP == turn.reader.tid // WARPGROUP]
    told = False
    for thread in team if turn.read.group == "wgmma" else [turn.reader]:
        for copy in thread.copies_by_execution.get((turn.read.event.step, turn.read.event.visit), ()):
            if thread is turn.writer and _is_complete_by(thread, copy, turn.position):
                return True  # the group is the warpgroup's, and the thread that fills has waited for it itself
            for way in world.sync_edges(thread, copy.position, turn.writer, turn.position):
                told = True
                if _is_complete_at(world, thread, copy, way, turn):
                    return True
    # Released too early is proven; where no barrier leads from the one to the other, another thread may stand between.
    return False if told else None


def _is_complete_at(
    world: ScenarioFacts, thread: ThreadView, copy: AsyncCopy, way: SyncEdge, turn: OperandReuse
) -> bool:
    event = thread.trace.events[way.release_position]
    if isinstance(event, TraceEvent) and isinstance(event.effect, MbarrierArrive) and event.effect.asynchronous:
        return True
    told = _may_observe_commit(world, turn)
    return told if told is not None else _is_complete_by(thread, copy, way.release_position)


def _may_observe_commit(world: ScenarioFacts, turn: OperandReuse) -> bool | None:
    """Whether the thread that fills may learn of a commit that takes the reading in; None where there is none, or where
    nobody knows at which mbarrier."""
    if turn.read.group != "tcgen05":
        return None
    use = TmemUse(turn.reader, turn.read.position, turn.read.event)
    barriers = {commit.mbarrier for commit in commits_of(use)}
    if not barriers or None in barriers:
        return None
    return any(
        _may_notify_writer(world, other, barrier, turn) for other in world.threads.values() for barrier in barriers
    )


def _may_notify_writer(world: ScenarioFacts, other: ThreadView, barrier: int | None, turn: OperandReuse) -> bool:
    """Whether a thread waits on the mbarrier of a commit, and the thread that fills may learn of that, by whomever."""
    since = turn.read.position if other is turn.reader else -1
    waited = first_wait_after(other, barrier, since, len(other.trace.events)) if barrier is not None else None
    if other is turn.writer:
        return waited is not None and waited < turn.position
    if waited is None:
        return other.trace.end_reason != "exit"
    causality = world.happens_before
    giver, taker = causality.path_of(other.tid), causality.path_of(turn.writer.tid)
    event = other.trace.events[waited]
    told = causality.positions_by_execution(giver.group).get((event.step, event.visit), 0)
    until = causality.positions_by_execution(taker.group).get((turn.write.step, turn.write.visit), NEVER)
    return causality.may_precede(giver, told, taker, until)


def _is_complete_by(thread: ThreadView, copy: AsyncCopy, until: int) -> bool:
    """Whether a thread knows before a position that its multiplication is complete; where nobody knows at which object
    a commit tells of it, any wait is taken for the right one."""
    if copy.group == "wgmma":
        return copy.completion_position is not None and copy.completion_position < until
    return any(
        copy.position < position < until
        for positions in thread.release_acquire_points.acquires.values()
        for position in positions
    )
