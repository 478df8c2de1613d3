"""The instructions of a body, at any depth of blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.syntax.tree import Block, Instruction, Statement


def iterate_instructions(statements: Iterable[Statement]) -> Iterator[Instruction]:
    """Yields the instructions among these statements, and those inside blocks among them, in the order of the text."""
    for statement in statements:
        if isinstance(statement, Instruction):
            yield statement
        elif isinstance(statement, Block):
            yield from iterate_instructions(statement.body.statements)
