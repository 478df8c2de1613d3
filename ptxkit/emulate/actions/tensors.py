"""Copies and reductions of boxes, as tensor maps describe them, and changes of these maps.

Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor",
"cp.async.bulk.prefetch.tensor", "tensormap.replace", "tensormap.cp_fenceproxy".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulate.actions.atomics import combining
from ptxkit.emulate.actions.bulk import each_thread, issue_grouped, issue_signalled, object_of
from ptxkit.emulate.boxes import box_bytes, elements, fill_of, in_shared
from ptxkit.emulate.faults import Fault
from ptxkit.emulate.groups import Group
from ptxkit.emulate.lanes import Lanes
from ptxkit.emulate.mbarriers import Mbarrier
from ptxkit.emulate.memory import Pool
from ptxkit.emulate.objects import at, check_homes, copies
from ptxkit.emulate.registry import Function, action
from ptxkit.emulate.tensor_maps import BYTES, Layout, decoded, replaced
from ptxkit.emulate.transfers import NOWHERE, PIECE, Combine, Transfer
from ptxkit.records import replace

NO_MAP = "there is no tensor map"
"""How messages begin that tell of bytes that are no map, or none of the mode."""

_MAP_SPACES = ("global", "const", "param")
"""The memory in which a copy finds its map (PTX ISA, "cp.async.bulk.tensor")."""

_BOX_ALIGNMENT = 128


@action
def box_load(*, target: str, mode: str | None = None, paired: bool = False) -> Function:
    """Copies a box into shared memory for each thread, and tells an mbarrier; to several CTAs where a mask names them.

    paired: the mbarrier may be that of the other CTA of a pair.
    """
    how = mode or "tile"

    def load(  # noqa: PLR0913, PLR0917 (the operands of one instruction)
        group: Group,
        to: Any,
        map_: Any,
        coordinates: Any,
        bar: Any,
        offsets: Any = None,
        base: Any = None,
        origin: Any = None,
        sizes: Any = None,
        lower: Any = None,
        upper: Any = None,
        mask: Any = None,
    ) -> None:
        for one in each_thread(group):
            layout = _map(group, one, map_, how, base, (sizes, lower, upper))
            count = box_bytes(layout, how)
            shared, place = _box(group, one, target, to, count)
            barrier = object_of(group, one, target, bar)
            pool, sources = _in_tensor(
                group, one, layout, how, _taken(_first(coordinates, origin), one), _taken(offsets, one)
            )
            stride = group.cta.cluster.stride
            ranks = 1 << place // stride if mask is None else int(mask[one] if mask.ndim else mask)
            transfers, signals = [], []
            for each in copies(group, place, ranks):
                targets = _targets(layout, each, stride, count)
                transfers.append(_transfer(layout, pool, sources, shared, targets, fill_of(layout)))
                signals.append((_told(group, one, barrier, each // stride, paired, mask is not None), count))
            issue_signalled(group, one, transfers, signals)

    return load


@action
def box_store(*, mode: str | None = None) -> Function:
    """Copies a box out of shared memory for each thread."""
    return _sending(mode, None)


@action
def box_reduce(*, operation: str, mode: str | None = None) -> Function:
    """Combines a box in shared memory with the tensor, element by element, for each thread."""
    return _sending(mode, operation)


def _sending(mode: str | None, operation: str | None) -> Function:
    """A box out of shared memory. operation: how it is combined with what is there; None: it takes its place."""
    how = mode or "tile"

    def send(  # noqa: PLR0913, PLR0917
        group: Group,
        map_: Any,
        coordinates: Any,
        source: Any,
        base: Any = None,
        origin: Any = None,
        sizes: Any = None,
        lower: Any = None,
        upper: Any = None,
    ) -> None:
        at_ = _first(coordinates, origin)
        for one in each_thread(group):
            layout = _map(group, one, map_, how, base, (sizes, lower, upper))
            issue_grouped(group, one, [_outwards(group, one, layout, at_, source, how, operation)])

    return send


@action
def box_prefetch(*, mode: str | None = None) -> Function:
    """Names a box that may be wanted soon: its map must be one."""
    how = mode or "tile"

    def prefetch(  # noqa: PLR0913, PLR0917
        group: Group,
        map_: Any,
        coordinates: Any,
        offsets: Any = None,
        base: Any = None,
        origin: Any = None,
        sizes: Any = None,
        lower: Any = None,
        upper: Any = None,
    ) -> None:
        at_ = _first(coordinates, origin)
        for one in each_thread(group):
            layout = _map(group, one, map_, how, base, (sizes, lower, upper))
            _in_tensor(group, one, layout, how, _taken(at_, one), _taken(offsets, one))

    return prefetch


def _first(coordinates: Any, origin: Any) -> Any:
    """The coordinates, or those of a tensor whose sizes stand in the instruction: zeros, wherever its corner is."""
    return origin if coordinates is None else coordinates


def _outwards(
    group: Group, one: int, layout: Layout, coordinates: Any, source: Any, mode: str, operation: str | None
) -> Transfer:
    count = box_bytes(layout, mode)
    shared, place = _box(group, one, "shared::cta", source, count)
    at_ = _taken(coordinates, one)
    pool, targets = _in_tensor(group, one, layout, mode, at_, (0,) * max(layout.rank - 2, 0))
    sources = _targets(layout, place, group.cta.cluster.stride, count)
    combine: Combine | None = None
    if operation is not None:
        function = combining(layout.element.removesuffix("_ftz"), operation, False)
        combine = _of_two(function)
    return _transfer(layout, shared, sources, pool, targets, 0, combine)


def _of_two(function: Function) -> Combine:
    return lambda old, new: function(old, new, None)


def _taken(values: Any, one: int) -> tuple[int, ...]:
    """The numbers of one thread, signed."""
    if values is None:
        return ()
    parts = values if isinstance(values, tuple) else (values,)
    found = []
    for each in parts:
        number = each[one] if each.ndim else each
        found.append(int(number.astype(numpy.uint32).view(numpy.int32)) if each.dtype.itemsize == 4 else int(number))
    return tuple(found)


def _map(group: Group, one: int, address: Any, mode: str, base: Any, other: tuple[Any, Any, Any]) -> Layout:
    """What the map at a thread's address says; it must be one of the instruction's mode.

    base: where the tensor begins instead, or None. other: its sizes instead, and the lower and the upper bits of its
    strides, or None.
    """
    index = group.lanes.index[one : one + 1]
    start = address[one : one + 1]
    pool, place = group.cta.machine.memory.locate(group.cta, "generic", start, ALIGNED, index)
    group.cta.machine.memory.locate(group.cta, "generic", start + numpy.uint64(BYTES - ALIGNED), ALIGNED, index)
    if pool.name not in _MAP_SPACES:
        message = f"the tensor map is in {pool.name} memory: a copy takes one in global, constant or parameter memory"
        raise Fault("PTX208", message, index, space=pool.name, start=int(start[0]), size=BYTES)
    group.cta.machine.order.uses_map(group, int(index[0]), pool, int(place[0]))
    found = decoded(pool.data[int(place[0]) : int(place[0]) + BYTES].tobytes())
    if found is None:
        message = f"{NO_MAP} at 0x{int(start[0]):x}: pass a TensorMap, or copy one and replace its fields"
        raise Fault("PTX403", message, index)
    if (found.mode == "im2col") != mode.startswith("im2col"):
        raise Fault("PTX403", f"{NO_MAP} for `.{mode}` at 0x{int(start[0]):x}: its mode is {found.mode}", index)
    if base is not None:
        found = replace(found, address=int(base[one] if base.ndim else base))
    return found if other[0] is None else _resized(found, one, *other)


def _resized(layout: Layout, one: int, sizes: Any, lower: Any, upper: Any) -> Layout:
    """The map with other sizes, of 8 bits each, and strides: their 32 lower bits and 4 upper ones, times 16."""
    extents = tuple(each & 0xFF for each in _taken(sizes, one))
    high = _taken(upper, one)[0] if upper is not None else 0
    strides = tuple(
        (each & 0xFFFF_FFFF | (high >> 4 * at_ & 0xF) << 32) << 4 for at_, each in enumerate(_taken(lower, one))
    )
    return replace(layout, extents=extents, strides=strides)


ALIGNED = 64
"""Bytes to which a tensor map is aligned."""


def _box(group: Group, one: int, space: str, address: Any, count: int) -> tuple[Pool, int]:
    """The pool and the place of a box in shared memory."""
    index, start = group.lanes.index[one : one + 1], address[one : one + 1]
    memory = group.cta.machine.memory
    if int(start[0]) % _BOX_ALIGNMENT:
        message = f"0x{int(start[0]):x} is no address of a box: it must be a multiple of {_BOX_ALIGNMENT}"
        raise Fault("PTX205", message, index, space=space, start=int(start[0]), size=count)
    pool, place = memory.locate(group.cta, space, start, PIECE, index)
    memory.locate(group.cta, space, start + numpy.uint64(count - PIECE), PIECE, index)
    return pool, int(place[0])


def _in_tensor(
    group: Group, one: int, layout: Layout, mode: str, coordinates: tuple[int, ...], offsets: tuple[int, ...]
) -> tuple[Pool, Any]:
    """The pool and the places in it of a box's elements."""
    machine = group.cta.machine
    addresses = elements(layout, mode, coordinates, offsets)
    there = addresses != NOWHERE
    found = numpy.full(len(addresses), NOWHERE, numpy.int64)
    if not there.any():
        return machine.memory.arenas["global"].pool, found
    thread = numpy.full(int(there.sum()), group.lanes.index[one])
    pool, places = machine.memory.locate(
        group.cta, "global", addresses[there].astype(numpy.uint64), layout.size, thread
    )
    found[there] = places
    return pool, found


