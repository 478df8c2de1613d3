"""Whether what stands for an operand has a type that the instruction takes, and what assemblers tolerate there.

Source: PTX ISA, "Operand Size Exceeding Instruction-Type Size" and "Type Conversion"; held to ptxas by the agreement
test. Where ptxas is laxer than the text, ptxas decides: a type is wrong only when it is certainly wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptxkit.fast_dataclasses import replace
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.isa.forms import Immediates, OperandForm
from ptxkit.isa.functions import as_bits, bits, is_declarable, is_narrow, is_type, kind
from ptxkit.semantics.symbols import ENTRY, FUNCTION, LABEL, is_code, is_symbol
from ptxkit.validate.constants import INTEGER, INVALID
from ptxkit.validate.register_types import VECTORS, is_compatible_type, is_too_wide, single_mismatch, wanted_type
from ptxkit.validate.typed_scope import SPECIAL, UNKNOWN
from ptxkit.validate.typed_shapes import MEMORY, TypedShape
from ptxkit.validate.vector_elements import (
    element_incoherence,
    element_mismatch,
    is_mixed,
    is_selection,
    mixes_component_and_constant,
    vector_name_mismatch,
)

# The memories whose places are numbers of their own, no addresses of variables: Tensor Memory, and what a fabric
# endpoint names.
_NUMERIC_SPACES = frozenset({"tensor", "fabric"})


def type_mismatch(operand: OperandForm, shape: TypedShape, *, inside: bool = False) -> str | None:
    """What is wrong with the registers in an operand, or None; its shape is known to fit.

    inside: the operand is an element of a vector, where ptxas looks less closely.
    """
    if not isinstance(shape, tuple):
        return None
    if operand.unhinted and _is_policy(shape):
        return "is a policy to an assembler, which has a modifier of its own"
    match shape[0]:
        case "r" | "s" if operand.kind == "vector":
            return _whole_vector_mismatch(operand, shape)
        case "v" if operand.kind == "register":
            wrong = element_incoherence(shape[1:]) if len(shape) > 2 else None
            return wrong or type_mismatch(operand, shape[1], inside=True)  # type: ignore[arg-type]
        case "+" if operand.kind == "vector" and (not operand.more or operand.braced or _is_vector_of_words(shape)):
            return (
                f"must be {operand.count.value if isinstance(operand.count, ConstantExpr) else 'some'} registers "
                f"in braces"
            )
        case "p" if shape[2][:2] == ("s", "pred"):  # type: ignore[index]
            return _first_mismatch(operand, (shape[1], ("r", "pred")))
        case "v" | "p":
            return _first_mismatch(operand, shape[1:], inside=shape[0] == "v")
        case "a":
            return _base_mismatch(operand, shape[1]) or _first_mismatch(operand, shape[2:])
        case _ if operand.kind == "address" and shape[0] != "e":
            return _bare_address_mismatch(operand, shape)
        case _:
            return single_mismatch(operand, shape, inside=inside)


def mismatch_tolerance(operand: OperandForm, shape: TypedShape, *, is_result: bool) -> str | None:
    """The name of the tolerance by which an assembler takes a misfit; None where it does not.

    Where a type is the instruction's, assemblers compare less closely than where an operand has its own.
    """
    if operand.kind == "address" and operand.elements and shape[0] == "a":
        return _indexed_address_tolerance(operand, shape)
    if operand.lax and is_result:
        return _lax_result_tolerance(operand, shape)
    if operand.unhinted and _is_policy(shape):
        return None
    if shape[0] == "+" and (
        _is_vector_of_words(shape) or (operand.kind == "vector" and (operand.immediates is None or operand.braced))
    ):
        return None if is_result else _vector_sum_tolerance(operand, shape)
    wanted = wanted_type(operand)
    if shape in (("+", "pred"), ("+", SPECIAL, "pred")) and wanted == "pred" and not is_result:
        return "sum_of_any_width"
    if operand.kind == "vector" and operand.elements and _is_one_vector(operand, shape):
        return "mixed_vector"
    if wanted is not None and operand.special and _has_as_many_words(operand, shape):
        return "special_of_words"
    if wanted is None or not (operand.kind == "register" or operand.more) or shape[0] not in ("r", "+"):
        return None
    if operand.own:
        return "sum_of_any_width" if shape[0] == "+" and not is_result and _is_own_sum(operand, shape) else None
    if operand.integer or is_narrow(wanted):
        return None
    if isinstance(shape, tuple) and shape[0] == "+" and not is_result and _is_any_width(operand, shape):
        return "sum_of_any_width"
    if shape[1] in (FUNCTION, ENTRY) or (shape[1] == LABEL and shape[0] == "+"):
        return "function_as_value" if _takes_code(operand, shape, is_result=is_result) else None
    is_pair = (shape[0], shape[1], wanted) == ("r", "f16x2", "pred")
    return "halves_as_predicate" if is_pair and not operand.typed else None


def _lax_result_tolerance(operand: OperandForm, shape: TypedShape) -> str | None:
    """The tolerance of a result that may be what a source may be."""
    source = replace(operand, lax=False, immediates=Immediates())
    is_sum = shape[0] == "+" and type_mismatch(source, shape) is None
    return "sum_of_any_width" if is_sum else mismatch_tolerance(source, shape, is_result=False)


def _vector_sum_tolerance(operand: OperandForm, shape: TypedShape) -> str | None:
    """The tolerance of a name with a constant after it that stands for a vector, or is one of words."""
    if _is_vector_of_words(shape):
        return "special_of_words" if _passes_for_vector(operand) else None
    is_single = operand.own and operand.more and not operand.braced
    return "sum_of_any_width" if is_single and _is_own_sum(operand, shape) else None


def _is_policy(shape: TypedShape) -> bool:
    """Whether something is an integer of 64 bits, as constants are, but for the places of variables."""
    if not isinstance(shape, tuple):
        return False
    found = str(shape[2] if shape[1] == SPECIAL and len(shape) > 2 else shape[1])
    if shape[0] == "c":
        return found == INTEGER
    return shape[0] in ("r", "+", "m") and is_type(found) and bits(found) == 64 and kind(found) in ("b", "u", "s")


def _indexed_address_tolerance(operand: OperandForm, shape: TypedShape) -> str | None:
    """The tolerance by which an assembler takes an address with something after a comma."""
    if operand.long or (isinstance(operand.space, ConstantExpr) and operand.space.value in _NUMERIC_SPACES):
        return None
    if _is_unusual_base(shape[1]) and not _first_mismatch(operand, shape[2:]):
        return "indexed_base"
    return None if _base_mismatch(operand, shape[1]) else _function_index_tolerance(operand, shape[2:])


def _is_one_vector(operand: OperandForm, shape: TypedShape) -> bool:
    """Whether elements with roles, but of one type, go together as those of any vector do: one is untyped, and nothing
    looks at the others."""
    if shape[0] != "v" or len({each.type for each in operand.elements}) != 1:
        return False
    parts = [part for part in shape[1:] if isinstance(part, tuple) and part[0] == "r" and is_type(str(part[1]))]
    is_untyped = any(kind(str(part[1])) == "b" for part in parts)
    return is_untyped and element_mismatch(replace(operand.elements[0], integer=False), shape[1:]) is None


def _has_as_many_words(operand: OperandForm, shape: TypedShape) -> bool:
    """Whether a special register has as many elements as the vector that it stands for, however wide they are."""
    if shape[0] != "s" or operand.kind != "vector" or not isinstance(operand.count, ConstantExpr):
        return False
    return str(shape[1]).startswith(f"v{operand.count.value}.") and kind(str(wanted_type(operand))) in ("b", "u", "s")


def _is_vector_of_words(shape: TypedShape) -> bool:
    """Whether something is a special register of four words with a constant after it."""
    return shape[:2] == ("+", SPECIAL) and str(shape[2]).startswith("v4.")


def _passes_for_vector(operand: OperandForm) -> bool:
    """Whether an assembler takes a vector of four words for an operand, when it does not look what words they are."""
    if operand.kind != "vector":
        return operand.loose and operand.vector
    if operand.nameless:
        return False
    least = operand.count.value if isinstance(operand.count, ConstantExpr) else None
    width = bits(wanted_type(operand) or "b32")
    is_wide_enough = width == 32 if operand.own else width <= 32 or not operand.loose
    return is_wide_enough and (least == 4 or (operand.more and int(least or 0) <= 4))


def _is_own_sum(operand: OperandForm, shape: TypedShape) -> bool:
    """Whether an assembler takes a register with a constant after it where its type is the operand's own."""
    wanted, found = str(wanted_type(operand)), str(shape[1])
    if found == SPECIAL:  # with a constant after it an untyped one
        found = "pred" if shape[2] == "pred" else as_bits(str(shape[2])) if is_type(str(shape[2])) else found
    if operand.nameless or (operand.immediates is None and operand.scalar):
        return False
    is_counted = operand.immediates is None or kind(wanted) == "f"
    return is_counted and is_type(found) and is_compatible_type(found, wanted, operand, False)


