"""Finds shared memory that multiplications read and copies fill again: which copy must wait for which multiplication.

A buffer is filled and read alternately: the copy of round n+1 must follow the completed reads of round n. Rounds are
counted only where every instruction that reads the buffer reads it equally often, and one thread fills it.

Source: PTX ISA, "wgmma.wait_group", "tcgen05.commit", "Async Proxy".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ptxkit.analysis.context.collective_participation import WARPGROUP
from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.context.warp_order import NEVER
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_REUSE_EXECUTIONS
from ptxkit.analysis.symexec.access_ranges import is_async_write
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.analysis.sync.sync_edges import SyncEdge
from ptxkit.analysis.tensor.tensor_memory import TmemUse, first_wait_after
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, MbarrierArrive

_MMA_GROUPS = ("wgmma", "tcgen05")


@dataclass(frozen=True, slots=True)
class OperandReuse:
    """A read in round n by a multiplication of `reader`, and the copy in round n+1 by `writer`."""

    reader: ThreadView
    read: AsyncCopy
    writer: ThreadView
    position: int
    write: TraceEvent


def find_operand_reuses(facts: ScenarioFacts) -> Iterator[OperandReuse]:
    """Yields the reads and the copies after them, by address."""
    fillers: dict[int, list[tuple[ThreadView, int, TraceEvent]]] = defaultdict(list)
    reads = {thread: _operand_reads(thread) for thread in facts.threads.values()}
    places = {place for by_place in reads.values() for place in by_place}
    if not places:
        return
    for thread in facts.threads.values():
        for position, event in thread.accesses:
            if is_async_write(event) and event.address in places and event.visit < MAX_REUSE_EXECUTIONS:
                fillers[event.address].append((thread, position, event))
    for place, fillings in fillers.items():
        if len({thread.tid for thread, _, _ in fillings}) == 1:
            for reader, by_place in reads.items():
                for copies in by_place.get(place, {}).values():
                    for copy, (filler, position, event) in zip(copies, fillings[1:], strict=False):
                        yield OperandReuse(reader, copy, filler, position, event)


def _operand_reads(thread: ThreadView) -> dict[int, dict[Step, list[AsyncCopy]]]:
    """Returns a thread's reads by address and instruction, without addresses that are read unequally often."""
    found: dict[int, dict[Step, list[AsyncCopy]]] = defaultdict(lambda: defaultdict(list))
    for copy in thread.copies:
        effect, place = copy.event.effect, copy.event.address
        reads = copy.group in _MMA_GROUPS and isinstance(effect, Access) and effect.via == "descriptor"
        if reads and isinstance(place, int) and copy.event.visit < MAX_REUSE_EXECUTIONS:
            found[place][copy.event.step].append(copy)
    return {place: steps for place, steps in found.items() if len({len(copies) for copies in steps.values()}) == 1}


def is_read_complete(facts: ScenarioFacts, turn: OperandReuse) -> bool | None:
    """Returns whether the copy follows the completion of the read; None where the two may belong to other rounds."""
    if turn.writer is turn.reader:
        if turn.read.position > turn.position:
            return None
        is_observed = _may_observe_commit(facts, turn)
        return (
            is_observed
            if is_observed is not None
            else True
            if _is_complete_by(turn.reader, turn.read, turn.position)
            else None
        )
    if facts.is_ordered(turn.writer, turn.position, turn.reader, turn.read.position):
        return None
    team = [t for t in facts.threads.values() if t.tid // WARPGROUP == turn.reader.tid // WARPGROUP]
    is_ordered = False
    for thread in team if turn.read.group == "wgmma" else [turn.reader]:
        for copy in thread.copies_by_execution.get((turn.read.event.step, turn.read.event.visit), ()):
            if thread is turn.writer and _is_complete_by(thread, copy, turn.position):
                return True  # the group belongs to the warpgroup, and the writing thread itself has waited for it
            for edge in facts.sync_edges(thread, copy.position, turn.writer, turn.position):
                is_ordered = True
                if _is_complete_at(facts, thread, copy, edge, turn):
                    return True
    # An early release is proven; where no barrier orders the two, a third thread may.
    return False if is_ordered else None


def _is_complete_at(
    facts: ScenarioFacts, thread: ThreadView, copy: AsyncCopy, edge: SyncEdge, turn: OperandReuse
) -> bool:
    event = thread.trace.events[edge.release_position]
    if isinstance(event, TraceEvent) and isinstance(event.effect, MbarrierArrive) and event.effect.asynchronous:
        return True
    is_ordered = _may_observe_commit(facts, turn)
    return is_ordered if is_ordered is not None else _is_complete_by(thread, copy, edge.release_position)


def _may_observe_commit(facts: ScenarioFacts, turn: OperandReuse) -> bool | None:
    """Returns whether the writing thread may observe a commit that covers the read.

    The result is None where there is no such commit, or where its mbarrier is unknown.
    """
    if turn.read.group != "tcgen05":
        return None
    use = TmemUse(turn.reader, turn.read.position, turn.read.event)
    barriers = {(commit.mbarrier, commit.phase) for commit in use.commits if commit.mbarrier is not None}
    if not barriers or any(commit.mbarrier is None for commit in use.commits):
        return None
    return any(
        _may_notify_writer(facts, other, barrier, phase, turn)
        for other in facts.threads.values()
        for barrier, phase in barriers
    )


def _may_notify_writer(facts: ScenarioFacts, other: ThreadView, barrier: int, phase: int, turn: OperandReuse) -> bool:
    """Returns whether a thread waits on the mbarrier of a commit and may notify the writing thread."""
    since = turn.read.position if other is turn.reader else -1
    waited = first_wait_after(other, barrier, since, len(other.trace.events), phase)
    if other is turn.writer:
        return waited is not None and waited < turn.position
    if waited is None:
        return other.trace.end_reason != "exit"
    causality = facts.happens_before
    releaser, acquirer = causality.path_of(other.tid), causality.path_of(turn.writer.tid)
    event = other.trace.events[waited]
    is_ordered = causality.positions_by_execution(releaser.group).get((event.step, event.visit), 0)
    until = causality.positions_by_execution(acquirer.group).get((turn.write.step, turn.write.visit), NEVER)
    return causality.may_precede(releaser, is_ordered, acquirer, until)


def _is_complete_by(thread: ThreadView, copy: AsyncCopy, until: int) -> bool:
    """Returns whether a thread has observed before a position that its multiplication is complete.

    If the mbarrier of its commit is unknown, any wait is assumed to observe it.
    """
    if copy.group == "wgmma":
        return copy.completion_position is not None and copy.completion_position < until
    return any(
        copy.position < position < until
        for positions in thread.release_acquire_points.acquires.values()
        for position in positions
    )
