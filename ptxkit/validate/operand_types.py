"""Checks whether an operand has a type that the instruction accepts, and which other types assemblers tolerate.

Source: PTX ISA, "Operand Size Exceeding Instruction-Type Size" and "Type Conversion"; the agreement test compares it
with ptxas. If ptxas is more permissive than the text, ptxas decides: a type is wrong only if it is certainly wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import operand_reasons
from ptxkit.fast_dataclasses import replace
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.isa.forms import Immediates, OperandForm
from ptxkit.isa.functions import as_bits, bits, is_declarable, is_narrow, is_type, kind
from ptxkit.semantics.symbols import ENTRY, FUNCTION, LABEL, is_code, is_symbol
from ptxkit.validate.constants import INTEGER, INVALID
from ptxkit.validate.register_types import VECTORS, is_compatible_type, is_too_wide, single_mismatch, wanted_type
from ptxkit.validate.typed_operands import (
    MEMORY,
    TypedAddress,
    TypedConstant,
    TypedElement,
    TypedName,
    TypedNot,
    TypedOperand,
    TypedPair,
    TypedSpecial,
    TypedSum,
    TypedVector,
    UntypedOperand,
)
from ptxkit.validate.typed_scope import UNKNOWN
from ptxkit.validate.vector_elements import (
    element_incoherence,
    element_mismatch,
    is_mixed,
    is_selection,
    mixes_component_and_constant,
    vector_name_mismatch,
)

# The memories whose addresses are separate numbers, not addresses of variables: Tensor Memory, and that of a fabric
# endpoint.
_NUMERIC_SPACES = frozenset({"tensor", "fabric"})

_PREDICATE_SUMS = (TypedSum(TypedName("pred")), TypedSum(TypedSpecial(("pred",))))


def type_mismatch(operand: OperandForm, shape: TypedOperand, *, inside: bool = False) -> Message | None:
    """Returns the error in the registers of an operand, or None; its shape fits the form.

    inside: the operand is an element of a vector, which ptxas checks less strictly.
    """
    if operand.unhinted and _is_policy(shape):
        return operand_reasons.IS_POLICY()
    match shape:
        case UntypedOperand():
            return None
        case TypedName() | TypedSpecial() if operand.kind == "vector":
            return _whole_vector_mismatch(operand, shape)
        case TypedVector(elements) if operand.kind == "register":
            wrong = element_incoherence(elements) if len(elements) > 1 else None
            return wrong or type_mismatch(operand, elements[0], inside=True)
        case TypedSum() if operand.kind == "vector" and (
            not operand.more or operand.braced or _is_vector_of_words(shape)
        ):
            return operand_reasons.MUST_BE_COUNT_IN_BRACES(
                count=operand.count.value if isinstance(operand.count, ConstantExpr) else "some"
            )
        case TypedPair(first, TypedSpecial(types=("pred", *_))):
            return _first_mismatch(operand, (first, TypedName("pred")))
        case TypedPair(first, second):
            return _first_mismatch(operand, (first, second))
        case TypedVector(elements):
            return _vector_mismatch(operand, elements)
        case TypedAddress(base, index):
            return _base_mismatch(operand, base) or _first_mismatch(operand, index)
        case TypedElement():
            return single_mismatch(operand, shape, inside=inside)
        case _ if operand.kind == "address":
            return _bare_address_mismatch(operand, shape)
        case _:
            return single_mismatch(operand, shape, inside=inside)


def mismatch_tolerance(operand: OperandForm, shape: TypedOperand, *, is_result: bool) -> str | None:
    """Returns the name of the tolerance with which an assembler accepts a mismatch, or None.

    Assemblers check less strictly if a type is the instruction's than if an operand has its own.
    """
    if operand.kind == "address" and operand.elements and isinstance(shape, TypedAddress):
        return _indexed_address_tolerance(operand, shape)
    if operand.lax and is_result:
        return _lax_result_tolerance(operand, shape)
    if operand.unhinted and _is_policy(shape):
        return None
    if isinstance(shape, TypedSum) and (
        _is_vector_of_words(shape) or (operand.kind == "vector" and (operand.immediates is None or operand.braced))
    ):
        return None if is_result else _vector_sum_tolerance(operand, shape)
    wanted = wanted_type(operand)
    if shape in _PREDICATE_SUMS and wanted == "pred" and not is_result:
        return "sum_of_any_width"
    if isinstance(shape, TypedVector) and operand.kind == "vector" and operand.elements:
        return "mixed_vector" if _is_one_vector(operand, shape.elements) else None
    if wanted is not None and isinstance(shape, TypedSpecial):
        return "special_of_words" if operand.special and _has_as_many_words(operand, shape) else None
    if wanted is None or not (operand.kind == "register" or operand.more):
        return None
    if isinstance(shape, TypedSum):
        return _sum_tolerance(operand, shape, is_result=is_result)
    if not isinstance(shape, TypedName) or operand.own or operand.integer or is_narrow(wanted):
        return None
    if shape.type in (FUNCTION, ENTRY):
        return "function_as_value" if not operand.typed and _takes_code(operand, shape, is_result=is_result) else None
    return "halves_as_predicate" if (shape.type, wanted) == ("f16x2", "pred") and not operand.typed else None


def _sum_tolerance(operand: OperandForm, shape: TypedSum, *, is_result: bool) -> str | None:
    """Returns the tolerance of a name plus a constant."""
    if operand.own:
        return "sum_of_any_width" if not is_result and _is_own_sum(operand, shape) else None
    if operand.integer or is_narrow(str(wanted_type(operand))):
        return None
    if not is_result and _is_any_width(operand, shape):
        return "sum_of_any_width"
    if shape.operand.type not in (FUNCTION, ENTRY, LABEL) or operand.nameless or _is_converted(operand):
        return None
    return "function_as_value" if _takes_code(operand, shape.operand, is_result=is_result) else None


def _lax_result_tolerance(operand: OperandForm, shape: TypedOperand) -> str | None:
    """Returns the tolerance of a result with a type that is valid for a source."""
    source = replace(operand, lax=False, immediates=Immediates())
    is_sum = isinstance(shape, TypedSum) and type_mismatch(source, shape) is None
    return "sum_of_any_width" if is_sum else mismatch_tolerance(source, shape, is_result=False)


def _vector_sum_tolerance(operand: OperandForm, shape: TypedSum) -> str | None:
    """Returns the tolerance of a name plus a constant that is used as a vector, or is a vector of words."""
    if _is_vector_of_words(shape):
        return "special_of_words" if _passes_for_vector(operand) else None
    is_single = operand.own and operand.more and not operand.braced
    return "sum_of_any_width" if is_single and _is_own_sum(operand, shape) else None


def _is_policy(shape: TypedOperand) -> bool:
    """Returns whether an operand is a 64-bit integer, such as a constant, and not the address of a variable."""
    match shape:
        case TypedConstant(found):
            return found == INTEGER
        case (TypedName() as name) | TypedSum(name):
            return is_type(name.type) and bits(name.type) == 64 and kind(name.type) in ("b", "u", "s")
    return False


def _indexed_address_tolerance(operand: OperandForm, shape: TypedAddress) -> str | None:
    """Returns the tolerance with which an assembler accepts an address with operands after a comma."""
    if operand.long or (isinstance(operand.space, ConstantExpr) and operand.space.value in _NUMERIC_SPACES):
        return None
    if _is_unusual_base(shape.base) and not _first_mismatch(operand, shape.index):
        return "indexed_base"
    return None if _base_mismatch(operand, shape.base) else _function_index_tolerance(operand, shape.index)


def _is_one_vector(operand: OperandForm, parts: Sequence[TypedOperand]) -> bool:
    """Returns whether elements with roles, but of one type, are checked like those of any vector: one is untyped, and
    the others are not checked.
    """
    if len({each.type for each in operand.elements}) != 1:
        return False
    is_untyped = any(isinstance(each, TypedName) and is_type(each.type) and kind(each.type) == "b" for each in parts)
    return is_untyped and element_mismatch(replace(operand.elements[0], integer=False), parts) is None


def _has_as_many_words(operand: OperandForm, shape: TypedSpecial) -> bool:
    """Returns whether a special register has as many elements as the vector that it replaces, of any width."""
    if operand.kind != "vector" or not isinstance(operand.count, ConstantExpr):
        return False
    return shape.type.startswith(f"v{operand.count.value}.") and kind(str(wanted_type(operand))) in ("b", "u", "s")


def _is_vector_of_words(shape: TypedSum) -> bool:
    """Returns whether an operand is a special register of four words plus a constant."""
    return isinstance(shape.operand, TypedSpecial) and shape.operand.type.startswith("v4.")


def _passes_for_vector(operand: OperandForm) -> bool:
    """Returns whether an assembler accepts a vector of four words for an operand without checking the words."""
    if operand.kind != "vector":
        return operand.loose and operand.vector
    if operand.nameless:
        return False
    least = operand.count.value if isinstance(operand.count, ConstantExpr) else None
    width = bits(wanted_type(operand) or "b32")
    is_wide_enough = width == 32 if operand.own else width <= 32 or not operand.loose
    return is_wide_enough and (least == 4 or (operand.more and int(least or 0) <= 4))


def _is_own_sum(operand: OperandForm, shape: TypedSum) -> bool:
    """Returns whether an assembler accepts a register plus a constant if its type is the operand's own."""
    wanted, found = str(wanted_type(operand)), shape.operand.type
    if isinstance(shape.operand, TypedSpecial) and found != "pred" and is_type(found):
        found = as_bits(found)  # untyped if a constant is added to it
    if operand.nameless or (operand.immediates is None and operand.scalar):
        return False
    is_counted = operand.immediates is None or kind(wanted) == "f"
    return is_counted and is_type(found) and is_compatible_type(found, wanted, operand, False)


