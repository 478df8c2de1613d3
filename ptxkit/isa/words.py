"""Operands, constants and gates in words, for messages and for `ptxkit isa`."""

from __future__ import annotations

from ptxkit.isa.effects import Effect
from ptxkit.isa.expressions import Call, Const, Expression, Role
from ptxkit.isa.forms import Gate, Immediates, OperandForm, Requirement
from ptxkit.records import MISSING, fields

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


_LONGEST = 120


def clip(text: str) -> str:
    """A name from the program, cut where a message could not hold it."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


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
            return _address_words(operand)
        case "vector":
            count = f"{operand.count.value} " if isinstance(operand.count, Const) else ""
            return f"{count}{_type(operand)}registers in braces"
        case "pair" | "maybe_pair":
            first, second = operand.elements
            return f"{operand_words(first)} | {operand_words(second)}"
        case kind:
            return _KINDS.get(kind, kind)


def _address_words(operand: OperandForm) -> str:
    space = operand.space.value if isinstance(operand.space, Const) else None
    words = "an address in brackets" if space is None else f"a {space} address in brackets"
    if operand.object is not None:
        words += (
            f", of {'an' if operand.object[0] in 'aeiou' or operand.object.startswith('mb') else 'a'} {operand.object}"
        )
    if isinstance(operand.alignment, Const) and operand.alignment.value != 1:
        words += f", aligned to {operand.alignment.value} bytes"
    if operand.elements:
        words += f", and {', '.join(operand_words(element) for element in operand.elements)} inside them"
    return words


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


def gate_words(gate: Gate) -> str:
    """What a gate asks for: `PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for .cta_group::1`."""
    asked = ", or ".join(_requirement_words(each) for each in gate.alternatives)
    return f"{asked}, for {gate.subject}" if gate.subject else asked


def _requirement_words(requirement: Requirement) -> str:
    parts = []
    if requirement.version > (1, 0):
        parts.append(f"PTX {requirement.version[0]}.{requirement.version[1]}")
    if requirement.families:
        parts.append(" or ".join(requirement.families))
    elif requirement.minimum:
        parts.append(f"sm_{requirement.minimum}")
    if requirement.before is not None:
        parts.append(f"a version before {requirement.before[0]}.{requirement.before[1]}")
    if requirement.below is not None:
        parts.append(f"a target before sm_{requirement.below}")
    if requirement.texmode:
        parts.append(f"texmode_{requirement.texmode}")
    return " and ".join(parts) or "nothing"


def effect_words(effect: Effect) -> str:
    """A bound effect in one line: its class, and the fields that say something."""
    parts = []
    for field in fields(effect):
        value = getattr(effect, field.name)
        if field.default is MISSING or value != field.default:
            shown = expression_words(value) if isinstance(value, Const | Role | Call) else value
            parts.append(f"{field.name}={shown}")
    return f"{type(effect).__name__}({', '.join(parts)})"


def expression_words(expression: Expression) -> str:
    """An expression as it would be written: `add(32, a, b)`."""
    match expression:
        case Const(value):
            return str(value)
        case Role(name):
            return name
        case Call(function, (left, right)) if not function.isidentifier():
            return f"{expression_words(left)} {function} {expression_words(right)}"
        case Call(function, arguments):
            return f"{function}({', '.join(expression_words(argument) for argument in arguments)})"
