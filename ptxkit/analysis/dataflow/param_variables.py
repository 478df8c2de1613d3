"""Finds what may be in the `.param` variables of a function's body, which hold the arguments and results of calls.

No register can hold the address of such a variable, so that only stores that name it and calls with this result change
it. Source: PTX ISA, "Parameter State Space", "Device Function Parameters".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ptxkit.analysis.ir.layout import SymbolScope
from ptxkit.analysis.ir.program import Program, Step, callee_of
from ptxkit.isa.effects import Access
from ptxkit.syntax.tree import Address, Name, operand_names


def param_variable(scope: SymbolScope, name: str) -> str | None:
    """Returns the unique name of a `.param` variable of the body; None for parameters and for all other names."""
    located = scope.locate(name)
    if located is None or scope.parameter(name) is not None:
        return None
    variable = located[0].variables.get(name)
    return f"param {name}{located[0].suffix}" if variable is not None and variable.space == "param" else None


def param_variable_writes(program: Program) -> Mapping[str, Sequence[Step]]:
    """Returns the steps that store to each `.param` variable, or call a function with this result."""
    found: dict[str, list[Step]] = defaultdict(list)
    for step in program.own_effectful_steps:
        for name in _written_names(step):
            variable = param_variable(step.scope, name)
            if variable is not None:
                found[variable].append(step)
    return found


def _written_names(step: Step) -> Iterator[str]:
    if callee_of(step) is not None:
        yield from operand_names(step.operand("results"))
    for effect in step.effects:
        if isinstance(effect, Access) and effect.kind != "read" and effect.space.startswith("param"):
            address = step.operand(effect.address)
            if isinstance(address, Address) and isinstance(address.base, Name):
                yield address.base.text