def _is_any_width(operand: OperandForm, shape: tuple[object, ...]) -> bool:
    """Whether an assembler takes a register with a constant after it, whose width it does not look at.

    Packed and alternate types are untyped registers to it.
    """
    if operand.scalar and operand.immediates is None:
        return False
    found, wanted = str(shape[2] if shape[1] == SPECIAL else shape[1]), str(wanted_type(operand))
    if found.startswith(VECTORS):
        return operand.symbol and kind(wanted) == "b"
    if not is_type(found):
        return False
    if shape[1] == SPECIAL:
        is_read = (operand.space is None or operand.lax) and not operand.definite
        return is_read and "pred" not in (wanted, shape[2])
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


def _is_unusual_base(base: object) -> bool:
    """Whether the base of an address is a register, be it no integer one or as wide as none that holds an address."""
    return isinstance(base, tuple) and base[0] == "r" and is_type(str(base[1]))


def _function_index_tolerance(operand: OperandForm, parts: Sequence[object]) -> str | None:
    """The tolerance by which an assembler takes a function's name after the comma of an address; None where something
    else is wrong there, too."""
    pairs = zip(operand.elements, parts, strict=False)
    wrong = [(element, part) for element, part in pairs if type_mismatch(element, part) is not None]  # type: ignore[arg-type]
    found = {mismatch_tolerance(element, part, is_result=False) for element, part in wrong}  # type: ignore[arg-type]
    are_names = all(isinstance(part, tuple) and part[0] == "r" for _, part in wrong)
    return "function_as_value" if are_names and found == {"function_as_value"} else None


