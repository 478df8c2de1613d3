"""The tree that Lark builds by itself: slow and simple, the reference for tests of the fast parser."""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from ptxkit.diagnostics.catalogue import syntax_errors
from ptxkit.source import SourceFile
from ptxkit.syntax.builder import RULES
from ptxkit.syntax.grammar import TooDeepError, depth, grammar
from ptxkit.syntax.limits import MAX_NESTING
from ptxkit.syntax.tree import Block, Body, Module

_SYNTACTIC_LEVELS = 40
"""Levels of a tree that are not nesting of the text: module, function, body, statement, operand, ..."""


def parse_with_lark(source: SourceFile) -> Module:
    """Returns the module of a correct text. Raises `RefusedError` or `MalformedConstructError` otherwise."""
    tree = grammar().tree(source.text, "module")
    if depth(tree) > MAX_NESTING + _SYNTACTIC_LEVELS:
        raise TooDeepError(syntax_errors.NESTS_TOO_DEEP(limit=MAX_NESTING))
    return Module(*_located_children(tree), source)


def _located_children(tree: Tree[Any]) -> tuple[tuple[Any, ...], tuple[int, ...]]:
    nodes = tuple(_node(child) for child in tree.children)
    return nodes, tuple(child.meta.start_pos for child in tree.children)


def _node(tree: Tree[Any] | Token) -> Any:
    if isinstance(tree, Token):
        return str(tree)
    if tree.data == "body":
        return Body(*_located_children(tree))
    if tree.data == "block":
        return Block(Body(*_located_children(tree)))
    return RULES[tree.data]([_node(child) for child in tree.children])
