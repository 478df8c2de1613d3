"""Determines the barrier that orders two unordered accesses: the one for the fewest threads that suffices.

Lanes of one warp need a barrier of the warp. A warp of which one lane releases for all others, before these have
executed their accesses, also needs one. Other threads need a barrier at a place that both reach: a barrier of the whole
CTA where all its threads reach the place, or one with a number and a thread count where only the warps of a role do.
Two roles have no such place in common. If neither access is in a loop, they use such a barrier at two places; otherwise
an mbarrier orders them.

Source: PTX ISA, "bar.warp.sync", "bar, barrier", "Causality Order".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cfg.loops import reachable_nodes
from ptxkit.analysis.context.access_instances import AccessInstance
from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.symexec.trace import GroupEvent, TraceEvent, UnknownCall
from ptxkit.analysis.sync.sync_edges import find_sync_edges, find_unordered_release
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import AsyncRegisters, Barrier
from ptxkit.semantics.ordering import is_warp_barrier
from ptxkit.syntax.constants import WARP_SIZE
from ptxkit.syntax.tree import Integer

WARP_BARRIER = "bar.warp.sync -1;"
CTA_BARRIER = "bar.sync 0;"
#: The number of barriers of a CTA.
NAMED_BARRIERS = 16


@dataclass(frozen=True, slots=True)
class PathPoint:
    """One thread at a position of its path's group."""

    path: WarpPath
    tid: int
    position: int

    @property
    def step(self) -> Step:
        return self.path.group.events[self.position].step

    @property
    def events(self) -> Iterator[tuple[int, TraceEvent]]:
        """The events of the thread, with positions."""
        index = self.path.group.tids.index(self.tid)
        for at, event in enumerate(self.path.group.events):
            own = event.for_thread(index) if isinstance(event, GroupEvent) else event
            if isinstance(own, TraceEvent):
                yield at, own


@dataclass(frozen=True, slots=True)
class OrderingBarrier:
    """A barrier that may be inserted between two accesses.

    text: the statement; None where no barrier suffices. threads: the number of threads that reach its place; None for
    those of one warp. release: the releasing instruction of one lane of the earlier access's warp, while the other
    lanes are not known to have executed their accesses; the barrier belongs before it. is_relaxed: the earlier thread
    itself executes `release`, which is relaxed and orders nothing: no barrier is missing. is_split: one half of the
    barrier belongs after the first access and one before the other, because no place is common to both threads.
    """

    text: str | None
    threads: int | None = None
    release: Step | None = None
    is_relaxed: bool = False
    is_split: bool = False

    @property
    def sole_text(self) -> str | None:
        """The statement, where one statement suffices."""
        return None if self.is_split else self.text


def find_ordering_barrier(facts: ScenarioFacts, first: PathPoint, last: PathPoint) -> OrderingBarrier:
    """Returns the narrowest barrier that orders one access before another.

    What a warpgroup multiplies, other warps of it read, too.
    """
    if first.tid // WARP_SIZE == last.tid // WARP_SIZE and not (_is_of_warpgroup(first) or _is_of_warpgroup(last)):
        return OrderingBarrier(WARP_BARRIER)
    unordered = find_unordered_release(
        first.tid, first.events, first.position, first.position, last.path.release_acquire_points, last.position
    )
    if unordered is not None:
        return OrderingBarrier(None, release=unordered.step, is_relaxed=True)
    release = _release_by_warp_peer(facts, first, last)
    if release is not None:
        return OrderingBarrier(WARP_BARRIER, release=release)
    if not all(facts.program.contains(each.step) for each in (first, last)):
        return OrderingBarrier(CTA_BARRIER)
    flow, number = facts.cfg, _unused_barrier_number(facts.program)
    come_by = max(_common_threads(facts, first, last), key=len, default=frozenset())
    if len(come_by) == facts.scenario.launch.threads:
        return OrderingBarrier(CTA_BARRIER, len(come_by))
    if come_by and number is not None:
        return OrderingBarrier(f"bar.sync {number}, {len(come_by)};", len(come_by))
    roles = [threads_reaching(facts, flow.block_of(each.step)) for each in (first, last)]
    is_once = not any(flow.may_repeat(each.step) for each in (first, last))
    if (
        is_once
        and number is not None
        and all(are_whole_warps(facts, role) for role in roles)
        and roles[0].isdisjoint(roles[1])
    ):
        threads = sum(map(len, roles))
        return OrderingBarrier(f"bar.sync {number}, {threads};", threads, is_split=True)
    return OrderingBarrier(None)


