"""Copies and reductions of boxes that tensor maps describe, and changes of tensor maps.

Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor",
"cp.async.bulk.prefetch.tensor", "tensormap.replace", "tensormap.cp_fenceproxy".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.diagnostics.catalogue import ptx2xx, ptx4xx
from ptxkit.emulator.actions.atomics import combine_function
from ptxkit.emulator.actions.cp_async_bulk import issue_grouped, issue_signaled, mbarrier_of, thread_positions
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.core.lane_set import LaneSet
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.engine.mbarrier_lookup import check_data_ctas, mbarrier_at, multicast_offsets
from ptxkit.emulator.state.byte_transfers import NO_OFFSET, PIECE_BYTES, ByteTransfer, Combine
from ptxkit.emulator.state.memory import ByteBuffer
from ptxkit.emulator.state.tensor_maps import TensorMapFields, decode_map, replace_map_field
from ptxkit.emulator.state.tensor_tiles import element_addresses, out_of_bounds_fill, shared_addresses, tile_bytes
from ptxkit.emulator.sync.mbarrier import Mbarrier
from ptxkit.emulator.threads.machine_observer import AccessEvent
from ptxkit.emulator.threads.thread_groups import ThreadGroup
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.tensormap_limits import MAP_ALIGNMENT, MAP_BYTES

_MAP_SPACES = ("global", "const", "param")
"""The state spaces in which a tensor map may be (PTX ISA, "cp.async.bulk.tensor")."""

_TILE_ALIGNMENT = 128
_ROW_MODES = ("tile::gather4", "tile::scatter4")
"""The modes whose coordinates are those of several rows, and not one for each dimension."""


@dataclass(frozen=True, slots=True)
class _ReplacedFields:
    """The operands that replace fields of a map: the address of the tensor, the zeros that are its corner, its sizes,
    and the lower and the upper bits of its strides.
    """

    base: Any = None
    origin: Any = None
    sizes: Any = None
    lower: Any = None
    upper: Any = None

    def first_element(self, coordinates: Any) -> Any:
        """Returns the coordinates, or zeros for a tensor whose sizes are operands, wherever its corner is."""
        return self.origin if coordinates is None else coordinates


@effect_semantics
def box_load(*, target: str, mode: str | None = None, paired: bool = False) -> Function:
    """Copies a box to shared memory for each thread, and signals an mbarrier; a mask selects several CTAs as
    destinations.

    With `paired`, the mbarrier may be that of the other CTA of a pair.
    """
    how = mode or "tile"

    def load(
        group: ThreadGroup, to: Any, map_: Any, coordinates: Any, bar: Any, offsets: Any = None, *others: Any
    ) -> None:
        operands, mask = _ReplacedFields(*others[:5]), others[5] if len(others) > 5 else None
        for one in thread_positions(group):
            layout = _decode_map(group, one, map_, how, operands)
            count = tile_bytes(layout, how)
            shared, place = _locate_tile(group, one, target, to, count)
            barrier = mbarrier_of(group, one, target, bar)
            pool, sources = _locate_elements(
                group,
                one,
                layout,
                how,
                _thread_coordinates(operands.first_element(coordinates), one),
                _thread_coordinates(offsets, one),
            )
            stride = group.cta.cluster.stride
            ranks = 1 << place // stride if mask is None else int(mask[one] if mask.ndim else mask)
            transfers, signals = [], []
            for each in multicast_offsets(group, place, ranks):
                targets = _shared_offsets(layout, each, stride, count)
                transfers.append(_tile_transfer(layout, pool, sources, shared, targets, out_of_bounds_fill(layout)))
                signals.append(
                    (_signaled_mbarrier(group, one, barrier, each // stride, paired, mask is not None), count)
                )
            issue_signaled(group, one, transfers, signals)

    return load


@effect_semantics
def box_store(*, mode: str | None = None) -> Function:
    """Copies a box from shared memory for each thread."""
    return _store_function(mode, None)


@effect_semantics
def box_reduce(*, operation: str, mode: str | None = None) -> Function:
    """Combines a box in shared memory with the tensor, element by element, for each thread."""
    return _store_function(mode, operation)


def _store_function(mode: str | None, operation: str | None) -> Function:
    """Returns the copy of a box from shared memory, which replaces the tensor's elements or combines with them by
    `operation`.
    """
    how = mode or "tile"

    def send(group: ThreadGroup, map_: Any, coordinates: Any, source: Any, *others: Any) -> None:
        operands = _ReplacedFields(*others)
        at_ = operands.first_element(coordinates)
        for one in thread_positions(group):
            layout = _decode_map(group, one, map_, how, operands)
            issue_grouped(group, one, [_store_transfer(group, one, layout, at_, source, how, operation)])

    return send


@effect_semantics
def box_prefetch(*, mode: str | None = None) -> Function:
    """Checks the map of a box that is prefetched."""
    how = mode or "tile"

    def prefetch(group: ThreadGroup, map_: Any, coordinates: Any, offsets: Any = None, *others: Any) -> None:
        operands = _ReplacedFields(*others)
        at_ = operands.first_element(coordinates)
        for one in thread_positions(group):
            layout = _decode_map(group, one, map_, how, operands)
            _locate_elements(group, one, layout, how, _thread_coordinates(at_, one), _thread_coordinates(offsets, one))

    return prefetch


def _store_transfer(
    group: ThreadGroup,
    one: int,
    layout: TensorMapFields,
    coordinates: Any,
    source: Any,
    mode: str,
    operation: str | None,
) -> ByteTransfer:
    count = tile_bytes(layout, mode)
    shared, place = _locate_tile(group, one, "shared::cta", source, count)
    at_ = _thread_coordinates(coordinates, one)
    pool, targets = _locate_elements(group, one, layout, mode, at_, (0,) * max(layout.rank - 2, 0))
    sources = _shared_offsets(layout, place, group.cta.cluster.stride, count)
    combine: Combine | None = None
    if operation is not None:
        function = combine_function(layout.element.removesuffix("_ftz"), operation, False)
        combine = _without_third(function)
    return _tile_transfer(layout, shared, sources, pool, targets, 0, combine)


def _without_third(function: Function) -> Combine:
    return lambda old, new: function(old, new, None)


def _thread_coordinates(values: Any, one: int) -> tuple[int, ...]:
    """Returns the coordinates of one thread, signed."""
    if values is None:
        return ()
    parts = values if isinstance(values, tuple) else (values,)
    found = []
    for each in parts:
        number = each[one] if each.ndim else each
        found.append(int(number.astype(numpy.uint32).view(numpy.int32)) if each.dtype.itemsize == 4 else int(number))
    return tuple(found)


def _decode_map(group: ThreadGroup, one: int, address: Any, mode: str, operands: _ReplacedFields) -> TensorMapFields:
    """Returns the fields of the map at a thread's address, which must have the instruction's mode."""
    index = group.lanes.index[one : one + 1]
    start = address[one : one + 1]
    pool, place = group.cta.machine.memory.locate(group.cta, "generic", start, MAP_ALIGNMENT, index)
    group.cta.machine.memory.locate(
        group.cta, "generic", start + numpy.uint64(MAP_BYTES - MAP_ALIGNMENT), MAP_ALIGNMENT, index
    )
    if pool.name not in _MAP_SPACES:
        message = ptx2xx.TENSOR_MAP_IN_WRONG_SPACE(space=pool.name)
        raise ExecutionFault(message, index, space=pool.name, start=int(start[0]), size=MAP_BYTES)
    group.cta.machine.observer.on_tensor_map_use(group, int(index[0]), pool, int(place[0]))
    found = decode_map(pool.data[int(place[0]) : int(place[0]) + MAP_BYTES].tobytes())
    if found is None:
        message = ptx4xx.NO_TENSOR_MAP(address=int(start[0]))
        raise ExecutionFault(message, index)
    if (found.mode == "im2col") != mode.startswith("im2col"):
        raise ExecutionFault(
            ptx4xx.NO_TENSOR_MAP_OF_MODE(mode=mode, address=int(start[0]), actual=found.mode),
            index,
        )
    if operands.base is not None:
        found = replace(found, address=int(operands.base[one] if operands.base.ndim else operands.base))
    return found if operands.sizes is None else _with_sizes(found, one, operands)


def _with_sizes(layout: TensorMapFields, one: int, operands: _ReplacedFields) -> TensorMapFields:
    """Returns the map with other sizes of 8 bits each, and strides of 32 lower and 4 upper bits, in units of 16
    bytes.
    """
    extents = tuple(each & 0xFF for each in _thread_coordinates(operands.sizes, one))
    high = _thread_coordinates(operands.upper, one)[0] if operands.upper is not None else 0
    strides = tuple(
        (each & 0xFFFF_FFFF | (high >> 4 * at_ & 0xF) << 32) << 4
        for at_, each in enumerate(_thread_coordinates(operands.lower, one))
    )
    return replace(layout, extents=extents, strides=strides)


def _locate_tile(group: ThreadGroup, one: int, space: str, address: Any, count: int) -> tuple[ByteBuffer, int]:
    """Returns the buffer and the offset of a box in shared memory."""
    index, start = group.lanes.index[one : one + 1], address[one : one + 1]
    memory = group.cta.machine.memory
    if int(start[0]) % _TILE_ALIGNMENT:
        message = ptx2xx.TILE_NOT_ALIGNED(address=int(start[0]), multiple=_TILE_ALIGNMENT)
        raise ExecutionFault(message, index, space=space, start=int(start[0]), size=count)
    pool, place = memory.locate(group.cta, space, start, PIECE_BYTES, index)
    memory.locate(group.cta, space, start + numpy.uint64(count - PIECE_BYTES), PIECE_BYTES, index)
    return pool, int(place[0])


def _locate_elements(
    group: ThreadGroup,
    one: int,
    layout: TensorMapFields,
    mode: str,
    coordinates: tuple[int, ...],
    offsets: tuple[int, ...],
) -> tuple[ByteBuffer, Any]:
    """Returns the buffer and the offsets in it of a box's elements."""
    machine = group.cta.machine
    if len(coordinates) != layout.rank and mode not in _ROW_MODES:
        message = ptx4xx.NO_TENSOR_MAP_OF_RANK(rank=len(coordinates), actual=layout.rank)
        raise ExecutionFault(message, group.lanes.index[one : one + 1])
    addresses = element_addresses(layout, mode, coordinates, offsets)
    there = addresses != NO_OFFSET
    found = numpy.full(len(addresses), NO_OFFSET, numpy.int64)
    if not there.any():
        return machine.memory.segments["global"].buffer, found
    thread = numpy.full(int(there.sum()), group.lanes.index[one])
    pool, places = machine.memory.locate(
        group.cta, "global", addresses[there].astype(numpy.uint64), layout.element_size, thread
    )
    found[there] = places
    return pool, found


