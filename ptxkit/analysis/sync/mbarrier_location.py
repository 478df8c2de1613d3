"""Determines which mbarriers of a cluster an operation uses.

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
    """Returns the location of an address as CTA `rank` uses it; None where it is unknown."""
    if not isinstance(address, int):
        return None
    above = address >> CTA_BITS
    return above - 1 if above else rank, address & _OFFSET


def location_of(rank: int, event: TraceEvent) -> MbarrierLocation | None:
    """Returns the location that the operand of an event of CTA `rank` names; None where it is unknown."""
    return location_at(rank, event.address)


def locations_of(rank: int, event: TraceEvent) -> tuple[MbarrierLocation, ...] | None:
    """Returns the locations of the mbarriers of an event: if it has a CTA mask, one in each CTA of the mask."""
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