def _is_any_width(operand: OperandForm, shape: TypedSum) -> bool:
    """Returns whether an assembler accepts a register plus a constant, without checking its width.

    It treats packed and alternate types as untyped registers.
    """
    if operand.scalar and operand.immediates is None:
        return False
    found, wanted = shape.operand.type, str(wanted_type(operand))
    if found.startswith(VECTORS):
        return operand.symbol and kind(wanted) == "b"
    if not is_type(found):
        return False
    if isinstance(shape.operand, TypedSpecial):
        is_read = (operand.space is None or operand.lax) and not operand.definite
        return is_read and "pred" not in (wanted, found)
    held, asked = kind(found), kind(wanted)
    if _is_converted(operand) and (is_too_wide(found, wanted) or (not operand.wider and bits(found) > bits(wanted))):
        return False
    if operand.exact:
        return held == "b"
    if "f16x2" in (found, wanted):
        return wanted in (found, "f32x2") or asked in ("b", "u", "s", "pred") or held == "b"
    if not is_declarable(wanted):
        return held == "b"
    if "pred" in (held, asked):
        return held == asked
    return "b" in (held, asked) or (held == "f") == (asked == "f")


def _is_unusual_base(base: TypedOperand) -> bool:
    """Returns whether the base of an address is a register, even one that is not an integer or has an invalid width."""
    return isinstance(base, TypedName) and is_type(base.type)


