"""The names that a function's instructions mention: registers, labels, variables, functions."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.ir.layout import SymbolScope
from ptxkit.syntax.tree import (
    Address,
    Apply,
    Arguments,
    Binary,
    Body,
    Conditional,
    Element,
    Instruction,
    Name,
    Not,
    Operand,
    Pair,
    Unary,
    Vector,
)


def names_in(body: Body) -> set[str]:
    """All names in the operands of a body's instructions, those of nested blocks included."""
    found: set[str] = set()
    for statement, _ in body.flattened():
        if isinstance(statement, Instruction):
            for operand in statement.operands:
                found.update(_names(operand))
    return found


def registers_in(operand: Operand, scope: SymbolScope) -> Iterator[str]:
    """The unique names of the registers in an operand; names of other things may be among them."""
    match operand:
        case Name(text=text):
            yield scope.register_name(text)
        case Address(base=base, index=index):
            yield from registers_in(base, scope)
            for each in index:
                yield from registers_in(each, scope)
        case Vector(elements=elements) | Arguments(elements=elements):
            for each in elements:
                yield from registers_in(each, scope)
        case Pair(first=first, second=second):
            yield from registers_in(first, scope)
            yield from registers_in(second, scope)
        case Not(operand=inner) | Unary(operand=inner) | Element(base=inner):
            yield from registers_in(inner, scope)


def _names(operand: Operand) -> Iterator[str]:
    match operand:
        case Name(text=text):
            yield text
        case Address(base=base, index=index):
            yield from _names(base)
            for each in index:
                yield from _names(each)
        case Vector(elements=elements) | Arguments(elements=elements):
            for each in elements:
                yield from _names(each)
        case Pair(first=first, second=second) | Binary(left=first, right=second) | Element(base=first, index=second):
            yield from _names(first)
            yield from _names(second)
        case Not(operand=inner) | Unary(operand=inner) | Apply(argument=inner):
            yield from _names(inner)
        case Conditional(test=test, then=then, otherwise=otherwise):
            for each in (test, then, otherwise):
                yield from _names(each)
