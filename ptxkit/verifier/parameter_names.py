"""Finds the parameter that a user names: by its name in the PTX, without what the compiler adds, or by its position.

nvcc and Triton do not keep the names of parameters, but number them: `_Z4copyPfi_param_1` is `param_1` or `#1`. Where
the names are kept, they are those that the author wrote.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

from ptxkit.mangled_names import short_name
from ptxkit.syntax.tree import Function

_Value = TypeVar("_Value")
_POSITION = re.compile(r"#(\d+)")


def parameter_names(kernel: Function) -> list[str]:
    """Returns the names of a kernel's parameters in the PTX, in order."""
    return [each.name for declared in kernel.parameters for each in declared.declarators]


def find_parameter(text: str, kernel: Function) -> int | None:
    """Returns the position of the parameter that a text names, or None."""
    names = parameter_names(kernel)
    if text in names:
        return names.index(text)
    match = _POSITION.fullmatch(text)
    if match is not None:
        return int(match[1]) if int(match[1]) < len(names) else None
    shortened = display_names(kernel)
    return shortened.index(text) if shortened.count(text) == 1 else None


def by_parameter(given: Mapping[str, _Value], kernel: Function) -> dict[str, _Value]:
    """Returns values by the names of the parameters in the PTX; those of other kernels' parameters are left out."""
    names = parameter_names(kernel)
    found = {text: find_parameter(text, kernel) for text in given}
    return {names[at]: given[text] for text, at in found.items() if at is not None}


def describe_parameters(kernel: Function) -> str:
    """Returns the names that can be given for a kernel's parameters, with their types: `param_0` (.u64), `n` (.u32)."""
    types = (
        f".{declared.type}{''.join(f'[{size}]' for size in each.dimensions)}"
        for declared in kernel.parameters
        for each in declared.declarators
    )
    return ", ".join(f"`{name}` ({type_})" for name, type_ in zip(display_names(kernel), types, strict=True)) or "none"


def display_names(kernel: Function) -> list[str]:
    """Returns the names of a kernel's parameters without what a compiler adds: `param_0`."""
    return [short_name(name.removeprefix(f"{kernel.name}_") or name) for name in parameter_names(kernel)]


def choose_parameter(kernels: Sequence[Function]) -> str:
    """Returns what to type for a parameter of some kernels."""
    listed = "; ".join(f"`{short_name(each.name)}` has {describe_parameters(each)}" for each in kernels)
    return f"write one of the names in the PTX, or `#0` for the first: {listed}"
