"""Reads, writes and reductions of surfaces.

Source: PTX ISA, "Surface Instructions: suld", "sust", "sured".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.emulator.actions.atomics import atomic
from ptxkit.emulator.actions.load_store import load, store
from ptxkit.emulator.actions.textures import bindings_by_handle
from ptxkit.emulator.core.dtypes import width_of
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.core.lane_set import LaneSet
from ptxkit.emulator.core.numbers.float_codec import narrow
from ptxkit.emulator.core.numbers.formats import F16
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.state.textures import Surface
from ptxkit.emulator.threads.thread_groups import ThreadGroup

_DIMENSIONS = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2}


@effect_semantics
def surface_load(*, geometry: str, type: str, count: int, clamp: str) -> Function:  # noqa: A002
    """Returns bytes at coordinates, of which the first counts bytes, without conversion."""
    access = load(type=type, space="global", count=count)
    size = width_of(type) // 8

    def read(group: ThreadGroup, handle: Any, coordinates: Any) -> Any:
        found = [numpy.zeros(group.lanes.count, f"u{size}") for _ in range(count)]
        for _, chosen, address in _locate_elements(
            group, handle, coordinates, geometry, clamp, size * count, samples=False
        ):
            got = _access_lanes(group, chosen, access, address)
            for whole, part in zip(found, (got,) if count == 1 else got, strict=True):
                whole[chosen] = part
        return found[0] if count == 1 else tuple(found)

    return read


@effect_semantics
def surface_store(*, geometry: str, type: str, count: int, clamp: str) -> Function:  # noqa: A002
    """Writes bytes at coordinates, of which the first counts bytes."""
    access = store(type=type, space="global", count=count)
    size = width_of(type) // 8

    def write(group: ThreadGroup, handle: Any, coordinates: Any, data: Any) -> None:
        values = _as_vector(group, data)
        for _, chosen, address in _locate_elements(
            group, handle, coordinates, geometry, clamp, size * count, samples=False
        ):
            given = tuple(each[chosen].astype(f"u{size}") for each in values)
            value = given[0] if count == 1 else given
            _access_lanes(group, chosen, access, address, value)

    return write


@effect_semantics
def surface_store_converted(*, geometry: str, count: int, clamp: str) -> Function:
    """Writes the channels of one element, converted to the surface's type. Missing channels become 0."""

    def write(group: ThreadGroup, handle: Any, coordinates: Any, data: Any) -> None:
        values = _as_vector(group, data)
        for surface, chosen, address in _locate_elements(group, handle, coordinates, geometry, clamp, 0, samples=True):
            codes = [_convert_channels(values[at][chosen], surface) for at in range(min(count, surface.channels))]
            codes += [numpy.zeros_like(codes[0])] * (surface.channels - len(codes))
            access = store(type=f"b{surface.array.itemsize * 8}", space="global", count=surface.channels)
            value = codes[0] if surface.channels == 1 else tuple(codes)
            _access_lanes(group, chosen, access, address, value)

    return write


@effect_semantics
def surface_reduce(*, geometry: str, type: str, operation: str, clamp: str, samples: bool = False) -> Function:  # noqa: A002
    """Combines a value with the contents of the surface atomically.

    With `samples`, the first coordinate counts elements of the type.
    """
    size = width_of(type) // 8

    def change(group: ThreadGroup, handle: Any, coordinates: Any, data: Any) -> None:
        (value,) = _as_vector(group, data)
        for surface, chosen, address in _locate_elements(
            group, handle, coordinates, geometry, clamp, size, samples=samples, unit=size
        ):
            word = type.replace("b", "s" if surface.array.dtype.kind == "i" else "u") if samples else type
            access = atomic(type=word, space="global", operation=operation)
            what = value[chosen].astype(f"u{size}")
            _access_lanes(group, chosen, access, address, what)

    return change


def _as_vector(group: ThreadGroup, data: Any) -> tuple[Any, ...]:
    parts = data if isinstance(data, tuple) else (data,)
    return tuple(numpy.broadcast_to(each, (group.lanes.count,)) for each in parts)


