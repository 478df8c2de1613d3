"""Accesses to Tensor Memory in one scenario: their overlap, and how a thread observes that they are complete.

Addresses are offsets from the unknown base that an allocation returned: two accesses are compared where their bases are
the same. The result of a multiplication begins at its address. Its number of columns is in the descriptor, so the
analysis assumes only the first column.

Source: PTX ISA, "Memory Consistency Model for 5th generation of TensorCore operations", "Tensor Memory Addressing".
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from functools import cached_property
from operator import itemgetter

from ptxkit.analysis.cluster.cluster_facts import is_alone_in_cluster
from ptxkit.analysis.context.happens_before import key_of_mbarrier
from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import PairBudget, ThreadView
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.limits import MAX_TMEM_EXECUTIONS, MAX_TMEM_PAIRS
from ptxkit.analysis.symexec.tensor_compiler import ABSOLUTE
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.mbarrier_location import locations_of
from ptxkit.analysis.sync.sync_edges import SyncEdge
from ptxkit.analysis.values.symbolic_values import SymbolicValue
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import (
    Access,
    MbarrierArrive,
    MbarrierWait,
    MemoryFence,
    ProxyFence,
    TensorFence,
    TensorMemory,
    WaitGroup,
)
from ptxkit.semantics.ordering import is_relaxed_sync
from ptxkit.syntax.constants import WARP_SIZE

#: The position of the lane in an address; the column is in the lower bits.
LANE_BITS = 16
_COLUMN_MASK = (1 << LANE_BITS) - 1
#: The number of lanes that one warp may access.
WARP_LANES = 32
#: The size in bytes of one column of these lanes.
_COLUMN_BYTES = 4 * WARP_LANES


@dataclass(frozen=True, slots=True)
class TmemCommit:
    """A commit that covers an operation.

    position: its position in the trace. mbarrier: the mbarrier at which it arrives; None where it is unknown. phase:
    the phase in which it counts; 0 where that is unknown.
    """

    position: int
    mbarrier: int | None
    phase: int = 0


@dataclass(frozen=True)
class TmemUse:
    """An access to Tensor Memory, or an allocation or deallocation: a thread, its position there, the event."""

    thread: ThreadView
    position: int
    event: TraceEvent

    @cached_property
    def access(self) -> Access | None:
        """The access; None for an allocation or deallocation."""
        return self.event.effect if isinstance(self.event.effect, Access) else None

    @cached_property
    def completion(self) -> str | None:
        """The mechanism that signals its completion: `tcgen05` (a commit), `tcgen05.ld` or `tcgen05.st`."""
        return self.access.completion if self.access is not None else None

    @property
    def path_leader(self) -> int:
        """The first of the threads that take the same path."""
        leader = self.thread.trace.leader
        return self.thread.tid if leader is None else leader

    @property
    def is_write(self) -> bool:
        return self.access is not None and self.access.kind != "read"

    @property
    def is_committed_write(self) -> bool:
        """Whether it writes, and only a commit shows that it is complete."""
        return self.completion == "tcgen05" and self.is_write

    @cached_property
    def location(self) -> tuple[int, int, int] | None:
        """The unknown base of its address, and the lane and the column relative to it."""
        address = self.event.address
        if not isinstance(address, SymbolicValue):
            return None
        return address.identity, address.offset >> LANE_BITS, address.offset & _COLUMN_MASK

    @property
    def is_absolute(self) -> bool:
        """Whether its address is a number, which is not relative to an allocation."""
        return isinstance(self.event.address, SymbolicValue) and self.event.address.space == ABSOLUTE

    @cached_property
    def columns(self) -> int:
        """The minimum number of columns that it accesses."""
        size = self.event.size
        known = self.completion != "tcgen05" and isinstance(size, int)
        return max(size // _COLUMN_BYTES, 1) if known and isinstance(size, int) else 1

    @cached_property
    def commits(self) -> tuple[TmemCommit, ...]:
        """The commits of the thread after an operation, the first for each mbarrier.

        Each commit covers all operations before it, so that a later one for the same mbarrier adds nothing.
        """
        found: dict[int | None, TmemCommit] = {}
        for position, event in self.thread.positions(MbarrierArrive):
            if position > self.position and isinstance(event.effect, MbarrierArrive) and event.effect.asynchronous:
                barrier = event.address if isinstance(event.address, int) else None
                found.setdefault(barrier, TmemCommit(position, barrier, self.thread.phases.get(position, 0)))
        return tuple(found.values())


class TmemPairBudget:
    """Bounds how many pairs of uses are examined, since threads of one path and warp behave identically."""

    def __init__(self, facts: ScenarioFacts) -> None:
        self._pair_budget = PairBudget(facts.budget)
        self._counts_by_pair: Counter[tuple[object, ...]] = Counter()

    def allow(self, first: TmemUse, second: TmemUse) -> bool:
        """Returns whether to examine two uses."""
        own = first.thread is second.thread
        warps = first.thread.tid // WARP_SIZE, second.thread.tid // WARP_SIZE
        key = (own, first.path_leader, second.path_leader, first.event.step, second.event.step, *warps)
        self._counts_by_pair[key] += 1
        return self._counts_by_pair[key] <= MAX_TMEM_PAIRS and self._pair_budget.allow(key)


def uses_of(thread: ThreadView) -> Iterator[TmemUse]:
    """Yields a thread's accesses to Tensor Memory, in order: the first executions of each instruction, and the last."""
    found = [
        (at, e) for at, e in thread.positions(Access) if isinstance(e.effect, Access) and e.effect.space == "tensor"
    ]
    last = {event.step: event.visit for _, event in found}
    for position, event in found:
        if event.visit < MAX_TMEM_EXECUTIONS or event.visit == last[event.step]:
            yield TmemUse(thread, position, event)


