"""The description of an instruction: its form, its requirements, its operands and effects, and the manual's section."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.isa import table
from ptxkit.isa.effect_words import match_sentences
from ptxkit.isa.forms import Form, Match
from ptxkit.isa.table import Mismatch
from ptxkit.isa.targets import Target, canonical_target, parse_target, target_words, unmet_gates
from ptxkit.isa.wording import describe_gate, describe_operand
from ptxkit.lsp.limits import MAX_SHOWN_FORMS
from ptxkit.syntax.tree import Instruction, Module
from ptxkit.validate.match_cache import match_cache_for
from ptxkit.validate.typed_scope import TypedScope


def target_of(module: Module) -> Target | None:
    """Returns the target that the module names."""
    names = [name for name in map(canonical_target, module.targets) if name is not None]
    return next((target for target in map(parse_target, names) if target is not None), None)


def match_instruction(module: Module, instruction: Instruction, scope: TypedScope) -> Match | Mismatch:
    """Returns the form of the instruction with the types of its operands, or the reason why none exists."""
    found = match_cache_for(module.version, target_of(module)).lookup(instruction, scope).match
    return found if found is not None else table().match(instruction)


def describe_instruction(module: Module, instruction: Instruction, scope: TypedScope) -> Iterator[str]:
    """Yields the description of an instruction, in paragraphs of Markdown."""
    found = match_instruction(module, instruction, scope)
    if isinstance(found, Mismatch):
        yield str(found.message)
        forms = [found.nearest] if found.nearest is not None else table().forms(instruction.name)[:MAX_SHOWN_FORMS]
        for form in forms:
            yield from _form_heading(form)
        return
    yield from _form_heading(found.form)
    if found.tolerated:
        yield f"Tolerated: {found.tolerated}"
    operands = [f"- `{operand.role}`: {describe_operand(operand)}" for operand in found.operands]
    if operands:
        yield "\n".join(operands)
    gates = list(_gate_lines(module, found))
    if gates:
        yield "\n".join(gates)
    effects = [f"- {sentence}" for sentence in match_sentences(found)]
    if effects:
        yield "\n".join(["Effects:", *effects])


def _form_heading(form: Form) -> Iterator[str]:
    yield f"**{form.section}** " + form.summary
    yield f"```text\n{form.syntax.removeprefix('form ')}\n```"


def _gate_lines(module: Module, found: Match) -> Iterator[str]:
    """Yields its requirements, and whether the module meets them."""
    target = target_of(module)
    closed = unmet_gates(found.gates, module.version, target)
    for gate in found.gates:
        missing = f" (the module has {target_words(module.version, target)})" if gate in closed else ""
        yield f"- needs {describe_gate(gate)}{missing}"
