"""The table for readers: the forms of an opcode with operands, gates and effects, as text or as data."""

from __future__ import annotations

from ptxkit.isa.expressions import Const
from ptxkit.isa.forms import Immediates, OperandForm

_KINDS = {
    "label": "a label",
    "function": "a function's name",
    "arguments": "a list in parentheses",
    "symbol": "a variable",
    "texture": "a texture",
    "surface": "a surface",
    "sampler": "a sampler",
    "any": "an operand",
    "sink": "the sink _",
}


def operand_words(operand: OperandForm) -> str:
    """What may stand in an operand position, in words: `a .u32 register or a constant from 0 to 31`."""
    match operand.kind:
        case "register":
            words = f"a {_type(operand)}register"
            if operand.immediates is not None:
                words += f" or {immediate_words(operand.immediates)}"
            return words + (" or _" if operand.sink else "")
        case "immediate":
            return immediate_words(operand.immediates or Immediates())
        case "address":
            inside = "".join(f", {operand_words(element)}" for element in operand.elements)
            return f"an address in brackets{inside and ' with'}{inside.lstrip(',')}"
        case "vector":
            count = f"{operand.count.value} " if isinstance(operand.count, Const) else ""
            return f"{count}{_type(operand)}registers in braces"
        case "pair" | "maybe_pair":
            first, second = operand.elements
            return f"{operand_words(first)} | {operand_words(second)}"
        case kind:
            return _KINDS.get(kind, kind)


def _type(operand: OperandForm) -> str:
    return f".{operand.type.value} " if isinstance(operand.type, Const) else ""


def immediate_words(immediates: Immediates) -> str:
    if immediates.members is not None:
        return f"one of {', '.join(map(str, immediates.members))}"
    if immediates.low is None and immediates.high is None:
        return "a constant"
    if immediates.low == immediates.high:
        return f"the constant {immediates.low}"
    ends = f"from {immediates.low}" + ("" if immediates.high is None else f" to {immediates.high}")
    return f"a constant {ends}" + (f" in steps of {immediates.step}" if immediates.step != 1 else "")