def _is_converted(operand: OperandForm) -> bool:
    """Whether an assembler converts what is wider, and looks at registers with a constant after them, too."""
    return operand.upto64 and operand.typed


def _takes_code(operand: OperandForm, shape: TypedShape, *, is_result: bool) -> bool:
    """Whether an assembler takes the name of a function for a value, or that of a label with a constant after it."""
    if is_result or (operand.scalar and operand.immediates is None):
        return False
    if operand.typed if shape[0] == "r" else operand.nameless or _is_converted(operand):
        return False
    return operand.space is None or operand.lax or shape[1] == LABEL


def _first_mismatch(operand: OperandForm, parts: Sequence[object], *, inside: bool = False) -> str | None:
    if inside and not operand.elements:
        return element_mismatch(replace(operand, kind="register", count=None), parts)
    if inside and mixes_component_and_constant(parts):
        return "has a component of a vector beside a constant"
    if inside and _has_index_second(operand):
        wrong = type_mismatch(operand.elements[1], parts[1], inside=True)  # type: ignore[arg-type]
        return wrong or element_mismatch(operand.elements[0], (parts[0], ("r", "b32"), *parts[2:]))
    if inside and _begins_with_index(operand):
        # With an index of its own type, the others are a vector to ptxas.
        first, *others = operand.elements
        wrong = type_mismatch(first, parts[0], inside=True)  # type: ignore[arg-type]
        if others[0].exact:
            return wrong or next(
                filter(None, (type_mismatch(others[0], part, inside=True) for part in parts[1:])),  # type: ignore[arg-type]
                None,
            )
        index = (parts[0],) if isinstance(parts[0], tuple) and parts[0][0] == "c" else ()  # makes all others fit
        is_seen = kind(str(wanted_type(others[0]))) == "f" or others[0].own  # that these are no coordinates
        if index and is_seen and set(parts) == {("c", INTEGER)}:
            return f"must have .{wanted_type(others[0])} registers, and all are integer constants"
        return wrong or element_mismatch(replace(others[0], own=False), (*index, ("r", "b32"), *parts[1:]))
    for element, part in zip(operand.elements, parts, strict=False):  # an operand of any kind has none
        found = type_mismatch(element, part, inside=inside)  # type: ignore[arg-type]
        if found is not None:
            return found
    return None


def _begins_with_index(operand: OperandForm) -> bool:
    """Whether the first element of a vector has a type of its own, and the others are of one."""
    first, *others = operand.elements
    return len({each.type for each in others}) == 1 and (len(others) > 1 or first.type != others[0].type)


def _has_index_second(operand: OperandForm) -> bool:
    """Whether the second element of a vector alone has a type of its own, among at least three others."""
    if len(operand.elements) < 4:
        return False
    first, second, *others = operand.elements
    return second.type != first.type and all(each.type == first.type for each in others)


def tolerated_oddity(operand: OperandForm, shape: TypedShape, *, is_result: bool) -> str | None:
    """The name of the tolerance by which an assembler takes an operand that is no misfit; None where it is nothing
    strange."""
    if operand.kind == "address":
        if shape == "_":
            return "sink_for_address"
        if isinstance(shape, tuple) and (shape[0] not in ("a", "e") or (shape[0] == "e" and not operand.symbol)):
            return "bare_address"
    if operand.kind == "arguments" and is_result and shape[0] == "c":
        return "constant_as_result"
    if shape[0] not in ("v", "p", "a") or (shape[0] == "a" and len(shape) == 2):
        return None
    if is_result and (_has_element(shape, _is_special) or (shape[0] == "p" and shape[2][0] == "s")):  # type: ignore[index]
        return "special_in_result"
    if _has_element(shape, is_selection):
        return "selector_in_vector"
    if _has_element(shape, _is_in_memory):
        return "variable_in_vector"
    return "mixed_vector" if is_mixed(operand, shape) else None


