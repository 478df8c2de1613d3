"""Lookup of the mbarrier objects that an instruction accesses.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier", "Size and alignment of mbarrier
object", "Lifecycle of the mbarrier object".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.sync.mbarrier import MBARRIER_BYTES, Mbarrier, MbarrierError

if TYPE_CHECKING:
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


def buffer_offsets(group: ThreadGroup, space: str, address: Any) -> Any:
    """Return the offsets of objects in the pool of the cluster."""
    memory = group.cta.machine.memory
    pool, places = memory.locate(group.cta, space, address, MBARRIER_BYTES, group.lanes.index)
    if pool is not group.cta.cluster.shared_buffer:
        message = (
            f"an mbarrier object is in shared memory, and 0x{int(address[0]):x} is an address of {pool.name} memory"
        )
        raise ExecutionFault("PTX209", message, group.lanes.index)
    return places


def iter_mbarriers(group: ThreadGroup, space: str, address: Any, mask: Any = None) -> Iterator[tuple[Mbarrier, Any]]:
    """Yield the objects at the threads' addresses, each with the positions of these threads among the lanes.

    mask: ranks of the CTAs whose objects at the same offset are used instead, one bit each. Raises Fault where there
    is none.
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
    """Check that data goes to the CTA that contains its mbarrier. Raises Fault where it does not.

    homes: the ranks of the receiving CTAs, for one or several threads. index: these threads. not_in: the rank of a CTA
    that must not receive it either, where there is one.
    """
    ranks = numpy.atleast_1d(homes)
    if (ranks != barrier.cta.rank).any():
        message = f"the data is for CTA {int(ranks[0])} of the cluster, and its mbarrier is in CTA {barrier.cta.rank}"
        raise ExecutionFault("PTX210", message, index)
    if not_in is not None and (ranks == not_in).any():
        raise ExecutionFault("PTX210", "the destination must be the shared memory of another CTA of the cluster", index)


def _iter_multicast(group: ThreadGroup, places: Any, mask: Any) -> Iterator[tuple[Mbarrier, Any]]:
    for position, (place, ranks) in enumerate(zip(places, mask, strict=True)):
        for each in multicast_offsets(group, int(place), int(ranks)):
            yield mbarrier_at(group, each, group.lanes.index[position : position + 1]), numpy.array([position])


def multicast_offsets(group: ThreadGroup, place: int, ranks: int) -> list[int]:
    """Return the same offset in each CTA of the cluster that a mask names. Raises Fault where there is none."""
    cluster = group.cta.cluster
    if ranks >> cluster.size:
        message = f"the mask 0x{ranks:x} names CTAs beyond the {cluster.size} of the cluster"
        raise ExecutionFault("PTX206", message, group.lanes.index)
    offset = place % cluster.stride
    return [offset + rank * cluster.stride for rank in range(cluster.size) if ranks >> rank & 1]


def mbarrier_at(group: ThreadGroup, place: int, index: Any = None) -> Mbarrier:
    """Return the live object at an offset, for some threads or all. Raises Fault where there is none."""
    found = group.cta.cluster.mbarriers.get(place)
    if found is not None and found.is_live:
        group.cta.machine.observer.on_mbarrier_use(group, group.lanes.index if index is None else index, found)
        return found
    offset = place % group.cta.cluster.stride
    if found is not None:
        raise ExecutionFault("PTX507", f"{found.name} is used after mbarrier.inval", group.lanes.index)
    raise ExecutionFault(
        "PTX501", f"nothing has initialised an mbarrier object at shared 0x{offset:x}", group.lanes.index
    )


def fault_of_error(group: ThreadGroup, misuse: MbarrierError, index: Any = None) -> ExecutionFault:
    """Return the fault for a misuse by threads."""
    return ExecutionFault(misuse.code, misuse.message, group.lanes.index if index is None else index)
