"""What vectors are made of: which elements go together, and which name can stand for all of them.

Source: PTX ISA, "Vectors as Operands"; what goes together is as ptxas has it, held to it by the agreement test.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ptxkit.fast_dataclasses import replace
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.isa.forms import OperandForm
from ptxkit.isa.functions import as_bits, bits, is_narrow, is_type, kind
from ptxkit.semantics.symbols import is_symbol
from ptxkit.validate.constants import DOUBLE, INTEGER, INVALID, SINGLE
from ptxkit.validate.register_types import EXAMPLES, VECTORS, name_mismatch, single_mismatch, wanted_type
from ptxkit.validate.typed_scope import SPECIAL, UNKNOWN
from ptxkit.validate.typed_shapes import COMPONENT, TypedShape

_WIDTH_OF_INTEGERS = 64  # bits that an integer constant has to an assembler


def element_mismatch(element: OperandForm, parts: Sequence[object]) -> str | None:
    """A vector is untyped where one of its elements is, else of their type.

    ptxas holds neighbours to one type, an untyped one between them parts them; and all widths to that of the first
    element, which a constant does not have.
    """
    tagged = _typed_elements(parts)
    wanted = wanted_type(element)
    wrong = _typed_incoherence(tagged) or _leading_constant_mismatch(wanted, tagged)
    if wrong is not None:
        return f"{wrong}; each must be a .{wanted} register"
    types = _types_of(tagged)
    is_counted = parts[0] == "_" if "_" in parts else element.own  # after a sink a constant says how wide all are
    if is_counted and wanted is not None and kind(wanted) == "b" and _are_too_wide(element, wanted, tagged):
        return f"must be a .{wanted} register, and all are integer constants"
    if _has_two_precisions(element, tagged):
        return f"begins with a constant of single precision, and has one of double; each must be a .{wanted} register"
    ruling = _deciding_type(tagged, wanted, element) if wanted is not None and tagged and tagged[0][0] == "c" else None
    if ruling is not None:
        return _mismatch_after_constant(element, str(wanted), ruling)
    if _is_of_constants(wanted, tagged, types) or (element.halves and _counts_from_integers(wanted, tagged, types)):
        return None
    if _passes_for_integers(element, tagged, types):
        return None
    untyped = next((each for each in sorted(types) if kind(each) == "b"), None) or _common_untyped(types)
    if untyped is not None:
        return name_mismatch(element, untyped, inside=True)
    if tagged and tagged[0][0] != "c":  # the first element decides what the constants after it are
        parts = [part for part in parts if not isinstance(part, tuple) or part[0] != "c"]
    return next((found for part in parts if (found := single_mismatch(element, part, inside=True))), None)  # type: ignore[arg-type]


def _has_two_precisions(element: OperandForm, tagged: Sequence[tuple[object, ...]]) -> bool:
    """Whether a constant of double precision follows one of single precision in front, which no assembler overlooks in
    a vector of no type; of `mov` and for matrices all of integers are such."""
    wanted = wanted_type(element)
    is_counted = element.special or element.loose
    is_untyped = wanted is not None and (kind(wanted) == "b" or (is_counted and kind(wanted) in ("u", "s")))
    return is_untyped and bits(str(wanted)) != 64 and tagged[:1] == [("c", SINGLE)] and ("c", DOUBLE) in tagged


def _common_untyped(types: set[str]) -> str | None:
    """The untyped type that integers of one width and of both signs make together."""
    return next((as_bits(each) for each in types if kind(each) == "u" and f"s{bits(each)}" in types), None)


def _passes_for_integers(element: OperandForm, tagged: Sequence[tuple[object, ...]], types: set[str]) -> bool:
    """Whether a constant of the other precision after floating-point registers hides from an assembler that these are
    no integers, or not untyped where nothing else may be."""
    wanted = str(wanted_type(element))
    is_other = kind(wanted) in ("u", "s") or (kind(wanted) == "b" and (element.exact or element.halves))
    if not tagged or tagged[0][0] != "r" or len(types) != 1 or not (is_other or element.wider):
        return False
    (found,) = types
    hiding = {"f32": DOUBLE, "f64": SINGLE}.get(found)
    return ("c", hiding) in tagged and (bits(found) == bits(wanted) or (element.wider and bits(found) > bits(wanted)))


def element_incoherence(parts: Sequence[object]) -> str | None:
    """What keeps these from being the elements of one vector, of whatever type."""
    return _typed_incoherence(_typed_elements(parts))


def _typed_elements(parts: Sequence[object]) -> list[tuple[object, ...]]:
    """The elements that have a type: no sinks."""
    return [part for part in parts if isinstance(part, tuple) and part[0] in ("r", "s", "c")]


def _typed_incoherence(tagged: Sequence[tuple[object, ...]]) -> str | None:
    """The like for those that have a type."""
    names = {str(part[1]) for part in tagged}
    if ("c", INVALID) in tagged:
        return "has an expression for an element that no assembler computes"
    if any(map(is_symbol, names)):
        return "has an address for an element"
    if any(name.startswith(VECTORS) for name in names):
        return "has a vector for an element"
    if any(is_selection(part) and not (is_type(str(part[1])) and _element_bits(str(part[1])) == 32) for part in tagged):
        return "has a part of what is no register of 32 bits"
    types = _types_of(tagged)
    constants = any(part[0] == "c" for part in tagged)
    if constants and any(map(_is_component, tagged)):
        return "has a component of a vector beside a constant"
    if _has_incompatible_neighbours([_element_class(part) for part in tagged]):
        return f"has elements of different types, {_join_types(types)}{' and constants' if constants else ''}"
    if len({_element_bits(each) for each in types}) > 1 and tagged[0][0] != "c":
        return f"has elements of different widths, {_join_types(types)}"
    return None


def mixes_component_and_constant(parts: Sequence[object]) -> bool:
    """Whether a component of a vector occurs with a constant, as in no vector of an assembler."""
    tagged = [part for part in parts if isinstance(part, tuple)]
    return any(part[0] == "c" for part in tagged) and any(
        part[0] in ("r", "s") and _is_component(part) for part in tagged
    )


def is_selection(part: tuple[object, ...]) -> bool:
    """Whether an element names a part of a register, as video instructions have it: `%r.b0`, `%r.h1`."""
    return part[0] == "r" and len(part) > 2 and str(part[2])[1:].isdigit()


def _is_component(part: tuple[object, ...]) -> bool:
    """Whether an element is one of a vector register, or a component of a special one."""
    return part[-1] == COMPONENT or (part[0] == "r" and len(part) > 2 and not is_selection(part))


def _leading_constant_mismatch(wanted: str | None, tagged: Sequence[tuple[object, ...]]) -> str | None:
    """A constant in front is of no narrow floating-point type; an integer one passes for a half."""
    if not tagged or tagged[0][0] != "c" or wanted is None or kind(wanted) != "f" or wanted in EXAMPLES:
        return None
    return None if wanted == "f16" and tagged[0] == ("c", INTEGER) else "begins with a constant"


def _deciding_type(tagged: Sequence[tuple[object, ...]], wanted: str, element: OperandForm) -> str | None:
    """The type of the last element that has one, where it is what counts after a constant: of a floating-point one
    that differs from it, or where the type is not the instruction's. None elsewhere."""
    first = str(tagged[0][1])
    found = [_element_type(part) for part in tagged if part != ("c", INTEGER)]
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
        registers = [each for part in tagged if part[0] != "c" and is_type(each := _element_type(part))]
        return registers[-1] if element.own and registers and not element.exact else None
    return named[-1] if named and set(named) != {first} else None


