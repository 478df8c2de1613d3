"""Whether the register that stands for an operand has a type that the instruction takes.

Source: PTX ISA, "Operand Size Exceeding Instruction-Type Size" and "Type Conversion"; held to ptxas by the agreement
test. Where ptxas is laxer than the text, ptxas decides: a type is wrong only when it is certainly wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from ptxkit.isa.expressions import Const
from ptxkit.isa.forms import OperandForm
from ptxkit.isa.functions import as_bits, bits, is_narrow, is_type, kind
from ptxkit.records import replace
from ptxkit.validate.constants import INTEGER, INVALID, SINGLE
from ptxkit.validate.scopes import ENTRY, FUNCTION, LABEL, SPECIAL, UNKNOWN, is_code, is_symbol
from ptxkit.validate.typed_shapes import TypedShape

_EXAMPLES = {"f32": "1.0 or 0f3F800000", "f64": "1.0 or 0d3FF0000000000000"}

# The memories whose places are numbers of their own, no addresses of variables: Tensor Memory, and what a fabric
# endpoint names.
_NUMBERED = frozenset({"tensor", "fabric"})

# How the class of a vector register begins: `v2.b32`.
_VECTORS = ("v2.", "v4.", "v8.")


_COMPONENTS = frozenset("xyzwrgba")


def misfit(operand: OperandForm, shape: TypedShape, *, inside: bool = False) -> str | None:
    """What is wrong with the registers in an operand, or None; its shape is known to fit.

    inside: the operand is an element of a vector, where ptxas looks less closely.
    """
    tag = shape[0] if isinstance(shape, tuple) else shape
    match tag:
        case "r" | "s" if operand.kind == "vector":
            return _wrong_whole(operand, shape)
        case "r" if len(shape) > 2 and operand.scalar and str(shape[2]) in _COMPONENTS:
            return "is an element of a vector register, which must be moved to another one first"
        case "r" | "n":
            return _wrong_name(operand, str(shape[1]), inside)
        case "s":
            return _wrong_special(operand, shape[1:], inside)
        case "m":
            return misfit(operand, shape[1], inside=inside)  # type: ignore[arg-type]
        case "v" if operand.kind == "register":
            return misfit(operand, shape[1])  # type: ignore[arg-type]
        case "v" | "p":
            return _first_misfit(operand, shape[1:], inside=tag == "v")
        case "c":
            return _wrong_constant(operand, str(shape[1]), inside)
        case "+":
            return _wrong_sum(operand, str(shape[1]), shape[2:])
        case "e":
            return str(shape[3]) if shape[3] else _wrong_element(operand, shape[1])
        case "a":
            return _wrong_base(operand, shape[1]) or _first_misfit(operand, shape[2:])
        case _:
            return None


def tolerance(operand: OperandForm, shape: TypedShape, words: Collection[str | None], *, is_result: bool) -> str | None:
    """The name of the tolerance by which an assembler takes a misfit; None where it does not.

    words: the types that the opcode gives. Where a type is the instruction's, assemblers compare less closely than
    where an operand has its own.
    """
    if operand.kind == "address" and operand.elements and shape[0] == "a":
        return "indexed_base" if _is_odd_base(shape[1]) and not _first_misfit(operand, shape[2:]) else None
    wanted = wanted_type(operand)
    if shape == ("+", "pred") and wanted == "pred" and not is_result:
        return "sum_of_any_width"
    if operand.kind != "register" or shape[0] not in ("r", "+") or wanted not in words or operand.integer:
        return None
    if is_narrow(wanted):
        return None
    if isinstance(shape, tuple) and shape[0] == "+" and not is_result and _is_any_width(operand, shape):
        return "sum_of_any_width"
    if shape[1] in (FUNCTION, ENTRY) or (shape[1] == LABEL and shape[0] == "+"):
        return "function_as_value" if _takes_code(operand, shape, is_result=is_result) else None
    is_pair = (shape[0], shape[1], wanted) == ("r", "f16x2", "pred")
    return "halves_as_predicate" if is_pair and not operand.typed else None


def _is_any_width(operand: OperandForm, shape: tuple[object, ...]) -> bool:
    """Whether an assembler takes a register with a constant behind it, whose width it does not look at."""
    found, wanted = str(shape[2] if shape[1] == SPECIAL else shape[1]), str(wanted_type(operand))
    if found.startswith(_VECTORS):
        return operand.symbol and kind(wanted) == "b"
    if not is_type(found):
        return False
    if shape[1] == SPECIAL:
        return operand.space is None and wanted != "pred"
    if "f16x2" in (found, wanted):
        return found == wanted or kind(wanted) in ("b", "u", "s", "pred") or kind(found) == "b"
    held, asked = kind(found), kind(wanted)
    if "pred" in (held, asked):
        return held == asked
    return "b" in (held, asked) or (held == "f") == (asked == "f")


def _is_odd_base(base: object) -> bool:
    """Whether the base of an address is a register, be it no integer one or as wide as none that holds an address."""
    return isinstance(base, tuple) and base[0] == "r" and is_type(str(base[1]))


def _takes_code(operand: OperandForm, shape: TypedShape, *, is_result: bool) -> bool:
    """Whether an assembler takes the name of a function for a value, or that of a label with a constant behind it."""
    if is_result or (operand.scalar and operand.immediates is None):
        return False
    if operand.typed if shape[0] == "r" else operand.nameless:
        return False
    return operand.space is None or operand.lax or shape[1] == LABEL


def _first_misfit(operand: OperandForm, parts: Sequence[object], *, inside: bool = False) -> str | None:
    if inside and not operand.elements:
        return wrong_elements(replace(operand, kind="register", count=None), parts)
    if inside and len(operand.elements) > 2 and len({each.type for each in operand.elements[1:]}) == 1:
        # Behind an index of its own type, the others are a vector to ptxas.
        first, *others = operand.elements
        wrong = misfit(first, parts[0], inside=True)  # type: ignore[arg-type]
        if others[0].exact:
            return wrong or next(filter(None, (misfit(others[0], part, inside=True) for part in parts[1:])), None)  # type: ignore[arg-type]
        return wrong or wrong_elements(others[0], (("r", "b32"), *parts[1:]))
    for element, part in zip(operand.elements, parts, strict=False):  # an operand of any kind has none
        found = misfit(element, part, inside=inside)  # type: ignore[arg-type]
        if found is not None:
            return found
    return None


def wrong_elements(element: OperandForm, parts: Sequence[object]) -> str | None:
    """A vector is untyped where one of its elements is, else of their type.

    ptxas holds neighbours to one type, an untyped one between them parts them; and all widths to that of the first
    element, which a constant does not have.
    """
    tagged = [part for part in parts if isinstance(part, tuple) and part[0] in ("r", "s", "c")]
    types = {_element_type(part) for part in tagged if part[0] != "c" and is_type(str(part[1]))}
    must = f"; each must be a .{wanted_type(element)} register"
    if any(is_symbol(str(part[1])) for part in tagged):
        return f"has an address for an element{must}"
    if any(str(part[1]).startswith(_VECTORS) for part in tagged):
        return f"has a vector for an element{must}"
    wanted = wanted_type(element)
    constants = any(part[0] == "c" for part in tagged)
    if constants and wanted is not None and kind(wanted) == "f" and wanted not in (*_EXAMPLES, "f16"):
        return f"has constants{must}"
    if constants and any(part[0] == "s" and is_type(str(part[1])) and bits(str(part[1])) == 32 for part in tagged):
        return f"has a special register beside a constant{must}"
    if _has_strange_neighbours([_element_class(part) for part in tagged]):
        return f"has elements of different types, {_listed(types)}{' and constants' if constants else ''}{must}"
    first = tagged[0] if tagged else ()
    if len({_element_bits(each) for each in types}) > 1 and first[0] != "c":
        return f"has elements of different widths, {_listed(types)}{must}"
    if types and (first == ("c", INTEGER) or (first[0] == "c" and wanted is not None and kind(wanted) == "f")):
        return None
    untyped = next((each for each in sorted(types) if kind(each) == "b"), None)
    if untyped is not None:
        return _wrong_name(element, untyped, inside=True)
    return next((found for part in parts if (found := misfit(element, part, inside=True))), None)  # type: ignore[arg-type]


def oddity(operand: OperandForm, shape: TypedShape) -> str | None:
    """The name of the tolerance by which an assembler takes an operand that is no misfit; None where it is nothing
    strange."""
    if operand.kind == "address":
        if shape == "_":
            return "sink_for_address"
        if isinstance(shape, tuple) and shape[0] not in ("a", "e"):
            return "bare_address"
    return "mixed_vector" if _is_mixed(operand, shape) else None


def _is_mixed(operand: OperandForm, shape: TypedShape) -> bool:
    """Whether a vector in an operand has elements of more than one type that differ in more than their sign, or of more
    than one width."""
    if not isinstance(shape, tuple):
        return False
    if operand.elements:
        inner = shape[2:] if shape[0] == "a" else shape[1:]
        return any(map(_is_mixed, operand.elements, inner))  # type: ignore[arg-type]
    tagged = (
        [part for part in shape[1:] if isinstance(part, tuple) and part[0] in ("r", "s")] if shape[0] == "v" else []
    )
    types = {_element_type(part) for part in tagged if is_type(str(part[1]))}
    wanted = wanted_type(operand)
    if shape[0] == "v" and wanted is not None and kind(wanted) == "f":  # widths behind a constant are not compared
        types.add(wanted if not is_narrow(wanted) else as_bits(wanted))
    return len({_class(each) for each in types} - {"b"}) > 1 or len({_element_bits(each) for each in types}) > 1


def _has_strange_neighbours(classes: Sequence[str]) -> bool:
    """Whether two neighbours have different types, of which neither is untyped."""
    return any("b" not in (one, other) and one != other for one, other in pairwise(classes))


def _element_class(part: tuple[object, ...]) -> str:
    """What an element is to ptxas; a name that nothing declares is untyped."""
    if part[0] == "c":
        return "f" if str(part[1])[0] == "f" else "integer"
    found = _element_type(part)
    return _class(found) if is_type(found) else "b"


def _element_bits(word: str) -> int:
    """The width of an element; a predicate has that of a word."""
    return 32 if word == "pred" else bits(word)


def _element_type(part: tuple[object, ...]) -> str:
    """The type of a register; a special register is untyped inside a vector."""
    return as_bits(str(part[1])) if part[0] == "s" and is_type(str(part[1])) else str(part[1])


def _listed(types: set[str]) -> str:
    return " and ".join(f".{each}" for each in sorted(types))


def _class(word: str) -> str:
    """What registers of a type are to ptxas: untyped, integer, pairs of halves, or floating point."""
    return {"u": "integer", "s": "integer"}.get(kind(word), "halves" if word == "f16x2" else kind(word))


def wanted_type(operand: OperandForm) -> str | None:
    """The type that an operand's form asks for, where it asks for a register of one."""
    wanted = operand.type.value if isinstance(operand.type, Const) else None
    if operand.kind not in ("register", "vector") or not isinstance(wanted, str) or not is_type(wanted):
        return None
    return wanted


