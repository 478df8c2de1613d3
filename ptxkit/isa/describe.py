"""Describes an opcode with the facts of the table, as text for readers. (`ptxkit.isa.table_json` has them for other
tools.)
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.isa import table
from ptxkit.isa.describe_module import describe_directive, describe_special
from ptxkit.isa.expression_text import expression_text
from ptxkit.isa.expressions import CallExpr, ConstantExpr
from ptxkit.isa.forms import Form, Gate, Match
from ptxkit.isa.wording import describe_effect, describe_gate, describe_operand


def describe(opcode: str) -> str:
    """Describes the forms whose names begin with `opcode`, with operands, rules, gates and effects, bound if it is a
    whole opcode.

    Modifiers in it select among the forms. A word that begins with a dot is a directive or a modifier's value, `sm_90a`
    a target, `%tid` a special register. Raises LookupError if the table has nothing of the kind.
    """
    if opcode.startswith("%"):
        return describe_special(opcode)
    if opcode.startswith((".", "sm_")):
        return describe_directive(opcode)
    lines: list[str] = []
    section = None
    for form in forms_of(opcode):
        if form.section != section:
            section = form.section
            lines += ([""] if lines else []) + [form.section, f"  {form.summary}"]
        lines += ["", *_form_lines(form)]
    for match in table().candidates(opcode):
        lines += ["", *_match_lines(match)]
    return "\n".join(lines) + "\n"


def forms_of(opcode: str) -> list[Form]:
    """Returns the forms that begin with `opcode` and have its modifiers. Raises LookupError if none exist."""
    name, *words = opcode.split(".")
    known = table().forms(name)
    may_be = [form for form in known if all(any(word in slot.values for slot in form.modifiers) for word in words)]
    if not may_be:
        raise LookupError(opcode)
    return [form for form in may_be if _matches_stem(form, words)] or may_be


def _matches_stem(form: Form, words: list[str]) -> bool:
    """Returns whether the words begin with as much of the form's stem as possible."""
    stem = [slot.name for slot in form.modifiers if slot.stem]
    return all(word == wanted for word, wanted in zip(words, stem, strict=False))


def _form_lines(form: Form) -> Iterator[str]:
    yield f"  {form.syntax.removeprefix('form ')}"
    if form.tolerated:
        yield f"      tolerated: {form.tolerated}"
    for name, values in {slot.name: slot.values for slot in form.modifiers if not slot.is_literal}.items():
        yield f"      {name} = {' '.join(f'.{value}' for value in values)}"
    for name, value in form.lets:
        yield f"      let {name} = {expression_text(value)}"
    for rule in form.rules:
        yield f"      when {rule.text}"
    for need in form.needs:
        yield f"      need {need.text}"
    for gate in gates_of(form):
        yield f"      needs {describe_gate(gate)}"
    for effect in form.effects:
        yield f"      effect {effect.text}"


def gates_of(form: Form) -> list[Gate]:
    """Returns the gates that apply for some choice of modifiers: the form's own, then those of modifier values."""
    own = [gate for gate in form.gates if _can_apply(gate, form)]
    instead = {gate.subject for gate in own}
    values = {value for slot in form.modifiers for value in slot.values}
    return own + [
        gate
        for value, gates in table().value_gates.items()
        if value in values and f".{value}" not in instead
        for gate in gates
    ]


def _can_apply(gate: Gate, form: Form) -> bool:
    """Returns whether a gate applies for some choice of modifiers, because a section's common gates do not concern all
    forms.
    """
    match gate.condition:
        case None:
            return not gate.subject.startswith(".") or any(gate.subject[1:] in slot.values for slot in form.modifiers)
        case ConstantExpr(value=value):
            return bool(value)
        case CallExpr("==" | "in", (CallExpr("modifier", (ConstantExpr(value=name),)), *wanted)):
            legal = {value for slot in form.modifiers if slot.name == name for value in slot.values}
            return any(isinstance(each, ConstantExpr) and each.value in legal for each in wanted)
        case CallExpr("==" | "in", (ConstantExpr(value=None), *_)):
            return False
        case _:
            return True


def _match_lines(match: Match) -> Iterator[str]:
    written = ", ".join(operand.role for operand in match.operands)
    yield f"  {match.canonical} {written}".rstrip()
    for operand in match.operands:
        yield f"      {operand.role}: {describe_operand(operand)}"
    for gate in match.gates:
        yield f"      needs {describe_gate(gate)}"
    for effect in match.effects:
        yield f"      {describe_effect(effect)}"
