"""The mbarrier that an event uses, and the threads that initialize each mbarrier."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.shared_window import CTA_BITS
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.isa.effects import (
    Access,
    MbarrierInit,
    MbarrierInvalidate,
)


def mbarrier_of(event: TraceEvent) -> int | None:
    """Returns the mbarrier that an event uses, as an offset in the CTA's own shared memory.

    The result is None where it is unknown.
    """
    address = event.address
    if isinstance(event.effect, Access) or not isinstance(address, int) or address >> CTA_BITS:
        return None
    return address


def find_initializations(threads: Iterable[ThreadView]) -> dict[int, list[tuple[ThreadView, int, TraceEvent]]]:
    """Returns the initializations of each mbarrier: the thread, the position in its trace, and the event."""
    found: dict[int, list[tuple[ThreadView, int, TraceEvent]]] = defaultdict(list)
    for thread in threads:
        for position, event in thread.positions(MbarrierInit):
            address = mbarrier_of(event)
            if address is not None:
                found[address].append((thread, position, event))
    return found


def is_ambiguous(facts: ScenarioFacts) -> bool:
    """Returns whether an mbarrier may be initialized, or receive an arrival, that no trace shows."""
    return any(
        thread.trace.has_unknown_call
        or any(not isinstance(e.address, int) for _, e in thread.positions(MbarrierInit, MbarrierInvalidate))
        for thread in facts.threads.values()
    )