def _wrong_sum(operand: OperandForm, found: str, types: Sequence[object]) -> str | None:
    """A name with a constant behind it: that of a variable is a constant, that of code at most an address.

    types: those of a special register. Only integers are counted on from; with others `tolerance` is asked.
    """
    wanted = wanted_type(operand)
    if wanted is None or found == UNKNOWN:
        return None
    refused = f"must be a .{wanted} register, and is a sum with a name"
    if operand.nameless or not (operand.immediates or operand.symbol):
        return refused
    if is_code(found) and not (operand.symbol and found in (FUNCTION, ENTRY)):
        return f"must be a .{wanted} register, and names a place in the code"
    if is_symbol(found):
        return _wrong_name(replace(operand, symbol=True), found)
    counts = kind(wanted) in ("b", "u", "s") and not (types and operand.space is not None)
    return None if counts and any(_agree(str(each), wanted, operand, False) for each in types or (found,)) else refused


def _wrong_element(operand: OperandForm, array: object) -> str | None:
    """An element of an array stands for its address, or names it."""
    if operand.kind == "address" or not isinstance(array, tuple):
        return None
    return _wrong_name(replace(operand, symbol=True), str(array[1]))


def _wrong_name(operand: OperandForm, found: str, inside: bool = False) -> str | None:
    wanted = wanted_type(operand)
    if wanted is None or found in (SPECIAL, UNKNOWN):
        return None
    if is_symbol(found):
        if operand.symbol and operand.space is not None and found in (FUNCTION, ENTRY):
            return "must be an address of data, and names a function"
        return (
            None
            if operand.symbol and kind(wanted) not in ("f", "pred")
            else f"must be a .{wanted} register, and names an address"
        )
    agree = _agree(found, wanted, operand, inside)
    return None if agree else f"must be a .{wanted} register, and is .{found}"


