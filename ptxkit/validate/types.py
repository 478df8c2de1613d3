"""Whether the register that stands for an operand has a type that the instruction takes.

Source: PTX ISA, "Operand Size Exceeding Instruction-Type Size" and "Type Conversion"; held to ptxas by the agreement
test. Where ptxas is laxer than the text, ptxas decides: a type is wrong only when it is certainly wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ptxkit.isa.expressions import Const
from ptxkit.isa.forms import OperandForm
from ptxkit.isa.functions import bits, is_type, kind
from ptxkit.validate.scopes import SPECIAL, SYMBOL, UNKNOWN

_EXAMPLES = {"f32": "1.0 or 0f3F800000", "f64": "1.0 or 0d3FF0000000000000"}

# What stands in an operand's place, with the types of its registers: the key under which answers are kept.
# `("r", "b32")` a name of that class, `("n", "pred")` a negated one, `("v", ...)` a vector, `("a", base, ...)` an
# address, `("p", ...)` a pair; a plain word for anything else.
TypedShape = str | tuple[object, ...]


def misfit(operand: OperandForm, shape: TypedShape) -> str | None:
    """What is wrong with the registers in an operand, or None; its shape is known to fit."""
    tag = shape[0] if isinstance(shape, tuple) else shape
    match tag:
        case "r" if operand.kind == "vector":
            return _wrong_vector(operand, str(shape[1]))
        case "r" | "n":
            return _wrong_name(operand, str(shape[1]))
        case "v" if operand.kind == "register":
            return misfit(operand, shape[1])  # type: ignore[arg-type]
        case "v" | "p" | "i":
            return _first_misfit(operand, shape[1:])
        case "constant" | "f":
            return _wrong_constant(operand, is_float=tag == "f")
        case "a":
            return _wrong_base(operand, shape[1]) or _first_misfit(operand, shape[2:])
        case _:
            return None


def _first_misfit(operand: OperandForm, parts: Sequence[object]) -> str | None:
    elements = operand.elements or (replace(operand, kind="register", count=None),) * len(parts)
    for element, part in zip(elements, parts, strict=True):
        found = misfit(element, part)  # type: ignore[arg-type]
        if found is not None:
            return found
    return None


def _wrong_name(operand: OperandForm, found: str) -> str | None:
    if operand.kind not in ("register", "vector") or found in (SPECIAL, UNKNOWN):
        return None
    wanted = operand.type.value if isinstance(operand.type, Const) else None
    if not isinstance(wanted, str) or not is_type(wanted):
        return None
    if found == SYMBOL:
        return None if operand.symbol else f"must be a .{wanted} register, and names an address"
    return None if _agree(found, wanted, operand.wider) else f"must be a .{wanted} register, and is .{found}"


def _wrong_vector(operand: OperandForm, found: str) -> str | None:
    """A name in a vector's place must be that of a vector register, such as `%v` of `.reg .v2 .u32 %v`."""
    if found in (SPECIAL, UNKNOWN):
        return None
    count = operand.count.value if isinstance(operand.count, Const) else None
    vector, _, element = found.partition(".")
    if found != SYMBOL and element and vector == f"v{count}":
        return _wrong_name(replace(operand, kind="register"), element)
    return f"must be {count} registers in braces, and is {'an address' if found == SYMBOL else f'.{found}'}"


def _agree(found: str, wanted: str, wider: bool) -> bool:
    if not is_type(found):
        return True
    if "pred" in (found, wanted):
        return found == wanted
    have, need = bits(found), bits(wanted)
    if have != need and not (wider and have > need):
        return False
    kinds = {kind(found), kind(wanted)}
    return "b" in kinds or kinds <= {"u", "s"} or found == wanted or (wider and kinds == {"f"})


def _wrong_constant(operand: OperandForm, *, is_float: bool) -> str | None:
    """Integers do not become floating-point values by themselves, nor the other way round; untyped takes both."""
    wanted = operand.type.value if isinstance(operand.type, Const) else None
    if operand.kind not in ("register", "vector") or not isinstance(wanted, str):
        return None
    if wanted in ("f32", "f64") and not is_float:
        return f"must be a .{wanted} constant such as {_EXAMPLES[wanted]}, and is an integer"
    if is_type(wanted) and kind(wanted) in ("u", "s", "pred") and is_float:
        return f"must be a .{wanted} constant, and is a floating-point one"
    return None


def _wrong_base(operand: OperandForm, base: object) -> str | None:
    if operand.kind != "address" or not isinstance(base, tuple) or base[0] != "r":
        return None
    found = str(base[1])
    if found in (SPECIAL, UNKNOWN, SYMBOL) or not is_type(found):
        return None
    if kind(found) in ("f", "pred") or bits(found) > 64:
        return f"is an address, and a .{found} register cannot hold one"
    return None
