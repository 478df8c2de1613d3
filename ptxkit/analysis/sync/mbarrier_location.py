"""Which mbarriers of a cluster an operation is about.

Source: PTX ISA, "mapa", "Data Movement and Conversion Instructions: cp.async.bulk.tensor" (`.multicast::cluster`,
`.cta_group`), "tcgen05.commit".
"""

from __future__ import annotations

from typing import TypeAlias

from ptxkit.analysis.ir.shared_window import CTA_BITS
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.values.symbolic_values import Value

#: The rank of a CTA in its cluster, and an offset in its shared memory.
MbarrierLocation: TypeAlias = tuple[int, int]

_OFFSET = (1 << CTA_BITS) - 1


def location_at(rank: int, address: Value | None) -> MbarrierLocation | None:
    """The place of an address as CTA `rank` sees it; None where that is not known."""
    if not isinstance(address, int):
        return None
    above = address >> CTA_BITS
    return above - 1 if above else rank, address & _OFFSET


def location_of(rank: int, event: TraceEvent) -> MbarrierLocation | None:
    """The place that the operand of an event names, as CTA `rank` sees it; None where that is not known."""
    return location_at(rank, event.address)


def locations_of(rank: int, event: TraceEvent) -> tuple[MbarrierLocation, ...] | None:
    """The places of the mbarriers that an event operates on: one in each CTA of its mask, where it has one."""
    named = location_of(rank, event)
    effect = event.effect
    if named is None or getattr(effect, "multicast", None) is None:
        return None if named is None else (named,)
    if not isinstance(event.ctas, int):
        return None
    ranks = [each for each in range(event.ctas.bit_length()) if event.ctas >> each & 1]
    if getattr(effect, "paired", False):
        ranks = [each & ~1 | named[0] & 1 for each in ranks]
    return tuple((each, named[1]) for each in ranks)
