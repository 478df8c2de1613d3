"""Checks the elements of vectors: their combination, and the names that can replace all of them.

Source: PTX ISA, "Vectors as Operands"; the valid combinations are those of ptxas, with which the agreement test
compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import operand_reasons
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.isa.forms import OperandForm
from ptxkit.isa.functions import as_bits, bits, is_narrow, is_type, kind
from ptxkit.semantics.symbols import is_symbol
from ptxkit.validate.constants import DOUBLE, INTEGER, INVALID, SINGLE
from ptxkit.validate.register_types import EXAMPLES, VECTORS, name_mismatch, single_mismatch, wanted_type
from ptxkit.validate.typed_operands import (
    TypedConstant,
    TypedName,
    TypedOperand,
    TypedSpecial,
    TypedVector,
    UntypedOperand,
    inner_operands,
)
from ptxkit.validate.typed_scope import SPECIAL, UNKNOWN

_WIDTH_OF_INTEGERS = 64  # the bits that an integer constant has for an assembler

_INTEGER, _SINGLE, _DOUBLE, _INVALID = map(TypedConstant, (INTEGER, SINGLE, DOUBLE, INVALID))

_TypedPart: TypeAlias = TypedName | TypedSpecial | TypedConstant


def element_mismatch(element: OperandForm, parts: Sequence[TypedOperand]) -> Message | None:
    """Returns the error in elements: a vector is untyped if one of its elements is, else they have its type.

    ptxas requires one type of neighbors, which an untyped element between them separates, and the width of the first
    element, which a constant does not have.
    """
    tagged = _typed_elements(parts)
    wanted = wanted_type(element)
    wrong = _typed_incoherence(tagged) or _leading_constant_mismatch(wanted, tagged)
    if wrong is not None:
        return operand_reasons.EACH_MUST_BE(problem=wrong, type=wanted)
    types = _types_of(tagged)
    is_counted = (
        parts[0] is UntypedOperand.SINK if UntypedOperand.SINK in parts else element.own
    )  # after a sink a constant determines the width of all
    if is_counted and wanted is not None and kind(wanted) == "b" and _are_too_wide(element, wanted, tagged):
        return operand_reasons.ALL_INTEGER_CONSTANTS(type=wanted)
    if _has_two_precisions(element, tagged):
        return operand_reasons.TWO_PRECISIONS(type=wanted)
    first = tagged[0] if tagged else None
    if wanted is not None and isinstance(first, TypedConstant):
        ruling = _deciding_type(first.kind, tagged, wanted, element)
        if ruling is not None:
            return _mismatch_after_constant(element, wanted, ruling)
    if _is_of_constants(wanted, tagged, types) or (element.halves and _counts_from_integers(wanted, tagged, types)):
        return None
    if _passes_for_integers(element, tagged, types):
        return None
    untyped = next((each for each in sorted(types) if kind(each) == "b"), None) or _common_untyped(types)
    if untyped is not None:
        return name_mismatch(element, untyped, inside=True)
    if first is not None and not isinstance(first, TypedConstant):  # it determines the type of the constants after it
        parts = [part for part in parts if not isinstance(part, TypedConstant)]
    return next((found for part in parts if (found := single_mismatch(element, part, inside=True))), None)


def _has_two_precisions(element: OperandForm, tagged: Sequence[_TypedPart]) -> bool:
    """Returns whether a constant of double precision follows one of single precision at the front, which assemblers
    detect in a vector without a type; for `mov` and matrices, vectors of integers are such.
    """
    wanted = wanted_type(element)
    is_counted = element.special or element.loose
    is_untyped = wanted is not None and (kind(wanted) == "b" or (is_counted and kind(wanted) in ("u", "s")))
    return is_untyped and bits(str(wanted)) != 64 and tagged[:1] == [_SINGLE] and _DOUBLE in tagged


def _common_untyped(types: set[str]) -> str | None:
    """Returns the untyped type that integers of one width and of both signs form together."""
    return next((as_bits(each) for each in types if kind(each) == "u" and f"s{bits(each)}" in types), None)


def _passes_for_integers(element: OperandForm, tagged: Sequence[_TypedPart], types: set[str]) -> bool:
    """Returns whether a constant of the other precision after floating-point registers hides from an assembler that
    these are not integers, or not untyped if nothing else is valid.
    """
    wanted = str(wanted_type(element))
    is_other = kind(wanted) in ("u", "s") or (kind(wanted) == "b" and (element.exact or element.halves))
    if not tagged or not isinstance(tagged[0], TypedName) or len(types) != 1 or not (is_other or element.wider):
        return False
    (found,) = types
    hiding = {"f32": _DOUBLE, "f64": _SINGLE}.get(found)
    return hiding in tagged and (bits(found) == bits(wanted) or (element.wider and bits(found) > bits(wanted)))


def element_incoherence(parts: Sequence[TypedOperand]) -> Message | None:
    """Returns why these cannot be the elements of one vector, of any type, or None."""
    return _typed_incoherence(_typed_elements(parts))


def _typed_elements(parts: Sequence[TypedOperand]) -> list[_TypedPart]:
    """Returns the elements that have a type, without sinks."""
    return [part for part in parts if isinstance(part, TypedName | TypedSpecial | TypedConstant)]


def _typed_incoherence(tagged: Sequence[_TypedPart]) -> Message | None:
    """Returns why these typed elements cannot be those of one vector, or None."""
    registers = [part for part in tagged if not isinstance(part, TypedConstant)]
    names = {part.type for part in registers}
    if _INVALID in tagged:
        return operand_reasons.EXPRESSION_FOR_ELEMENT()
    if any(map(is_symbol, names)):
        return operand_reasons.ADDRESS_FOR_ELEMENT()
    if any(name.startswith(VECTORS) for name in names):
        return operand_reasons.VECTOR_FOR_ELEMENT()
    if any(is_selection(part) and not (is_type(part.type) and _element_bits(part.type) == 32) for part in registers):
        return operand_reasons.PART_OF_OTHER_WIDTH()
    types = _types_of(tagged)
    constants = len(registers) < len(tagged)
    if constants and any(map(_is_component, tagged)):
        return operand_reasons.COMPONENT_NEXT_TO_CONSTANT()
    if _has_incompatible_neighbors([_element_class(part) for part in tagged]):
        template = operand_reasons.ELEMENTS_AND_CONSTANTS_DIFFER if constants else operand_reasons.ELEMENTS_DIFFER
        return template(types=_join_types(types))
    if len({_element_bits(each) for each in types}) > 1 and not isinstance(tagged[0], TypedConstant):
        return operand_reasons.ELEMENT_WIDTHS_DIFFER(types=_join_types(types))
    return None


def mixes_component_and_constant(parts: Sequence[TypedOperand]) -> bool:
    """Returns whether a component of a vector occurs with a constant, which assemblers do not accept."""
    return any(isinstance(part, TypedConstant) for part in parts) and any(map(_is_component, parts))


def is_selection(part: TypedOperand) -> bool:
    """Returns whether an element names a part of a register, as in video instructions: `%r.b0`, `%r.h1`."""
    return isinstance(part, TypedName) and part.part[1:].isdigit()


def _is_component(part: TypedOperand) -> bool:
    """Returns whether an element is one of a vector register, or a component of a special one."""
    if isinstance(part, TypedSpecial):
        return part.is_component
    return isinstance(part, TypedName) and part.part != "" and not is_selection(part)


def _leading_constant_mismatch(wanted: str | None, tagged: Sequence[_TypedPart]) -> Message | None:
    """Returns the error in a constant at the front, which cannot have a narrow floating-point type; an integer passes
    for a half.
    """
    if not tagged or not isinstance(tagged[0], TypedConstant):
        return None
    if wanted is None or kind(wanted) != "f" or wanted in EXAMPLES or (wanted == "f16" and tagged[0] == _INTEGER):
        return None
    return operand_reasons.BEGINS_WITH_CONSTANT()


def _deciding_type(first: str, tagged: Sequence[_TypedPart], wanted: str, element: OperandForm) -> str | None:
    """Returns the type of the last typed element if it determines the check after a constant of kind `first`.

    It does so if it is a floating-point type that differs, or if the type is not the instruction's. Returns None
    otherwise.
    """
    found = [_element_type(part) for part in tagged if part != _INTEGER]
    named = [each for each in found if is_type(each)]
    if first == INTEGER:
        if named and (element.halves or (kind(wanted) == "f" and (element.exact or named[-1] == "s64"))):
            return named[-1]
        is_open = (
            not (element.own and named)
            or bits(wanted) == 64
            or (kind(wanted) in ("u", "s") and not (element.vector and element.integer))
        )
        return None if is_open or kind(wanted) == "f" or _is_integer_tail(named, wanted) else named[-1]
    if kind(wanted) == "f":
        registers = [
            each for part in tagged if not isinstance(part, TypedConstant) and is_type(each := _element_type(part))
        ]
        return registers[-1] if element.own and registers and not element.exact else None
    return named[-1] if named and set(named) != {first} else None


def _is_integer_tail(named: Sequence[str], wanted: str) -> bool:
    """Returns whether an assembler treats an integer of 64 bits at the end like an integer constant at the front."""
    if kind(wanted) == "b" or not is_type(named[-1]) or bits(named[-1]) != 64:
        return False
    return kind(named[-1]) == "s" or any(_element_bits(each) == bits(wanted) for each in named[:-1])


def _mismatch_after_constant(element: OperandForm, wanted: str, last: str) -> Message | None:
    """Returns the error in elements after a constant, where the last one determines the width of all, and assemblers
    ignore their kinds.
    """
    have, need = _element_bits(last), bits(wanted)
    if have == need or (have > need and element.wider and kind(wanted) in ("u", "s")):
        return None
    return operand_reasons.ENDS_WITH_OTHER_WIDTH(bits=have, type=wanted)


def _is_of_constants(wanted: str | None, tagged: Sequence[_TypedPart], types: set[str]) -> bool:
    """Returns whether constants determine the vector, so that the types of its registers are not checked."""
    if not types or not tagged:
        return False
    is_float = wanted is not None and kind(wanted) == "f"
    if tagged[0] == _INTEGER or (isinstance(tagged[0], TypedConstant) and is_float):
        return True
    return is_float and _INTEGER in tagged and _are_integers(types, bits(str(wanted)))


def _counts_from_integers(wanted: str | None, tagged: Sequence[_TypedPart], types: set[str]) -> bool:
    """Returns whether integers plus a constant hide from an assembler that halves are required."""
    return _INTEGER in tagged and all(kind(each) != "b" and bits(each) == bits(str(wanted)) for each in types)


def _are_too_wide(element: OperandForm, wanted: str, tagged: Sequence[_TypedPart]) -> bool:
    """Returns whether there are only integer constants although something narrower is wanted; a single one may be
    narrower.
    """
    if not tagged or not _are_integer_constants(tagged) or bits(wanted) == _WIDTH_OF_INTEGERS:
        return False
    return not (element.narrower and len(tagged) == 1)


def _are_integer_constants(tagged: Sequence[_TypedPart]) -> bool:
    """Returns whether these are integer constants only, which have `_WIDTH_OF_INTEGERS` bits in a strict check of an
    assembler.
    """
    return all(part == _INTEGER for part in tagged)


def _are_integers(types: set[str], width: int) -> bool:
    """Returns whether all of these are integers of at least `width` bits."""
    return all(_type_class(each) == "integer" and bits(each) >= width for each in types)


def vector_name_mismatch(operand: OperandForm, found: str) -> Message | None:
    """Returns the error in a name instead of a vector, which must be a vector register, such as `%v` of `.reg .v2 .u32
    %v`.
    """
    if found in (SPECIAL, UNKNOWN):
        return None
    count = operand.count.value if isinstance(operand.count, ConstantExpr) else None
    vector, _, element = found.partition(".")
    fitting = vector == f"v{count}" or (operand.more and element != "" and int(vector[1:] or 0) >= int(count or 0))
    if not is_symbol(found) and element and fitting:
        return name_mismatch(replace(operand, kind="register"), element, inside=True)
    if is_symbol(found):
        return operand_reasons.ADDRESS_FOR_VECTOR(count=count)
    return operand_reasons.REGISTER_FOR_VECTOR(count=count, type=found)


def is_mixed(operand: OperandForm, shape: TypedOperand) -> bool:
    """Returns whether a vector in an operand has elements of more than one type that differ in more than their sign, or
    of more than one width.
    """
    if operand.elements:
        return any(map(is_mixed, operand.elements, inner_operands(shape)))
    if not isinstance(shape, TypedVector):
        return False
    tagged = [part for part in shape.elements if isinstance(part, TypedName | TypedSpecial)]
    types = {_element_type(part) for part in tagged if is_type(part.type)}
    wanted = wanted_type(operand)
    is_exact = wanted is not None and kind(wanted) in ("u", "s") and not (operand.wider or operand.narrower)
    if wanted is not None and (kind(wanted) == "f" or is_exact):
        types.add(wanted if not is_narrow(wanted) else as_bits(wanted))  # widths after a constant are not compared
    return len({_type_class(each) for each in types} - {"b"}) > 1 or len({_element_bits(each) for each in types}) > 1


def _has_incompatible_neighbors(classes: Sequence[str]) -> bool:
    """Returns whether two neighbors have different types, neither of which is untyped."""
    return any("b" not in (one, other) and one != other for one, other in pairwise(classes))


def _element_class(part: _TypedPart) -> str:
    """Returns the class of an element for ptxas; an undeclared name is untyped."""
    if isinstance(part, TypedConstant):
        return "f" if part.kind[0] == "f" else "integer"
    found = _element_type(part)
    return _type_class(found) if is_type(found) else "b"


def _element_bits(word: str) -> int:
    """Returns the width of an element; a predicate has that of a word."""
    return 32 if word == "pred" else bits(word)


def _types_of(tagged: Sequence[_TypedPart]) -> set[str]:
    """Returns the types of all elements that are not constants."""
    registers = [part for part in tagged if not isinstance(part, TypedConstant)]
    return {_element_type(part) for part in registers if is_type(part.type)}


def _element_type(part: _TypedPart) -> str:
    """Returns the type of a register, or the kind of a constant; a special register is untyped inside a vector, unless
    it is a predicate.
    """
    match part:
        case TypedConstant(found) | TypedName(found):
            return found
        case TypedSpecial():
            return as_bits(part.type) if is_type(part.type) and part.type != "pred" else part.type


def _join_types(types: set[str]) -> str:
    return " and ".join(f".{each}" for each in sorted(types))


def _type_class(word: str) -> str:
    """Returns the class of registers of a type for ptxas: untyped, integer, pairs of halves, or floating point."""
    return {"u": "integer", "s": "integer"}.get(kind(word), "halves" if word == "f16x2" else kind(word))
