"""Blocks whose registers have the names of outer ones, as inline assembly has in each of its expansions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import ClassVar

from ptxkit.syntax.tree import Block, Body, operand_names
from ptxkit.syntax.tree_edit import TreeEdit, parse_statements
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.rewriting.kernel_rewrite import RewritePlace
from ptxkit.testing.rewriting.register_uses import RegisterUse, register_uses
from ptxkit.testing.rewriting.value_detour import register_class


class ShadowedRegister:
    """Copies a register to one of a block with the name of an outer register, which the instruction uses instead.

    The name means the outer register again after the block, and the instruction does not use that register.
    """

    name: ClassVar[str] = "shadow-register"

    def places(self, function: FunctionAnalysis) -> Iterator[RewritePlace]:
        uses = list(register_uses(function))
        for use in uses:
            instruction = use.step.linear.instruction
            own = {name for operand in instruction.operands for name in operand_names(operand)}
            own |= {instruction.guard.predicate} if instruction.guard is not None else set()
            names = sorted({each.register for each in uses if each.bits == use.bits} - own)
            if use.operand is not None and names:
                yield partial(self._edit, use, names)

    @staticmethod
    def _edit(use: RegisterUse, names: list[str], chance: Random) -> TreeEdit:
        inner, kind = chance.choice(names), register_class(use.bits)
        copy = parse_statements(f".reg .{kind} {inner}; mov.{kind} {inner}, {use.register};")
        return TreeEdit({use.step.start: (Block(Body((*copy, use.substitute(inner)))),)})
