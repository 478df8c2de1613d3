"""Copies of loop bodies: an iteration before the loop, or two iterations in one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from random import Random
from typing import ClassVar

from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.syntax.tree import (
    Block,
    Body,
    Directive,
    Guard,
    Instruction,
    LabelStatement,
    Name,
    Statement,
)
from ptxkit.syntax.tree_edit import TreeEdit
from ptxkit.testing.limits import MAX_COPIED_STATEMENTS
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.rewriting.kernel_rewrite import RewritePlace


@dataclass(frozen=True, slots=True)
class TextLoop:
    """Statements of one block from a label to a branch back to it. label_start, branch_start: the offsets of both.

    body: the statements between.
    """

    label: str
    label_start: int
    body: tuple[Statement, ...]
    branch: Instruction
    branch_start: int


class LoopPeeling:
    """Puts a copy of a loop's body before the loop.

    A thread that enters the loop from above executes the copy as its first iteration, and leaves where the loop would
    end; its labels have other names, and a branch to the loop's own label continues with the loop.
    """

    name: ClassVar[str] = "peel-loop"

    def places(self, function: FunctionAnalysis) -> Iterator[RewritePlace]:
        for loop in _loops(function.program.function.body):
            yield partial(self._edit, loop)

    @staticmethod
    def _edit(loop: TextLoop, _chance: Random) -> TreeEdit:
        end = f"$rw{loop.branch_start}_end"
        copied = (*_copy_body(loop), *_leave(loop.branch, end))
        return TreeEdit(
            {
                loop.label_start: (*copied, LabelStatement(loop.label)),
                loop.branch_start: (loop.branch, LabelStatement(end)),
            }
        )


class LoopUnrolling:
    """Puts a second copy of a loop's body after the first, with the test for the end of the loop between them.

    The test is executed after each copy, so the number of iterations may be odd.
    """

    name: ClassVar[str] = "unroll-loop"

    def places(self, function: FunctionAnalysis) -> Iterator[RewritePlace]:
        for loop in _loops(function.program.function.body):
            yield partial(self._edit, loop)

    @staticmethod
    def _edit(loop: TextLoop, _chance: Random) -> TreeEdit:
        end = f"$rw{loop.branch_start}_end"
        new = (*_leave(loop.branch, end), *_copy_body(loop), loop.branch, LabelStatement(end))
        return TreeEdit({loop.branch_start: new})


def _leave(branch: Instruction, end: str) -> tuple[Statement, ...]:
    """Returns the branch to the end of the loop under the opposite guard; none if the loop never ends there."""
    guard = branch.guard
    if guard is None:
        return ()
    return (Instruction("bra", (Name(end),), Guard(guard.predicate, not guard.negated)),)


def _loops(body: Body | None) -> Iterator[TextLoop]:
    """Yields the loops of a body and of its blocks whose statements can be copied."""
    located = list(body.with_offsets()) if body is not None else []
    labels: dict[str, int] = {}
    for place, (statement, start) in enumerate(located):
        if isinstance(statement, Block):
            yield from _loops(statement.body)
        elif isinstance(statement, LabelStatement):
            labels[statement.name] = place
        elif isinstance(statement, Instruction) and len(statement.operands) == 1:
            (operand,) = statement.operands
            head = labels.get(operand.text) if isinstance(operand, Name) else None
            if head is None or not isinstance(operand, Name):
                continue
            between = tuple(each for each, _ in located[head + 1 : place])
            if 0 < len(between) <= MAX_COPIED_STATEMENTS and all(map(_can_be_copied, between)):
                yield TextLoop(operand.text, located[head][1], between, statement, start)


def _can_be_copied(statement: Statement) -> bool:
    if isinstance(statement, Directive):
        return statement.label is None
    return isinstance(statement, Instruction | LabelStatement | Block)


def _copy_body(loop: TextLoop) -> tuple[Statement, ...]:
    labels = [each.name for each in loop.body if isinstance(each, LabelStatement)]
    names = {label: f"$rw{loop.branch_start}_{index}" for index, label in enumerate(labels)}
    return tuple(_rename_labels(each, names) for each in loop.body)


def _rename_labels(statement: Statement, names: Mapping[str, str]) -> Statement:
    match statement:
        case LabelStatement(name):
            return LabelStatement(names.get(name, name))
        case Block(body):
            return Block(Body(tuple(_rename_labels(each, names) for each in body.statements)))
        case Instruction(operands=operands):
            new = tuple(Name(names.get(each.text, each.text)) if isinstance(each, Name) else each for each in operands)
            return replace(statement, operands=new)
        case _:
            return statement
