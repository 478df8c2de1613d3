"""Copies and reductions of ranges of bytes, in the async proxy.

Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk", "cp.reduce.async.bulk",
"cp.async.bulk.prefetch".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy

from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.emulator.actions.atomics import combine_function
from ptxkit.emulator.core.dtypes import width_of
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.core.lane_set import LaneSet
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.engine.mbarrier_lookup import buffer_offsets, check_data_ctas, mbarrier_at, multicast_offsets
from ptxkit.emulator.state.byte_transfers import (
    NO_OFFSET,
    PIECE_BYTES,
    ByteTransfer,
    contiguous_transfer,
    elementwise_transfer,
)
from ptxkit.emulator.state.memory import ByteBuffer
from ptxkit.emulator.sync.async_operation import BULK, BY_MBARRIER, AsyncOperation
from ptxkit.emulator.sync.mbarrier import Mbarrier
from ptxkit.emulator.threads.thread_groups import ThreadGroup

TransferFactory = Callable[[ByteBuffer, int, ByteBuffer, int, int], ByteTransfer]


@effect_semantics
def bulk_copy(*, source: str, target: str) -> Function:
    """Copies a range for each thread, and signals an mbarrier; a mask selects several CTAs as destinations."""

    def copy(group: ThreadGroup, to: Any, from_: Any, size: Any, bar: Any, mask: Any = None) -> None:
        for one in thread_positions(group):
            _issue(group, one, (source, from_), (target, to), size, contiguous_transfer, bar, mask)

    return copy


@effect_semantics
def bulk_copy_within(*, source: str, target: str) -> Function:
    """Copies a range as `bulk_copy` does, except for some bytes at the ends of the source."""

    def copy(group: ThreadGroup, to: Any, from_: Any, size: Any, bar: Any, left: Any = None, right: Any = None) -> None:
        for one in thread_positions(group):
            cut = partial(_inner_transfer, _thread_number(left, one), _thread_number(right, one))
            _issue(group, one, (source, from_), (target, to), size, cut, bar)

    return copy


@effect_semantics
def bulk_store() -> Function:
    """Copies a range for each thread to global memory. `bytes_mask` selects the bytes of each 16 that are written."""

    def copy(group: ThreadGroup, to: Any, from_: Any, size: Any, bytes_mask: Any = None) -> None:
        for one in thread_positions(group):
            make = (
                contiguous_transfer
                if bytes_mask is None
                else partial(contiguous_transfer, mask=_byte_mask(bytes_mask, one))
            )
            _issue(group, one, ("shared::cta", from_), ("global", to), size, make)

    return copy


@effect_semantics
def bulk_reduce(*, source: str, target: str, type: str, operation: str, noftz: bool = False) -> Function:  # noqa: A002
    """Combines a range for each thread with the contents of memory, element by element."""
    element = width_of(type) // 8
    function = combine_function(type, operation, type == "f32" and not noftz and target == "global")

    def make(pool: ByteBuffer, start: int, aim: ByteBuffer, place: int, count: int) -> ByteTransfer:
        return elementwise_transfer(pool, start, aim, place, count, element, lambda old, new: function(old, new, None))

    def reduce(group: ThreadGroup, to: Any, from_: Any, size: Any, bar: Any = None) -> None:
        for one in thread_positions(group):
            _issue(group, one, (source, from_), (target, to), size, make, bar)

    return reduce


@effect_semantics
def bulk_prefetch() -> Function:
    """Checks that a range that is prefetched exists."""

    def prefetch(group: ThreadGroup, from_: Any, size: Any) -> None:
        for one in thread_positions(group):
            locate_range(group, one, "global", from_, _copy_size(size, one, group))

    return prefetch


def thread_positions(group: ThreadGroup) -> Any:
    """Returns the positions of the executing threads."""
    return range(group.lanes.count)


def _thread_number(value: Any, position: int) -> int:
    return 0 if value is None else int(value[position] if getattr(value, "ndim", 0) else value)


def _byte_mask(value: Any, position: int) -> Any:
    number = _thread_number(value, position)
    return numpy.array([number >> at & 1 for at in range(PIECE_BYTES)], bool)


def _copy_size(value: Any, position: int, group: ThreadGroup) -> int:
    size = _thread_number(value, position)
    if size % PIECE_BYTES:
        message = ptx2xx.INVALID_COPY_SIZE(size=size, multiple=PIECE_BYTES)
        raise ExecutionFault(message, group.lanes.index[position : position + 1])
    return size


def _inner_transfer(
    left: int, right: int, pool: ByteBuffer, start: int, aim: ByteBuffer, place: int, count: int
) -> ByteTransfer:
    """Returns a copy of single bytes, without the ends of the source."""
    transfer = contiguous_transfer(pool, start, aim, place, count)
    places = (transfer.sources.ravel()[:, None] * transfer.unit + numpy.arange(transfer.unit)).reshape(-1, PIECE_BYTES)
    aims = (transfer.targets.ravel()[:, None] * transfer.unit + numpy.arange(transfer.unit)).reshape(-1, PIECE_BYTES)
    flat = places.ravel()
    flat[:left] = NO_OFFSET
    if right:
        flat[-right:] = NO_OFFSET
    return ByteTransfer(1, transfer.source, places, transfer.target, aims)


def locate_range(group: ThreadGroup, position: int, space: str, address: Any, size: int) -> tuple[ByteBuffer, int]:
    """Returns the buffer and the offset of a range that starts at a thread's address.

    Raises ExecutionFault if the range does not exist.
    """
    memory, cta = group.cta.machine.memory, group.cta
    index = group.lanes.index[position : position + 1]
    start = address[position : position + 1]
    pool, place = (
        memory.locate(cta, space, start, PIECE_BYTES, index) if size else (cta.cluster.shared_buffer, start.view("i8"))
    )
    if size > PIECE_BYTES:
        memory.locate(cta, space, start + numpy.uint64(size - PIECE_BYTES), PIECE_BYTES, index)
        for arena in memory.segments.values():
            if arena.buffer is pool:
                first, last = arena.allocation_at(int(start[0])), arena.allocation_at(int(start[0]) + size - 1)
                if first is not last and first is not None:
                    message = ptx2xx.COPY_BEYOND_ALLOCATION(
                        size=size, address=int(start[0]), name=first.name, available=first.size
                    )
                    raise ExecutionFault(message, index, space=pool.name, start=int(start[0]), size=size)
    return pool, int(place[0])


def mbarrier_of(group: ThreadGroup, position: int, space: str, address: Any) -> Mbarrier:
    """Returns the mbarrier object at a thread's address."""
    lanes = group.lanes
    group.lanes = LaneSet(lanes.index[position : position + 1], group.cta.threads)
    try:
        return mbarrier_at(group, int(buffer_offsets(group, space, address[position : position + 1])[0]))
    finally:
        group.lanes = lanes