def deallocations_of(thread: ThreadView) -> Iterator[TmemUse]:
    for position, event in thread.positions(TensorMemory):
        if isinstance(event.effect, TensorMemory) and event.effect.action == "deallocate":
            yield TmemUse(thread, position, event)


def may_be_absolute(program: Program, use: TmemUse) -> bool:
    """Returns whether the base of an address may be a constant, which names no lane, instead of an allocation."""
    function, step = program.function_of(use.event.step), use.event.step
    operand = step.operand(use.access.address) if use.access is not None else None
    given = ("unknown", "parameter") if function.is_kernel else ("unknown",)
    return any(leaf.kind in given for leaf in function.analysis(Dependence).sources_reaching(function, step, operand))


def share_columns(first: TmemUse, second: TmemUse) -> bool:
    """Returns whether two accesses certainly share a column.

    A multiplication of 64 rows uses half of the lanes that a warp may access; another one may use the other half.
    """
    one, other = first.location, second.location
    if one is None or other is None or one[0] != other[0] or one[1] % WARP_LANES != other[1] % WARP_LANES:
        return False
    return one[2] < other[2] + second.columns and other[2] < one[2] + first.columns


def first_wait_after(thread: ThreadView, barrier: int, since: int, until: int, phase: int = 0) -> int | None:
    """Returns the position between two others at which a thread first waits on an mbarrier, or on an unknown one.

    phase: the phase that the wait must not precede: one that passes at once, or for an earlier phase, does not count. A
    relaxed wait takes effect at the next fence; a fence of Tensor Memory orders what the wait observes.
    """
    waits = thread.waits_for(barrier)
    for number in range(bisect_right(waits, since, key=itemgetter(0)), len(waits)):
        position, event = waits[number]
        if position >= until:
            return None
        if thread.phases.get(position, phase) >= phase:
            if not is_relaxed_sync(event.effect):
                return position
            if has_fence_between(thread, position, until):
                return position
            fences = [at for at, _ in thread.positions(MemoryFence, ProxyFence) if position < at < until]
            if fences:
                return min(fences)
    return None


def has_fence_between(thread: ThreadView, since: int, until: int, side: str = "after") -> bool:
    """Returns whether a thread executes a fence for Tensor Memory between two positions.

    side: `after` for `after_thread_sync`, `before` for `before_thread_sync`.
    """
    return any(
        since < position < until and isinstance(event.effect, TensorFence) and event.effect.side == side
        for position, event in thread.positions(TensorFence)
    )


def has_wait_between(thread: ThreadView, group: str, since: int, until: int) -> bool:
    """Returns whether a thread waits for its loads (`tcgen05.ld`) or stores between two positions."""
    return any(
        since < position < until and isinstance(event.effect, WaitGroup) and event.effect.group == group
        for position, event in thread.positions(WaitGroup)
    )


def completion_observations(
    facts: ScenarioFacts, issued: TmemUse, knower: ThreadView, until: int
) -> Iterator[int] | None:
    """Yields the positions before its use at `until` at which a thread observes the end of a committed operation.

    The thread waits itself, or a thread that waits signals it. In the latter case the position is that of the signal,
    or -1 where its own warp waits. The result is None where this is unknown.
    """
    ranks = [_ranks_of(facts, issued, commit) for commit in issued.commits]
    if None in ranks:
        return None
    return (
        place
        for commit, reached in zip(issued.commits, ranks, strict=True)
        if reached is not None and facts.scenario.rank in reached
        for place in _observations_by_threads(facts, issued.thread, commit, (knower, until))
    )


