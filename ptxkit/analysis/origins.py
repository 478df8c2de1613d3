"""Notices address operands that hold an address of another kind than their instruction takes.

Source: PTX ISA, "Generic Addressing", "Addresses as Operands", "cvta".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ptxkit.analysis.operands import Operands, Reader
from ptxkit.analysis.trace import Misuse
from ptxkit.isa.expressions import Const
from ptxkit.syntax.tree import Address, Name

if TYPE_CHECKING:
    from ptxkit.analysis.walker import Walker


def space_checks(operands: Operands) -> list[Callable[[Walker], None]]:
    """A check for each address operand that goes through a register."""
    match = operands.step.match
    checks: list[Callable[[Walker], None]] = []
    for form in match.operands if match is not None else ():
        operand = operands.role(form.role)
        if form.kind == "address" and isinstance(operand, Address) and isinstance(operand.base, Name):
            space = form.space.value if isinstance(form.space, Const) else None
            named = operands.scope.register(operand.base.text) == operand.base.text
            is_variable = named and operands.scope.variable(operand.base.text) is not None
            if isinstance(space, str) and not is_variable:
                checks.append(_check(operands, form.role, space, operands.reader(operand.base)))
    return checks


def _check(operands: Operands, role: str, space: str, reader: Reader) -> Callable[[Walker], None]:
    step = operands.step
    family = space.partition("::")[0]

    def check(walker: Walker) -> None:
        value = reader(walker)
        if not isinstance(value, int):
            return
        origin = walker.window.space_of_generic(value)
        if family == "generic":
            held = walker.code.program.variable_at(value) if origin == "global" else None
            if held is not None:
                walker.trace.misuses.setdefault((step, role), Misuse(step, role, space, value, held.space))
        elif origin != "global" or (family == "shared" and _is_cut_generic(walker, value)):
            walker.trace.misuses.setdefault((step, role), Misuse(step, role, space, value, "generic"))

    return check


def _is_cut_generic(walker: Walker, value: int) -> bool:
    offset = walker.window.cut_short(value)
    return offset is not None and walker.code.program.variable_at(offset) is not None
