"""Textures, samplers and surfaces as arguments of a launch.

    picture = Texture(numpy.zeros((48, 64), numpy.float32), Sampler(filter="linear", address=("wrap", "clamp")))
    run(module, "k", grid=4, arguments=[picture, Surface(numpy.zeros((48, 64, 4), numpy.uint8), channels=4)])

An array has its innermost dimension last, followed by that of the channels, if there are several; layers come first. A
texture has one level. A kernel receives a handle of 64 bits.

Source: PTX ISA, "Texture Sampler and Surface Types", "Channel Data Type and Channel Order Fields", "Texturing Modes";
CUDA Driver API, "Texture Object Management".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy

from ptxkit.emulator.core.findings import InvalidLaunchError
from ptxkit.emulator.limits import MAX_IMAGE_DIMENSIONS

ADDRESS_MODES = ("wrap", "mirror", "clamp_ogl", "clamp", "border")
"""The treatment of coordinates outside of the image, by the number that `txq` returns."""
FILTERS = ("point", "linear")
CUBE_FACES = 6
_CHANNEL_ORDERS = {1: 0x10B0, 2: 0x10B2, 4: 0x10B5}
_WORDS = ("i1", "i2", "i4", "u1", "u2", "u4", "f2", "f4")
_CHANNEL_TYPES = dict(zip(_WORDS, range(0x10D7, 0x10DF), strict=True))
_NORMALIZED_TYPES = {"i1": 0x10D0, "i2": 0x10D1, "u1": 0x10D2, "u2": 0x10D3}
"""The names of OpenCL's enumeration values, by numpy's types."""
_HANDLE_BASE = 0x7E << 48
HANDLE_BYTES = 8


@dataclass(frozen=True, slots=True)
class Sampler:
    """The sampling of a texture. `filter` is `point` or `linear`; with `normalized`, coordinates are from 0 to 1.

    `address` has a mode of `ADDRESS_MODES` for each dimension, innermost first; the last one also holds for the
    following dimensions. A second mode also affects a texture of one dimension (`texture_sampling.py`).
    """

    filter: str = "point"
    address: tuple[str, ...] = ("clamp", "clamp", "clamp")
    normalized: bool = False

    def address_mode(self, dimension: int) -> str:
        """Returns the mode of a dimension; coordinates that are not normalized have an edge or a border only."""
        found = self.address[min(dimension, len(self.address) - 1)]
        return "clamp" if not self.normalized and found in ("wrap", "mirror") else found

    def validate(self, name: str) -> None:
        """Raises InvalidLaunchError if it is not a valid sampler."""
        if self.filter not in FILTERS or any(each not in ADDRESS_MODES for each in self.address) or not self.address:
            raise InvalidLaunchError(f"{name}: filters are {', '.join(FILTERS)}; addresses {', '.join(ADDRESS_MODES)}")


@dataclass(frozen=True, slots=True)
class TextureImage:
    """The common properties of textures and surfaces. An image has 1, 2 or 4 `channels`.

    With `layered`, the first dimension is one of layers.
    """

    array: Any
    channels: int = 1
    layered: bool = False

    @property
    def extents(self) -> tuple[int, ...]:
        """The number of elements by dimension, innermost first, without layers and channels."""
        shape = self.array.shape[int(self.layered) :]
        return tuple(shape[: len(shape) - (self.channels > 1)][::-1])

    @property
    def layers(self) -> int:
        """The number of layers, or 0 if it has none."""
        return int(self.array.shape[0]) if self.layered else 0

    @property
    def element_size(self) -> int:
        """The bytes of an element with its channels."""
        return int(self.array.itemsize) * self.channels

    @property
    def channel_order(self) -> int:
        """The number of the order of its channels."""
        return _CHANNEL_ORDERS[self.channels]

    def validate(self, name: str) -> None:
        """Raises InvalidLaunchError if it is not a valid image."""
        kind = f"{self.array.dtype.kind}{self.array.itemsize}" if isinstance(self.array, numpy.ndarray) else ""
        if kind not in _CHANNEL_TYPES or not self.array.flags.c_contiguous:
            raise InvalidLaunchError(f"{name}: an image is a numpy array of 8, 16 or 32-bit numbers, in C order")
        if self.channels not in _CHANNEL_ORDERS or (self.channels > 1 and self.array.shape[-1] != self.channels):
            raise InvalidLaunchError(f"{name}: an image has 1, 2 or 4 channels, and they are its last dimension")
        if not 1 <= len(self.extents) <= MAX_IMAGE_DIMENSIONS or not self.array.size:
            raise InvalidLaunchError(
                f"{name}: an image has 1 to {MAX_IMAGE_DIMENSIONS} dimensions, besides layers and channels"
            )


@dataclass(frozen=True, slots=True)
class Texture(TextureImage):
    """An image that can be read. With `scaled`, integers become numbers from 0, or -1, to 1.

    With `cube`, the layers are faces, six for each cube.
    """

    sampler: Sampler = Sampler()
    scaled: bool = False
    cube: bool = False

    @property
    def channel_type(self) -> int:
        """The number of the type of its channels."""
        kind = f"{self.array.dtype.kind}{self.array.itemsize}"
        return _NORMALIZED_TYPES.get(kind, 0) if self.scaled else _CHANNEL_TYPES[kind]

    @property
    def returns_float(self) -> bool:
        """Whether reads return floating-point numbers."""
        return self.scaled or self.array.dtype.kind == "f"

    def validate(self, name: str) -> None:
        """Raises InvalidLaunchError if it is not a valid texture."""
        TextureImage.validate(self, name)
        self.sampler.validate(name)
        if self.scaled and f"{self.array.dtype.kind}{self.array.itemsize}" not in _NORMALIZED_TYPES:
            raise InvalidLaunchError(f"{name}: only integers of 8 or 16 bits are scaled")
        if self.sampler.filter == "linear" and not self.returns_float:
            raise InvalidLaunchError(f"{name}: only floating-point or scaled numbers are filtered")
        if self.cube and (self.layers % CUBE_FACES or len(set(self.extents)) != 1 or len(self.extents) != 2):
            raise InvalidLaunchError(f"{name}: a cube has six square faces as layers, or as many for each of several")


@dataclass(frozen=True, slots=True)
class Surface(TextureImage):
    """An image that can be read and written."""

    @property
    def channel_type(self) -> int:
        """The number of the type of its channels."""
        return _CHANNEL_TYPES[f"{self.array.dtype.kind}{self.array.itemsize}"]


OpaqueObject: TypeAlias = "Texture | Surface | Sampler"


@dataclass(frozen=True, slots=True)
class TextureBinding:
    """A texture, surface or sampler of a kernel. `address` is that of its array in global memory, 0 for a sampler."""

    object: OpaqueObject
    address: int


class TextureHandles:
    """The textures, samplers and surfaces of a launch, by their handles."""

    def __init__(self) -> None:
        self._bindings: dict[int, TextureBinding] = {}

    def bind(self, made: OpaqueObject, address: int) -> int:
        """Returns a handle for an object."""
        handle = _HANDLE_BASE + (len(self._bindings) + 1 << 4)
        self._bindings[handle] = TextureBinding(made, address)
        return handle

    def find(self, handle: int) -> TextureBinding | None:
        """Returns the object of a handle, or None."""
        return self._bindings.get(handle)
