"""Accesses to Tensor Memory in one scenario: their overlap, and how a thread observes that they are complete.

Addresses are offsets from the unknown base that an allocation returned: two accesses are compared where their bases are
the same. The result of a multiplication begins at its address. Its number of columns is in the descriptor, so that the
analysis assumes only the first column.

Source: PTX ISA, "Memory Consistency Model for 5th generation of TensorCore operations", "Tensor Memory Addressing".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import PairBudget, ThreadView
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_TMEM_EXECUTIONS, MAX_TMEM_PAIRS
from ptxkit.analysis.symexec.tensor_compiler import ABSOLUTE
from ptxkit.analysis.symexec.trace import TraceEvent
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

#: An address has its lane above its column.
LANE_BITS = 16
_COLUMN_MASK = (1 << LANE_BITS) - 1
#: Lanes that one warp may touch.
WARP_LANES = 32
#: Bytes of one column of so many lanes.
_COLUMN_BYTES = 4 * WARP_LANES


@dataclass(frozen=True, slots=True)
class TmemUse:
    """One access to Tensor Memory, or an allocation or deallocation: a thread, its position there, the event."""

    thread: ThreadView
    position: int
    event: TraceEvent

    @property
    def access(self) -> Access | None:
        """The access; None for an allocation or deallocation."""
        return self.event.effect if isinstance(self.event.effect, Access) else None

    @property
    def completion(self) -> str | None:
        """The mechanism that signals its completion: `tcgen05` (a commit), `tcgen05.ld`, `tcgen05.st`."""
        return self.access.completion if self.access is not None else None

    @property
    def path_leader(self) -> int:
        """What the threads that take the same path have in common: the first of them."""
        leader = self.thread.trace.leader
        return self.thread.tid if leader is None else leader

    @property
    def is_committed_write(self) -> bool:
        """Whether it writes, and a commit must show that it is complete."""
        return self.completion == "tcgen05" and self.access is not None and self.access.kind != "read"

    @property
    def location(self) -> tuple[int, int, int] | None:
        """(the unknown it starts from, lane, column), the latter two relative to it."""
        address = self.event.address
        if not isinstance(address, SymbolicValue):
            return None
        return address.identity, address.offset >> LANE_BITS, address.offset & _COLUMN_MASK

    @property
    def is_absolute(self) -> bool:
        """Whether its address is a number, and counts from no allocation."""
        return isinstance(self.event.address, SymbolicValue) and self.event.address.space == ABSOLUTE

    @property
    def columns(self) -> int:
        """How many columns it surely touches."""
        size = self.event.size
        known = self.completion != "tcgen05" and isinstance(size, int)
        return max(size // _COLUMN_BYTES, 1) if known and isinstance(size, int) else 1


class TmemPairBudget:
    """Bounds how many pairs of uses are examined, since threads of one path behave identically."""

    def __init__(self, facts: ScenarioFacts) -> None:
        self._pair_budget = PairBudget(facts.budget)
        self._counts_by_pair: Counter[tuple[object, ...]] = Counter()

    def allow(self, first: TmemUse, second: TmemUse) -> bool:
        """Whether to examine two uses."""
        own = first.thread is second.thread
        key = (own, first.path_leader, second.path_leader, first.event.step, second.event.step)
        self._counts_by_pair[key] += 1
        return self._counts_by_pair[key] <= MAX_TMEM_PAIRS and self._pair_budget.allow(key)


def uses_of(thread: ThreadView) -> Iterator[TmemUse]:
    """A thread's accesses to Tensor Memory, in order: of each instruction the first ones, and the last."""
    found = [
        (at, e) for at, e in thread.positions(Access) if isinstance(e.effect, Access) and e.effect.space == "tensor"
    ]
    last = {event.step: event.visit for _, event in found}
    for position, event in found:
        if event.visit < MAX_TMEM_EXECUTIONS or event.visit == last[event.step]:
            yield TmemUse(thread, position, event)


def deallocations_of(thread: ThreadView) -> Iterator[TmemUse]:
    """A thread's deallocations."""
    for position, event in thread.positions(TensorMemory):
        if isinstance(event.effect, TensorMemory) and event.effect.action == "deallocate":
            yield TmemUse(thread, position, event)