def _ranks_of(facts: ScenarioFacts, issued: TmemUse, commit: TmemCommit) -> Collection[int] | None:
    """Returns the ranks of the CTAs at whose mbarrier a commit arrives; None where this is unknown."""
    found = locations_of(facts.scenario.rank, _event_at(issued.thread, commit.position))
    return None if found is None else [rank for rank, _ in found]


def _observations_by_threads(
    facts: ScenarioFacts, issuer: ThreadView, commit: TmemCommit, knower: tuple[ThreadView, int]
) -> Iterator[int]:
    thread, until = knower
    assert commit.mbarrier is not None
    for other in facts.threads.values():
        since = commit.position if other is issuer else -1
        if other is thread:
            own = first_wait_after(other, commit.mbarrier, since, until, commit.phase)
            if own is not None:
                yield own
            continue
        at = first_wait_after(other, commit.mbarrier, since, len(other.trace.events), commit.phase)
        if at is not None:
            # The lanes of a warp use the memory together, so that a wait of another lane counts if it comes before.
            is_lane = other.tid // WARP_SIZE == thread.tid // WARP_SIZE
            if is_lane and at < _position_of(other, _event_at(thread, until)):
                yield -1
            yield from (edge.acquire_position for edge in facts.sync_edges(other, at, thread, until))


def has_waiter(facts: ScenarioFacts, issued: TmemUse) -> bool:
    """Returns whether some thread waits, or may wait, on the mbarrier of a commit that covers an operation."""
    barriers = {(commit.mbarrier, commit.phase) for commit in issued.commits}
    return any(
        barrier is None or first_wait_after(thread, barrier, -1, len(thread.trace.events), phase) is not None
        for thread in facts.threads.values()
        for barrier, phase in barriers
    )


def is_complete(
    facts: ScenarioFacts, write: TmemUse, use: TmemUse, others: Sequence[ScenarioFacts] = ()
) -> bool | None:
    """Returns whether an operation is observed to be complete, by a commit, before a thread uses its columns.

    The result is None where the two uses may be unrelated. others: the other CTAs of the cluster.
    """
    own = write.thread is use.thread
    is_whole = write.thread.trace.end_reason == "exit"
    if not write.commits or (own and write.commits[0].position > use.position):
        return False if is_whole and _is_ordered(facts, write, use) else None
    observations = completion_observations(facts, write, use.thread, use.position)
    if observations is None:
        return None
    if next(observations, None) is not None:
        return True
    if not own and not is_whole:
        return None  # the wait may be for a commit after the end of its truncated trace
    if not is_alone_in_cluster(facts) and _may_observe(facts, write, use, others):
        return None  # a thread of another CTA may have waited, and may have signaled the thread
    if _is_ordered(facts, write, use):
        return False
    return False if facts.is_exhaustive_for(MbarrierWait) and not has_waiter(facts, write) else None


def _may_observe(facts: ScenarioFacts, write: TmemUse, use: TmemUse, others: Sequence[ScenarioFacts]) -> bool:
    """Returns whether the thread of a use may know, by any chain of threads, that an operation is complete."""
    causality, phases = facts.happens_before, dict[Hashable, int]()
    by_rank = {other.scenario.rank: other for other in others}
    for commit in write.commits:
        for rank in _ranks_of(facts, write, commit) or ():
            if rank == facts.scenario.rank:
                phases[key_of_mbarrier(commit.mbarrier)] = commit.phase
            elif rank not in by_rank or _waits_for(by_rank[rank], commit):
                phases[key_of_mbarrier(None)] = 0
    acquirer = causality.path_of(use.thread.tid)
    at = causality.positions_by_execution(acquirer.group).get((use.event.step, use.event.visit))
    return not facts.is_complete or at is None or causality.may_observe(phases, acquirer, at)


def _waits_for(facts: ScenarioFacts, commit: TmemCommit) -> bool:
    """Returns whether a thread of a CTA waits, or may wait, for the phase in which a commit of any CTA counts there."""
    if commit.mbarrier is None or facts.has_unknown_call or not (facts.is_complete and facts.is_exact):
        return True
    return any(
        each.trace.end_reason != "exit"
        or first_wait_after(each, commit.mbarrier, -1, len(each.trace.events), commit.phase) is not None
        for each in facts.threads.values()
    )


def _is_ordered(facts: ScenarioFacts, first: TmemUse, second: TmemUse) -> bool:
    """Returns whether the second use comes after the first: in the same thread, or by a synchronization edge."""
    is_of_thread = first.thread is second.thread
    return is_of_thread or facts.is_ordered(first.thread, first.position, second.thread, second.position)


def depends_on_truncation(facts: ScenarioFacts, write: TmemUse, use: TmemUse) -> bool:
    """Returns whether an operation is not known to be complete before a use only because a trace was truncated."""
    if not write.commits or (write.thread is use.thread and write.commits[0].position > use.position):
        return False
    return may_acquire_from_truncated(facts, use)