def _wrong_special(operand: OperandForm, types: Sequence[object], inside: bool) -> str | None:
    """A special register is read by `mov` and `cvt` alone, elsewhere as part of a vector or an address."""
    wanted = wanted_type(operand)
    if wanted is None and operand.kind != "address":
        return None
    if wanted is None or not (operand.special or inside):
        return "is a special register, which must be moved to another one first"
    if any(is_type(str(found)) and _agree(str(found), wanted, operand, inside) for found in types):
        return None
    return f"must be of type .{wanted}, and the special register is .{types[0]}"


def _wrong_whole(operand: OperandForm, shape: TypedShape) -> str | None:
    """A name where a vector stands: that of a vector register, or, where that is allowed, of a single one."""
    if operand.more and not str(shape[1]).startswith(_VECTORS):
        return misfit(replace(operand, kind="register", narrower=False), shape)
    if shape[0] == "s" and not operand.special:
        return "is a special register, which must be moved to another one first"
    return wrong_vector(operand, str(shape[1]))


def wrong_vector(operand: OperandForm, found: str) -> str | None:
    """A name in a vector's place must be that of a vector register, such as `%v` of `.reg .v2 .u32 %v`."""
    if found in (SPECIAL, UNKNOWN):
        return None
    count = operand.count.value if isinstance(operand.count, Const) else None
    vector, _, element = found.partition(".")
    fitting = vector == f"v{count}" or (operand.more and int(vector[1:] or 0) >= int(count or 0))
    if not is_symbol(found) and element and fitting:
        return _wrong_name(replace(operand, kind="register"), element, inside=True)
    return f"must be {count} registers in braces, and is {'an address' if is_symbol(found) else f'.{found}'}"


