"""Finds writes of the source or the destination of an asynchronous copy, and whether the copy may still access it.

Source: PTX ISA, "Completion Mechanisms for Asynchronous Copy Operations", "cp.async.bulk.wait_group".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from ptxkit.analysis.cluster.cluster_facts import may_poll_memory
from ptxkit.analysis.context.barrier_placement import path_point_of
from ptxkit.analysis.context.happens_before import key_of_mbarrier
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.races import Race
from ptxkit.analysis.context.thread_view import PairBudget, ThreadView
from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.memory.bulk_source_reads import has_read_source
from ptxkit.analysis.memory.copy_completion import CopyStatus, copy_status_at
from ptxkit.analysis.symexec.access_ranges import access_range, is_async_write, is_generic_write, is_operand_read
from ptxkit.analysis.symexec.trace import TraceEvent, UnknownCall
from ptxkit.analysis.sync.async_groups import AsyncCopy
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access
from ptxkit.semantics.ordering import sync_operation_of

_IssuedCopy: TypeAlias = "tuple[ThreadView, AsyncCopy]"
"""A copy, and the thread that starts it."""


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


def find_bulk_collisions(facts: ScenarioFacts) -> Iterator[CopyOverwrite]:
    """Yields the pairs of bulk copies into the same shared memory, of one thread or of two, where their order is known.

    The second one is safe if the first one is complete when it starts; of two threads, either may be the first one. A
    few executions of each pair of instructions are examined. Of one instruction, only copies of two threads in one
    iteration are, into bytes that differ: where an iteration does not wait for the copy of the previous one, other
    rules report it, and threads that copy the same bytes write equal values.
    """
    if facts.has_unknown_call or may_poll_memory(facts.program):
        return
    pair_budget = PairBudget(facts.budget)
    known: IntervalIndex[_IssuedCopy] = IntervalIndex()
    for thread in facts.threads.values():
        for copy in filter(_is_bulk_fill, thread.copies):
            touched = access_range(copy.event) or (0, 0)
            for issuer, earlier in known.overlapping(*touched):
                pair = (earlier.event.step, copy.event.step)
                if facts.budget.is_exhausted:
                    return
                is_same = pair[0] is pair[1]
                if is_same and (issuer is thread or _repeat(earlier.event, copy.event)):
                    continue
                if pair_budget.allow((issuer.tid, thread.tid, *pair)):
                    yield from _collision(facts, (issuer, earlier), (thread, copy))
            known.add(*touched, (thread, copy))


def _repeat(first: TraceEvent, other: TraceEvent) -> bool:
    """Returns whether two copies of one instruction are of different iterations, or write the same bytes."""
    return first.visit != other.visit or access_range(first) == access_range(other)


def _is_bulk_fill(copy: AsyncCopy) -> bool:
    effect = copy.event.effect
    is_store = isinstance(effect, Access) and effect.kind == "write" and effect.multicast is None
    return is_store and is_async_write(copy.event) and access_range(copy.event) is not None


def _collision(facts: ScenarioFacts, first: _IssuedCopy, second: _IssuedCopy) -> Iterator[CopyOverwrite]:
    (issuer, copy), (writer, other) = first, second
    orders = [(first, second)] if writer is issuer else [(first, second), (second, first)]
    known = [
        (one, two)
        for one, two in orders
        if writer is not issuer and facts.is_ordered(one[0], one[1].position, two[0], two[1].position)
    ]
    statuses = {copy_status_at(facts, *one, two[0], two[1].position) for one, two in known or orders}
    if CopyStatus.COMPLETE in statuses:
        yield CopyOverwrite(copy, other.event, True, True)
    elif (
        statuses == {CopyStatus.PENDING}
        and not _may_be_ordered_by_other_cta(facts, first, second)
        and not any(_may_know_completion(facts, one[1], *two) for one, two in known or orders)
    ):
        is_certain = facts.is_certain_pair(issuer, copy.position, writer, other.position)
        yield CopyOverwrite(copy, other.event, False, is_certain)


def _may_know_completion(facts: ScenarioFacts, copy: AsyncCopy, writer: ThreadView, later: AsyncCopy) -> bool:
    """Returns whether a thread may know by others, when it starts a copy, that an earlier one is complete."""
    if not isinstance(copy.barrier, int):
        return False
    point, phases = path_point_of(facts, writer, later.position), {key_of_mbarrier(copy.barrier): copy.phase or 0}
    return facts.happens_before.may_observe(phases, point.path, point.position)


def _may_be_ordered_by_other_cta(facts: ScenarioFacts, first: _IssuedCopy, second: _IssuedCopy) -> bool:
    """Returns whether a CTA of the cluster may order two copies: not those of a thread that does not wait between."""
    if facts.scenario.launch.cluster_size == 1:
        return False
    (issuer, copy), (writer, other) = first, second
    return issuer is not writer or any(
        isinstance(event, UnknownCall)
        or sync_operation_of(event.effect) is not None
        or (isinstance(event.effect, Access) and event.effect.order != "weak")
        for event in issuer.trace.events[copy.position + 1 : other.position]
    )


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
