"""Where bytes of shared memory pass from the generic proxy to the async proxy, and the proxy fence between.

A generic write (a store, a completed `cp.async`) and an async read of the same bytes, in the same thread or in two that
a barrier orders, make a crossing. The fence may be in the writing thread before its release, or in the reading one
after its acquire. Source: PTX ISA, "Async Proxy", "membar / fence".
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
    """fence: the first that covers the crossing; None where none does."""

    write: Step
    read: Step
    fence: Step | None


def find_proxy_crossings(facts: ScenarioFacts) -> Iterator[ProxyCrossing]:
    """The crossings between the traced threads of one scenario, each pair of instructions looked at a few times."""
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
    """Whether the bytes may have been replaced in between, or something unknown was called."""
    calls = any(isinstance(event, UnknownCall) for event in thread.trace.events[low:high])
    return calls or pair.may_be_overwritten(thread, low, high)
