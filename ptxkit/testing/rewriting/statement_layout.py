"""Changes of the arrangement of statements: the order of declarations, second labels, nested blocks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import ClassVar

from ptxkit.fast_dataclasses import replace
from ptxkit.syntax.tree import Block, Body, Declaration, Instruction, LabelStatement, Name, Statement
from ptxkit.syntax.tree_edit import TreeEdit
from ptxkit.testing.limits import MAX_WRAPPED_STATEMENTS
from ptxkit.testing.mutation.function_analysis import FunctionAnalysis
from ptxkit.testing.rewriting.kernel_rewrite import RewritePlace

_Located = tuple[Statement, int]


class DeclarationOrder:
    """Reverses declarations that follow each other. No declaration refers to another one of a function's body, and the
    location of a variable in memory is not defined.
    """

    name: ClassVar[str] = "reorder-declarations"

    def places(self, function: FunctionAnalysis) -> Iterator[RewritePlace]:
        for run in _runs(function.program.function.body, Declaration):
            if len(run) > 1:
                yield partial(self._edit, run)

    @staticmethod
    def _edit(run: tuple[_Located, ...], _chance: Random) -> TreeEdit:
        return TreeEdit({start: (other,) for (_, start), (other, _) in zip(run, reversed(run), strict=True)})


class SplitLabel:
    """Gives a place a second label, and lets some of the branches to the first one lead to it. Both are one place."""

    name: ClassVar[str] = "split-label"

    def places(self, function: FunctionAnalysis) -> Iterator[RewritePlace]:
        for run in _runs(function.program.function.body, LabelStatement):
            for statement, start in run:
                if isinstance(statement, LabelStatement):
                    yield partial(self._edit, function, statement.name, start)

    @staticmethod
    def _edit(function: FunctionAnalysis, label: str, start: int, chance: Random) -> TreeEdit:
        other = f"$rw{start}_same"
        edits: dict[int, tuple[Statement, ...]] = {start: (LabelStatement(label), LabelStatement(other))}
        place = next(index for index, step in enumerate((*function.steps, None)) if step is None or step.start > start)
        for step in function.steps:
            instruction = step.linear.instruction
            if step.targets == (place,) and instruction.operands == (Name(label),) and chance.random() < 0.5:
                edits[step.start] = (replace(instruction, operands=(Name(other),)),)
        return TreeEdit(edits)


class NestedBlock:
    """Puts instructions into a separate block. A block without declarations changes the meaning of no name."""

    name: ClassVar[str] = "nest-block"

    def places(self, function: FunctionAnalysis) -> Iterator[RewritePlace]:
        for run in _runs(function.program.function.body, Instruction):
            for first in range(len(run)):
                yield partial(self._edit, run[first:])

    @staticmethod
    def _edit(run: tuple[_Located, ...], chance: Random) -> TreeEdit:
        chosen = run[: chance.randint(1, MAX_WRAPPED_STATEMENTS)]
        block = Block(Body(tuple(statement for statement, _ in chosen)))
        return TreeEdit({start: () for _, start in chosen} | {chosen[0][1]: (block,)})


def _runs(body: Body | None, kind: type[Statement]) -> Iterator[tuple[_Located, ...]]:
    """Yields the longest runs of statements of a kind in a body and in its blocks."""
    run: list[_Located] = []
    for statement, start in body.with_offsets() if body is not None else ():
        if isinstance(statement, kind):
            run.append((statement, start))
            continue
        if run:
            yield tuple(run)
            run = []
        if isinstance(statement, Block):
            yield from _runs(statement.body, kind)
    if run:
        yield tuple(run)
