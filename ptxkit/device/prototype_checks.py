"""Checks functions that one module declares and another defines.

The linker resolves them by name only, so a call with other parameters would read registers that were not written.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ptxkit.device.errors import LinkError
from ptxkit.isa.functions import bytes_
from ptxkit.syntax import tree


def check_prototypes(modules: Sequence[tuple[str, tree.Module]]) -> None:
    """Raises `LinkError` if two modules declare a function differently. `modules` are pairs (name for messages,
    module).
    """
    homes: dict[str, tuple[str, tree.Function]] = {}
    for where, module in modules:
        for function in module.functions():
            if function.kind == "func" and {"extern", "visible", "weak"} & set(function.linkage):
                home, known = homes.setdefault(function.name, (where, function))
                if _parameter_sizes(known) != _parameter_sizes(function):
                    raise LinkError(
                        f"{home} and {where} disagree about {function.name!r}: {_describe_sizes(known)} and "
                        f"{_describe_sizes(function)}"
                    )


def _parameter_sizes(function: tree.Function) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the sizes in bytes of the results and of the parameters."""
    results, parameters = (tuple(map(_declaration_size, each)) for each in (function.results, function.parameters))
    return results, parameters


def _declaration_size(declaration: tree.Declaration) -> int:
    size = bytes_(declaration.type)
    return size * prod(each or 0 for each in declaration.declarators[0].dimensions)


def _describe_sizes(function: tree.Function) -> str:
    results, parameters = _parameter_sizes(function)
    return f"{_format_sizes(parameters)} to {_format_sizes(results)} bytes"


def _format_sizes(sizes: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, sizes))})"