def _function_index_tolerance(operand: OperandForm, parts: Sequence[TypedOperand]) -> str | None:
    """Returns the tolerance with which an assembler accepts a function's name after the comma of an address.

    Returns None if there is another error, too.
    """
    pairs = zip(operand.elements, parts, strict=False)
    wrong = [(element, part) for element, part in pairs if type_mismatch(element, part) is not None]
    found = {mismatch_tolerance(element, part, is_result=False) for element, part in wrong}
    are_names = all(isinstance(part, TypedName) for _, part in wrong)
    return "function_as_value" if are_names and found == {"function_as_value"} else None


def _is_converted(operand: OperandForm) -> bool:
    """Returns whether an assembler converts wider operands, and also checks registers plus constants."""
    return operand.upto64 and operand.typed


def _takes_code(operand: OperandForm, name: TypedName | TypedSpecial, *, is_result: bool) -> bool:
    """Returns whether an assembler accepts the name of a function as a value, or that of a label plus a constant."""
    if is_result or (operand.scalar and operand.immediates is None):
        return False
    return operand.space is None or operand.lax or name.type == LABEL


def _first_mismatch(operand: OperandForm, parts: Sequence[TypedOperand], *, inside: bool = False) -> Message | None:
    """Returns the error in the first part that does not fit its form; an operand of any kind has no forms for parts."""
    found = (type_mismatch(*pair, inside=inside) for pair in zip(operand.elements, parts, strict=False))
    return next(filter(None, found), None)


