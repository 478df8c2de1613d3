"""Changes of the tree of a module: statements that replace others, and the declarations that they need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.syntax.limits import MAX_CACHED_FRAGMENTS
from ptxkit.syntax.parser import parse
from ptxkit.syntax.tree import Block, Body, Function, Item, Module, Statement

_FRAME = ".version 8.0\n.target sm_90a\n.address_size 64\n"


@dataclass(frozen=True, slots=True)
class TreeEdit:
    """A change of one function.

    replaced: by the offset of a statement, the statements that replace it. declarations: new statements at the
    beginning of the function's body. items: new items of the module, before the function; equal ones are added once.
    """

    replaced: Mapping[int, tuple[Statement, ...]]
    declarations: tuple[Statement, ...] = ()
    items: tuple[Item, ...] = ()


@lru_cache(maxsize=MAX_CACHED_FRAGMENTS)
def parse_statements(text: str) -> tuple[Statement, ...]:
    """Returns the statements that a text in the body of a function has."""
    (function,) = parse(f"{_FRAME}.entry frame()\n{{\n{text}\n}}\n").functions()
    assert function.body is not None
    return function.body.statements


@lru_cache(maxsize=MAX_CACHED_FRAGMENTS)
def parse_items(text: str) -> tuple[Item, ...]:
    """Returns the items that a text outside of functions has."""
    return parse(f"{_FRAME}{text}\n").items[3:]


def apply_edits(module: Module, function: Function, edits: Iterable[TreeEdit]) -> Module:
    """Returns the module with edits of one function. Of edits that replace the same statement, the first is applied."""
    replaced: dict[int, tuple[Statement, ...]] = {}
    declarations: list[Statement] = []
    items: list[Item] = []
    for edit in edits:
        if replaced.keys().isdisjoint(edit.replaced):
            replaced |= edit.replaced
            declarations += [each for each in edit.declarations if each not in declarations]
            items += [each for each in edit.items if each not in items]
    assert function.body is not None
    body = _replace_statements(function.body, replaced)
    changed = replace(function, body=Body((*declarations, *body.statements)))
    place = module.items.index(function)
    head = module.items[:place]
    new = [each for each in items if each not in head]
    return Module((*head, *new, changed, *module.items[place + 1 :]))


def _replace_statements(body: Body, replaced: Mapping[int, tuple[Statement, ...]]) -> Body:
    found: list[Statement] = []
    for statement, start in body.with_offsets():
        if isinstance(statement, Block):
            # A block begins where its brace is, so no edit of an instruction has its offset.
            found += replaced.get(start, (Block(_replace_statements(statement.body, replaced)),))
        else:
            found += replaced.get(start, (statement,))
    return Body(tuple(found))
