"""What rewrites share that carry the value of a register through other instructions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import partial
from random import Random
from typing import ClassVar

from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.syntax.tree import Instruction, Item, Statement
from ptxkit.syntax.tree_edit import TreeEdit, parse_statements
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.rewriting.kernel_rewrite import RewritePlace
from ptxkit.testing.rewriting.register_uses import PREDICATE_BITS, RegisterUse, register_uses


@dataclass(frozen=True, slots=True)
class DetourCode:
    """Instructions that copy a register's value. declarations: what they use. items: the same, outside of functions."""

    code: str
    declarations: str = ""
    items: tuple[Item, ...] = ()


@dataclass(frozen=True, slots=True)
class DetourRoute:
    """From which register to which, perhaps the same one, a value of `bits` is carried. prefix: of new names."""

    function: FunctionAnalysis
    bits: int
    source: str
    target: str
    prefix: str
    chance: Random


class ValueDetour(ABC):
    """A rewrite that carries the value of a register through other instructions, before it is used or after it is
    assigned. The instructions have the guard of the one that uses or assigns it, so they read no other registers.
    """

    name: ClassVar[str]
    widths: ClassVar[tuple[int, ...]] = (PREDICATE_BITS, 32, 64)

    @abstractmethod
    def detour(self, route: DetourRoute) -> DetourCode:
        """Returns instructions without guards that copy the source of a route to its target."""

    def is_possible(self, _function: FunctionAnalysis) -> bool:
        """Returns whether the rewrite is possible in a function."""
        return True

    def places(self, function: FunctionAnalysis) -> Iterator[RewritePlace]:
        if self.is_possible(function):
            for use in register_uses(function):
                if use.bits in self.widths:
                    yield partial(self._edit, function, use)

    def _edit(self, function: FunctionAnalysis, use: RegisterUse, chance: Random) -> TreeEdit:
        prefix = f"rw{use.step.start}_{use.operand if use.operand is not None else 'd'}_".replace("-1", "g")
        target = use.register if use.operand is None else f"%{prefix}new"
        made = self.detour(DetourRoute(function, use.bits, use.register, target, prefix, chance))
        declarations = made.declarations
        if use.operand is not None:
            declarations += f" .reg .{register_class(use.bits)} {target};"
        guard = use.step.instruction.guard if use.operand != -1 else None
        code: tuple[Statement, ...] = tuple(
            replace(each, guard=guard) if isinstance(each, Instruction) else each
            for each in parse_statements(made.code)
        )
        instruction = use.substitute(target)
        new = (instruction, *code) if use.operand is None else (*code, instruction)
        return TreeEdit({use.step.start: new}, parse_statements(declarations), made.items)


def register_class(bits: int) -> str:
    """Returns the type of registers of a width."""
    return "pred" if bits == PREDICATE_BITS else f"b{bits}"


def to_word(bits: int, source: str, word: str) -> tuple[str, str, int]:
    """Returns an instruction that copies a predicate to a 32-bit register, the register, and its width.

    For other registers the instruction is empty, and the register is the same.
    """
    return (f"selp.b32 {word}, 1, 0, {source};", word, 32) if bits == PREDICATE_BITS else ("", source, bits)


def from_word(bits: int, word: str, target: str) -> str:
    """Returns an instruction that copies a register back to the target, a predicate or a register of its width."""
    return f"setp.ne.b32 {target}, {word}, 0;" if bits == PREDICATE_BITS else f"mov.b{bits} {target}, {word};"