def _vector_mismatch(operand: OperandForm, parts: Sequence[TypedOperand]) -> Message | None:
    if not operand.elements:
        return element_mismatch(replace(operand, kind="register", count=None), parts)
    if mixes_component_and_constant(parts):
        return operand_reasons.COMPONENT_NEXT_TO_CONSTANT()
    if _has_index_second(operand):
        wrong = type_mismatch(operand.elements[1], parts[1], inside=True)
        return wrong or element_mismatch(operand.elements[0], (parts[0], TypedName("b32"), *parts[2:]))
    if not _begins_with_index(operand):
        return _first_mismatch(operand, parts, inside=True)
    # With an index of another type, ptxas treats the others as a vector.
    first, other, *_ = operand.elements
    wrong = type_mismatch(first, parts[0], inside=True)
    if other.exact:
        return wrong or next(filter(None, (type_mismatch(other, part, inside=True) for part in parts[1:])), None)
    index = parts[:1] if isinstance(parts[0], TypedConstant) else ()  # all others fit then
    is_seen = kind(str(wanted_type(other))) == "f" or other.own  # that these are not coordinates
    if is_seen and set(parts) == {TypedConstant(INTEGER)}:
        return operand_reasons.MUST_HAVE_REGISTERS(type=wanted_type(other))
    return wrong or element_mismatch(replace(other, own=False), (*index, TypedName("b32"), *parts[1:]))


def _begins_with_index(operand: OperandForm) -> bool:
    """Returns whether the first element of a vector has a separate type, and the others share one."""
    first, *others = operand.elements
    return len({each.type for each in others}) == 1 and (len(others) > 1 or first.type != others[0].type)


def _has_index_second(operand: OperandForm) -> bool:
    """Returns whether only the second element of a vector has a separate type, among at least three others."""
    if len(operand.elements) < 4:
        return False
    first, second, *others = operand.elements
    return second.type != first.type and all(each.type == first.type for each in others)


def tolerated_oddity(operand: OperandForm, shape: TypedOperand, *, is_result: bool) -> str | None:
    """Returns the name of the tolerance with which an assembler accepts an unusual operand that is not a mismatch, or
    None.
    """
    match shape:
        case TypedConstant() if operand.kind == "arguments" and is_result:
            return "constant_as_result"
        case UntypedOperand.SINK if operand.kind == "address":
            return "sink_for_address"
        case TypedAddress(index=()) | UntypedOperand():
            return None
        case TypedElement() if operand.symbol:
            return None
        case TypedVector() | TypedPair() | TypedAddress():
            pass
        case _:
            return "bare_address" if operand.kind == "address" else None
    if is_result and (_has_element(shape, _is_special) or (isinstance(shape, TypedPair) and _is_special(shape.second))):
        return "special_in_result"
    if _has_element(shape, is_selection):
        return "selector_in_vector"
    if _has_element(shape, _is_in_memory):
        return "variable_in_vector"
    return "mixed_vector" if is_mixed(operand, shape) else None


def _has_element(shape: TypedOperand, asked: Callable[[TypedOperand], bool]) -> bool:
    """Returns whether an operand of a kind is an element of a vector, by itself, in a pair or after an address."""
    match shape:
        case TypedVector(elements):
            return any(asked(each) or _has_element(each, asked) for each in elements)
        case TypedPair(first, second):
            return _has_element(first, asked) or _has_element(second, asked)
        case TypedAddress(base, index):
            return any(_has_element(each, asked) for each in (base, *index))
    return False


def _is_in_memory(shape: TypedOperand) -> bool:
    return isinstance(shape, TypedName) and shape.part == MEMORY


def _is_special(shape: TypedOperand) -> bool:
    return isinstance(shape, TypedSpecial)


