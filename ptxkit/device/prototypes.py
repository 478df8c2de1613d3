"""Functions that one module declares and another defines: the linker joins them by name and looks at nothing else, so
a difference in parameters would read registers that nobody wrote."""

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
                if _shape(known) != _shape(function):
                    raise LinkError(
                        f"{home} and {where} disagree about {function.name!r}: {_said(known)} and {_said(function)}"
                    )


def _shape(function: tree.Function) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Bytes of the results and of the parameters."""
    results, parameters = (tuple(map(_bytes, each)) for each in (function.results, function.parameters))
    return results, parameters


def _bytes(declaration: tree.Declaration) -> int:
    size = bytes_(declaration.type)
    return size * prod(each or 0 for each in declaration.declarators[0].dimensions)


def _said(function: tree.Function) -> str:
    results, parameters = _shape(function)
    return f"{_sizes(parameters)} to {_sizes(results)} bytes"


def _sizes(sizes: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, sizes))})"
