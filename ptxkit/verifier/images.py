"""Textures, surfaces and samplers as the command line gives them.

`texture:f32[48,64]:random:filter=linear:address=wrapxclamp:normalized=1`; `scaled=1` makes integers numbers up to 1,
`channels=4` takes the last dimension as channels, `layered=1` the first as layers, `cube=1` these as faces.
`surface:u8[48,64,4]:channels=4`. `sampler:filter=linear:address=border` for modules that have samplers apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ptxkit.emulate import Sampler, Surface, Texture

KINDS = ("texture", "surface", "sampler")
_OF_SAMPLER = ("filter", "address", "normalized")
_OF_SURFACE = ("channels", "layered")
_OF_TEXTURE = (*_OF_SURFACE, "scaled", "cube")
_WORDS = {"texture": (*_OF_TEXTURE, *_OF_SAMPLER), "surface": _OF_SURFACE, "sampler": _OF_SAMPLER}


def settings(kind: str, says: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
    """What is said of an object, by the names of its fields. Raises ValueError, whose message says what is known."""
    made: dict[str, Any] = {}
    for name, _, value in says:
        if name not in _WORDS[kind]:
            raise ValueError(f"a {kind} has no {name!r}; known: {', '.join(_WORDS[kind])}")
        if name == "address":
            made[name] = tuple(value.split("x"))
        elif name == "filter":
            made[name] = value
        elif value.isdigit():
            made[name] = int(value) if name == "channels" else value != "0"
        else:
            raise ValueError(f"{name} takes a whole number, not {value!r}")
    return made


def sampler(says: Mapping[str, Any]) -> Sampler:
    """A sampler. Raises LaunchError where it cannot be."""
    made = Sampler(**says)
    made.checked("sampler")
    return made


def image(kind: str, array: Any, says: Mapping[str, Any]) -> Texture | Surface:
    """A texture or a surface of an array. Raises LaunchError where it cannot be."""
    if kind == "surface":
        made: Texture | Surface = Surface(array, **says)
    else:
        own = {name: value for name, value in says.items() if name in _OF_TEXTURE}
        made = Texture(array, **own, sampler=Sampler(**{k: v for k, v in says.items() if k in _OF_SAMPLER}))
    made.checked(kind)
    return made
