"""The reference of the instructions: every form of `grammars/isa`, a page for each file of the table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from textwrap import wrap

from docs_lib.markdown_text import capitalize, code, escape, table
from ptxkit.isa import table as instruction_table
from ptxkit.isa.describe import gates_of
from ptxkit.isa.effect_words import effect_sentences
from ptxkit.isa.expression_text import expression_text
from ptxkit.isa.forms import Form, Gate, Modifier, OperandForm
from ptxkit.isa.wording import describe_gate, describe_operand

CHAPTERS = {
    "integer": "Integer arithmetic",
    "floating_point": "Floating point",
    "half_precision": "Half precision",
    "alternate_floating_point": "Alternate floating point",
    "mixed_precision": "Mixed precision",
    "comparison": "Comparison and selection",
    "logic": "Logic and shift",
    "conversion": "Conversion",
    "data_movement": "Loads, stores and addresses",
    "async_copy": "Asynchronous copies",
    "atomics": "Atomics and reductions",
    "synchronization": "Barriers, mbarriers, fences and votes",
    "control_flow": "Control flow",
    "warp_matrix": "Matrix instructions of a warp",
    "wgmma": "wgmma",
    "tcgen05": "tcgen05",
    "texture": "Textures and surfaces",
    "video": "Video",
    "fabric": "Fabric",
    "tolerated": "Beyond the manual",
}
"""The files of the table in the order of the navigation, and what readers call them."""
SPECIAL = "special_registers"
LINE = 88
"""Characters of a line of syntax, which the page shows whole."""


def instruction_pages() -> Iterator[tuple[str, str]]:
    """(path below `reference/`, Markdown) of the list of opcodes, of each chapter and of the special registers."""
    known = instruction_table()
    forms = [form for name in known.names for form in known.forms(name)]
    by_file = {name: [form for form in forms if Path(form.file).stem == name] for name in CHAPTERS}
    assert sum(map(len, by_file.values())) == len(forms), "a file of the table has no chapter here"
    yield "instructions/index.md", "\n".join(_index(by_file))
    for name, chapter in by_file.items():
        yield f"instructions/{name}.md", "\n".join(_chapter(CHAPTERS[name], chapter))
    yield f"instructions/{SPECIAL}.md", "\n".join(_specials())


def _index(by_file: dict[str, list[Form]]) -> Iterator[str]:
    count = sum(map(len, by_file.values()))
    yield from ("# Instructions", "", f"The {count} forms of the instruction table, by chapter. Each states what it is")
    yield "written like, which PTX version and target it needs, and the effects that the analyses and the reference"
    yield from ("machine know. `ptxkit isa cp.async.bulk` prints the same in a terminal.", "")
    rows = []
    for name, forms in by_file.items():
        links = [f"[{code(_opcode(title))}]({name}.md#{_anchor(title)})" for title, _ in _sections(forms)]
        rows.append((f"[{CHAPTERS[name]}]({name}.md)", ", ".join(links)))
    rows.append((f"[Special registers]({SPECIAL}.md)", "`%tid`, `%ctaid`, `%laneid`, ..."))
    yield from table(("chapter", "instructions"), rows)


def _sections(forms: Sequence[Form]) -> list[tuple[str, list[Form]]]:
    order = {section: number for number, section in enumerate(dict.fromkeys(form.section for form in forms))}
    ordered = sorted(forms, key=lambda form: order[form.section])
    return [(section, list(members)) for section, members in groupby(ordered, key=lambda form: form.section)]


def _opcode(section: str) -> str:
    return section.partition(": ")[2] or section


def _anchor(section: str) -> str:
    """The anchor of a section, whose title the same opcode may have in another one."""
    return re.sub(r"\W+", "-", section).strip("-").lower()


def _chapter(title: str, forms: Sequence[Form]) -> Iterator[str]:
    yield from (f"# {title}", "")
    for section, members in _sections(forms):
        heading = _opcode(section)
        chapter = section.partition(": ")[0]
        several = sum(_opcode(other) == heading for other, _ in _sections(forms)) > 1
        yield from (f"## {heading}" + (f" ({chapter})" if several else "") + f" {{#{_anchor(section)}}}", "")
        yield from (f'{capitalize(escape(members[0].summary))} *PTX ISA, "{escape(section)}".*', "")
        for form in members:
            yield from _form_lines(form)


def _form_lines(form: Form) -> Iterator[str]:
    yield from ("```text", *syntax_lines(form), "```", "")
    kinds: dict[str, list[str]] = {}
    for operand in form.operands:
        kinds.setdefault(describe_operand(operand), []).append(code(operand.role))
    items = [f"{', '.join(roles)}: {escape(words)}" for words, roles in kinds.items()]
    items += [f"Requires {escape(_gate_words(gate))}." for gate in gates_of(form)]
    items += [f"Only where `{rule.text}`." for rule in (*form.rules, *form.needs)]
    items += effect_sentences(form.effects)
    if form.tolerated:
        items.append(f"An assembler takes it, and the manual does not have it: {escape(form.tolerated)}")
    yield from (*(f"- {item}" for item in items), "")


def _gate_words(gate: Gate) -> str:
    words = describe_gate(gate)
    return f"{words.rpartition(', for ')[0]}, for `{gate.subject}`" if gate.subject else words


def syntax_lines(form: Form) -> Iterator[str]:
    """The form as the manual writes syntax: `cp.async.bulk.dst.src{.cache} [d], [s], n;`, then what words may be."""
    opcode = form.name + "".join(map(_modifier_text, form.modifiers))
    operands, opened = [], 0
    for operand in form.operands:
        text = _operand_text(operand)
        maybe = operand.optional or operand.condition is not None
        operands.append(f"{{, {text}}}" if maybe and operands else f"{{{text}}}" if maybe else f", {text}")
        opened += maybe
    line = f"{opcode} {''.join(operands).removeprefix(', ')}".rstrip() + ";"
    yield from wrap(line, LINE, subsequent_indent=" " * 8, break_long_words=False, break_on_hyphens=False)
    slots = {slot.name: slot.values for slot in form.modifiers if not slot.is_literal}
    width = max(map(len, slots), default=0)
    for name, values in slots.items():
        words = f"    .{name:<{width}} = {', '.join(f'.{value}' for value in values)}"
        yield from wrap(words, LINE, subsequent_indent=" " * (width + 8), break_on_hyphens=False)
    for name, value in form.lets:
        yield from wrap(f"    where {name} = {expression_text(value)}", LINE, subsequent_indent=" " * 8)


def _modifier_text(slot: Modifier) -> str:
    return f"{{.{slot.name}}}" if slot.optional else f".{slot.name}"


def _operand_text(operand: OperandForm) -> str:
    match operand.kind:
        case "address":
            inner = "".join(f", {_operand_text(each)}" for each in operand.elements)
            return f"[{operand.role}{inner}]"
        case "pair" | "maybe_pair":
            first, second = operand.elements
            joined = f"{_operand_text(first)}|{_operand_text(second)}"
            return joined if operand.kind == "pair" else f"{_operand_text(first)}{{|{_operand_text(second)}}}"
        case "vector" if operand.elements:
            return "{" + ", ".join(map(_operand_text, operand.elements)) + "}"
        case "arguments":
            return f"({operand.role})"
        case _:
            return operand.role


def _specials() -> Iterator[str]:
    yield from ("# Special registers", "")
    rows = []
    for register in sorted(instruction_table().specials, key=lambda each: each.name):
        types = " or ".join(f"`.{each}`" for each in register.types or (register.type,))
        needs = escape(describe_gate(Gate("", register.requirements))) if register.requirements else "-"
        parts = ", with `.x` `.y` `.z` `.w`" if register.vector else ""
        rows.append((code(register.name), types + parts, needs))
    yield from table(("register", "type", "needs"), rows)