def _is_integer_tail(named: Sequence[str], wanted: str) -> bool:
    """Whether an integer of 64 bits at the end is what an integer constant in front is to an assembler."""
    if kind(wanted) == "b" or not is_type(named[-1]) or bits(named[-1]) != 64:
        return False
    return kind(named[-1]) == "s" or any(_element_bits(each) == bits(wanted) for each in named[:-1])


def _mismatch_after_constant(element: OperandForm, wanted: str, last: str) -> str | None:
    """After a constant the last element says how wide all are; of what kind they are is nothing to an assembler."""
    have, need = _element_bits(last), bits(wanted)
    if have == need or (have > need and element.wider and kind(wanted) in ("u", "s")):
        return None
    return f"ends with an element of {have} bits; each must be a .{wanted} register"


def _is_of_constants(wanted: str | None, tagged: Sequence[tuple[object, ...]], types: set[str]) -> bool:
    """Whether constants make the vector what it is, so that nothing looks at the types of its registers."""
    if not types or not tagged:
        return False
    is_float = wanted is not None and kind(wanted) == "f"
    if tagged[0] == ("c", INTEGER) or (tagged[0][0] == "c" and is_float):
        return True
    return is_float and ("c", INTEGER) in tagged and _are_integers(types, bits(str(wanted)))