def _shared_offsets(layout: TensorMapFields, place: int, stride: int, count: int) -> Any:
    """Returns the offsets in the buffer of the elements of a box in shared memory."""
    base = place // stride * stride
    return base + shared_addresses(layout, place - base, count // layout.element_size)


def _tile_transfer(
    layout: TensorMapFields,
    source: ByteBuffer,
    sources: Any,
    target: ByteBuffer,
    targets: Any,
    fill: int,
    combine: Combine | None = None,
) -> ByteTransfer:
    size = layout.element_size
    shape = (-1, PIECE_BYTES // size)

    def units(places: Any) -> Any:
        return numpy.where(places != NO_OFFSET, places // size, NO_OFFSET).reshape(shape)

    return ByteTransfer(size, source, units(sources), target, units(targets), fill, combine)


def _signaled_mbarrier(
    group: ThreadGroup, one: int, barrier: Mbarrier, rank: int, paired: bool, is_multicast: bool
) -> Mbarrier:
    """Returns the mbarrier that the data for a CTA signals."""
    if paired:
        rank = rank & ~1 | barrier.cta.rank & 1
    index = group.lanes.index[one : one + 1]
    if barrier.cta.rank != rank and (paired or is_multicast):
        return mbarrier_at(group, barrier.offset + rank * group.cta.cluster.stride, index)
    check_data_ctas(barrier, rank, index)
    return barrier


@effect_semantics
def replace_field(*, field: str, space: str) -> Function:
    """Replaces a field of the map at each thread's address. `ordinal` is the index of the dimension."""

    def change(group: ThreadGroup, address: Any, value: Any, ordinal: Any = None) -> None:
        machine, index = group.cta.machine, group.lanes.index
        pool, places = machine.memory.locate(group.cta, space, address, MAP_ALIGNMENT, index)
        if machine.observer.is_checking and pool.is_common:
            machine.observer.on_access(AccessEvent(group, "update", pool, places, MAP_BYTES))
        for one, place in enumerate(places.tolist()):
            octets = pool.data[place : place + MAP_BYTES]
            number = int(value[one] if value.ndim else value)
            try:
                made = replace_map_field(
                    octets.tobytes(), field, 0 if ordinal is None else int(numpy.ravel(ordinal)[0]), number
                )
            except ValueError as error:
                raise ExecutionFault(ptx2xx.INVALID_TENSOR_MAP_FIELD(error=error), index[one : one + 1]) from error
            octets[:] = numpy.frombuffer(made, numpy.uint8)

    return change


@effect_semantics
def copy_map(*, scope: str) -> Function:
    """Copies a map from shared to global memory, one for each warp, and fences it for the tensormap proxy."""

    def copy(group: ThreadGroup, to: Any, source: Any) -> None:
        machine, cta = group.cta.machine, group.cta
        warps = numpy.flatnonzero(numpy.concatenate([[True], numpy.diff(group.lanes.index >> 5) != 0]))
        lanes = group.lanes
        for one in warps.tolist():
            index = lanes.index[one : one + 1]
            from_pool, start = machine.memory.locate(cta, "shared::cta", source[one : one + 1], MAP_BYTES, index)
            pool, place = machine.memory.locate(cta, "global", to[one : one + 1], MAP_BYTES, index)
            if machine.observer.is_checking:
                group.lanes = LaneSet(index, cta.threads)
                machine.observer.on_access(AccessEvent(group, "read", from_pool, start, MAP_BYTES))
                machine.observer.on_access(AccessEvent(group, "write", pool, place, MAP_BYTES))
                group.lanes = lanes
            octets = from_pool.data[int(start[0]) : int(start[0]) + MAP_BYTES]
            pool.data[int(place[0]) : int(place[0]) + MAP_BYTES] = octets
        machine.observer.on_proxy_fence(group, "tensormap", None, "release", scope, to)

    return copy
