"""Functions that one module declares and another defines: the linker joins them by name and looks at nothing else, so
a difference in parameters would read registers that no instruction wrote."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ptxkit.device.errors import LinkError
from ptxkit.isa.functions import bytes_
from ptxkit.syntax import tree


def check_prototypes(modules: Sequence[tuple[str, tree.Module]]) -> None:
    """`LinkError` where two modules disagree about a function. modules: (name for messages, module)."""
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
    """Bytes of the results and of the parameters."""
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
