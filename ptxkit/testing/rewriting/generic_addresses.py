"""Replaces accesses with a state space by accesses with generic addresses."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import ClassVar

from ptxkit.analysis.ir.program import Step
from ptxkit.fast_dataclasses import dataclass, fields, replace
from ptxkit.isa import table
from ptxkit.isa.effects import Access, Effect
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.isa.forms import Match
from ptxkit.syntax.tree import Address, Instruction, Name
from ptxkit.syntax.tree_edit import TreeEdit, parse_statements
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.rewriting.kernel_rewrite import RewritePlace

_CONVERTED = {"shared": "shared", "shared::cta": "shared", "global": "global", "local": "local"}
"""The word of the conversion to a generic address, by the state space of an operand."""


class GenericAddresses:
    """Converts the addresses of an access to generic ones, and omits the state space of the access.

    The conversion yields the generic address of the same location, and an access by it is the same access. The word of
    the state space may hold for several operands, as for the answer and the mbarrier of `clusterlaunchcontrol`; each of
    them is converted.
    """

    name: ClassVar[str] = "generic-address"

    def places(self, function: FunctionAnalysis) -> Iterator[RewritePlace]:
        for step in function.steps:
            addresses = {each.address for each in step.effects if isinstance(each, Access)}
            if step.match is None or len(addresses) != 1:
                continue
            found = _generic_form(step)
            converted = _changed_addresses(step, found.match) if found is not None else None
            if found is not None and converted:
                yield partial(self._edit, step, found.instruction, converted)

    @staticmethod
    def _edit(step: Step, generic: Instruction, converted: tuple[tuple[int, str], ...], _chance: Random) -> TreeEdit:
        operands = list(generic.operands)
        code = ""
        new = [f"%rw{step.start}_generic{index or ''}" for index in range(len(converted))]
        for register, (operand, space) in zip(new, converted, strict=True):
            address = operands[operand]
            assert isinstance(address, Address)
            assert isinstance(address.base, Name)
            binding = step.scope.find(address.base.text)
            is_narrow = binding is not None and binding.is_register and binding.kind.endswith("32")
            get = "cvt.u64.u32" if is_narrow else "mov.u64"
            code += f"{get} {register}, {address.base.text}; cvta.{space}.u64 {register}, {register};"
            operands[operand] = replace(address, base=Name(register))
        guarded = tuple(
            replace(each, guard=generic.guard) if isinstance(each, Instruction) else each
            for each in parse_statements(code)
        )
        changed = replace(generic, operands=tuple(operands))
        return TreeEdit({step.start: (*guarded, changed)}, parse_statements(f".reg .b64 {', '.join(new)};"))


@dataclass(frozen=True, slots=True)
class GenericForm:
    """An instruction without the word of its state space, and the form that it matches."""

    instruction: Instruction
    match: Match


def _changed_addresses(step: Step, generic: Match) -> tuple[tuple[int, str], ...] | None:
    """Returns the position of each operand whose state space differs, with the word of its conversion.

    Returns None where one of them cannot be converted.
    """
    changed: list[tuple[int, str]] = []
    assert step.match is not None
    for old, new in zip(step.match.operands, generic.operands, strict=True):
        if old.space == new.space:
            continue
        address = step.operand(old.role)
        word = _CONVERTED.get(str(old.space.value)) if isinstance(old.space, ConstantExpr) else None
        if word is None or not isinstance(address, Address) or address.index or not isinstance(address.base, Name):
            return None
        changed.append((step.match.roles[old.role], word))
    return tuple(changed)


def _generic_form(step: Step) -> GenericForm | None:
    """Returns the instruction with one word less, whose effects are the same with generic addresses, or None."""
    instruction = step.linear.instruction
    wanted = _without_space(step.effects)
    name, *words = instruction.opcode.split(".")
    for place in range(len(words)):
        opcode = ".".join([name, *words[:place], *words[place + 1 :]])
        found = table().match(Instruction(opcode, instruction.operands)) if table().candidates(opcode) else None
        if not isinstance(found, Match) or found.form.tolerated or found.effects == step.effects:
            continue
        if _without_space(found.effects) == wanted:
            return GenericForm(replace(instruction, opcode=opcode), found)
    return None


def _without_space(effects: tuple[Effect, ...]) -> list[dict[str, object]]:
    """Returns the kinds and fields of effects, without their state spaces."""
    return [
        {
            "effect": type(each),
            **{field.name: getattr(each, field.name) for field in fields(each) if field.name != "space"},
        }
        for each in effects
    ]
