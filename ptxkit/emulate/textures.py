"""Textures, samplers and surfaces as arguments of a launch.

    picture = Texture(numpy.zeros((48, 64), numpy.float32), Sampler(filter="linear", address=("wrap", "clamp")))
    run(module, "k", grid=4, arguments=[picture, Surface(numpy.zeros((48, 64, 4), numpy.uint8), channels=4)])

An array has its innermost dimension last, behind it that of the channels, where there are several; layers come first.
A texture has one level. A kernel gets a handle of 64 bits.

Source: PTX ISA, "Texture Sampler and Surface Types", "Channel Data Type and Channel Order Fields", "Texturing Modes";
CUDA Driver API, "Texture Object Management".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy

from ptxkit.emulate.faults import LaunchError

MODES = ("wrap", "mirror", "clamp_ogl", "clamp", "border")
"""What happens to coordinates outside, by the number that `txq` gives."""
FILTERS = ("point", "linear")
FACES = 6
_CHANNELS = {1: 0x10B0, 2: 0x10B2, 4: 0x10B5}
_WORDS = ("i1", "i2", "i4", "u1", "u2", "u4", "f2", "f4")
_TYPES = dict(zip(_WORDS, range(0x10D7, 0x10DF), strict=True))
_NORMALIZED = {"i1": 0x10D0, "i2": 0x10D1, "u1": 0x10D2, "u2": 0x10D3}
"""The names of OpenCL's enumerations, by numpy's."""
_MOST_DIMENSIONS = 3
_HANDLES = 0x7E << 48
HANDLE_BYTES = 8


@dataclass(frozen=True, slots=True)
class Sampler:
    """How a texture is read. filter: `point` or `linear`. normalized: coordinates go from 0 to 1.

    address: a mode of `MODES` for each dimension, innermost first; the last one is that of the dimensions that follow.
    A second mode matters to a texture of one dimension, too (`sampling.py`).
    """

    filter: str = "point"
    address: tuple[str, ...] = ("clamp", "clamp", "clamp")
    normalized: bool = False

    def mode(self, dimension: int) -> str:
        """What happens to a coordinate outside; without normalized ones there is only an edge, or a border."""
        found = self.address[min(dimension, len(self.address) - 1)]
        return "clamp" if not self.normalized and found in ("wrap", "mirror") else found

    def checked(self, name: str) -> None:
        """Raise LaunchError where it cannot be a sampler."""
        if self.filter not in FILTERS or any(each not in MODES for each in self.address) or not self.address:
            raise LaunchError(f"{name}: filters are {', '.join(FILTERS)}; addresses {', '.join(MODES)}")


@dataclass(frozen=True, slots=True)
class Image:
    """What textures and surfaces have in common. channels: 1, 2 or 4. layered: the first dimension is one of layers."""

    array: Any
    channels: int = 1
    layered: bool = False

    @property
    def extents(self) -> tuple[int, ...]:
        """Elements by dimension, innermost first, without layers and channels."""
        shape = self.array.shape[int(self.layered) :]
        return tuple(shape[: len(shape) - (self.channels > 1)][::-1])

    @property
    def layers(self) -> int:
        """How many there are; 0 where it has none."""
        return int(self.array.shape[0]) if self.layered else 0

    @property
    def size(self) -> int:
        """Bytes of an element with its channels."""
        return int(self.array.itemsize) * self.channels

    @property
    def order(self) -> int:
        """The number of the order of its channels."""
        return _CHANNELS[self.channels]

    def checked(self, name: str) -> None:
        """Raise LaunchError where it cannot be an image."""
        kind = f"{self.array.dtype.kind}{self.array.itemsize}" if isinstance(self.array, numpy.ndarray) else ""
        if kind not in _TYPES or not self.array.flags.c_contiguous:
            raise LaunchError(f"{name}: an image is a numpy array of 8, 16 or 32-bit numbers, in C order")
        if self.channels not in _CHANNELS or (self.channels > 1 and self.array.shape[-1] != self.channels):
            raise LaunchError(f"{name}: an image has 1, 2 or 4 channels, and they are its last dimension")
        if not 1 <= len(self.extents) <= _MOST_DIMENSIONS or not self.array.size:
            raise LaunchError(f"{name}: an image has 1 to {_MOST_DIMENSIONS} dimensions, besides layers and channels")


@dataclass(frozen=True, slots=True)
class Texture(Image):
    """An image to be read. scaled: integers become numbers from 0, or -1, to 1. cube: layers are faces, six a cube."""

    sampler: Sampler = Sampler()
    scaled: bool = False
    cube: bool = False

    @property
    def type(self) -> int:
        """The number of the type of its channels."""
        kind = f"{self.array.dtype.kind}{self.array.itemsize}"
        return _NORMALIZED.get(kind, 0) if self.scaled else _TYPES[kind]

    @property
    def is_real(self) -> bool:
        """Whether it gives floating-point numbers."""
        return self.scaled or self.array.dtype.kind == "f"

    def checked(self, name: str) -> None:
        """Raise LaunchError where it cannot be a texture."""
        Image.checked(self, name)
        self.sampler.checked(name)
        if self.scaled and f"{self.array.dtype.kind}{self.array.itemsize}" not in _NORMALIZED:
            raise LaunchError(f"{name}: only integers of 8 or 16 bits are scaled")
        if self.sampler.filter == "linear" and not self.is_real:
            raise LaunchError(f"{name}: only floating-point or scaled numbers are filtered")
        if self.cube and (self.layers % FACES or len(set(self.extents)) != 1 or len(self.extents) != 2):
            raise LaunchError(f"{name}: a cube has six square faces as layers, or as many for each of several")


@dataclass(frozen=True, slots=True)
class Surface(Image):
    """An image to be read and written."""

    @property
    def type(self) -> int:
        """The number of the type of its channels."""
        return _TYPES[f"{self.array.dtype.kind}{self.array.itemsize}"]


Opaque: TypeAlias = "Texture | Surface | Sampler"


@dataclass(frozen=True, slots=True)
class Bound:
    """An object that a kernel has. address: where its array begins in global memory, 0 for a sampler."""

    object: Opaque
    address: int


class Objects:
    """The textures, samplers and surfaces of a launch, by their handles."""

    def __init__(self) -> None:
        self._bound: dict[int, Bound] = {}

    def bind(self, made: Opaque, address: int) -> int:
        """A handle for an object."""
        handle = _HANDLES + (len(self._bound) + 1 << 4)
        self._bound[handle] = Bound(made, address)
        return handle

    def find(self, handle: int) -> Bound | None:
        """What a handle stands for."""
        return self._bound.get(handle)