def _whole_vector_mismatch(operand: OperandForm, shape: TypedName | TypedSpecial) -> Message | None:
    """Returns the error in a name instead of a vector: it must be a vector register, or, if that is allowed, a single
    one.
    """
    if operand.more and not operand.braced and not shape.type.startswith(VECTORS):
        return type_mismatch(replace(operand, kind="register", narrower=False), shape)
    if isinstance(shape, TypedSpecial) and not operand.special:
        return operand_reasons.SPECIAL_REGISTER_NOT_READ()
    return vector_name_mismatch(operand, shape.type)


def _base_mismatch(operand: OperandForm, base: TypedOperand) -> Message | None:
    place = operand.space.value if isinstance(operand.space, ConstantExpr) else None
    if operand.kind == "address" and place in _NUMERIC_SPACES:
        if _is_number(base, untyped=operand.exact):
            return None
        template = operand_reasons.UNTYPED_PLACE_IN_MEMORY if operand.exact else operand_reasons.PLACE_IN_MEMORY
        return template(space=place)
    if operand.kind != "address" or not isinstance(base, TypedName | TypedSpecial):
        return None
    found = base.type
    if isinstance(base, TypedSpecial):  # assemblers read an address as a single one
        refused = operand.elements or operand.symbols is not None or operand.in_register
        refused = refused or found == "pred" or found.startswith(VECTORS)
        return operand_reasons.SPECIAL_REGISTER_NOT_READ() if refused else None
    if found.startswith(VECTORS):
        return operand_reasons.REGISTER_CANNOT_HOLD_ADDRESS(type=found)
    if not is_type(found) or (operand.lax and bits(found) <= 64):
        return None
    if bits(found) == operand.unlike:
        return operand_reasons.REGISTER_IS_OTHER_OPERAND(type=found)
    least = 64 if operand.long else 32 if operand.wide else 8
    if operand.long and operand.elements and not operand.in_register and bits(found) == least:
        return None  # assemblers do not check these if a variable is allowed
    if kind(found) in ("f", "pred") or not least <= bits(found) <= 64:
        return operand_reasons.REGISTER_CANNOT_HOLD_ADDRESS(type=found)
    return None


def _bare_address_mismatch(operand: OperandForm, shape: TypedOperand) -> Message | None:
    """Returns the error in an operand that an assembler does not accept as an address without brackets, or None.

    It does not check there whether a register can hold an address, unless it moves the address to another register
    itself (`wide`).
    """
    match shape:
        case TypedSum(TypedSpecial(types)) if _counts_as_bare(operand, types[0]):
            return None
        case TypedSpecial() | TypedSum(TypedSpecial()) | TypedNot(TypedSpecial()):
            return operand_reasons.SPECIAL_REGISTER_NOT_READ()
        case TypedConstant(found):
            is_refused = found in (INTEGER, INVALID) or operand.wide
            return operand_reasons.CONSTANT_ADDRESS() if is_refused else None
        case TypedNot(TypedName(found)) if found != UNKNOWN and not is_symbol(found):
            return None if found == "pred" and not operand.wide else operand_reasons.NO_ADDRESS()
        case TypedName(found) | TypedSum(TypedName(found)) | TypedNot(TypedName(found)):
            if found.startswith(VECTORS) or is_code(found):
                return operand_reasons.NO_ADDRESS()
            if found == UNKNOWN or is_symbol(found):
                return None
            holds = bits(found) == 64 or (bits(found) == 32 and kind(found) in ("b", "u", "s"))
            return None if holds or not operand.wide else operand_reasons.REGISTER_CANNOT_HOLD_ADDRESS(type=found)
    return operand_reasons.NO_ADDRESS()


def _counts_as_bare(operand: OperandForm, found: str) -> bool:
    """Returns whether an assembler accepts a special register of that type plus a constant as an address."""
    if operand.wide:
        return is_type(found) and bits(found) >= 32
    return not found.startswith(VECTORS)


def _is_number(base: TypedOperand, *, untyped: bool) -> bool:
    """Returns whether a base is a register of 32 bits that is not a floating-point one, nor, if requested, an
    integer.
    """
    if not isinstance(base, TypedName):
        return False
    if base.type == UNKNOWN:
        return True
    return is_type(base.type) and bits(base.type) == 32 and kind(base.type) in ("b" if untyped else "bus")
