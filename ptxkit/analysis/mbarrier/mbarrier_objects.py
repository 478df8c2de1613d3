"""The mbarrier that an event is about, and the threads that initialise each mbarrier."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.shared_window import CTA_BITS
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.isa.effects import (
    Access,
    MbarrierArrive,
    MbarrierComplete,
    MbarrierExpect,
    MbarrierInit,
    MbarrierInvalidate,
    MbarrierTrack,
    MbarrierWait,
)

USE_EFFECTS = (MbarrierArrive, MbarrierComplete, MbarrierExpect, MbarrierTrack, MbarrierWait)


def mbarrier_of(event: TraceEvent) -> int | None:
    """The mbarrier that an event is about, as an offset in the CTA's own shared memory; None where it is not known."""
    address = event.address
    if isinstance(event.effect, Access) or not isinstance(address, int) or address >> CTA_BITS:
        return None
    return address


def find_initializations(threads: Iterable[ThreadView]) -> dict[int, list[tuple[ThreadView, int, TraceEvent]]]:
    """The initialisations of each mbarrier: the thread, the position in its trace, and the event."""
    found: dict[int, list[tuple[ThreadView, int, TraceEvent]]] = defaultdict(list)
    for thread in threads:
        for position, event in thread.positions(MbarrierInit):
            address = mbarrier_of(event)
            if address is not None:
                found[address].append((thread, position, event))
    return found


def is_ambiguous(facts: ScenarioFacts) -> bool:
    """Whether an mbarrier may be initialised, or arrived at, where no trace shows it."""
    return any(
        thread.trace.has_unknown_call
        or any(not isinstance(e.address, int) for _, e in thread.positions(MbarrierInit, MbarrierInvalidate))
        for thread in facts.threads.values()
    )
