"""Which results are sign-extended to a wider register.

Source: PTX ISA, "Operand Size Exceeding Instruction-Type Size".
"""

from __future__ import annotations

from ptxkit.analysis.ir.program import Step
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.semantics.value_ops import integer_type


def sign_extension(step: Step, role: str, register: str) -> tuple[str, str] | None:
    """Returns the types of the conversion that sign-extends a result to a wider register; None if none exists."""
    match = step.match
    if match is None or role not in match.roles:
        return None
    form = match.operands[match.roles[role]]
    for place in match.paths.get(role, ()):
        form = form.elements[place]
    type_ = str(form.type.value) if isinstance(form.type, ConstantExpr) else ""
    written = integer_type(type_)
    declared = step.scope.find(register) if written is not None and written[1] else None
    held = integer_type(declared.kind) if declared is not None else None
    return (type_, f"b{held[0]}") if written is not None and held is not None and held[0] > written[0] else None
