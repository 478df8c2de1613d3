"""Extracts PTX from other files: fat binaries, objects, libraries, programs, archives of them, and wheels.

`texts_in(file)` yields the PTX texts of one open file, and a `ContainerProblem` for each part that contradicts its
header. Nothing is written, and the size of unpacked data is limited (`ptxkit.limits`). The module that defines a name
is imported when the name is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxkit.inputs.containers import kind_of, texts_in
    from ptxkit.inputs.entries import ContainerEntry, ContainerProblem, EmbeddedPtx, SkippedCode, display_name

__all__ = ["EmbeddedPtx", "ContainerEntry", "SkippedCode", "ContainerProblem", "kind_of", "texts_in", "display_name"]

_HOMES = {"kind_of": "containers", "texts_in": "containers"}
"""The module that defines each public name, if it is not `entries`."""


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'entries')}"), name)
    globals()[name] = value
    return value