def _targets(layout: Layout, place: int, stride: int, count: int) -> Any:
    """The places in the pool of the elements of a box in shared memory."""
    base = place // stride * stride
    return base + in_shared(layout, place - base, count // layout.size)


def _transfer(
    layout: Layout, source: Pool, sources: Any, target: Pool, targets: Any, fill: int, combine: Combine | None = None
) -> Transfer:
    size = layout.size
    shape = (-1, PIECE // size)

    def units(places: Any) -> Any:
        return numpy.where(places != NOWHERE, places // size, NOWHERE).reshape(shape)

    return Transfer(size, source, units(sources), target, units(targets), fill, combine)


def _told(group: Group, one: int, barrier: Mbarrier, rank: int, paired: bool, is_multicast: bool) -> Mbarrier:
    """The object that is told of the data for a CTA."""
    if paired:
        rank = rank & ~1 | barrier.cta.rank & 1
    index = group.lanes.index[one : one + 1]
    if barrier.cta.rank != rank and (paired or is_multicast):
        return at(group, barrier.offset + rank * group.cta.cluster.stride, index)
    check_homes(barrier, rank, index)
    return barrier


@action
def replace_field(*, field: str, space: str) -> Function:
    """Changes a field of the map at each thread's address. ordinal: of the dimension, less one."""

    def change(group: Group, address: Any, value: Any, ordinal: Any = None) -> None:
        machine, index = group.cta.machine, group.lanes.index
        pool, places = machine.memory.locate(group.cta, space, address, ALIGNED, index)
        if machine.order.watches:
            machine.order.accessed(group, "update", pool, places, BYTES, "weak", None)
        for one, place in enumerate(places.tolist()):
            octets = pool.data[place : place + BYTES]
            number = int(value[one] if value.ndim else value)
            try:
                made = replaced(octets.tobytes(), field, 0 if ordinal is None else int(numpy.ravel(ordinal)[0]), number)
            except ValueError as error:
                raise Fault("PTX206", str(error), index[one : one + 1]) from error
            octets[:] = numpy.frombuffer(made, numpy.uint8)

    return change


@action
def copy_map(*, scope: str) -> Function:
    """Copies a map from shared to global memory, a warp together, and fences it for the tensormap proxy."""

    def copy(group: Group, to: Any, source: Any) -> None:
        machine, cta = group.cta.machine, group.cta
        warps = numpy.flatnonzero(numpy.concatenate([[True], numpy.diff(group.lanes.index >> 5) != 0]))
        lanes = group.lanes
        for one in warps.tolist():
            index = lanes.index[one : one + 1]
            from_pool, start = machine.memory.locate(cta, "shared::cta", source[one : one + 1], BYTES, index)
            pool, place = machine.memory.locate(cta, "global", to[one : one + 1], BYTES, index)
            if machine.order.watches:
                group.lanes = Lanes(index, cta.threads)
                machine.order.accessed(group, "read", from_pool, start, BYTES, "weak", None)
                machine.order.accessed(group, "write", pool, place, BYTES, "weak", None)
                group.lanes = lanes
            octets = from_pool.data[int(start[0]) : int(start[0]) + BYTES]
            pool.data[int(place[0]) : int(place[0]) + BYTES] = octets
        machine.order.proxy_fenced(group, "tensormap", None, "release", scope, to)

    return copy
