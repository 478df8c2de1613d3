"""Checks accesses to variables at offsets that cannot be aligned as the instruction requires.

Assemblers do not check this; at run time such an access faults, or has an undefined result. Only certain errors are
reported: the start of a variable is known to be a multiple of its alignment, and nothing more.

Source: PTX ISA, "Addresses as Operands", "Alignment".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.diagnostics.catalogue import declaration_helps, ptx2xx
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.isa.forms import Match, OperandForm
from ptxkit.isa.functions import is_type
from ptxkit.isa.wording import clip_text
from ptxkit.semantics.layout import alignment_of, scalar_bytes
from ptxkit.semantics.symbols import is_code, is_symbol
from ptxkit.syntax.constants import evaluate
from ptxkit.syntax.tree import Address, Declaration, Element, Instruction, Name, Operand
from ptxkit.validate.problem import Problem
from ptxkit.validate.typed_operands import TypedAddress, TypedElement, TypedName, TypedOperand
from ptxkit.validate.typed_scope import TypedScope

_SECTION = "Addresses as Operands"


def is_static(match: Match, typed: Sequence[TypedOperand]) -> bool:
    """Returns whether an operand is an offset from a variable in a place that requires an aligned address."""
    return any(
        _required_alignment(form) > 1 and _is_offset(shape) for form, shape in zip(match.operands, typed, strict=True)
    )


def _is_offset(shape: TypedOperand) -> bool:
    match shape:
        case TypedElement():
            return True
        case TypedAddress(TypedName(found), has_offset=True):
            return is_symbol(found)
    return False


def _required_alignment(form: OperandForm) -> int:
    """Returns the required alignment of an operand's address in bytes, or 1."""
    value = form.alignment.value if form.kind == "address" and isinstance(form.alignment, ConstantExpr) else 1
    return value if isinstance(value, int) else 1


def misalignment_problems(match: Match, instruction: Instruction, scope: TypedScope) -> Iterator[Problem]:
    """Yields a warning for each address that violates the required alignment wherever the variable is placed."""
    for index, (form, operand) in enumerate(zip(match.operands, instruction.operands, strict=True)):
        needed = _required_alignment(form)
        place = _variable_offset(operand, scope)
        if needed == 1 or place is None:
            continue
        declaration, name, offset = place
        known = alignment_of(declaration)
        if offset % min(known, needed) == 0:
            continue
        named = scope.find(name)
        message = ptx2xx.OFFSET_NOT_ALIGNED(
            operand=index + 1,
            opcode=match.canonical,
            offset=offset,
            name=clip_text(name),
            known=known,
            needed=needed,
        )
        help_ = declaration_helps.USE_ALIGNED_OFFSET(multiple=min(known, needed))
        related = (named, declaration_helps.DECLARED_HERE()) if named is not None else None
        yield Problem(
            message,
            index,
            match.form,
            help_,
            related=related,
            section=_SECTION,
        )


def _variable_offset(operand: Operand, scope: TypedScope) -> tuple[Declaration, str, int] | None:
    """Returns the variable that an address names, its name, and the offset from its start, or None."""
    match operand:
        case Address(base=Name(text), offset=moved):
            offset: int | None = moved
        case Element(Name(text), index):
            offset = evaluate(index)
        case _:
            return None
    named = scope.find(text)
    if offset is None or named is None or not is_symbol(named.kind) or is_code(named.kind):
        return None
    if not isinstance(named.node, Declaration) or not is_type(named.node.type):
        return None
    scale = scalar_bytes(named.node.type) if isinstance(operand, Element) else 1
    return named.node, text, offset * scale
