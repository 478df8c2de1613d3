"""Reads of textures, and queries of properties of textures, samplers and surfaces.

Source: PTX ISA, "Texture Instructions: tex", "tld4", "txq", "istypep"; "Surface Instructions: suq".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.emulator.core.findings import ExecutionFault, UnsupportedError
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.state.texture_sampling import (
    encode_channels,
    float_coordinates,
    gather_footprint,
    integer_coordinates,
    project_on_cube,
    sample,
)
from ptxkit.emulator.state.textures import (
    ADDRESS_MODES,
    CUBE_FACES,
    FILTERS,
    Sampler,
    Surface,
    Texture,
    TextureBinding,
    TextureImage,
)
from ptxkit.emulator.threads.thread_groups import ThreadGroup

_DIMENSIONS = {"1d": 1, "2d": 2, "3d": 3, "a1d": 1, "a2d": 2, "cube": 2, "acube": 2}
_COMPONENTS = "rgba"
_HANDLE = 8


def binding_of(group: ThreadGroup, handle: int) -> TextureBinding | None:
    """Returns the object of a handle, or of a variable of an opaque type that holds a handle."""
    program = group.cta.machine.program
    found = program.texture_handles.find(handle)
    if found is not None or not program.memory.contains(handle, _HANDLE):
        return found
    return program.texture_handles.find(int.from_bytes(bytes(program.memory.view_bytes(handle, _HANDLE)), "little"))


def bindings_by_handle(
    group: ThreadGroup, handles: Any, wanted: type[Any], what: str
) -> Iterator[tuple[TextureBinding, Any]]:
    """Returns the objects that threads name, each with the positions of these threads.

    Raises ExecutionFault if a handle refers to no object.
    """
    spread = numpy.broadcast_to(handles, (group.lanes.count,))
    for handle in numpy.unique(spread).tolist():
        chosen = numpy.flatnonzero(spread == handle)
        found = binding_of(group, handle)
        if found is None or not isinstance(found.object, wanted):
            message = ptx2xx.NO_OBJECT_WITH_HANDLE(handle=handle, kind=what)
            raise ExecutionFault(message, group.lanes.index[chosen])
        yield found, chosen


def image_elements(group: ThreadGroup, found: TextureBinding) -> Any:
    """Returns the present contents of an image."""
    image = found.object
    assert isinstance(image, TextureImage)
    octets = group.cta.machine.memory.view_bytes(found.address, image.array.nbytes)
    return octets.view(image.array.dtype).reshape(image.array.shape)


class _TextureCoordinates:
    """The coordinates of a read: the layer in an array of textures, and numbers by dimension, innermost first."""

    def __init__(self, geometry: str, floating: bool, count: int, parts: tuple[Any, ...]) -> None:
        convert = float_coordinates if floating else integer_coordinates
        flat = [numpy.broadcast_to(each, (count,)) for each in parts]
        layer = numpy.zeros(count, numpy.int64)
        if geometry.startswith("a"):
            layer, flat = flat[0].astype(numpy.int64), flat[1:]
        self.layer = layer
        self.points = [convert(each) for each in flat[: _DIMENSIONS[geometry] + (geometry in ("cube", "acube"))]]

    def for_lanes(self, texture: Texture, geometry: str, chosen: Any) -> tuple[Any, list[Any]]:
        """Returns layers and coordinates for some threads. Layers that do not exist are replaced by the last one."""
        points, layer = [each[chosen] for each in self.points], self.layer[chosen]
        if geometry in ("cube", "acube"):
            face, points = project_on_cube(*points)
            cubes = max(texture.layers // CUBE_FACES, 1)
            return numpy.clip(layer, 0, cubes - 1) * CUBE_FACES + face, points
        return numpy.clip(layer, 0, max(texture.layers, 1) - 1), points


def _check_coordinates(group: ThreadGroup, texture: Texture, geometry: str, chosen: Any) -> None:
    layered = geometry.startswith("a") or geometry in ("cube", "acube")
    if len(texture.extents) != _DIMENSIONS[geometry] or texture.layered != layered:
        has = f"{len(texture.extents)} dimensions{' and layers' if texture.layered else ''}"
        raise ExecutionFault(ptx2xx.TEXTURE_OF_OTHER_GEOMETRY(geometry=geometry, shape=has), group.lanes.index[chosen])


def _sampler_of(group: ThreadGroup, given: Any, texture: Texture, chosen: Any, on_cube: bool) -> Sampler:
    sampler: Any = texture.sampler
    if given is not None:
        handles = numpy.broadcast_to(given, (group.lanes.count,))[chosen]
        sampler = next(bindings_by_handle(group, handles[:1], Sampler, "sampler"))[0].object
    return Sampler(sampler.filter, ("clamp",), normalized=True) if on_cube else sampler


@effect_semantics
def texture_read(*, geometry: str, type: str, coordinates: str) -> Function:  # noqa: A002
    """Returns the four channels at coordinates, or two registers of two f16 each, and whether they are resident in
    memory.
    """
    if geometry not in _DIMENSIONS:
        raise UnsupportedError("the machine has no textures of several samples")
    floating, pairs = coordinates == "f32", type == "f16x2"

    def fetch(  # noqa: PLR0913, PLR0917 (the operands of one instruction)
        group: ThreadGroup,
        handle: Any,
        sampler: Any = None,
        c: Any = None,
        i: Any = None,
        x: Any = None,
        j: Any = None,
        u: Any = None,
        v: Any = None,
        w: Any = None,
        offsets: Any = None,
    ) -> Any:
        count = group.lanes.count
        request = _TextureCoordinates(geometry, floating, count, _unpack_coordinates(c, (i, x), (j, u, v, w)))
        made = numpy.zeros((4, count), numpy.uint16 if pairs or type == "f16" else numpy.uint32)
        for found, chosen in bindings_by_handle(group, handle, Texture, "texture"):
            texture: Any = found.object
            _check_coordinates(group, texture, geometry, chosen)
            layer, points = request.for_lanes(texture, geometry, chosen)
            how = _sampler_of(group, sampler, texture, chosen, geometry in ("cube", "acube"))
            values = sample(
                texture, how, image_elements(group, found), layer, points, _texel_offsets(offsets, count, chosen)
            )
            made[:, chosen] = encode_channels(values, type, texture.returns_float)
        present = numpy.ones(count, bool)
        if pairs:
            wide = made.astype(numpy.uint32)
            return (wide[0] | wide[1] << numpy.uint32(16), wide[2] | wide[3] << numpy.uint32(16)), present
        return tuple(made), present

    return fetch


@effect_semantics
def texture_gather(*, geometry: str, type: str, component: str) -> Function:  # noqa: A002
    """Returns one channel of the four elements that a linear filter would use."""
    channel = _COMPONENTS.index(component)

    def fetch(  # noqa: PLR0913, PLR0917
        group: ThreadGroup,
        handle: Any,
        sampler: Any = None,
        c: Any = None,
        j: Any = None,
        u: Any = None,
        v: Any = None,
        w: Any = None,
        offsets: Any = None,
    ) -> Any:
        count = group.lanes.count
        request = _TextureCoordinates(geometry, True, count, _unpack_coordinates(c, (j, u, v, w)))
        made = numpy.zeros((4, count), numpy.uint32)
        for found, chosen in bindings_by_handle(group, handle, Texture, "texture"):
            texture: Any = found.object
            _check_coordinates(group, texture, geometry, chosen)
            layer, points = request.for_lanes(texture, geometry, chosen)
            how = _sampler_of(group, sampler, texture, chosen, geometry in ("cube", "acube"))
            moves = _texel_offsets(offsets, count, chosen)
            for at, values in enumerate(
                gather_footprint(texture, how, image_elements(group, found), layer, points, moves)
            ):
                made[at, chosen] = encode_channels(values[channel], type, texture.returns_float)
        return tuple(made), numpy.ones(count, bool)

    return fetch


def _unpack_coordinates(plain: Any, *alternatives: tuple[Any, ...]) -> tuple[Any, ...]:
    """Returns coordinates as they were given: a vector, a single one, or an index and coordinates."""
    found = next((alternative for alternative in alternatives if alternative[0] is not None), plain)
    return found if isinstance(found, tuple) else (found,)


def _texel_offsets(offsets: Any, count: int, chosen: Any) -> list[Any] | None:
    """Returns the offsets of elements from the coordinates."""
    if offsets is None:
        return None
    return [integer_coordinates(numpy.broadcast_to(each, (count,)))[chosen] for each in _unpack_coordinates(offsets)]


# ------------------------------------------------------------------------------------------------------ queries


@effect_semantics
def image_query(*, query: str, object: str) -> Function:  # noqa: A002
    """Returns a property of a texture, a sampler or a surface (`object`)."""
    kind: Any = {"texture": Texture, "surface": Surface, "sampler": Sampler}[object]

    def ask(group: ThreadGroup, handle: Any, *_level: Any) -> Any:
        made = numpy.zeros(group.lanes.count, numpy.uint32)
        for found, chosen in bindings_by_handle(group, handle, kind, object):
            thing = found.object
            made[chosen] = _query_sampler(thing, query) if isinstance(thing, Sampler) else _query_image(thing, query)
        return made

    return ask


def _query_sampler(sampler: Sampler, query: str) -> int:
    if query == "filter_mode":
        return FILTERS.index(sampler.filter)
    if query.startswith("addr_mode"):
        return ADDRESS_MODES.index(sampler.address[min(int(query[-1]), len(sampler.address) - 1)])
    return int(not sampler.normalized)


def _query_image(image: Texture | Surface, query: str) -> int:
    if query in ("width", "height", "depth"):
        at = ("width", "height", "depth").index(query)
        return image.extents[at] if at < len(image.extents) else 0
    if query == "channel_data_type":
        return image.channel_type
    if query == "channel_order":
        return image.channel_order
    if query == "array_size":
        cubes = CUBE_FACES if isinstance(image, Texture) and image.cube else 1
        return image.layers // cubes if image.layers > cubes or cubes == 1 else 0
    if isinstance(image, Texture) and query == "normalized_coords":
        return int(image.sampler.normalized)
    if isinstance(image, Texture) and query in ("filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2"):
        return _query_sampler(image.sampler, query)
    return 0  # no levels, no samples, no linear layout


@effect_semantics
def is_opaque(*, object: str) -> Function:  # noqa: A002
    """Returns whether a register points to an object of a type."""
    kind: Any = {"texref": Texture, "samplerref": Sampler, "surfref": Surface}[object]

    def ask(group: ThreadGroup, handle: Any) -> Any:
        spread = numpy.broadcast_to(handle, (group.lanes.count,))
        made = [isinstance(getattr(binding_of(group, each), "object", None), kind) for each in spread.tolist()]
        return numpy.array(made)

    return ask