def _counts_from_integers(wanted: str | None, tagged: Sequence[tuple[object, ...]], types: set[str]) -> bool:
    """Whether integers with a constant after them hide from an assembler that halves are asked for."""
    return ("c", INTEGER) in tagged and all(kind(each) != "b" and bits(each) == bits(str(wanted)) for each in types)


def _are_too_wide(element: OperandForm, wanted: str, tagged: Sequence[tuple[object, ...]]) -> bool:
    """Whether integer constants are alone where something narrower is wanted; a single one may be narrower."""
    if not tagged or not _are_integer_constants(tagged) or bits(wanted) == _WIDTH_OF_INTEGERS:
        return False
    return not (element.narrower and len(tagged) == 1)


def _are_integer_constants(tagged: Sequence[tuple[object, ...]]) -> bool:
    """Whether these are integer constants alone, which are `_WIDTH_OF_INTEGERS` to an assembler that looks closely."""
    return all(part == ("c", INTEGER) for part in tagged)


def _are_integers(types: set[str], width: int) -> bool:
    """Whether all of these are integers of at least so many bits."""
    return all(_type_class(each) == "integer" and bits(each) >= width for each in types)


def vector_name_mismatch(operand: OperandForm, found: str) -> str | None:
    """A name in a vector's place must be that of a vector register, such as `%v` of `.reg .v2 .u32 %v`."""
    if found in (SPECIAL, UNKNOWN):
        return None
    count = operand.count.value if isinstance(operand.count, ConstantExpr) else None
    vector, _, element = found.partition(".")
    fitting = vector == f"v{count}" or (operand.more and element != "" and int(vector[1:] or 0) >= int(count or 0))
    if not is_symbol(found) and element and fitting:
        return name_mismatch(replace(operand, kind="register"), element, inside=True)
    return f"must be {count} registers in braces, and is {'an address' if is_symbol(found) else f'.{found}'}"


def is_mixed(operand: OperandForm, shape: TypedShape) -> bool:
    """Whether a vector in an operand has elements of more than one type that differ in more than their sign, or of more
    than one width."""
    if not isinstance(shape, tuple):
        return False
    if operand.elements:
        inner = shape[2:] if shape[0] == "a" else shape[1:]
        return any(map(is_mixed, operand.elements, inner))  # type: ignore[arg-type]
    tagged = (
        [part for part in shape[1:] if isinstance(part, tuple) and part[0] in ("r", "s")] if shape[0] == "v" else []
    )
    types = {_element_type(part) for part in tagged if is_type(str(part[1]))}
    wanted = wanted_type(operand)
    is_exact = wanted is not None and kind(wanted) in ("u", "s") and not (operand.wider or operand.narrower)
    if shape[0] == "v" and wanted is not None and (kind(wanted) == "f" or is_exact):
        types.add(wanted if not is_narrow(wanted) else as_bits(wanted))  # widths after a constant are not compared
    return len({_type_class(each) for each in types} - {"b"}) > 1 or len({_element_bits(each) for each in types}) > 1


def _has_incompatible_neighbours(classes: Sequence[str]) -> bool:
    """Whether two neighbours have different types, of which neither is untyped."""
    return any("b" not in (one, other) and one != other for one, other in pairwise(classes))


def _element_class(part: tuple[object, ...]) -> str:
    """What an element is to ptxas; a name that nothing declares is untyped."""
    if part[0] == "c":
        return "f" if str(part[1])[0] == "f" else "integer"
    found = _element_type(part)
    return _type_class(found) if is_type(found) else "b"


def _element_bits(word: str) -> int:
    """The width of an element; a predicate has that of a word."""
    return 32 if word == "pred" else bits(word)


def _types_of(tagged: Sequence[tuple[object, ...]]) -> set[str]:
    """The types of all elements that are no constants."""
    return {_element_type(part) for part in tagged if part[0] != "c" and is_type(str(part[1]))}


def _element_type(part: tuple[object, ...]) -> str:
    """The type of a register; a special register is untyped inside a vector, unless it is a predicate."""
    found = str(part[1])
    return as_bits(found) if part[0] == "s" and is_type(found) and found != "pred" else found


def _join_types(types: set[str]) -> str:
    return " and ".join(f".{each}" for each in sorted(types))


def _type_class(word: str) -> str:
    """What registers of a type are to ptxas: untyped, integer, pairs of halves, or floating point."""
    return {"u": "integer", "s": "integer"}.get(kind(word), "halves" if word == "f16x2" else kind(word))
