"""Checks whether a register, name or constant has a valid type for its operand.

Source: PTX ISA, "Operand Size Exceeding Instruction-Type Size" and "Type Conversion"; the agreement test compares it
with ptxas. If ptxas is more permissive than the text, ptxas decides: a type is wrong only if it is certainly wrong.
"""

from __future__ import annotations

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import operand_reasons
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.isa.forms import OperandForm
from ptxkit.isa.functions import as_bits, bits, is_type, kind
from ptxkit.semantics.symbols import ENTRY, FUNCTION, is_code, is_symbol
from ptxkit.validate.constants import INTEGER, INVALID, SINGLE
from ptxkit.validate.typed_operands import (
    TypedConstant,
    TypedElement,
    TypedMinus,
    TypedName,
    TypedNot,
    TypedOperand,
    TypedSpecial,
    TypedSum,
)
from ptxkit.validate.typed_scope import UNKNOWN

EXAMPLES = {"f32": "1.0 or 0f3F800000", "f64": "1.0 or 0d3FF0000000000000"}
"""Example constants of the types that have any."""

VECTORS = ("v2.", "v4.", "v8.")
"""The prefixes of the class of a vector register: `v2.b32`."""

_COMPONENTS = frozenset("xyzwrgba")


def single_mismatch(operand: OperandForm, shape: TypedOperand, *, inside: bool = False) -> Message | None:
    """Returns the error in one register, name, sum or constant, or None.

    inside: it is an element of a vector, which ptxas checks less strictly.
    """
    match shape:
        case TypedName(part=part) if part in _COMPONENTS and operand.scalar:
            return operand_reasons.VECTOR_REGISTER_ELEMENT()
        case TypedName(found, part) if part and is_symbol(found):
            return operand_reasons.VECTOR_VARIABLE_ELEMENT()
        case TypedName(found) | TypedNot(TypedName(found)):
            return name_mismatch(operand, found, inside)
        case TypedSpecial(types) | TypedNot(TypedSpecial(types)):
            return special_register_mismatch(operand, types, inside)
        case TypedNot():
            return operand_reasons.SINK_HAS_NO_VALUE()
        case TypedMinus(inner):
            return negation_mismatch(operand, inner, inside)
        case TypedConstant(found):
            return constant_mismatch(operand, found, inside)
        case TypedSum(name):
            return sum_mismatch(operand, name)
        case TypedElement(array, reason=reason):
            return reason or array_element_mismatch(operand, array)
    return None


def negation_mismatch(operand: OperandForm, shape: TypedOperand, inside: bool) -> Message | None:
    """Returns the error in an operand after a minus sign, or None: a pair of halves cannot have one, although it has 32
    bits.
    """
    wrong = single_mismatch(operand, shape, inside=inside)
    if wrong is None and isinstance(shape, TypedName) and is_type(shape.type) and kind(shape.type) == "f":
        wanted = wanted_type(operand)
        if wanted is not None and kind(wanted) != "f":
            return operand_reasons.NEGATED_TYPE_DIFFERS(type=wanted, actual=shape.type)
    return wrong


def wanted_type(operand: OperandForm) -> str | None:
    """Returns the type that an operand's form requires, if it requires a register."""
    wanted = operand.type.value if isinstance(operand.type, ConstantExpr) else None
    if operand.kind not in ("register", "vector") or not isinstance(wanted, str) or not is_type(wanted):
        return None
    return wanted


def name_mismatch(operand: OperandForm, found: str, inside: bool = False) -> Message | None:
    wanted = wanted_type(operand)
    if wanted is None or found == UNKNOWN:
        return None
    if is_symbol(found):
        if operand.symbol and operand.space is not None and found in (FUNCTION, ENTRY):
            return operand_reasons.DATA_ADDRESS_NAMES_FUNCTION()
        return (
            None if operand.symbol and kind(wanted) not in ("f", "pred") else operand_reasons.NAMES_ADDRESS(type=wanted)
        )
    agree = is_compatible_type(found, wanted, operand, inside)
    return None if agree else operand_reasons.TYPE_DIFFERS(type=wanted, actual=found)


