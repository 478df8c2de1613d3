"""Describes directives, special registers and modifier values: `ptxkit isa .maxntid`, `ptxkit isa %tid`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.fast_dataclasses import replace
from ptxkit.isa import table
from ptxkit.isa.forms import Gate
from ptxkit.isa.module_forms import DirectiveForm
from ptxkit.isa.wording import describe_gate, describe_immediates


def describe_special(name: str) -> str:
    """Describes a special register: its types and requirements. Raises LookupError if none exists."""
    found = table().special(name)
    if found is None:
        raise LookupError(name)
    types = " or ".join(f".{each}" for each in found.types or (found.type,))
    lines = [f"{found.name}: a special register of type {types}" + (", with .x .y .z .w" if found.vector else "")]
    if found.requirements:
        lines.append(f"  needs {describe_gate(Gate('', found.requirements))}")
    return "\n".join(lines) + "\n"


def describe_directive(name: str) -> str:
    """Describes a directive, a target option, a pragma, a type of variables, or the requirements of a modifier value in
    every form.

    Raises LookupError if the table has no such name.
    """
    module = table().module
    word = name.removeprefix(".")
    lines: list[str] = []
    for kind, forms in (
        ("option of .target", module.options),
        ("directive", module.directives),
        ("pragma", module.pragmas),
    ):
        for form in forms:
            if form.name == word:
                lines += _directive_lines(kind, form)
    for each in module.types:
        if each.name == word:
            lines += [f".{word}: a type of variables in {_join_with_or(each.spaces)}", *_gate_lines(each.gates)]
    for target in module.targets:
        if target.name == word:
            lines += [f"{word}: {target.description or 'a target'}", *_gate_lines(target.gates)]
    if word in table().value_gates:
        lines += [f".{word}: a modifier", *_gate_lines(table().value_gates[word])]
    if not lines:
        raise LookupError(name)
    return "\n".join(lines) + "\n"


def _directive_lines(kind: str, form: DirectiveForm) -> Iterator[str]:
    dot = "." if kind == "directive" else ""
    yield f"{dot}{form.name}: {'an' if kind[0] == 'o' else 'a'} {kind}" + (
        f" on {_join_with_or(form.places)}" if form.places else ""
    )
    if form.summary:
        yield f"  {form.summary}"
    for argument in form.arguments:
        yield f"  {argument.role}: {describe_immediates(argument.immediates)}" + (
            ", or nothing" if argument.optional else ""
        )
    for words, others in (
        ("not with", form.excludes),
        ("only with", form.companions),
        ("means nothing without", form.idle_without),
    ):
        if others:
            yield f"  {words} {_join_with_or(f'.{other}' for other in others)}"
    yield from _gate_lines(form.gates)


def _gate_lines(gates: Iterable[Gate]) -> Iterator[str]:
    for gate in gates:
        yield f"  needs {describe_gate(replace(gate, subject=''))}"


def _join_with_or(words: Iterable[str]) -> str:
    return ", ".join(words)
