"""The accesses of one event to shared memory: their bytes and their proxy."""

from __future__ import annotations

from itertools import repeat

from ptxkit.analysis.limits import MAX_ACCESS_BYTES
from ptxkit.analysis.symexec.trace import GroupEvent, TraceEvent
from ptxkit.analysis.values.symbolic_values import LaneValues, Value, value_of_lane
from ptxkit.isa.effects import Access
from ptxkit.semantics.ordering import connects_proxies

#: The minimum number of bytes of an access of unknown extent: the smallest bulk copy, or one row of a core matrix.
MIN_ACCESS_BYTES = 16


def access_range(event: TraceEvent) -> tuple[int, int] | None:
    """Returns the range of shared memory that an access certainly uses; None where its address is not known."""
    return _range(event.address, event.size)


def access_range_of_lane(event: TraceEvent | GroupEvent, index: int) -> tuple[int, int] | None:
    """Returns `access_range` for the thread at an index of a group; also None where the thread takes no part."""
    if isinstance(event, TraceEvent):
        return access_range(event)
    if event.participants is not None and not event.participants[index]:
        return None
    address, size = event.fields[:2]
    return _range(
        None if address is None else value_of_lane(address, index), None if size is None else value_of_lane(size, index)
    )


def access_ranges_of_lanes(event: TraceEvent | GroupEvent, count: int) -> list[tuple[int, int] | None]:
    """Returns `access_range_of_lane` for each thread of a group of `count` threads."""
    if isinstance(event, TraceEvent):
        return [access_range(event)] * count
    address, size = event.fields[:2]
    if not isinstance(address, LaneValues):
        found = [_range(address, None if size is None else value_of_lane(size, index)) for index in range(count)]
    elif isinstance(size, int) and size > 0 and address.are_numbers:
        found = [(low, low + min(size, MAX_ACCESS_BYTES)) for low in address.values]  # type: ignore[misc, operator]
    else:
        sizes = size.values if isinstance(size, LaneValues) else repeat(size)
        found = list(map(_range, address.values, sizes))
    who = event.participants
    return found if who is None else [touched if part else None for touched, part in zip(found, who, strict=True)]


def _range(address: Value | None, size: Value | None) -> tuple[int, int] | None:
    if not isinstance(address, int):
        return None
    return address, address + (min(size, MAX_ACCESS_BYTES) if isinstance(size, int) and size > 0 else MIN_ACCESS_BYTES)


def orders_shared_before_async(event: TraceEvent, direction: str | None = "both") -> bool:
    """Returns whether a fence orders generic accesses to shared memory before async ones.

    direction: the direction of the fence that is required; None for any.
    """
    return connects_proxies(event.effect, "async", "shared", direction)


def is_generic_write(event: TraceEvent) -> bool:
    """Returns whether an access writes memory through the generic proxy."""
    effect = event.effect
    return isinstance(effect, Access) and effect.kind != "read" and effect.proxy == "generic"


def is_generic_read(event: TraceEvent) -> bool:
    """Returns whether an access reads shared memory synchronously through the generic proxy."""
    effect = event.effect
    return (
        isinstance(effect, Access)
        and effect.kind != "write"
        and effect.proxy == "generic"
        and effect.completion is None
    )


def is_async_access(event: TraceEvent) -> bool:
    """Returns whether an access may still be in progress after its instruction.

    This includes accesses of `cp.async`, which writes through the generic proxy.
    """
    return isinstance(event.effect, Access) and event.effect.completion is not None


def is_async_read(event: TraceEvent) -> bool:
    """Returns whether an access reads shared memory through the async proxy."""
    effect = event.effect
    return isinstance(effect, Access) and effect.kind != "write" and effect.proxy == "async"


def is_operand_read(event: TraceEvent | GroupEvent) -> bool:
    """Returns whether an access reads an operand of a `wgmma`: it may be in progress until its threads have waited."""
    return isinstance(event.effect, Access) and event.effect.completion == "wgmma"


def is_async_write(event: TraceEvent) -> bool:
    """Returns whether an access writes shared memory through the async proxy."""
    effect = event.effect
    return isinstance(effect, Access) and effect.kind != "read" and effect.proxy == "async"


def is_outside_shared(event: TraceEvent) -> bool:
    """Returns whether an access is certainly outside shared memory."""
    effect = event.effect
    return isinstance(effect, Access) and (effect.proxy == "tensormap" or effect.space == "global")


def is_tensor_map_read(event: TraceEvent) -> bool:
    """Returns whether an access reads a tensor map, as a tensor copy does."""
    effect = event.effect
    return isinstance(effect, Access) and effect.proxy == "tensormap"
