"""Textures, surfaces and samplers on the command line.

`texture:f32[48,64]:random:filter=linear:address=wrapxclamp:normalized=1`; `scaled=1` makes integers numbers up to 1,
`channels=4` uses the last dimension as channels, `layered=1` the first one as layers, `cube=1` the layers as faces.
`surface:u8[48,64,4]:channels=4`. `sampler:filter=linear:address=border` is for modules with separate samplers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy

from ptxkit.analysis.dataflow.texture_params import ImageUse, image_parameters
from ptxkit.analysis.ir.program import Program
from ptxkit.emulator import Sampler, Surface, Texture
from ptxkit.emulator.state.textures import OpaqueObject
from ptxkit.verifier.limits import MAX_IMAGES

IMAGE_KINDS = ("texture", "surface", "sampler")
_SAMPLER_FIELDS = ("filter", "address", "normalized")
_SURFACE_FIELDS = ("channels", "layered")
_TEXTURE_FIELDS = (*_SURFACE_FIELDS, "scaled", "cube")
_FIELDS_OF_KIND = {
    "texture": (*_TEXTURE_FIELDS, *_SAMPLER_FIELDS),
    "surface": _SURFACE_FIELDS,
    "sampler": _SAMPLER_FIELDS,
}


_TEXTURE_EXTENTS = {
    "1d": (1024,),
    "2d": (128, 128),
    "3d": (32, 32, 32),
    "a1d": (8, 1024),
    "a2d": (8, 64, 64),
    "cube": (6, 64, 64),
    "acube": (12, 64, 64),
}
"""The extents of a texture that was not specified, layers first."""
_SURFACE_EXTENTS = {"1d": (4096,), "2d": (64, 2048), "3d": (8, 8, 2048), "a1d": (8, 2048), "a2d": (8, 8, 2048)}
"""The extents of a surface: its rows are long enough for a number, or some bytes, of each thread."""

InferredImages: TypeAlias = "dict[str, tuple[OpaqueObject, str]]"
"""An object and its description, by parameter."""


def infer_images(program: Program) -> InferredImages:
    """Returns textures, surfaces and samplers for parameters that the kernel uses as such."""
    found: InferredImages = {}
    for name, use in image_parameters(program).items():
        if use.kind == "sampler":
            found[name] = Sampler(), "sampler"
        elif use.geometry in (_TEXTURE_EXTENTS if use.kind == "texture" else _SURFACE_EXTENTS):
            found[name] = _infer_texture(use) if use.kind == "texture" else _infer_surface(use)
    return found


def _infer_texture(use: ImageUse) -> tuple[Texture, str]:
    words = {"f32": "f32", "f16": "f16", "f16x2": "f16", "s32": "s32"}.get(use.type, "u32")
    shape = _TEXTURE_EXTENTS[use.geometry]
    is_cube, is_layered = use.geometry.endswith("cube"), use.geometry.startswith("a")
    made = Texture(
        _default_contents((*shape, 4), {"f": "f", "s": "i", "u": "u"}[words[0]] + str(int(words[1:]) // 8)),
        channels=4,
        layered=is_cube or is_layered,
        cube=is_cube,
    )
    return made, f"texture {words} {'x'.join(map(str, shape))} of 4 channels"


def _infer_surface(use: ImageUse) -> tuple[Surface, str]:
    octets = min(use.access_bytes, MAX_IMAGES)
    channels = max(octets // 4, 1)
    size = octets // channels
    shape = _SURFACE_EXTENTS[use.geometry]
    array = _default_contents((*shape, channels) if channels > 1 else shape, f"u{size}")
    made = Surface(array, channels=channels, layered=use.geometry.startswith("a"))
    return made, f"surface u{size * 8} {'x'.join(map(str, shape))}" + f" of {channels} channels" * (channels > 1)


def _default_contents(shape: tuple[int, ...], type_: str) -> Any:
    return (numpy.arange(prod(shape)) % 113).astype(type_).reshape(shape)


def parse_fields(kind: str, field_texts: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
    """Returns the fields of an object by their names.

    Raises ValueError, whose message names the known fields.
    """
    made: dict[str, Any] = {}
    for name, _, value in field_texts:
        if name not in _FIELDS_OF_KIND[kind]:
            raise ValueError(f"a {kind} has no field `{name}`; its fields are {', '.join(_FIELDS_OF_KIND[kind])}")
        if name == "address":
            made[name] = tuple(value.split("x"))
        elif name == "filter":
            made[name] = value
        elif value.isdigit():
            made[name] = int(value) if name == "channels" else value != "0"
        else:
            raise ValueError(f"`{name}` takes an integer, not `{value}`")
    return made


def make_sampler(field_texts: Mapping[str, Any]) -> Sampler:
    """Returns a sampler.

    Raises InvalidLaunchError if it is not valid.
    """
    made = Sampler(**field_texts)
    made.validate("sampler")
    return made


def make_image(kind: str, array: Any, field_texts: Mapping[str, Any]) -> Texture | Surface:
    """Returns a texture or a surface of an array.

    Raises InvalidLaunchError if it is not valid.
    """
    if kind == "surface":
        made: Texture | Surface = Surface(array, **field_texts)
    else:
        own = {name: value for name, value in field_texts.items() if name in _TEXTURE_FIELDS}
        made = Texture(array, **own, sampler=Sampler(**{k: v for k, v in field_texts.items() if k in _SAMPLER_FIELDS}))
    made.validate(kind)
    return made
