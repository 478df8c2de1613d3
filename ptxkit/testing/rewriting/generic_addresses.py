"""Replaces accesses with a state space by accesses with generic addresses."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import ClassVar

from ptxkit.analysis.ir.program import Step
from ptxkit.fast_dataclasses import fields, replace
from ptxkit.isa import table
from ptxkit.isa.effects import Access, Effect
from ptxkit.isa.forms import Match
from ptxkit.syntax.tree import Address, Instruction, Name
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.rewriting.tree_edit import RewritePlace, TreeEdit, parse_statements

_CONVERTED = {"shared::cta": "shared", "global": "global", "local": "local"}
"""The word of the conversion to a generic address, by the state space of an access."""


class GenericAddresses:
    """Converts the address of an access to a generic one, and omits the state space of the access.

    The conversion yields the generic address of the same location, and an access by it is the same access.
    """

    name: ClassVar[str] = "generic-address"

    def places(self, function: FunctionAnalysis) -> Iterator[RewritePlace]:
        for step in function.steps:
            addresses = {each.address for each in step.effects if isinstance(each, Access)}
            if step.match is None or len(addresses) != 1:
                continue
            role = addresses.pop()
            found = _generic_form(step)
            address = step.match.operand(role, step.linear.instruction)
            if found is None or not isinstance(address, Address) or not isinstance(address.base, Name):
                continue
            space = next(each.space for each in step.effects if isinstance(each, Access))
            if not address.index and space in _CONVERTED:
                yield partial(self._edit, step, found, step.match.roles[role], address, _CONVERTED[space])

    @staticmethod
    def _edit(
        step: Step, generic: Instruction, operand: int, address: Address, space: str, _chance: Random
    ) -> TreeEdit:
        assert isinstance(address.base, Name)
        new = f"%rw{step.start}_generic"
        binding = step.scope.find(address.base.text)
        is_narrow = binding is not None and binding.is_register and binding.kind.endswith("32")
        get = "cvt.u64.u32" if is_narrow else "mov.u64"
        code = parse_statements(f"{get} {new}, {address.base.text}; cvta.{space}.u64 {new}, {new};")
        guarded = tuple(replace(each, guard=generic.guard) if isinstance(each, Instruction) else each for each in code)
        operands = list(generic.operands)
        operands[operand] = replace(address, base=Name(new))
        changed = replace(generic, operands=tuple(operands))
        return TreeEdit({step.start: (*guarded, changed)}, parse_statements(f".reg .b64 {new};"))


def _generic_form(step: Step) -> Instruction | None:
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
            return replace(instruction, opcode=opcode)
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
