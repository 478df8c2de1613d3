"""Lookup of the mbarrier objects that an instruction accesses.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier", "Size and alignment of mbarrier
object", "Lifecycle of the mbarrier object".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics.catalogue import ptx2xx, ptx5xx
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.sync.mbarrier import Mbarrier
from ptxkit.semantics.object_names import MBARRIER_BYTES

if TYPE_CHECKING:
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


def buffer_offsets(group: ThreadGroup, space: str, address: Any) -> Any:
    """Returns the offsets of objects in the shared memory of the cluster."""
    memory = group.cta.machine.memory
    pool, places = memory.locate(group.cta, space, address, MBARRIER_BYTES, group.lanes.index)
    if pool is not group.cta.cluster.shared_buffer:
        message = ptx2xx.MBARRIER_OUTSIDE_SHARED(address=int(address[0]), space=pool.name)
        raise ExecutionFault(message, group.lanes.index)
    return places


def iter_mbarriers(group: ThreadGroup, space: str, address: Any, mask: Any = None) -> Iterator[tuple[Mbarrier, Any]]:
    """Yields the objects at the threads' addresses, each with the positions of these threads among the lanes.

    `mask` has a bit for the rank of each CTA whose object at the same offset is used instead. Raises ExecutionFault if
    there is no object.
    """
    places = buffer_offsets(group, space, address)
    if mask is not None:
        yield from _iter_multicast(group, places, mask)
        return
    first = int(places[0])
    if (places == first).all():
        yield mbarrier_at(group, first), slice(None)
        return
    for place in numpy.unique(places):
        chosen = numpy.flatnonzero(places == place)
        yield mbarrier_at(group, int(place), group.lanes.index[chosen]), chosen


def check_data_ctas(barrier: Mbarrier, homes: Any, index: Any, *, not_in: int | None = None) -> None:
    """Checks that data is copied to the CTA that contains its mbarrier. Raises ExecutionFault otherwise.

    `homes` are the ranks of the receiving CTAs, for one or several threads, which are `index`. `not_in` is the rank of
    a CTA that must not receive the data either.
    """
    ranks = numpy.atleast_1d(homes)
    if (ranks != barrier.cta.rank).any():
        message = ptx2xx.DATA_FOR_OTHER_CTA(rank=int(ranks[0]), home=barrier.cta.rank)
        raise ExecutionFault(message, index)
    if not_in is not None and (ranks == not_in).any():
        raise ExecutionFault(ptx2xx.DESTINATION_IN_OWN_CTA(), index)


def _iter_multicast(group: ThreadGroup, places: Any, mask: Any) -> Iterator[tuple[Mbarrier, Any]]:
    for position, (place, ranks) in enumerate(zip(places, mask, strict=True)):
        for each in multicast_offsets(group, int(place), int(ranks)):
            yield mbarrier_at(group, each, group.lanes.index[position : position + 1]), numpy.array([position])


def multicast_offsets(group: ThreadGroup, place: int, ranks: int) -> list[int]:
    """Returns the same offset in each CTA of the cluster in a mask. Raises ExecutionFault for CTAs that do not
    exist.
    """
    cluster = group.cta.cluster
    if ranks >> cluster.size:
        message = ptx2xx.MASK_BEYOND_CLUSTER(mask=ranks, size=cluster.size)
        raise ExecutionFault(message, group.lanes.index)
    offset = place % cluster.stride
    return [offset + rank * cluster.stride for rank in range(cluster.size) if ranks >> rank & 1]


def mbarrier_at(group: ThreadGroup, place: int, index: Any = None) -> Mbarrier:
    """Returns the live object at an offset, for some threads or all. Raises ExecutionFault if none exists."""
    found: Mbarrier | None = group.cta.cluster.mbarriers.get(place)
    if found is not None and found.is_live:
        group.cta.machine.observer.on_mbarrier_use(group, group.lanes.index if index is None else index, found)
        return found
    offset = place % group.cta.cluster.stride
    if found is not None:
        raise ExecutionFault(ptx5xx.MBARRIER_USED_AFTER_INVAL(barrier=found.name), group.lanes.index)
    raise ExecutionFault(
        ptx5xx.NO_MBARRIER_AT_ADDRESS(offset=offset),
        group.lanes.index,
    )
