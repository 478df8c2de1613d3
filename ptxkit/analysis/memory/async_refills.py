"""Finds bytes of shared memory that are used through the generic proxy and then written through the async proxy.

The proxy fence of such a crossing may be in the thread that used the bytes, before its release, or in the thread that
writes them, after its acquire. A wait for the completion of a bulk copy or an asynchronous multiplication implies such
a fence.

Source: PTX ISA, "Async Proxy", "membar / fence", "wgmma.wait_group".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import PairBudget, ThreadView
from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.access_ranges import access_range, is_generic_read, is_generic_write
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, Barrier, MbarrierWait, WaitGroup
from ptxkit.semantics.ordering import IMPLICIT_FENCE_GROUPS


@dataclass(frozen=True, slots=True)
class AsyncRefill:
    """An asynchronous write of bytes that a generic access used before, where the two are ordered.

    sync: the step that orders the two in the writing thread; None where one thread executes both. is_fenced: whether a
    fence orders the proxies. is_certain: whether some input certainly leads to both, on the same paths in between.
    """

    use: TraceEvent
    write: TraceEvent
    sync: Step | None
    is_fenced: bool
    is_certain: bool


def find_refills(facts: ScenarioFacts) -> Iterator[AsyncRefill]:
    """Yields the refills between the traced threads of one scenario.

    A few executions of each pair of instructions are examined.
    """
    writers = [thread for thread in facts.threads.values() if thread.async_writes]
    if not writers:
        return
    refills = RefillFinder(facts)
    for user in facts.threads.values():
        uses = _generic_accesses(user)
        for writer in writers:
            for position, event in writer.async_writes:
                for at, use in uses.overlapping(*(access_range(event) or (0, 1))):
                    if writer is not user or at < position:
                        yield from refills.between(user, at, use, (writer, position, event))
                if facts.budget.is_exhausted:
                    return


def _generic_accesses(thread: ThreadView) -> IntervalIndex[tuple[int, TraceEvent]]:
    """Returns a thread's generic accesses to shared memory."""
    found: IntervalIndex[tuple[int, TraceEvent]] = IntervalIndex()
    for position, event in thread.accesses:
        stored = is_generic_write(event) and isinstance(event.effect, Access) and event.effect.completion is None
        if stored or is_generic_read(event):
            found.add(*(access_range(event) or (0, 0)), (position, event))
    return found


class RefillFinder:
    """Examines pairs of accesses in one scenario."""

    def __init__(self, facts: ScenarioFacts) -> None:
        self._facts = facts
        self._pair_budget = PairBudget(facts.budget)
        self._copy_mbarriers = frozenset(
            copy.event.barrier for thread in facts.threads.values() for copy in thread.copies
        )

    def between(
        self, user: ThreadView, at: int, use: TraceEvent, refill: tuple[ThreadView, int, TraceEvent]
    ) -> Iterator[AsyncRefill]:
        """Yields the refill of a use and a later write, where the use is ordered before the write."""
        writer, position, write = refill
        if not self._pair_budget.allow((user.tid, writer.tid, use.step, write.step)):
            return
        spans = self._facts.spans_between(user, at, writer, position)
        if user is writer:
            syncs = [event.step for when, event in user.positions(Barrier) if at < when < position]
        else:
            syncs = [writer.trace.events[acquired].step for _, acquired, _ in spans[-1:]]
        if not spans or any(
            self._facts.async_overwrites.may_overwrite_between(*span, access_range(write) or (0, 1)) for span in spans
        ):
            return
        fenced = any(self._is_fenced(*span) for span in spans)
        sure = self._facts.are_certain_spans(spans)
        yield AsyncRefill(use, write, syncs[-1] if syncs else None, fenced, sure)

    def _is_fenced(self, thread: ThreadView, since: int, until: int) -> bool:
        if thread.may_fence_between(since, until):
            return True
        if any(thread.first_one_way_fence(half, since, until) is not None for half in ("release", "acquire")):
            return True
        waits = thread.positions(WaitGroup, MbarrierWait)
        return any(since < at < until and self._implies_fence(event) for at, event in waits)

    def _implies_fence(self, event: TraceEvent) -> bool:
        """Returns whether a wait may be for a bulk copy or for an asynchronous multiplication."""
        if isinstance(event.effect, WaitGroup):
            return event.effect.group in IMPLICIT_FENCE_GROUPS
        return event.address in self._copy_mbarriers or not isinstance(event.address, int)