def _convert_channels(codes: Any, surface: Surface) -> Any:
    """Converts registers of 32 bits to channels of a surface's type: integers saturate, other numbers are truncated.

    The manual does not specify the rounding; an H200 truncates (`scripts/device_textures`).
    """
    dtype = surface.array.dtype
    if dtype.kind == "f":
        if dtype.itemsize == 4:
            return codes
        return narrow(F16, numpy.ascontiguousarray(codes).view(numpy.float32).astype(numpy.float64), "rz")
    limits = numpy.iinfo(dtype)
    wide = numpy.ascontiguousarray(codes).view(numpy.int32 if dtype.kind == "i" else numpy.uint32).astype(numpy.int64)
    return numpy.clip(wide, limits.min, limits.max).astype(dtype).view(f"u{dtype.itemsize}")


def _access_lanes(group: ThreadGroup, chosen: Any, access: Function, *operands: Any) -> Any:
    """Applies an access to some threads only."""
    lanes = group.lanes
    group.lanes = LaneSet(lanes.index[chosen], group.cta.threads)
    try:
        return access(group, *operands)
    finally:
        group.lanes = lanes


def _locate_elements(  # noqa: PLR0913 (the parts of a location)
    group: ThreadGroup,
    handle: Any,
    coordinates: Any,
    geometry: str,
    clamp: str,
    size: int,
    *,
    samples: bool,
    unit: int = 0,
) -> Iterator[tuple[Surface, Any, Any]]:
    """Returns surfaces, the positions of the threads that access them, and their addresses.

    `size` is in bytes, or 0 for an element. With `samples`, the first coordinate counts elements, of `unit` bytes if
    that is not 0. `clamp` determines whether threads whose coordinates are outside are omitted, clamped to the edge, or
    raise ExecutionFault.
    """
    parts = coordinates if isinstance(coordinates, tuple) else (coordinates,)
    numbers = [numpy.broadcast_to(each, (group.lanes.count,)).view(numpy.int32).astype(numpy.int64) for each in parts]
    layered, dimensions = geometry.startswith("a"), _DIMENSIONS[geometry]
    for found, chosen in bindings_by_handle(group, handle, Surface, "surface"):
        surface: Any = found.object
        if len(surface.extents) != dimensions or surface.layered != layered:
            has = f"{len(surface.extents)} dimensions{' and layers' if surface.layered else ''}"
            raise ExecutionFault(
                ptx2xx.SURFACE_OF_OTHER_GEOMETRY(geometry=geometry, shape=has), group.lanes.index[chosen]
            )
        own = [each[chosen] for each in numbers]
        layer = own.pop(0) if layered else numpy.zeros(len(chosen), numpy.int64)
        own = own[:dimensions]
        wide = size or surface.element_size
        if samples:
            own[0] = own[0] * (unit or surface.element_size)
        most = [surface.extents[0] * surface.element_size - wide, *(each - 1 for each in surface.extents[1:])]
        outside = (layer < 0) | (layer >= max(surface.layers, 1))
        for each, limit in zip(own, most, strict=True):
            outside |= (each < 0) | (each > limit)
        if outside.any() and clamp == "trap":
            message = ptx2xx.OUTSIDE_SURFACE(extents=" x ".join(map(str, surface.extents)))
            raise ExecutionFault(message, group.lanes.index[chosen[outside]])
        keeps = ~outside if clamp == "zero" else numpy.ones_like(outside)
        if not keeps.any():
            continue
        own = [numpy.clip(each, 0, limit) for each, limit in zip(own, most, strict=True)]
        layer = numpy.clip(layer, 0, max(surface.layers, 1) - 1)
        place = layer
        for each, extent in zip(own[:0:-1], surface.extents[:0:-1], strict=True):
            place = place * extent + each
        address = found.address + place * surface.extents[0] * surface.element_size + own[0]
        yield surface, chosen[keeps], address[keeps].astype(numpy.uint64)
