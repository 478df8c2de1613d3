"""What assemblers take for operands at which they do not look closely: those marked `/loose` in the table.

The fragments of a matrix may have constants among their elements, the sink and special registers among results, and a
vector register for all of them; of a register that only describes a matrix, an assembler sees nothing but the width.
The manual has registers in braces, and untyped registers; compilers write constants of the elements' type among them,
which needs no warning. Held to ptxas by the agreement test.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.fast_dataclasses import replace
from ptxkit.isa.forms import OperandForm
from ptxkit.isa.functions import bits, is_type, kind
from ptxkit.semantics.symbols import is_code, is_symbol
from ptxkit.validate.constants import INTEGER, INVALID, SINGLE
from ptxkit.validate.register_types import wanted_type
from ptxkit.validate.typed_scope import SPECIAL
from ptxkit.validate.typed_shapes import TypedShape
from ptxkit.validate.vector_elements import element_mismatch, vector_name_mismatch

_VECTORS = ("v2.", "v4.")

# What an assembler takes for all elements of 32 bits where it does not look at their type.
_OF_ONE_TYPE = frozenset({"pred", "f16x2"})


def manual_deviation(operand: OperandForm, shape: TypedShape) -> str | None:
    """What of a loose operand is not as the manual has it, though its types may be right; None for other operands."""
    if not operand.loose or not isinstance(shape, tuple) or operand.kind == "address":
        return None
    if operand.kind == "vector" or (operand.count is not None and shape[0] == "v"):  # `{%r1}`, a vector of one
        if shape[0] != "v":
            return "must be registers in braces"
        if "_" in shape[1:]:
            return "has the sink for an element"
        return "has a constant for an element" if _has_mistyped_constants(operand, shape[1:]) else None
    return None if shape[0] in ("r", "s") else f"must be a .{wanted_type(operand)} register"


def _has_mistyped_constants(operand: OperandForm, parts: Sequence[object]) -> bool:
    """Whether some elements are constants of another type than they have, or hide from an assembler that registers are;
    compilers write those of their own."""
    kinds = [str(part[1]) for part in parts if isinstance(part, tuple) and part[0] == "c"]
    is_float = kind(str(wanted_type(operand))) == "f"
    if any((found == INTEGER) is is_float for found in kinds):
        return True
    if len(kinds) == len(parts):
        return not _fit_as_vector(operand, set(kinds))
    registers = [part for part in parts if isinstance(part, tuple) and part[0] != "c"]
    return bool(kinds) and element_mismatch(replace(operand, kind="register", count=None), registers) is not None


def is_tolerated_operand(operand: OperandForm, shape: TypedShape, *, is_result: bool) -> bool:
    """Whether an assembler takes this for a loose operand."""
    if not operand.loose or not isinstance(shape, tuple):
        return False
    if operand.kind == "address":
        return isinstance(shape[1], tuple) and shape[1][:2] == ("r", "f16x2")
    if operand.kind != "vector" and shape[0] == "v" and operand.vector:
        return not is_result and _are_tolerated_elements(replace(operand, integer=False), shape[1:], is_result=False)
    if operand.kind != "vector" and shape[0] == "v":  # `{%r1}`, a vector of one
        return operand.count is not None and _are_tolerated_elements(operand, shape[1:], is_result=is_result)
    if operand.kind != "vector":
        return _has_width(operand, shape) and (shape[0] == "r" or not is_result)
    if shape[0] == "r":
        found = str(shape[1])
        if _is_type_ignored(operand) and found.endswith(".f16x2"):
            found = found.replace("f16x2", "b32")
        return vector_name_mismatch(operand, found) is None
    return shape[0] == "v" and _are_tolerated_elements(operand, shape[1:], is_result=is_result)


def _are_tolerated_elements(operand: OperandForm, parts: Sequence[object], *, is_result: bool) -> bool:
    """Whether these are elements of a fragment to an assembler; `parts` are not all sinks."""
    tags = {_tag(part) for part in parts}
    if not tags.isdisjoint({"c"} if is_result else {"_"}):
        return False
    if tags == {"c"}:
        return _fit_as_vector(operand, {str(part[1]) for part in parts if isinstance(part, tuple)})
    elements = [part for part in parts if part != "_"]
    types = {part[1] for part in elements if isinstance(part, tuple)}
    if len(types) == 1 and types <= _OF_ONE_TYPE and _is_type_ignored(operand):
        return True
    return element_mismatch(replace(operand, kind="register", count=None), elements) is None


def _is_type_ignored(operand: OperandForm) -> bool:
    """Whether the type of a fragment's elements is nothing to an assembler, as long as they have 32 bits."""
    return bits(str(wanted_type(operand))) == 32 and not (operand.integer or operand.halves or operand.exact)


def _fit_as_vector(operand: OperandForm, kinds: set[str]) -> bool:
    """Constants alone: integers are 64 bits wide to an assembler, and fit only where integers are asked for."""
    wanted = str(wanted_type(operand))
    if wanted == "f64":
        return kinds == {INTEGER} or kinds.isdisjoint({INTEGER, INVALID})
    if kind(wanted) in ("u", "s"):
        return kinds == {INTEGER}
    return kinds == {SINGLE} and (kind(wanted) == "f" or _is_type_ignored(operand))


def _has_width(operand: OperandForm, shape: TypedShape) -> bool:
    """Whether something has the operand's width, and is no integer constant, sink or special register."""
    width = bits(str(wanted_type(operand)))
    match shape:
        case ("r", str() as found, *_):
            element = found.partition(".")[2] if operand.vector and found.startswith(_VECTORS) else found
            return element == "pred" or (is_type(element) and bits(element) == width)
        case ("n", str() as found):
            return found == "pred"
        case ("+", str() as found, *types):
            counted = types if found == SPECIAL else (found,)
            return any(each == "pred" or (is_type(str(each)) and bits(str(each)) == width) for each in counted) or (
                is_symbol(found) and not is_code(found)
            )
        case ("c", str() as found, *_):
            return found == SINGLE
    return False


def _tag(part: object) -> object:
    return part[0] if isinstance(part, tuple) else part
