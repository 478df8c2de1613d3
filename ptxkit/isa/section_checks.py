"""Checks of a section for lines without effect: names that are never used, words that a modifier never has.

The loader resolves names. This module detects errors that still produce a form, which matches nothing or has no effect,
and reports their location.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from lark import Token, Tree

from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.expression_builder import ErrorFactory
from ptxkit.isa.functions import is_type
from ptxkit.isa.notation import Node
from ptxkit.isa.notation_checks import MODULE_LINES

_OF_MODIFIERS = frozenset({"when", "gate", "effect", "value", "means", "tolerate"})
"""Lines with a condition on modifiers, which is evaluated before there are operands."""


@dataclass(frozen=True, slots=True)
class FormScope:
    """The names that a form's lines may use. own: the lines under the form. modifiers: values by name; roles, lets:
    names.
    """

    head: Node
    own: Sequence[Node]
    modifiers: Mapping[str, Collection[str]]
    roles: Collection[str]
    lets: Collection[str]


def check_section(
    common: Sequence[Node], scopes: Sequence[FormScope], sets: Mapping[str, Sequence[str]], fail: ErrorFactory
) -> None:
    """Raises the error of `fail` for a line of the section without effect. common: the lines before the first form."""
    checker = _Checker(sets, fail)
    checker.check_lines(common, scopes)
    if not scopes:
        for node in common:
            raise fail("no form follows to which this line belongs", node)
        return
    everywhere: dict[str, set[str]] = {}
    for scope in scopes:
        for name, values in scope.modifiers.items():
            everywhere.setdefault(name, set()).update(values)
        checker.check_form_names(scope)
        checker.check_lines(scope.own, [scope])
    for scope in scopes:
        checker.check_words(scope.own, scope.modifiers, everywhere)
        checker.check_types(scope)
    checker.check_words(common, everywhere, everywhere)
    heads = [scope.head for scope in scopes]
    checker.check_used(common, [*common, *heads, *(node for scope in scopes for node in scope.own)])
    for scope in scopes:
        checker.check_used(scope.own, [*common, scope.head, *scope.own])


class _Checker:
    def __init__(self, sets: Mapping[str, Sequence[str]], fail: ErrorFactory) -> None:
        self.sets, self.fail = sets, fail

    def check_lines(self, nodes: Sequence[Node], scopes: Sequence[FormScope]) -> None:
        """Checks for lines of another kind, repeated lines, and conditions or gates without a subject."""
        seen: set[tuple[str, str]] = set()
        roles = {role for scope in scopes for role in scope.roles}
        words = {f".{value}" for scope in scopes for values in scope.modifiers.values() for value in values}
        for node in nodes:
            kind = str(node.data)
            if kind in MODULE_LINES:
                raise self.fail(f"`{kind}` describes a part of a module, and is under none", node)
            key = (kind, self._key(node))
            if key in seen:
                raise self.fail(f"{key[1] if kind in ('variable', 'let') else kind} is given twice", node)
            seen.add(key)
            if kind == "gate" and node.children[0] is not None and str(node.children[0]) not in words:
                raise self.fail(f"no modifier here can be {node.children[0]}", node.children[0])
            for condition in _modifier_conditions(node):
                for token in _names(condition, outside=("present", "default")):
                    if str(token) in roles:
                        raise self.fail(f"{token} is an operand, and only modifiers decide here; see `need`", token)

    def _key(self, node: Node) -> str:
        """Returns the key that no two lines of a kind can share: a name, or the whole line."""
        if node.data == "summary":
            return ""
        if node.data in ("variable", "let"):
            return str(node.children[0])
        return " ".join(map(str, node.scan_values(lambda _: True))) + " ".join(
            str(each.data) for each in node.iter_subtrees()
        )

    def check_form_names(self, scope: FormScope) -> None:
        """Checks that a line under a form concerns that form, not another one of the section."""
        known = {*scope.modifiers, *scope.roles, *scope.lets, "unknown"}
        for node in scope.own:
            for token in _names(node):
                if str(token) not in known:
                    raise self.fail(f"{token} belongs to another form of the section", token)

    def check_words(
        self, nodes: Sequence[Node], modifiers: Mapping[str, Collection[str]], everywhere: Mapping[str, Collection[str]]
    ) -> None:
        """Checks words such as in `t == .b23` where t is never .b23; in a list, words that it never is in any form of
        the section.
        """
        for node in nodes:
            for comparison in node.iter_subtrees():
                if comparison.data == "compare" and str(comparison.children[1]) in ("==", "!="):
                    sides = comparison.children[0], comparison.children[2]
                    for name, word in (sides, sides[::-1]):
                        if name.data == "name" and word.data == "word":
                            self._check_word(name.children[0], word.children[0], modifiers)
                elif comparison.data in ("member", "stranger") and comparison.children[0].data == "name":
                    for word in comparison.children[1].children:
                        self._check_word(comparison.children[0].children[0], word, everywhere)

    def check_types(self, scope: FormScope) -> None:
        """Checks that a modifier that determines an operand's type is a type for all of its values."""
        for slot in scope.head.find_data("slot"):
            kind = slot.children[2]
            if isinstance(kind, Tree) and kind.data == "name":
                for value in scope.modifiers.get(str(kind.children[0]), ()):
                    if not is_type(value):
                        raise self.fail(f"{kind.children[0]} can be .{value}, which is no type", kind)

    def _check_word(self, name: Token, word: Token, modifiers: Mapping[str, Collection[str]]) -> None:
        legal = modifiers.get(str(name))
        wanted = [str(word)[1:]] if word.startswith(".") else self.sets.get(str(word), ())
        if legal is None or not wanted:
            return
        if not any(value == each or fnmatchcase(value, each) for value in wanted for each in legal):
            raise self.fail(f"{name} is never {word}; it is {' '.join(f'.{each}' for each in sorted(legal))}", word)

    def check_used(self, nodes: Sequence[Node], where: Sequence[Node]) -> None:
        """Checks for variables and lets that are never used, and lets that depend on themselves."""
        named = {str(token) for node in where for token in _names(node)}
        lets = {str(node.children[0]): node for node in where if node.data == "let"}
        for node in nodes:
            name = str(node.children[0])
            if node.data == "variable" and name not in named:
                raise self.fail(f"no form has a modifier <{name}>", node)
            if node.data == "let":
                if name not in named:
                    raise self.fail(f"{name} is never used", node)
                if name in _transitive_lets(name, lets):
                    raise self.fail(f"{name} is defined by itself", node)


def _modifier_conditions(node: Node) -> Iterator[Node]:
    """Yields the parts of a line that must depend on modifiers only."""
    if node.data == "when":
        yield node.children[0]
    elif node.data in _OF_MODIFIERS:
        yield from (part for part in node.children if isinstance(part, Tree) and part.data == "condition")


def _names(node: Node, outside: Collection[str] = ()) -> Iterator[Token]:
    """Yields the names in an expression, a line or a form's head, also in choices such as `<t>`, except in calls of
    `outside`.
    """
    if node.data == "call" and str(node.children[0]) in outside:
        return
    if node.data in ("name", "choice", "value"):
        yield node.children[0]
    elif node.data == "results":
        yield from node.children
    for child in node.children:
        if isinstance(child, Tree):
            yield from _names(child, outside)


def _transitive_lets(name: str, lets: Mapping[str, Node]) -> set[str]:
    """Returns the lets that a let depends on, directly or not."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for token in _names(lets[waiting.pop()].children[1]):
            if str(token) in lets and str(token) not in found:
                found.add(str(token))
                waiting.append(str(token))
    return found
