"""Finds operands of `tcgen05` operations in shared memory that are overwritten through the generic proxy.

The manual names no proxy fence that the completion of such an operation implies, in contrast to bulk copies and
`wgmma`.

Source: PTX ISA, "Async Proxy", "tcgen05: Shared Memory Accesses", "membar / fence".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import PairBudget, ThreadView
from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.access_ranges import access_range, is_async_read, is_generic_write
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access


@dataclass(frozen=True, slots=True)
class OperandOverwrite:
    """A store of bytes that an operation read before, ordered after it.

    sync: the step that orders them; None where one thread executes both. is_fenced: whether a fence orders the proxies.
    is_certain: whether some input certainly leads to both, on the same paths in between.
    """

    operation: TraceEvent
    store: TraceEvent
    sync: Step | None
    is_fenced: bool
    is_certain: bool


def find_operand_overwrites(facts: ScenarioFacts) -> Iterator[OperandOverwrite]:
    """Yields such stores between the traced threads of one scenario.

    A few executions of each pair of instructions are examined.
    """
    issuers = [(thread, _operand_reads(thread)) for thread in facts.threads.values()]
    issuers = [(thread, operands) for thread, operands in issuers if operands]
    if not issuers:
        return
    pair_budget = PairBudget(facts.budget)
    for writer in facts.threads.values():
        for position, event in writer.accesses:
            if not _is_store(event):
                continue
            for issuer, operands in issuers:
                for at, operation in operands.overlapping(*(access_range(event) or (0, 1))):
                    key = (issuer.tid, writer.tid, operation.step, event.step)
                    if (issuer is not writer or at < position) and pair_budget.allow(key):
                        yield from _check_pair(facts, (issuer, at, operation), (writer, position, event))
            if facts.budget.is_exhausted:
                return


def _operand_reads(thread: ThreadView) -> IntervalIndex[tuple[int, TraceEvent]]:
    """Returns the reads of shared memory by a thread's operations."""
    found: IntervalIndex[tuple[int, TraceEvent]] = IntervalIndex()
    for position, event in thread.accesses:
        effect = event.effect
        if is_async_read(event) and isinstance(effect, Access) and effect.completion == "tcgen05":
            found.add(*(access_range(event) or (0, 0)), (position, event))
    return found


def _is_store(event: TraceEvent) -> bool:
    return is_generic_write(event) and isinstance(event.effect, Access) and event.effect.completion is None


def _check_pair(
    facts: ScenarioFacts, operation: tuple[ThreadView, int, TraceEvent], store: tuple[ThreadView, int, TraceEvent]
) -> Iterator[OperandOverwrite]:
    issuer, at, first = operation
    writer, position, second = store
    spans = facts.spans_between(issuer, at, writer, position)
    if not spans or any(
        facts.async_overwrites.may_overwrite_between(*span, access_range(second) or (0, 1)) for span in spans
    ):
        return
    sync = None if issuer is writer else writer.trace.events[spans[-1][1]].step
    fenced = any(thread.may_fence_between(since, until) for thread, since, until in spans)
    sure = facts.are_certain_spans(spans)
    yield OperandOverwrite(first, second, sync, fenced, sure)
