"""Texture sampling: the elements at coordinates, and their weights.

Weights of the linear filter have eight fractional bits, rounded to the nearest; sums are exact and rounded once.
Hardware may differ in the last bits of a sum, which the manual does not specify. Channels that an image lacks are 0,
the fourth is 1.

A texture of one dimension is one of two with a single row for the hardware: ptxas compiles `tex.1d` to a read in two
dimensions, with 0 as the second coordinate, which is between that row and the one before it. With a border for the
second dimension, which the manual does not describe, the linear filter thus returns half of the value; else the row
before is the row itself. Layers of one dimension are read as such.

Source: CUDA C++ Programming Guide, "Texture Fetching"; PTX ISA, "Texture Instructions: tex", "tld4".
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy

from ptxkit.emulator.core.numbers.float_codec import narrow
from ptxkit.emulator.core.numbers.formats import F16, F32
from ptxkit.emulator.state.textures import CUBE_FACES, Sampler, Texture

_STEPS = 256.0
_HALF = 0.5


def float_coordinates(codes: Any) -> Any:
    """Returns coordinates of f32 as doubles."""
    return numpy.ascontiguousarray(codes).view(numpy.float32).astype(numpy.float64)


def integer_coordinates(codes: Any) -> Any:
    """Returns coordinates of s32."""
    return numpy.ascontiguousarray(codes).view(numpy.int32).astype(numpy.int64)


def fetch_texels(texture: Texture, data: Any, layer: Any, index: list[Any], inside: Any) -> Any:
    """Returns the channels of elements, (4, threads), as numbers or as 64-bit integers.

    `index` has the innermost dimension first. `inside` states whether the element is inside the image, and not part of
    the border, which is 0.
    """
    places = tuple(index[::-1])
    found = data[(layer, *places)] if texture.layered else data[places]
    channels = found.reshape(len(inside), texture.channels).T
    values = _to_numbers(texture, channels)
    made = numpy.zeros((4, len(inside)), values.dtype)
    made[3] = 1
    made[: len(values)] = values
    made[:, ~inside] = 0
    return made


def _to_numbers(texture: Texture, codes: Any) -> Any:
    if not texture.returns_float:
        return codes.astype(numpy.int64)
    values = codes.astype(numpy.float64)
    if texture.scaled:
        most = float(numpy.iinfo(codes.dtype).max)
        return numpy.maximum(values / most, -1.0)
    return values


def wrap_coordinate(sampler: Sampler, x: Any, dimension: int) -> Any:
    """Returns a normalized coordinate, wrapped to its range if the mode requires this."""
    mode = sampler.address_mode(dimension)
    if mode == "wrap":
        return x - numpy.floor(x)
    if mode == "mirror":
        rest = x - numpy.floor(x)
        return numpy.where(numpy.floor(x) % 2 == 0, rest, 1.0 - rest)
    return x


def clamp_index(sampler: Sampler, index: Any, extent: int, dimension: int) -> tuple[Any, Any]:
    """Returns indices of elements clamped to the image, and whether they were inside or count as inside."""
    mode = sampler.address_mode(dimension)
    inside = (index >= 0) & (index < extent)
    if mode == "wrap":
        return index % extent, numpy.ones_like(inside)
    clamped = numpy.clip(index, 0, extent - 1)
    return clamped, inside if mode == "border" else numpy.ones_like(inside)


def _texel_coordinates(texture: Texture, sampler: Sampler, coordinates: list[Any]) -> list[Any]:
    found = []
    for at, (x, extent) in enumerate(zip(coordinates, texture.extents, strict=True)):
        finite = numpy.where(numpy.isfinite(x), x, 0.0)
        found.append(wrap_coordinate(sampler, finite, at) * extent if sampler.normalized else finite)
    return found


def sample(
    texture: Texture, sampler: Sampler, data: Any, layer: Any, coordinates: list[Any], offsets: list[Any] | None
) -> Any:
    """Returns the four channels at coordinates (numbers, or integers, which count elements)."""
    if coordinates[0].dtype.kind == "i":
        index = list(coordinates)
        return _sample_nearest(texture, sampler, data, layer, index, offsets)
    points = _texel_coordinates(texture, sampler, coordinates)
    if sampler.filter == "point":
        return _sample_nearest(texture, sampler, data, layer, [_floor(each) for each in points], offsets)
    lower = [_floor(each - _HALF) for each in points]
    weights = [
        numpy.floor((each - _HALF - low) * _STEPS + _HALF) / _STEPS for each, low in zip(points, lower, strict=True)
    ]
    total: Any = 0.0
    for corner in product((0, 1), repeat=len(lower)):
        share: Any = 1.0
        for step, weight in zip(corner, weights, strict=True):
            share = share * (weight if step else 1.0 - weight)
        index = [low + step for low, step in zip(lower, corner, strict=True)]
        total = total + share * _sample_nearest(texture, sampler, data, layer, index, offsets)
    return total * _HALF if _has_border_above(texture, sampler) else total


def _has_border_above(texture: Texture, sampler: Sampler) -> bool:
    """Returns whether the single row of a texture is below a border, as a second mode may specify."""
    return len(texture.extents) == 1 and not texture.layered and sampler.address[1:2] == ("border",)


def _floor(x: Any) -> Any:
    return numpy.floor(numpy.clip(x, -(2.0**40), 2.0**40)).astype(numpy.int64)


def _sample_nearest(
    texture: Texture, sampler: Sampler, data: Any, layer: Any, index: list[Any], offsets: list[Any] | None
) -> Any:
    inside = numpy.ones(len(index[0]), bool)
    places = []
    for at, (each, extent) in enumerate(zip(index, texture.extents, strict=True)):
        moved = each if offsets is None else each + offsets[at]
        place, there = clamp_index(sampler, moved, extent, at)
        places.append(place)
        inside &= there
    return fetch_texels(texture, data, layer, places, inside)


def gather_footprint(
    texture: Texture, sampler: Sampler, data: Any, layer: Any, coordinates: list[Any], offsets: list[Any] | None
) -> list[Any]:
    """Returns the four elements that a linear filter uses, counterclockwise from the lower left: y increases down."""
    lower = [_floor(each - _HALF) for each in _texel_coordinates(texture, sampler, coordinates)]
    corners = ((0, 1), (1, 1), (1, 0), (0, 0))
    return [
        _sample_nearest(
            texture, sampler, data, layer, [low + step for low, step in zip(lower, corner, strict=True)], offsets
        )
        for corner in corners
    ]


def project_on_cube(s: Any, t: Any, r: Any) -> tuple[Any, list[Any]]:
    """Returns the face that a direction intersects, and the location on it, from 0 to 1."""
    sizes = numpy.abs(numpy.stack([s, t, r]))
    axis = sizes.argmax(axis=0)
    largest = numpy.where(sizes.max(axis=0) == 0, 1.0, sizes.max(axis=0))
    major = numpy.choose(axis, [s, t, r])
    face = 2 * axis + (major < 0)
    across = numpy.choose(face, [-r, r, s, s, s, -s])
    down = numpy.choose(face, [-t, -t, r, -r, -t, -t])
    return face % CUBE_FACES, [(each / largest + 1.0) / 2.0 for each in (across, down)]


def encode_channels(values: Any, type_: str, real: bool) -> Any:
    """Returns channels as codes of a type of PTX. `real` states that they are floating-point numbers, not integers."""
    if not real:
        return (values & 0xFFFF_FFFF).astype(numpy.uint32)
    return narrow(F16 if type_ in ("f16", "f16x2") else F32, values.astype(numpy.float64))
