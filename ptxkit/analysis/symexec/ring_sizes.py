"""Finds a size with which a loop over tiles ends in another slot of its ring of buffers.

A power of two as the size of a problem makes the number of tiles a multiple of the number of slots, if that is a power
of two. All executions then end in the last slot, and what follows the loop never meets the bytes of the first one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, UnknownCall
from ptxkit.isa.effects import Access, Effect


def further_ring_size(groups: Iterable[GroupTrace], size: int, largest: int) -> int | None:
    """Returns a size of one tile more than a ring has slots, if a copy of the executions ends in its last slot.

    A copy to several addresses, and to none of them again, may fill only a part of a ring: the result is the largest
    size. It is None if there is no such copy.

    size: that of the executions, a multiple of the size of a tile.
    """
    may_be_part = False
    for group in groups:
        for addresses in _copy_addresses(group).values():
            slots, rounds = len(set(addresses)), len(addresses)
            may_be_part = may_be_part or 1 < rounds == slots
            if slots < 2 or rounds < 2 * slots or addresses[slots:] != addresses[:-slots]:
                continue
            tiles = 1 << (rounds - 1).bit_length()  # some copies of the first tiles precede the loop
            if not tiles % slots and not size % tiles:
                return (slots + 1) * (size // tiles)
    return largest if may_be_part else None


def _copy_addresses(group: GroupTrace) -> dict[Step, list[int]]:
    """Returns the addresses to which the first thread of a group copies, in order, by instruction."""
    found: dict[Step, list[int]] = defaultdict(list)
    for event in group.events:
        if isinstance(event, UnknownCall) or not _copies_to_shared(event.effect):
            continue
        own = event.for_thread(0) if isinstance(event, GroupEvent) else event
        if own is not None and isinstance(own.address, int):
            found[own.step].append(own.address)
    return found


def _copies_to_shared(effect: Effect) -> bool:
    return (
        isinstance(effect, Access)
        and effect.kind == "write"
        and effect.completion is not None
        and effect.space.startswith("shared")
    )
