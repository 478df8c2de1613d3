"""Describes operands, constants and gates, for messages and for `ptxkit isa`."""

from __future__ import annotations

from ptxkit.fast_dataclasses import MISSING, fields
from ptxkit.isa.effects import Effect
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.forms import Gate, Immediates, OperandForm, Requirement
from ptxkit.isa.limits import MAX_QUOTED_CHARS

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


def clip_text(text: str) -> str:
    """Returns a name of the program, shortened for a message."""
    return text if len(text) <= MAX_QUOTED_CHARS else f"{text[:MAX_QUOTED_CHARS]}..."


def describe_operand(operand: OperandForm) -> str:
    """Describes the valid operands in a position: `a .u32 register or a constant from 0 to 31`."""
    match operand.kind:
        case "register":
            words = f"a {_describe_type(operand)}register"
            if operand.immediates is not None:
                words += f" or {describe_immediates(operand.immediates)}"
            return words + (" or _" if operand.sink else "")
        case "immediate":
            return describe_immediates(operand.immediates or Immediates())
        case "address":
            return _describe_address(operand)
        case "vector":
            count = f"{operand.count.value} " if isinstance(operand.count, ConstantExpr) else ""
            return f"{count}{_describe_type(operand)}registers in braces"
        case "pair" | "maybe_pair":
            first, second = operand.elements
            return f"{describe_operand(first)} | {describe_operand(second)}"
        case kind:
            return _KINDS.get(kind, kind)


def _describe_address(operand: OperandForm) -> str:
    space = operand.space.value if isinstance(operand.space, ConstantExpr) else None
    words = "an address in brackets" if space is None else f"a {space} address in brackets"
    if operand.object is not None:
        words += (
            f", of {'an' if operand.object[0] in 'aeiou' or operand.object.startswith('mb') else 'a'} {operand.object}"
        )
    if isinstance(operand.alignment, ConstantExpr) and operand.alignment.value != 1:
        words += f", aligned to {operand.alignment.value} bytes"
    if operand.elements:
        words += f", and {', '.join(describe_operand(element) for element in operand.elements)} inside them"
    return words


def _describe_type(operand: OperandForm) -> str:
    return f".{operand.type.value} " if isinstance(operand.type, ConstantExpr) else ""


def describe_immediates(immediates: Immediates) -> str:
    if immediates.members is not None:
        return f"one of {', '.join(map(str, immediates.members))}"
    if immediates.low is None and immediates.high is None:
        return "a constant"
    if immediates.low == immediates.high:
        return f"the constant {immediates.low}"
    ends = f"from {immediates.low}" + ("" if immediates.high is None else f" to {immediates.high}")
    return f"a constant {ends}" + (f" in steps of {immediates.step}" if immediates.step != 1 else "")


def describe_gate(gate: Gate) -> str:
    """Describes the requirements of a gate: `PTX 8.6 and sm_100a, or PTX 8.8 and sm_100f, for .cta_group::1`."""
    asked = ", or ".join(_describe_requirement(each) for each in gate.alternatives)
    return f"{asked}, for {gate.subject}" if gate.subject else asked


def _describe_requirement(requirement: Requirement) -> str:
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


def describe_effect(effect: Effect) -> str:
    """Describes a bound effect in one line: its class, and the fields with information."""
    parts = []
    for field in fields(effect):
        value = getattr(effect, field.name)
        if field.default is MISSING or value != field.default:
            shown = describe_expression(value) if isinstance(value, ConstantExpr | OperandRole | CallExpr) else value
            parts.append(f"{field.name}={shown}")
    return f"{type(effect).__name__}({', '.join(parts)})"


def describe_expression(expression: Expression) -> str:
    """Returns the text of an expression: `add(32, a, b)`."""
    match expression:
        case ConstantExpr(value):
            return str(value)
        case OperandRole(name):
            return name
        case CallExpr(function, (left, right)) if not function.isidentifier():
            return f"{describe_expression(left)} {function} {describe_expression(right)}"
        case CallExpr(function, arguments):
            return f"{function}({', '.join(describe_expression(argument) for argument in arguments)})"