def _agree(found: str, wanted: str, operand: OperandForm, inside: bool) -> bool:
    """Whether a register of type `found` can stand for one of type `wanted`.

    Untyped ones stand for all of their width, integers for each other, and a floating-point one for itself alone.
    """
    if found == wanted or not is_type(found):
        return not found.startswith(_VECTORS)
    if "pred" in (found, wanted):
        return False
    if (operand.exact or (operand.halves and found != "f16x2")) and kind(found) != "b":
        return False
    have, need = bits(found), bits(wanted)
    if (have > need and (not operand.wider or (operand.upto64 and have > 64))) or (
        have < need and not operand.narrower
    ):
        return False
    held, asked = kind(found), kind(wanted)
    if "b" in (held, asked):
        return not (operand.integer and held == "f") or (operand.halves and found == "f16x2")
    if asked in ("u", "s"):
        if found == "f16x2":  # to ptxas such a register is an integer one
            return not operand.integer
        return held in ("u", "s") and "x" not in wanted  # packed integers stand in untyped registers
    return inside and held in ("u", "s") and have == need


def _wrong_constant(operand: OperandForm, found: str, inside: bool) -> str | None:
    """Integers do not become floating-point values by themselves, nor the other way round.

    An untyped operand takes integers, and a floating-point constant of exactly its width; so does, inside a vector,
    a double one.
    """
    if operand.kind == "immediate" and found != INTEGER:
        return "must be an integer constant"
    wanted = wanted_type(operand)
    if wanted is None:
        return None
    if found == INVALID:
        return "is an expression that no assembler computes"
    asked = kind(wanted)
    if asked == "f":
        if found == INTEGER and not (inside and wanted == "f64"):
            return f"must be a .{wanted} constant such as {_EXAMPLES.get(wanted, '1.0')}, and is an integer"
        if operand.single and found != SINGLE:
            return f"must be a .{wanted} constant such as 0f3F800000, and is one of double precision"
        return None if wanted in _EXAMPLES else f"must be a .{wanted} register, and is a constant"
    if found == INTEGER or (
        asked == "b" and found == f"f{bits(wanted)}" and not (operand.integer or operand.exact or operand.halves)
    ):
        return None
    return f"must be a .{wanted} constant, and is a floating-point one" + (" of another width" * (asked == "b"))


def _is_number(base: object, *, untyped: bool) -> bool:
    """Whether a base is a register of 32 bits that is no floating-point one, nor, where that is asked, an integer."""
    if not isinstance(base, tuple) or base[0] != "r":
        return False
    found = str(base[1])
    return found == UNKNOWN or (is_type(found) and bits(found) == 32 and kind(found) in ("b" if untyped else "bus"))


def _wrong_base(operand: OperandForm, base: object) -> str | None:
    place = operand.space.value if isinstance(operand.space, Const) else None
    if operand.kind == "address" and place in _NUMBERED:
        holder = "an untyped 32-bit register" if operand.exact else "a 32-bit integer register"
        right = _is_number(base, untyped=operand.exact)
        return None if right else f"is a place in {place} memory, which {holder} holds"
    if operand.kind != "address" or not isinstance(base, tuple) or base[0] != "r":
        return None
    found = str(base[1])
    if found.startswith(_VECTORS):
        return f"is an address, and a .{found} register cannot hold one"
    if found in (SPECIAL, UNKNOWN) or is_symbol(found) or not is_type(found):
        return None
    if operand.lax and bits(found) <= 64:
        return None
    least = 64 if operand.long else 32 if operand.wide else 8
    if kind(found) in ("f", "pred") or not least <= bits(found) <= 64:
        return f"is an address, and a .{found} register cannot hold one"
    return None