def _has_element(shape: object, asked: Callable[[tuple[object, ...]], bool]) -> bool:
    """Whether something of a kind is among the elements of a vector, be it alone, in a pair or after an address."""
    if not isinstance(shape, tuple) or shape[0] not in ("v", "p", "a"):
        return False
    return any(
        isinstance(part, tuple) and ((shape[0] == "v" and asked(part)) or _has_element(part, asked))
        for part in shape[1:]
    )


def _is_in_memory(shape: tuple[object, ...]) -> bool:
    return shape[-1] == MEMORY


def _is_special(shape: tuple[object, ...]) -> bool:
    return shape[0] == "s"


def _whole_vector_mismatch(operand: OperandForm, shape: TypedShape) -> str | None:
    """A name in place of a vector: that of a vector register, or, where that is allowed, of a single one."""
    if operand.more and not operand.braced and not str(shape[1]).startswith(VECTORS):
        return type_mismatch(replace(operand, kind="register", narrower=False), shape)
    if shape[0] == "s" and not operand.special:
        return "is a special register, which must be moved to another one first"
    return vector_name_mismatch(operand, str(shape[1]))


def _base_mismatch(operand: OperandForm, base: object) -> str | None:
    place = operand.space.value if isinstance(operand.space, ConstantExpr) else None
    if operand.kind == "address" and place in _NUMERIC_SPACES:
        holder = "an untyped 32-bit register" if operand.exact else "a 32-bit integer register"
        right = _is_number(base, untyped=operand.exact)
        return None if right else f"is a place in {place} memory, which {holder} holds"
    if operand.kind != "address" or not isinstance(base, tuple) or base[0] not in ("r", "s"):
        return None
    found = str(base[1])
    if base[0] == "s":  # assemblers read one of an address, a single one
        refused = operand.elements or operand.symbols is not None or operand.in_register
        refused = refused or found == "pred" or found.startswith(VECTORS)
        return "is a special register, which must be moved to another one first" if refused else None
    if found.startswith(VECTORS):
        return f"is an address, and a .{found} register cannot hold one"
    if found in (SPECIAL, UNKNOWN) or is_symbol(found) or not is_type(found):
        return None
    if operand.lax and bits(found) <= 64:
        return None
    if bits(found) == operand.unlike:
        return f"is an address, and a .{found} register is another operand to assemblers"
    least = 64 if operand.long else 32 if operand.wide else 8
    if operand.long and operand.elements and not operand.in_register and bits(found) == least:
        return None  # assemblers do not check what they are where a variable is allowed
    if kind(found) in ("f", "pred") or not least <= bits(found) <= 64:
        return f"is an address, and a .{found} register cannot hold one"
    return None


def _bare_address_mismatch(operand: OperandForm, shape: tuple[object, ...]) -> str | None:
    """What an assembler does not take for an address without brackets; there it does not look whether a register can
    hold one, unless it moves the address to another register itself (`wide`)."""
    found = str(shape[1])
    if shape[:2] == ("+", SPECIAL) and _counts_as_bare(operand, str(shape[2])):
        return None
    if shape[0] == "s" or (shape[0] in ("+", "n") and found == SPECIAL):
        return "is a special register, which must be moved to another one first"
    if shape[0] == "c":
        is_refused = found in (INTEGER, INVALID) or operand.wide
        return "is a constant address, which only the .local space has" if is_refused else None
    if found.startswith(VECTORS) or (is_symbol(found) and is_code(found)):
        return "is no address"
    if found in (SPECIAL, UNKNOWN) or is_symbol(found):
        return None
    if shape[0] == "n":
        return None if found == "pred" and not operand.wide else "is no address"
    holds = bits(found) == 64 or (bits(found) == 32 and kind(found) in ("b", "u", "s"))
    return None if holds or not operand.wide else f"is an address, and a .{found} register cannot hold one"


def _counts_as_bare(operand: OperandForm, found: str) -> bool:
    """Whether an assembler takes a special register of that type with a constant after it for an address."""
    if operand.wide:
        return is_type(found) and bits(found) >= 32
    return not found.startswith(VECTORS)


def _is_number(base: object, *, untyped: bool) -> bool:
    """Whether a base is a register of 32 bits that is no floating-point one, nor, where that is asked, an integer."""
    if not isinstance(base, tuple) or base[0] != "r":
        return False
    found = str(base[1])
    return found == UNKNOWN or (is_type(found) and bits(found) == 32 and kind(found) in ("b" if untyped else "bus"))