def depends_on_guessed_wait(facts: ScenarioFacts, write: TmemUse, use: TmemUse) -> bool:
    """Returns whether an operation is not known to be complete before a use only because a wait was guessed away.

    On a guessed path a loop may end without the wait that decides it, as where the result passes through memory.
    """
    if write.thread.trace.is_certain(write.position) and use.thread.trace.is_certain(use.position):
        return False
    return bool(write.commits) and not facts.is_exhaustive_for(MbarrierWait)


def may_acquire_from_truncated(facts: ScenarioFacts, use: TmemUse) -> bool:
    """Returns whether the thread of a use may acquire, before the use, from threads whose exploration was truncated."""
    return facts.may_acquire_from_truncated(use.thread, use.position)


def writes_before(use: TmemUse, issued: Sequence[TmemUse], budget: AnalysisBudget) -> list[TmemUse]:
    """Returns operations on the columns of a use: the last ones of its own thread, and the first ones of other threads.

    Of the multiplications of other threads, the last ones count, too, if the thread is followed to its exit: often only
    the wait for them shows that they are complete. The result is empty where the budget is exceeded.
    """
    budget.pair_checks -= len(issued)
    if budget.is_exhausted:
        return []
    found: dict[tuple[int, Step, bool], TmemUse] = {}
    for write in issued:
        own = write.thread is use.thread
        if (own and write.position >= use.position) or not share_columns(write, use):
            continue
        if own or (write.is_committed_write and write.thread.trace.end_reason == "exit"):
            found[write.thread.tid, write.event.step, True] = write
        if not own:
            found.setdefault((write.thread.tid, write.event.step, False), write)
    return list(dict.fromkeys(found.values()))


def observed_completion(facts: ScenarioFacts, use: TmemUse, knower: TmemUse) -> list[SyncEdge] | None:
    """Returns the edges that order one thread's use before another's.

    The result is None where a third thread may signal the latter.
    """
    edges = list(facts.sync_edges(use.thread, use.position, knower.thread, knower.position))
    if edges:
        return edges
    for other in facts.threads.values():
        if other is use.thread or other is knower.thread:
            continue
        if other.tid // WARP_SIZE == knower.thread.tid // WARP_SIZE:
            # The lanes of the warp execute the later access together, so it suffices that one of them has observed the
            # completion.
            if facts.is_ordered(use.thread, use.position, other, _position_of(other, knower.event)):
                return None
            continue
        for edge in facts.sync_edges(use.thread, use.position, other, len(other.trace.events)):
            if facts.is_ordered(other, edge.acquire_position, knower.thread, knower.position):
                return None
    return []


def are_unordered(facts: ScenarioFacts, earlier: TmemUse, use: TmemUse) -> bool:
    """Returns whether nothing may order two uses by two warps, in either direction.

    A thread signals after its wait, if it has one. Whether the block has both warps is not considered.
    """
    if not facts.is_complete:
        return False
    causality = facts.happens_before
    releaser, acquirer = causality.path_of(earlier.thread.tid), causality.path_of(use.thread.tid)
    if releaser.warp == acquirer.warp or _follows_relaxed_wait(earlier) or _follows_relaxed_wait(use):
        return False
    here, there = causality.positions_by_execution(releaser.group), causality.positions_by_execution(acquirer.group)
    waits = [
        event
        for position, event in earlier.thread.positions(WaitGroup)
        if position > earlier.position and getattr(event.effect, "group", None) == earlier.completion
    ]
    places = [here.get((each.step, each.visit)) for each in (earlier.event, *waits[:1])]
    used = there.get((use.event.step, use.event.visit))
    started, over = places[0], places[-1]
    if started is None or over is None or used is None:
        return False
    ordered = causality.may_precede(releaser, over, acquirer, used) or causality.may_precede(
        acquirer, used, releaser, started
    )
    return not ordered


def _follows_relaxed_wait(use: TmemUse) -> bool:
    """Returns whether a relaxed wait and then a fence of Tensor Memory precede a use. Only such a fence orders it."""
    return any(
        is_relaxed_sync(event.effect) and has_fence_between(use.thread, position, use.position)
        for position, event in use.thread.positions(MbarrierWait)
    )


def _event_at(thread: ThreadView, position: int) -> TraceEvent:
    event = thread.trace.events[position]
    assert isinstance(event, TraceEvent)  # an unknown call uses no Tensor Memory
    return event


def _position_of(thread: ThreadView, event: TraceEvent) -> int:
    """Returns the position of the same execution of an instruction in a thread; the end of its trace if none."""
    for position, other in thread.positions(type(event.effect)):
        if other.step is event.step and other.visit == event.visit:
            return position
    return len(thread.trace.events)