def share_columns(first: TmemUse, second: TmemUse) -> bool:
    """Whether two accesses surely share a column.

    A multiplication of 64 rows takes half of the lanes that a warp may touch; another one may have the other half.
    """
    one, other = first.location, second.location
    if one is None or other is None or one[0] != other[0] or one[1] % WARP_LANES != other[1] % WARP_LANES:
        return False
    return one[2] < other[2] + second.columns and other[2] < one[2] + first.columns


@dataclass(frozen=True, slots=True)
class TmemCommit:
    """A commit that covers an operation: its position, and the mbarrier at which it arrives, None where unknown."""

    position: int
    mbarrier: int | None


def commits_of(use: TmemUse) -> list[TmemCommit]:
    """Returns the commits of the thread after an operation, the first for each mbarrier.

    Each commit covers all operations before it, so that a later one for the same mbarrier adds nothing.
    """
    found: dict[int | None, TmemCommit] = {}
    for position, event in use.thread.positions(MbarrierArrive):
        if position > use.position and isinstance(event.effect, MbarrierArrive) and event.effect.asynchronous:
            barrier = event.address if isinstance(event.address, int) else None
            found.setdefault(barrier, TmemCommit(position, barrier))
    return list(found.values())


def first_wait_after(thread: ThreadView, barrier: int, since: int, until: int) -> int | None:
    """Where a thread first waits on an mbarrier, or on an unknown one, between two positions.

    What a relaxed wait covers is known after the next fence; that of Tensor Memory orders what the wait covers.
    """
    for position, event in thread.positions(MbarrierWait):
        if since < position < until and (event.address == barrier or not isinstance(event.address, int)):
            if not is_relaxed_sync(event.effect):
                return position
            if has_fence_between(thread, position, until):
                return position
            fences = [at for at, _ in thread.positions(MemoryFence, ProxyFence) if position < at < until]
            if fences:
                return min(fences)
    return None


def has_fence_between(thread: ThreadView, since: int, until: int) -> bool:
    """Whether a thread executes an `after_thread_sync` fence for Tensor Memory between two positions."""
    return any(
        since < position < until and isinstance(event.effect, TensorFence) and event.effect.side == "after"
        for position, event in thread.positions(TensorFence)
    )


def has_wait_between(thread: ThreadView, group: str, since: int, until: int) -> bool:
    """Whether a thread waits for its loads (`tcgen05.ld`) or stores between two positions."""
    return any(
        since < position < until and isinstance(event.effect, WaitGroup) and event.effect.group == group
        for position, event in thread.positions(WaitGroup)
    )


def completion_observations(facts: ScenarioFacts, issued: TmemUse, knower: ThreadView, until: int) -> list[int] | None:
    """Where a thread learns, before a position, that a committed operation is complete: it waits itself, or is
    signalled by one that waits (the position of that; -1 where its own warp waits). None where that is unknown."""
    found: list[int] = []
    for commit in commits_of(issued):
        if commit.mbarrier is None:
            return None
        found.extend(_observations_by_threads(facts, issued.thread, commit.position, commit.mbarrier, (knower, until)))
    return found


def _observations_by_threads(
    facts: ScenarioFacts, issuer: ThreadView, committed: int, barrier: int, knower: tuple[ThreadView, int]
) -> Iterator[int]:
    thread, until = knower
    for other in facts.threads.values():
        since = committed if other is issuer else -1
        if other is thread:
            own = first_wait_after(other, barrier, since, until)
            if own is not None:
                yield own
            continue
        at = first_wait_after(other, barrier, since, len(other.trace.events))
        if at is not None:
            if other.tid // 32 == thread.tid // 32:
                yield -1
            yield from (edge.acquire_position for edge in facts.sync_edges(other, at, thread, until))


def has_waiter(facts: ScenarioFacts, issued: TmemUse) -> bool:
    """Whether some thread waits, or may wait, on the mbarrier of a commit that covers an operation."""
    barriers = {commit.mbarrier for commit in commits_of(issued)}
    return None in barriers or any(
        first_wait_after(thread, barrier, -1, len(thread.trace.events)) is not None
        for thread in facts.threads.values()
        for barrier in barriers
        if barrier is not None
    )


