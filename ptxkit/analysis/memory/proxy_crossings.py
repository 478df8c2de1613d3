"""Finds bytes of shared memory that pass from the generic proxy to the async proxy, and the proxy fence between.

A generic write (a store, a completed `cp.async`) and an async read of the same bytes, in the same thread or in two
threads that a barrier orders, form a crossing. The fence may be in the writing thread before its release, or in the
reading one after its acquire.

Source: PTX ISA, "Async Proxy", "membar / fence".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.memory.proxy_order import ProxyPair, find_proxy_pairs
from ptxkit.analysis.symexec.access_ranges import orders_shared_before_async
from ptxkit.analysis.symexec.trace import TraceEvent, UnknownCall
from ptxkit.fast_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ProxyCrossing:
    """A write through the generic proxy and a read of the same bytes through the async proxy.

    fence: the first fence that covers the crossing; None if none exists.
    """

    write: Step
    read: Step
    fence: Step | None


def find_proxy_crossings(facts: ScenarioFacts) -> Iterator[ProxyCrossing]:
    """Yields the crossings between the traced threads of one scenario.

    A few executions of each pair of instructions are examined.
    """
    for pair in find_proxy_pairs(facts):
        spans = facts.spans_between(pair.writer, pair.write_position, pair.reader, pair.read_position)
        fence = next((found for span in spans if (found := _first_fence_in(*span)) is not None), None)
        if spans and (fence is not None or not any(_is_ambiguous(pair, *span) for span in spans)):
            yield ProxyCrossing(pair.write.step, pair.read.step, fence)


def _first_fence_in(thread: ThreadView, low: int, high: int) -> Step | None:
    for event in thread.trace.events[low:high]:
        if isinstance(event, TraceEvent) and orders_shared_before_async(event, None):
            return event.step
    return None


def _is_ambiguous(pair: ProxyPair, thread: ThreadView, low: int, high: int) -> bool:
    """Returns whether the bytes may have been replaced in between, or an unknown function was called."""
    calls = any(isinstance(event, UnknownCall) for event in thread.trace.events[low:high])
    return calls or pair.may_be_overwritten(thread, low, high)
