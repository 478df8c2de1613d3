"""Addresses of a wrong kind: in another state space, generic or not generic, or in another CTA."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.ir.program import Step
from ptxkit.fast_dataclasses import replace
from ptxkit.isa import table
from ptxkit.isa.effects import Access, CtaGroup, Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr
from ptxkit.isa.forms import Match
from ptxkit.syntax.tree import Instruction, Name, operand_names
from ptxkit.testing.mutation.edits import MutationEdit, convert_address, replace_step
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.mutation.mutation_operator import MutationOperator
from ptxkit.testing.mutation.respelling import respell

_OFFSET_SPACES = ("shared", "shared::cta", "shared::cluster", "local")


def _with_space(step: Step, old: str, new: str | None) -> Instruction | None:
    """Returns the instruction with another state space, or none, and effects of the same kinds."""
    name, *words = step.instruction.opcode.split(".")
    place = words.index(old)
    opcode = ".".join([name, *words[:place], *([new] if new else []), *words[place + 1 :]])
    found = table().match(Instruction(opcode, step.instruction.operands))
    if step.match is None or not isinstance(found, Match) or found.form.tolerated:
        return None
    equal = [type(each) for each in found.effects] == [type(each) for each in step.match.effects]
    return replace(step.instruction, opcode=opcode) if equal else None


def _space_words(step: Step, wanted: tuple[str, ...]) -> list[str]:
    return [word for word in step.instruction.opcode.split(".")[1:] if word in wanted]


def _address_roles(reading: FunctionAnalysis, step: Step) -> list[tuple[str, bool]]:
    """Returns the roles that hold an address of memory or of an mbarrier in shared memory, and whether it is an
    mbarrier.
    """
    found = [(each.address, False) for each in reading.effects(step, Access) if each.via == "address"]
    found += [(role, True) for role in reading.mbarrier_roles(step)]
    return list(dict.fromkeys(found))


def _offset_as_generic(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Uses an address in a register with another state space. Names of variables have the right state space in any
    instruction.
    """
    for step in reading.steps:
        words = _space_words(step, _OFFSET_SPACES)
        roles = [role for role, _ in _address_roles(reading, step)]
        named = any(step.scope.variable(name) for role in roles for name in operand_names(step.operand(role)))
        if len(words) == 1 and roles and not named:
            new = _with_space(step, words[0], None)
            yield replace_step(reading, step, [new]) if new is not None else None


def _generic_as_offset(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step in reading.steps:
        words = _space_words(step, _OFFSET_SPACES[:-1])
        for role, barrier in _address_roles(reading, step):
            spaces = [each.space for each in reading.effects(step, Access) if each.address == role]
            if words and (barrier or all(space.startswith("shared") for space in spaces)):
                yield convert_address(reading, step, role, "cvta.shared.u64")


def _other_space(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step in reading.steps:
        words = _space_words(step, ("shared", "shared::cta", "global"))
        if len(words) == 1 and reading.effects(step, Access):
            new = _with_space(step, words[0], "shared" if words[0] == "global" else "global")
            yield replace_step(reading, step, [new]) if new is not None else None


def _delete_conversion(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Replaces a conversion between an address of a space and a generic one by a copy. Global addresses are generic
    ones.
    """
    broken = {"to_generic": "AS2", "from_generic": "AS1"}
    for step, value in reading.steps_with(Value):
        call = value.value
        if not isinstance(call, CallExpr) or call.function not in broken:
            continue
        space = call.arguments[0]
        result, source = step.instruction.operands[:2]
        if isinstance(result, Name) and isinstance(source, Name) and isinstance(space, ConstantExpr):
            rules = () if space.value == "global" else (broken[call.function],)
            move = Instruction(f"mov.u{reading.width(result.text)}", (result, source), step.instruction.guard)
            yield replace_step(reading, step, [move], rules)


def _remote_as_own(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    for step in reading.steps:
        for word in _space_words(step, ("shared::cluster",)):
            roles = [role for role, _ in _address_roles(reading, step)]
            if any(reading.is_computed_by(step, step.operand(role), ("map_rank",)) for role in roles):
                new = _with_space(step, word, "shared::cta")
                yield replace_step(reading, step, [new]) if new is not None else None


def _other_cta_group(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Replaces an operation of a pair of CTAs by one of a single CTA, or the reverse."""
    for step, group in reading.steps_with(CtaGroup):
        new = respell(step, (group, replace(group, ctas=3 - group.ctas)))
        yield replace_step(reading, step, [new]) if new is not None else None


def own_as_cluster(reading: FunctionAnalysis) -> Iterator[MutationEdit | None]:
    """Accesses the memory of the CTA as that of the cluster, of which it is part."""
    for step in reading.steps:
        for word in _space_words(step, ("shared::cta",)):
            if _address_roles(reading, step):
                new = _with_space(step, word, "shared::cluster")
                yield replace_step(reading, step, [new]) if new is not None else None


OPERATORS = (
    MutationOperator("offset-as-generic", ("AS2",), _offset_as_generic),
    MutationOperator("generic-as-offset", ("AS1",), _generic_as_offset),
    MutationOperator("other-space", ("AS1",), _other_space),
    MutationOperator("delete-conversion", ("AS1", "AS2"), _delete_conversion),
    MutationOperator("remote-as-own", ("AS5",), _remote_as_own),
    MutationOperator("other-cta-group", ("TC4",), _other_cta_group),
)