def _issue(  # noqa: PLR0913, PLR0917 (the operands of one instruction)
    group: ThreadGroup,
    position: int,
    source: tuple[str, Any],
    target: tuple[str, Any],
    size: Any,
    make: TransferFactory,
    bar: Any = None,
    mask: Any = None,
) -> None:
    """Issues the operation of one thread, as part of its bulk group if there is no mbarrier."""
    count = _copy_size(size, position, group)
    pool, start = locate_range(group, position, *source, count)
    aim, place = locate_range(group, position, *target, count)
    if bar is None:
        issue_grouped(group, position, [make(pool, start, aim, place, count)])
        return
    barrier = mbarrier_of(group, position, target[0], bar)
    if mask is None:
        own = group.cta.rank if pool is group.cta.cluster.shared_buffer else None
        rank = place // group.cta.cluster.stride
        check_data_ctas(barrier, rank, group.lanes.index[position : position + 1], not_in=own)
        issue_signaled(group, position, [make(pool, start, aim, place, count)], [(barrier, count)])
        return
    ranks, index = _thread_number(mask, position), group.lanes.index[position : position + 1]
    places, objects = multicast_offsets(group, place, ranks), multicast_offsets(group, barrier.buffer_offset, ranks)
    transfers = [make(pool, start, aim, each, count) for each in places]
    issue_signaled(group, position, transfers, [(mbarrier_at(group, each, index), count) for each in objects])


def issue_grouped(group: ThreadGroup, position: int, transfers: list[ByteTransfer]) -> None:
    """Issues an operation as part of the thread's bulk group."""
    flying, thread = group.cta.machine.async_engine, group.lanes.index[position]
    number = flying.committed_groups(group.cta, BULK)[thread]
    flying.issue(AsyncOperation(group, BULK, transfers, thread, groups=number))


def issue_signaled(
    group: ThreadGroup,
    position: int,
    transfers: list[ByteTransfer],
    signals: list[tuple[Mbarrier, int]],
) -> None:
    """Issues an operation that counts its bytes at mbarriers."""
    flying, thread = group.cta.machine.async_engine, group.lanes.index[position]
    flying.issue(AsyncOperation(group, BY_MBARRIER, transfers, thread, signals=signals))