def _is_of_warpgroup(point: PathPoint) -> bool:
    return any(isinstance(effect, AsyncRegisters) and effect.group == "wgmma" for effect in point.step.effects)


def _release_by_warp_peer(facts: ScenarioFacts, first: PathPoint, last: PathPoint) -> Step | None:
    """Returns the instruction by which another lane of the first thread's warp releases to the last thread.

    The other lane executes the same access.
    """
    event = first.path.group.events[first.position]
    for peer in facts.happens_before.paths:
        if peer.warp != first.path.warp or peer.tids == first.path.tids:
            continue
        at = facts.happens_before.positions_by_execution(peer.group).get((event.step, event.visit))
        pairs = (
            ()
            if at is None
            else find_sync_edges(peer.release_acquire_points, at, last.path.release_acquire_points, last.position)
        )
        for pair in pairs:
            released = peer.group.events[pair.release_position]
            if not isinstance(released, UnknownCall) and not is_warp_barrier(released.effect):
                return released.step
    return None


def _common_threads(facts: ScenarioFacts, first: PathPoint, last: PathPoint) -> Iterator[frozenset[int]]:
    """Yields the threads that reach each place between two accesses, if they are whole warps with both threads."""
    flow = facts.cfg
    following = flow.reachable((flow.block_of(first.step),))
    ahead = reachable_nodes(flow.predecessors, (flow.block_of(last.step),))
    if first.step.index < last.step.index and flow.block_of(first.step) == flow.block_of(last.step):
        following = ahead = frozenset({flow.block_of(first.step)})
    for block in following & ahead:
        tids = threads_reaching(facts, block)
        if {first.tid, last.tid} <= tids and are_whole_warps(facts, tids):
            yield tids


def threads_reaching(facts: ScenarioFacts, block: int) -> frozenset[int]:
    """Returns the threads that reach a block; none where all its steps are guarded, so that they are unknown."""
    steps = {step for step in facts.cfg.steps_of_block(block) if step.instruction.guard is None}
    return frozenset(tid for group in facts.groups if not steps.isdisjoint(group.covered_steps) for tid in group.tids)


def are_whole_warps(facts: ScenarioFacts, tids: frozenset[int]) -> bool:
    """Returns whether the threads form whole warps."""
    return len(tids) == min(len({tid // WARP_SIZE for tid in tids}) * WARP_SIZE, facts.scenario.launch.threads)


def _unused_barrier_number(program: Program) -> int | None:
    """Returns the first barrier number from 1 on that neither the kernel nor a function that it calls uses.

    The result is None where a register names a barrier.
    """
    used: set[int] = set()
    for step in program.effectful_steps:
        for effect in step.effects:
            if isinstance(effect, Barrier) and effect.level == "cta":
                number = step.instruction.operands[0] if step.instruction.operands else None
                if number is not None and not isinstance(number, Integer):
                    return None
                used.add(number.value if number is not None else 0)
    return next((number for number in range(1, NAMED_BARRIERS) if number not in used), None)


def find_barrier_between(facts: ScenarioFacts, first: AccessInstance, last: AccessInstance) -> OrderingBarrier:
    """Returns the narrowest barrier that orders one access, after its completion, before another."""
    return find_ordering_barrier(
        facts, PathPoint(first.path, first.tid, first.end_position), PathPoint(last.path, last.tid, last.position)
    )


def path_point_of(facts: ScenarioFacts, thread: ThreadView, position: int) -> PathPoint:
    """Returns the event of one thread's trace as a position among the events of its group."""
    event = thread.trace.events[position]
    path = facts.happens_before.path_of(thread.tid)
    return PathPoint(
        path, thread.tid, facts.happens_before.positions_by_execution(path.group)[(event.step, event.visit)]
    )
