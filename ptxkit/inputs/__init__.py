"""PTX inside other files: fat binaries, objects, libraries, programs, archives of them, and wheels.

`texts_in(file)` gives the PTX texts of one open file, and a `Problem` for each thing that is not as its header says.
Nothing is written, and what is unpacked is bounded (`ptxkit.limits`). What a name needs is loaded when it
is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ptxkit.inputs.containers import kind_of, texts_in
    from ptxkit.inputs.entries import ContainerEntry, ContainerProblem, EmbeddedPtx, SkippedCode, display_name

__all__ = ["EmbeddedPtx", "ContainerEntry", "SkippedCode", "ContainerProblem", "kind_of", "texts_in", "display_name"]

_HOMES = {"kind_of": "containers", "texts_in": "containers"}
"""Public name -> the module that defines it; the others are in `found`."""


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'entries')}"), name)
    globals()[name] = value
    return value
