"""Bytes that a thread announces to an mbarrier behind its arrival, when the phase that they are for may have ended.

Source: PTX ISA, "Phase of the mbarrier object", "mbarrier.expect_tx", "Tracking asynchronous operations by the mbarrier
object".
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from ptxkit.analysis.trace import Event, Opaque, Trace
from ptxkit.isa.effects import Barrier, MbarrierArrive, MbarrierExpect, MbarrierWait
from ptxkit.records import dataclass


@dataclass(frozen=True, slots=True)
class Late:
    """An announcement, at a position of its thread's trace, and the arrival before it that may have ended its phase."""

    position: int
    announcement: Event
    arrival: Event


def late_announcements(trace: Trace, single: Set[int]) -> Iterator[Late]:
    """The announcements that come too late. single: objects whose phases need one arrival, and to which nobody else
    announces bytes: an arrival ends the phase unless its own thread announced bytes before.

    Whatever the thread waits for between the two may be what keeps the phase open, or begins the next one.
    """
    announced: set[int] = set()
    arrived: dict[int, Event] = {}
    for position, event in enumerate(trace.events):
        if isinstance(event, Opaque) or _takes(event):
            announced.clear()
            arrived.clear()
            continue
        effect, address = event.effect, event.address
        if not isinstance(address, int) or address not in single:
            continue
        if isinstance(effect, MbarrierExpect):
            if address in arrived and event.size != 0:
                yield Late(position, event, arrived[address])
            announced.add(address)
        elif isinstance(effect, MbarrierArrive):
            if effect.expect is not None and event.expect != 0:
                announced.add(address)
            if address not in announced and not effect.asynchronous:
                arrived[address] = event


def _takes(event: Event) -> bool:
    """Whether a thread may wait there for what others do."""
    effect = event.effect
    return isinstance(effect, MbarrierWait) or (isinstance(effect, Barrier) and effect.action != "arrive")
