"""Operands that assemblers accept without a strict check: those marked `/loose` in the table.

The fragments of a matrix may have constants among their elements, the sink and special registers among results, and a
vector register for all of them; for a register that only describes a matrix, an assembler only checks the width. The
manual has registers in braces, and untyped registers; compilers write constants of the elements' type among them, which
needs no warning. The agreement test compares the rules with ptxas.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import operand_reasons
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.forms import OperandForm
from ptxkit.isa.functions import bits, is_type, kind
from ptxkit.semantics.symbols import is_code, is_symbol
from ptxkit.validate.constants import INTEGER, INVALID, SINGLE
from ptxkit.validate.register_types import wanted_type
from ptxkit.validate.typed_operands import (
    TypedAddress,
    TypedConstant,
    TypedName,
    TypedNot,
    TypedOperand,
    TypedSpecial,
    TypedSum,
    TypedVector,
    UntypedOperand,
)
from ptxkit.validate.vector_elements import element_mismatch, vector_name_mismatch

_VECTORS = ("v2.", "v4.")

# Types that an assembler accepts for all elements of 32 bits if it does not check their type.
_OF_ONE_TYPE = frozenset({"pred", "f16x2"})


def manual_deviation(operand: OperandForm, shape: TypedOperand) -> Message | None:
    """Returns the deviation of a loose operand from the manual, although its types may be valid, or None."""
    if not operand.loose or operand.kind == "address":
        return None
    match shape:
        case UntypedOperand():
            return None
        case TypedVector(elements) if (
            operand.kind == "vector" or operand.count is not None
        ):  # `{%r1}`, a vector with one element
            if UntypedOperand.SINK in elements:
                return operand_reasons.SINK_FOR_ELEMENT()
            return operand_reasons.CONSTANT_FOR_ELEMENT() if _has_mistyped_constants(operand, elements) else None
        case _ if operand.kind == "vector":
            return operand_reasons.MUST_BE_IN_BRACES()
        case TypedName() | TypedSpecial():
            return None
        case _:
            return operand_reasons.MUST_BE_REGISTER(type=wanted_type(operand))


def _has_mistyped_constants(operand: OperandForm, parts: Sequence[TypedOperand]) -> bool:
    """Returns whether some elements are constants of another type, or hide from an assembler that registers are;
    compilers write constants of the right type.
    """
    kinds = [part.kind for part in parts if isinstance(part, TypedConstant)]
    is_float = kind(str(wanted_type(operand))) == "f"
    if any((found == INTEGER) is is_float for found in kinds):
        return True
    if len(kinds) == len(parts):
        return not _fit_as_vector(operand, set(kinds))
    registers = [part for part in parts if not isinstance(part, TypedConstant | UntypedOperand)]
    return bool(kinds) and element_mismatch(replace(operand, kind="register", count=None), registers) is not None


def is_tolerated_operand(operand: OperandForm, shape: TypedOperand, *, is_result: bool) -> bool:
    """Returns whether an assembler accepts a loose operand."""
    if not operand.loose:
        return False
    match shape:
        case UntypedOperand():
            return False
        case TypedAddress(TypedName(found)):
            return found == "f16x2"
        case TypedVector(elements) if operand.kind != "vector" and operand.vector:
            return not is_result and _are_tolerated_elements(replace(operand, integer=False), elements, is_result=False)
        case TypedVector(elements):  # with one element if the operand is not a vector
            is_taken = operand.kind == "vector" or operand.count is not None
            return is_taken and _are_tolerated_elements(operand, elements, is_result=is_result)
        case TypedName(found) if operand.kind == "vector":
            if _is_type_ignored(operand) and found.endswith(".f16x2"):
                found = found.replace("f16x2", "b32")
            return vector_name_mismatch(operand, found) is None
        case TypedName() if operand.kind == "register":
            return _has_width(operand, shape)
    return operand.kind == "register" and not is_result and _has_width(operand, shape)


def _are_tolerated_elements(operand: OperandForm, parts: Sequence[TypedOperand], *, is_result: bool) -> bool:
    """Returns whether an assembler accepts these as elements of a fragment; `parts` are not all sinks."""
    constants = [part for part in parts if isinstance(part, TypedConstant)]
    if constants if is_result else UntypedOperand.SINK in parts:
        return False
    if len(constants) == len(parts):
        return _fit_as_vector(operand, {part.kind for part in constants})
    elements = [part for part in parts if part is not UntypedOperand.SINK]
    types = {part.type if isinstance(part, TypedName | TypedSpecial) else None for part in elements}
    if len(types) == 1 and types <= _OF_ONE_TYPE and _is_type_ignored(operand):
        return True
    return element_mismatch(replace(operand, kind="register", count=None), elements) is None


def _is_type_ignored(operand: OperandForm) -> bool:
    """Returns whether an assembler ignores the type of a fragment's elements, as long as they have 32 bits."""
    return bits(str(wanted_type(operand))) == 32 and not (operand.integer or operand.halves or operand.exact)


def _fit_as_vector(operand: OperandForm, kinds: set[str]) -> bool:
    """Returns whether constants only are valid: an assembler treats integers as 64 bits wide, valid only for
    integers.
    """
    wanted = str(wanted_type(operand))
    if wanted == "f64":
        return kinds == {INTEGER} or kinds.isdisjoint({INTEGER, INVALID})
    if kind(wanted) in ("u", "s"):
        return kinds == {INTEGER}
    return kinds == {SINGLE} and (kind(wanted) == "f" or _is_type_ignored(operand))


def _has_width(operand: OperandForm, shape: TypedOperand) -> bool:
    """Returns whether an operand has the right width, and is not an integer constant, sink or special register."""
    width = bits(str(wanted_type(operand)))
    match shape:
        case TypedName(found):
            element = found.partition(".")[2] if operand.vector and found.startswith(_VECTORS) else found
            return _is_predicate_or_wide(element, width)
        case TypedNot(TypedName("pred")):
            return True
        case TypedSum(TypedSpecial(types)):
            return any(_is_predicate_or_wide(each, width) for each in types)
        case TypedSum(TypedName(found)):
            return _is_predicate_or_wide(found, width) or (is_symbol(found) and not is_code(found))
        case TypedConstant(found):
            return found == SINGLE
    return False


def _is_predicate_or_wide(found: str, width: int) -> bool:
    return found == "pred" or (is_type(found) and bits(found) == width)
