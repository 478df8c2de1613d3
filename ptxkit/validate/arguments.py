"""Compares the arguments of a call with the parameters, in size, alignment and kind.

Source: PTX ISA, "Control Flow Instructions: call", "Parameter State Space"; the rules are those of ptxas.
"""

from __future__ import annotations

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import operand_reasons
from ptxkit.isa.functions import is_type, kind
from ptxkit.semantics.layout import element_bits
from ptxkit.syntax.tree import Declaration, Declarator
from ptxkit.validate.constants import INTEGER, INVALID


def argument_alignment(declaration: Declaration) -> int:
    """Returns the alignment of a variable in bytes: its own size, or more if `.align` states it."""
    return max(declaration.alignment or 1, element_bits(declaration) // 8)


def argument_mismatch(
    formal: Declaration,
    actual: tuple[Declaration, Declarator] | None = None,
    constant: str | None = None,
) -> Message | None:
    """Returns why a variable, or a constant of that kind (`validate.constants.kind_of`), cannot be passed as `formal`,
    or None.
    """
    wanted = formal.declarators[0]
    if constant is not None:
        return _wrong_constant(formal, wanted, constant)
    assert actual is not None
    declaration, declarator = actual
    if wanted.dimensions[:1] == (None,):
        if not declarator.dimensions:
            return operand_reasons.ARRAY_REQUIRED(type=formal.type, actual=declaration.type)
    elif wanted.dimensions != declarator.dimensions or not _is_compatible(formal, declaration):
        return operand_reasons.ARGUMENT_DIFFERS(expected=_shape(formal, wanted), actual=_shape(declaration, declarator))
    need, have = argument_alignment(formal), argument_alignment(declaration)
    return None if need == have else operand_reasons.ARGUMENT_ALIGNMENT_DIFFERS(required=need, actual=have)


def _shape(declaration: Declaration, declarator: Declarator) -> str:
    vector = f".{declaration.vector} " if declaration.vector else ""
    dimensions = "".join(f"[{'' if length is None else length}]" for length in declarator.dimensions)
    return f"a {vector}.{declaration.type}{dimensions}"


def _is_compatible(formal: Declaration, actual: Declaration) -> bool:
    if "pred" in (formal.type, actual.type):
        return formal.type == actual.type
    if element_bits(formal) != element_bits(actual):
        return False
    if formal.vector or actual.vector or not (is_type(formal.type) and is_type(actual.type)):
        return True
    kinds = {kind(formal.type), kind(actual.type)}
    return "b" in kinds or kinds <= {"u", "s"} or formal.type == actual.type or "f16x2" in (formal.type, actual.type)


def _wrong_constant(formal: Declaration, wanted: Declarator, constant: str) -> Message | None:
    if constant == INVALID:
        return operand_reasons.NOT_COMPUTED()
    if wanted.dimensions:
        return operand_reasons.CONSTANT_FOR_ARGUMENT(expected=_shape(formal, wanted))
    if not is_type(formal.type) or formal.vector:
        return None
    is_integer = constant == INTEGER
    if formal.type == "pred" or (kind(formal.type) == "f" and is_integer):
        template = operand_reasons.INTEGER_FOR_ARGUMENT if is_integer else operand_reasons.CONSTANT_FOR_PREDICATE
        return template(type=formal.type)
    if kind(formal.type) in ("u", "s") and not is_integer:
        return operand_reasons.FLOAT_FOR_ARGUMENT(type=formal.type)
    return None
