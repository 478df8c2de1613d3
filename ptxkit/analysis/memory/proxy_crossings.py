"""Where bytes of shared memory pass from the generic proxy to the async proxy, and the proxy fence between.

A generic write (a store, a completed `cp.async`) and an async read of the same bytes, in the same thread or in two that
a barrier orders, make a crossing. The fence may be in the writing thread before its release, or in the reading one
after its acquire. Source: PTX ISA, "Async Proxy", "membar / fence".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import PairBudget, ThreadView
from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.access_ranges import (
    access_range,
    is_async_read,
    is_generic_write,
    orders_shared_before_async,
)
from ptxkit.analysis.symexec.trace import TraceEvent, UnknownCall
from ptxkit.fast_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProxyCrossing:
    """fence: the first that covers the crossing; None where none does."""

    write: Step
    read: Step
    fence: Step | None


def find_proxy_crossings(facts: ScenarioFacts) -> Iterator[ProxyCrossing]:
    """The crossings between the traced threads of one scenario, each pair of instructions looked at a few times."""
    readers = [
        (thread, position, event)
        for thread in facts.threads.values()
        for position, event in thread.accesses
        if is_async_read(event)
    ]
    if not readers:
        return
    looks = PairBudget(facts.budget)
    for writer in facts.threads.values():
        writes = generic_writes_of(writer)
        for reader, position, event in readers:
            low, high = access_range(event) or (0, 1)
            for at, write in dict.fromkeys(writes.overlapping(low, high)):
                ordered = reader is not writer or at < position
                if ordered and looks.allow((writer.tid, reader.tid, write.step, event.step)):
                    yield from _check_crossing(facts, writer, at, write, reader, position, event)


def generic_writes_of(writer: ThreadView) -> IntervalIndex[tuple[int, TraceEvent]]:
    """The thread's generic writes, each with the position at which it is complete."""
    done = {copy.position: copy.completion_position for copy in writer.copies if copy.group == "cp.async"}
    writes: IntervalIndex[tuple[int, TraceEvent]] = IntervalIndex()
    for position, event in writer.accesses:
        written = done.get(position, position)
        if is_generic_write(event) and written is not None:
            writes.add(*(access_range(event) or (0, 0)), (written, event))
    return writes


def _check_crossing(
    facts: ScenarioFacts,
    writer: ThreadView,
    written: int,
    write: TraceEvent,
    reader: ThreadView,
    position: int,
    read: TraceEvent,
) -> Iterator[ProxyCrossing]:
    bytes_ = access_range(read) or (0, 1)
    if writer is reader:
        spans = [(reader, written, position)]
    else:
        edges = list(facts.sync_edges(writer, written, reader, position))
        spans = [(writer, written, edge.release_position) for edge in edges] + [
            (reader, edge.acquire_position, position) for edge in edges
        ]
    if not spans:
        return
    fence = next((found for span in spans if (found := _first_fence_in(*span)) is not None), None)
    if fence is None and any(_is_ambiguous(facts, *span, bytes_) for span in spans):
        return
    yield ProxyCrossing(write.step, read.step, fence)


def _first_fence_in(thread: ThreadView, low: int, high: int) -> Step | None:
    for event in thread.trace.events[low:high]:
        if isinstance(event, TraceEvent) and orders_shared_before_async(event, None):
            return event.step
    return None


def _is_ambiguous(facts: ScenarioFacts, thread: ThreadView, low: int, high: int, bytes_: tuple[int, int]) -> bool:
    """Whether the bytes may have been replaced in between, or something unknown was called."""
    if any(isinstance(event, UnknownCall) for event in thread.trace.events[low:high]):
        return True
    return facts.async_overwrites.may_overwrite_between(thread, low, high, bytes_)
