"""What the table knows of an opcode, as text for readers and as data for other tools."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ptxkit.isa import table
from ptxkit.isa.expressions import Call, Const
from ptxkit.isa.forms import Form, Gate, Match
from ptxkit.isa.words import effect_words, gate_words, operand_words


def describe(opcode: str) -> str:
    """The forms that begin like `opcode`, with operands, rules, gates and effects; bound, where it is a whole opcode.

    Modifiers that are given choose among the forms. Raises LookupError where the table has nothing of the kind.
    """
    lines: list[str] = []
    section = None
    for form in _forms(opcode):
        if form.section != section:
            section = form.section
            lines += ([""] if lines else []) + [form.section, f"  {form.summary}"]
        lines += ["", *_form_lines(form)]
    for match in table().candidates(opcode):
        lines += ["", *_match_lines(match)]
    return "\n".join(lines) + "\n"


def describe_data(opcode: str | None = None) -> list[dict[str, object]]:
    """The same as data, JSON values only; the whole table where no opcode is given."""
    forms = _forms(opcode) if opcode is not None else [f for name in table().names for f in table().forms(name)]
    return [_form_data(form) for form in forms]


def describe_json(opcode: str | None = None) -> str:
    """`describe_data` as JSON text."""
    return json.dumps({"version": 1, "forms": describe_data(opcode)}, indent=2) + "\n"


def _forms(opcode: str) -> list[Form]:
    name, *words = opcode.strip(".").split(".")
    known = table().forms(name)
    may_be = [form for form in known if all(any(word in slot.values for slot in form.modifiers) for word in words)]
    if not may_be:
        raise LookupError(opcode)
    return [form for form in may_be if _begins(form, words)] or may_be


def _begins(form: Form, words: list[str]) -> bool:
    """Whether the words begin with as much of the form's stem as they can."""
    stem = [slot.name for slot in form.modifiers if slot.stem]
    return all(word == wanted for word, wanted in zip(words, stem, strict=False))


def _form_lines(form: Form) -> Iterator[str]:
    yield f"  {form.syntax.removeprefix('form ')}"
    for slot in form.modifiers:
        if not slot.is_literal:
            yield f"      {slot.name} = {' '.join(f'.{value}' for value in slot.values)}"
    for rule in form.rules:
        yield f"      when {rule.text}"
    for need in form.needs:
        yield f"      need {need.text}"
    for gate in form.gates:
        if _can_apply(gate, form):
            yield f"      needs {gate_words(gate)}"
    for effect in form.effects:
        yield f"      effect {effect.text}"


def _can_apply(gate: Gate, form: Form) -> bool:
    """Whether some choice of modifiers brings a gate into play: a section's common gates are not for all its forms."""
    match gate.condition:
        case None:
            return not gate.subject.startswith(".") or any(gate.subject[1:] in slot.values for slot in form.modifiers)
        case Const(value=value):
            return bool(value)
        case Call("==" | "in", (Call("modifier", (Const(value=name),)), *wanted)):
            legal = {value for slot in form.modifiers if slot.name == name for value in slot.values}
            return any(isinstance(each, Const) and each.value in legal for each in wanted)
        case Call("==" | "in", (Const(value=None), *_)):
            return False
        case _:
            return True


def _match_lines(match: Match) -> Iterator[str]:
    written = ", ".join(operand.role for operand in match.operands)
    yield f"  {match.canonical} {written}".rstrip()
    for operand in match.operands:
        yield f"      {operand.role}: {operand_words(operand)}"
    for gate in match.gates:
        yield f"      needs {gate_words(gate)}"
    for effect in match.effects:
        yield f"      {effect_words(effect)}"


def _form_data(form: Form) -> dict[str, object]:
    return {
        "name": form.name,
        "syntax": form.syntax.removeprefix("form "),
        "section": form.section,
        "summary": form.summary,
        "modifiers": [
            {"name": slot.name, "values": list(slot.values), "optional": slot.optional} for slot in form.modifiers
        ],
        "operands": [
            {"role": operand.role, "kind": operand.kind, "words": operand_words(operand), "optional": operand.optional}
            for operand in form.operands
        ],
        "rules": [rule.text for rule in (*form.rules, *form.needs)],
        "gates": [
            {
                "subject": gate.subject,
                "alternatives": [
                    {
                        "version": f"{each.version[0]}.{each.version[1]}",
                        "minimum": each.minimum,
                        "families": list(each.families),
                    }
                    for each in gate.alternatives
                ],
            }
            for gate in form.gates
        ],
        "effects": [effect.text for effect in form.effects],
        "file": form.file,
        "line": form.line,
    }