def sum_mismatch(operand: OperandForm, name: TypedName | TypedSpecial) -> Message | None:
    """Returns the error in a name plus a constant: a variable yields a constant, and code at most an address.

    Constants can only be added to integers; `mismatch_tolerance` decides about others.
    """
    wanted = wanted_type(operand)
    if wanted is None or name.type == UNKNOWN:
        return None
    refused = operand_reasons.IS_SUM(type=wanted)
    if (operand.nameless and is_symbol(name.type)) or not (operand.immediates or operand.symbol):
        return refused
    if is_code(name.type) and not (operand.symbol and name.type in (FUNCTION, ENTRY)):
        return operand_reasons.NAMES_CODE(type=wanted)
    if is_symbol(name.type):
        return name_mismatch(replace(operand, symbol=True), name.type)
    if kind(wanted) not in ("b", "u", "s"):
        return refused
    if isinstance(name, TypedName):
        types: tuple[str, ...] = (name.type,)
    else:  # special registers cannot be read everywhere
        types = () if (operand.space is not None and not operand.lax) or operand.definite else name.types
    return None if any(is_compatible_type(each, wanted, operand, False) for each in types) else refused


def array_element_mismatch(operand: OperandForm, array: TypedOperand) -> Message | None:
    """Returns the error in an element of an array, which is used as its address, or names it."""
    if operand.kind == "address" or not isinstance(array, TypedName):
        return None
    return name_mismatch(replace(operand, symbol=True), array.type)


def special_register_mismatch(operand: OperandForm, types: tuple[str, ...], inside: bool) -> Message | None:
    """Returns the error in a special register, which only `mov` and `cvt` read, and others as part of a vector or an
    address.
    """
    wanted = wanted_type(operand)
    if wanted is None and operand.kind != "address":
        return None
    if wanted is None or not (operand.special or inside):
        return operand_reasons.SPECIAL_REGISTER_NOT_READ()
    first = types[0]
    read = (as_bits(first),) if inside and is_type(first) and first != "pred" else types  # an element has no sign
    if any(is_type(found) and is_compatible_type(found, wanted, operand, inside) for found in read):
        return None
    return operand_reasons.SPECIAL_REGISTER_TYPE_DIFFERS(type=wanted, actual=first)


def constant_mismatch(operand: OperandForm, found: str, inside: bool) -> Message | None:
    """Returns the error in a constant: there is no implicit conversion between integers and floating-point values.

    An untyped operand accepts integers, and a floating-point constant of exactly its width; inside a vector, also a
    double.
    """
    if operand.kind == "immediate" and found != INTEGER:
        return operand_reasons.MUST_BE_INTEGER_CONSTANT()
    wanted = wanted_type(operand)
    if wanted is None:
        return None
    if found == INVALID:
        return operand_reasons.NOT_COMPUTED()
    asked = kind(wanted)
    if asked == "f":
        if found == INTEGER and not (inside and wanted == "f64"):
            return operand_reasons.INTEGER_FOR_FLOAT(type=wanted, example=EXAMPLES.get(wanted, "1.0"))
        if operand.single and found != SINGLE:
            return operand_reasons.DOUBLE_FOR_SINGLE(type=wanted)
        return None if wanted in EXAMPLES else operand_reasons.CONSTANT_FOR_REGISTER(type=wanted)
    if found == INTEGER or (
        asked == "b" and found == f"f{bits(wanted)}" and not (operand.integer or operand.exact or operand.halves)
    ):
        return None
    template = operand_reasons.FLOAT_OF_OTHER_WIDTH if asked == "b" else operand_reasons.FLOAT_FOR_INTEGER
    return template(type=wanted)


def is_compatible_type(found: str, wanted: str, operand: OperandForm, inside: bool) -> bool:
    """Returns whether a register of type `found` is valid for one of type `wanted`.

    Untyped registers are valid for all types of their width, integers for each other, and floating-point ones only for
    their type.
    """
    if found == wanted or not is_type(found):
        return not found.startswith(VECTORS)
    if "pred" in (found, wanted) or operand.same or (operand.definite and not inside and kind(found) == "b"):
        return False
    if (operand.exact or (operand.halves and found != "f16x2")) and kind(found) != "b":
        return False
    have, need = bits(found), bits(wanted)
    if have > need and (not operand.wider or (operand.upto64 and is_too_wide(found, wanted))):
        return False
    if have < need and not operand.narrower:
        return False
    held, asked = kind(found), kind(wanted)
    if "b" in (held, asked):
        return not (operand.integer and held == "f") or (operand.halves and found == "f16x2")
    if asked in ("u", "s"):
        if found == "f16x2":  # ptxas treats such a register as an integer
            return not operand.integer
        return held in ("u", "s") and "x" not in wanted  # packed integers are stored in untyped registers
    return inside and held in ("u", "s") and have == need and "x" not in wanted


def is_too_wide(found: str, wanted: str) -> bool:
    """Returns whether a register is too wide, and not an integer of 64 bits at most, which assemblers can convert."""
    is_integer = kind(found) in ("b", "u", "s") and found != "f16x2"
    return bits(found) > bits(wanted) and not (is_integer and bits(found) <= 64)