def is_complete(facts: ScenarioFacts, write: TmemUse, use: TmemUse) -> bool | None:
    """Whether an operation is observed to be complete, by a commit, before a thread uses its columns.

    The result is None where the two uses may be unrelated.
    """
    commits = commits_of(write)
    own = write.thread is use.thread
    ordered = own or any(facts.sync_edges(write.thread, write.position, use.thread, use.position))
    is_whole = write.thread.trace.end_reason == "exit"
    if not commits or (own and commits[0].position > use.position):
        return False if ordered and is_whole else None
    observations = completion_observations(facts, write, use.thread, use.position)
    if observations is None or observations:
        return None if observations is None else True
    if not own and not is_whole:
        return None  # the wait may be for a commit after the end of its truncated trace
    if ordered:
        return False
    return False if facts.is_exhaustive_for(MbarrierWait) and not has_waiter(facts, write) else None


def depends_on_truncation(facts: ScenarioFacts, write: TmemUse, use: TmemUse) -> bool:
    """Whether an operation is not known to be complete before a use only because a trace was truncated."""
    commits = commits_of(write)
    if not commits or (write.thread is use.thread and commits[0].position > use.position):
        return False
    return may_acquire_from_truncated(facts, use)


def may_acquire_from_truncated(facts: ScenarioFacts, use: TmemUse) -> bool:
    """Whether the thread of a use may acquire, before the use, from threads whose exploration was truncated."""
    return facts.may_acquire_from_truncated(use.thread, use.position)


def writes_before(use: TmemUse, issued: Sequence[TmemUse], budget: AnalysisBudget) -> list[TmemUse]:
    """Of operations on the columns of a use the last ones of its own thread, and the first ones of the others; one for
    each instruction. Nothing where the budget is over."""
    budget.pair_checks -= len(issued)
    if budget.is_exhausted:
        return []
    found: dict[tuple[int, Step], TmemUse] = {}
    for write in issued:
        key = (write.thread.tid, write.event.step)
        own = write.thread is use.thread
        if (own and write.position >= use.position) or (not own and key in found):
            continue
        if share_columns(write, use):
            found[key] = write
    return list(found.values())


def observed_completion(facts: ScenarioFacts, use: TmemUse, knower: TmemUse) -> list[SyncEdge] | None:
    """The edges by which a thread's use comes before another's; None where a third thread may signal it."""
    edges = list(facts.sync_edges(use.thread, use.position, knower.thread, knower.position))
    if edges:
        return edges
    for other in facts.threads.values():
        if other is use.thread or other is knower.thread:
            continue
        if other.tid // 32 == knower.thread.tid // 32:
            # Its lanes execute the later access together: what one of them knew by then will do.
            if any(facts.sync_edges(use.thread, use.position, other, _position_of(other, knower.event))):
                return None
            continue
        for edge in facts.sync_edges(use.thread, use.position, other, len(other.trace.events)):
            if any(facts.sync_edges(other, edge.acquire_position, knower.thread, knower.position)):
                return None
    return []


def are_unordered(facts: ScenarioFacts, earlier: TmemUse, use: TmemUse) -> bool:
    """Whether nothing may order two uses by two warps: neither does one come before the other, nor the reverse.

    What a thread signals to others comes after its wait, where it has one.
    """
    if not (facts.is_complete and facts.scenario.launch.is_exact):
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
    """Whether there are a relaxed wait and a fence of Tensor Memory before a use, which order it as no other fence
    does."""
    return any(
        is_relaxed_sync(event.effect) and has_fence_between(use.thread, position, use.position)
        for position, event in use.thread.positions(MbarrierWait)
    )


def _position_of(thread: ThreadView, event: TraceEvent) -> int:
    """Where a thread executes the same instruction for the same time; its end where it never does."""
    for position, other in thread.positions(type(event.effect)):
        if other.step is event.step and other.visit == event.visit:
            return position
    return len(thread.trace.events)
