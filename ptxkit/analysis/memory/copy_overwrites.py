"""Finds writes of the source or the destination of an asynchronous copy, and whether the copy may still access it.

Source: PTX ISA, "Completion Mechanisms for Asynchronous Copy Operations", "cp.async.bulk.wait_group".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.races import Race
from ptxkit.analysis.context.thread_view import PairBudget, ThreadView
from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.memory.bulk_source_reads import has_read_source
from ptxkit.analysis.symexec.access_ranges import access_range, is_async_write, is_generic_write, is_operand_read
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access


@dataclass(frozen=True, slots=True)
class CopyOverwrite:
    """A write of bytes that a copy reads or writes.

    is_safe: whether the copy has finished with these bytes before the write. is_certain: whether some input certainly
    leads to both.
    """

    copy: AsyncCopy
    write: TraceEvent
    is_safe: bool
    is_certain: bool


def find_source_overwrites(
    facts: ScenarioFacts, issuer: ThreadView, sources: Sequence[AsyncCopy], writer: ThreadView
) -> Iterator[CopyOverwrite]:
    """Yields the writes of one thread to the sources of the copies of a thread, where their order is known.

    A few executions of each pair of instructions are examined.
    """
    index: IntervalIndex[AsyncCopy] = IntervalIndex()
    for copy in sources:
        touched = access_range(copy.event)
        if touched is not None:
            index.add(*touched, copy)
    pair_budget = PairBudget(facts.budget)
    for position, event in writer.accesses:
        if facts.budget.is_exhausted:
            return
        if not (is_generic_write(event) or is_async_write(event)):
            continue
        for copy in index.overlapping(*(access_range(event) or (0, 1))):
            if not pair_budget.allow((event.step, copy.event.step)):
                continue
            is_safe = has_read_source(facts, issuer, copy, writer, position)
            is_certain = issuer.trace.is_certain(copy.position) and writer.trace.is_certain(position)
            if is_safe is not None:
                yield CopyOverwrite(copy, event, is_safe, is_certain)


def find_target_overwrites(issuer: ThreadView) -> Iterator[CopyOverwrite]:
    """Yields the stores of a thread to the destinations of its own copies for which it waits at some time."""
    if not issuer.copies_by_range:
        return
    for position, event in issuer.accesses:
        effect = event.effect
        if not is_generic_write(event) or (isinstance(effect, Access) and effect.completion is not None):
            continue
        for copy in issuer.copies_by_range.overlapping(*(access_range(event) or (0, 1))):
            if copy.position < position and copy.completion_position is not None:
                is_safe = copy.completion_position < position
                yield CopyOverwrite(copy, event, is_safe, issuer.trace.is_certain(position))


def find_overwrite_races(kernel: KernelFacts) -> Iterator[tuple[int, Race]]:
    """Yields the writes by threads that another thread signaled before it had waited for its copies.

    Each comes with the number of its scenario. Scenarios of an assumed block size are omitted.
    """
    for number, race in kernel.races:
        launch, read = kernel.scenarios[number].scenario.launch, race.read
        if (
            (launch.is_exact or launch.is_limit)
            and race.is_early_release
            and read.completion_wait is not None
            and not is_operand_read(read.event)
        ):
            yield number, race
