"""The documentation of instruction methods in words, and the words for operands in errors.

A method's documentation has what the instruction does, its operands in the order of the arguments, what it needs, and
the section of the manual. The signatures for editors (`scripts/stubs`) have the same text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ptxkit.build.limits import MAX_LISTED_NEEDS
from ptxkit.build.method_names import MethodNameReading, find_readings
from ptxkit.build.operand_assignment import find_result_roles, list_input_roles
from ptxkit.build.target_inference import infer_lowest_target
from ptxkit.fast_dataclasses import replace
from ptxkit.isa import table
from ptxkit.isa.binding import bind_form
from ptxkit.isa.constant_folding import fold, is_true
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression
from ptxkit.isa.forms import Form, Immediates, Match, OperandForm
from ptxkit.isa.targets import unmet_gates
from ptxkit.isa.wording import describe_immediates


def describe_method(name: str) -> str:
    """Returns the documentation of a method: what it does, its operands, its requirements, and the section."""
    lines: list[str] = []
    forms = dict.fromkeys(narrow_form(reading) for reading in find_readings(name))
    for (summary, section), group in groupby(forms, key=lambda form: (form.summary, form.section)):
        some = list(group)
        operands = list(_operand_lines(some))
        needs = _requirements(some)
        lines += [summary, *operands, *([needs] if needs else []), f"PTX ISA, {section!r}"]
    return "\n".join(lines)


def summarize_method(name: str) -> str:
    """Returns what a method does and the section of the manual, in one line."""
    forms = [reading.form for reading in find_readings(name)]
    pairs = dict.fromkeys((form.summary, form.section) for form in forms)
    return " ".join(f"{summary} PTX ISA, {section!r}." for summary, section in pairs)


def narrow_form(reading: MethodNameReading) -> Form:
    """Returns the form with only those values of modifiers that the method's name leaves open."""
    slots = zip(reading.form.modifiers, reading.explicit_words, strict=True)
    return replace(
        reading.form,
        modifiers=tuple(
            slot if word is None else replace(slot, values=(word,), optional=False) for slot, word in slots
        ),
    )


def describe_inputs(match: Match) -> str:
    """Returns the operands that a method takes for a form, in words: `a: a .u32 value or a constant; ...`."""
    by_role = operands_by_role(match.operands)
    roles = list_input_roles(match.operands, find_result_roles(match))
    return "; ".join(f"{role}: {describe_input(by_role[role], match.form)}" for role in roles) or "no operands"


def describe_input(operand: OperandForm, form: Form) -> str:
    """Returns the values that an operand may be: `a .u32 value or a constant from 0 to 31`, `an address in .shared`."""
    match operand.kind:
        case "register":
            value = f"a {_list_types(operand, form)}value"
            return value if operand.immediates is None else f"{value} or {describe_immediates(operand.immediates)}"
        case "immediate":
            return describe_immediates(operand.immediates or Immediates())
        case "address":
            return _describe_address(operand, form)
        case "vector" | "vector_or_register" | "pair":
            count = f"{operand.count.value} " if isinstance(operand.count, ConstantExpr) else ""
            return f"{count}{_list_types(operand, form)}values"
        case kind:
            return f"a {kind.replace('_', ' ')}"


def _list_types(operand: OperandForm, form: Form) -> str:
    words = type_words(operand.type, form)
    return f"{', '.join(f'.{word}' for word in words[:-1])}{' or ' * (len(words) > 1)}.{words[-1]} " if words else ""


def _describe_address(operand: OperandForm, form: Form) -> str:
    spaces = [f".{word}" for word in type_words(operand.space, form) if word != "generic"]
    words = f"an address in {' or '.join(spaces)}" if spaces else "a generic address"
    if isinstance(operand.alignment, ConstantExpr) and operand.alignment.value not in (None, 1):
        words += f" aligned to {operand.alignment.value} bytes"
    if operand.elements:
        words = f"a tuple of {words} and {', '.join(f'`{each.role}`' for each in operand.elements)}"
    return words


def type_words(expression: Expression | None, form: Form) -> tuple[str, ...]:
    """Returns the words that an expression may be: of a constant, or of the values of a modifier."""
    match expression:
        case ConstantExpr(value=str(word)):
            return (word,)
        case CallExpr("modifier", (ConstantExpr(value=name),)):
            return next((slot.values for slot in form.modifiers if slot.name == name), ())
    return ()


def operands_by_role(forms: Sequence[OperandForm]) -> dict[str, OperandForm]:
    """Returns operands and those inside pairs and vectors, by their roles. A vector may have the role of an element."""
    found: dict[str, OperandForm] = {}
    for form in forms:
        found.setdefault(form.role, form)
        if form.kind in ("pair", "maybe_pair", "vector", "vector_or_register"):
            for role, element in operands_by_role(form.elements).items():
                found.setdefault(role, element)
    return found


def representative_match(form: Form) -> Match | None:
    """Returns the form with the first choice of modifiers that its rules allow and all of its operands."""
    chosen: dict[str, str | None] = {slot.name: slot.values[0] for slot in form.modifiers}
    if not all(is_true(fold(rule.condition, form, chosen)) for rule in form.rules):
        chosen = {slot.name: None if slot.optional else slot.values[0] for slot in form.modifiers}
    matches = bind_form(form, chosen, table().value_gates)
    return matches[-1] if matches else None


def _operand_lines(forms: Sequence[Form]) -> Iterator[str]:
    """Yields a line for each operand of the forms, with what it may be in any of them."""
    known: dict[str, dict[str, None]] = {}
    for form in forms:
        match = representative_match(form)
        if match is None:
            continue
        by_role = operands_by_role(form.operands)
        for role in list_input_roles(match.operands, find_result_roles(match)):
            if role in by_role:
                known.setdefault(role, {}).setdefault(describe_input(by_role[role], form))
    for text, roles in groupby(known, key=lambda role: "; ".join(known[role])):
        yield f"    {', '.join(roles)}: {text}"


def _requirements(forms: Sequence[Form]) -> str:
    """Returns what all or some of the forms need, in words."""
    from ptxkit.isa.describe import gates_of
    from ptxkit.isa.wording import describe_gate

    lowest = infer_lowest_target([])
    each = [[describe_gate(gate) for gate in gates_of(form) if unmet_gates((gate,), *lowest)] for form in forms]
    needs = list(dict.fromkeys(need for some in each for need in some))
    shared = [need for need in needs if all(need in some for some in each)]
    others = [need for need in needs if need not in shared]
    parts = [
        f"{start} {_list_needs(some)}." for start, some in (("Needs", shared), ("Some forms need", others)) if some
    ]
    return " ".join(parts)


def _list_needs(needs: Sequence[str]) -> str:
    more = f"; and {len(needs) - MAX_LISTED_NEEDS} more" if len(needs) > MAX_LISTED_NEEDS else ""
    return f"{'; '.join(needs[:MAX_LISTED_NEEDS])}{more}"
