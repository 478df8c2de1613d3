"""Checks of the whole table: definitions that are repeated, unused or unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Protocol

from lark import Token

from ptxkit.isa.errors import NotationError
from ptxkit.isa.expression_builder import ErrorFactory
from ptxkit.isa.forms import Form, InstructionSet
from ptxkit.isa.notation import Node


class Chapter(Protocol):
    """One `.isa` file."""

    path: str
    text: str
    tree: Node

    @property
    def fail(self) -> ErrorFactory:
        """Makes the error for a place in the file."""


def check_table(instructions: InstructionSet, chapters: Sequence[Chapter]) -> None:
    """Raises `NotationError` for the first such error."""
    values = {
        value
        for forms in instructions.forms.values()
        for form in forms
        for slot in form.modifiers
        for value in slot.values
    }
    named = Counter(str(token) for chapter in chapters for token in chapter.tree.scan_values(_is_name))
    for chapter in chapters:
        for node in chapter.tree.find_data("set"):
            if named[str(node.children[0])] == 1:  # in this chapter only
                raise chapter.fail(f"the set {node.children[0]} is never used", node)
        _check_targets(chapter, instructions)
        _check_duplicates(chapter)
        for node in chapter.tree.children:
            if getattr(node, "data", "") == "section":
                break
            if getattr(node, "data", "") == "gate" and node.children[0] is not None:
                value = str(node.children[0])[1:]
                if not any(fnmatchcase(value, each) for each in values):
                    raise chapter.fail(f"no form has a modifier .{value}", node)
    texts = {chapter.path.replace("\\", "/").rpartition("/")[2]: chapter for chapter in chapters}
    for forms in instructions.forms.values():
        _check_forms(forms, texts)


def _is_name(token: object) -> bool:
    return isinstance(token, Token) and token.type == "NAME"


def _check_targets(chapter: Chapter, instructions: InstructionSet) -> None:
    """Checks the versions and targets of gates, if the chapters define them."""
    targets = {target.name for target in instructions.module.targets}
    numbers = {int(name.removeprefix("sm_").rstrip("af")) for name in targets if name.startswith("sm_")}
    versions = set(instructions.module.versions)
    for node in chapter.tree.find_data("requirement"):
        for part in node.children:
            if isinstance(part, Token):
                if targets and part.startswith("sm_") and str(part) not in targets:
                    raise chapter.fail(f"there is no target {part}", part)
                continue
            value = part.children[1]
            if part.data == "version":
                major, minor = str(value).split(".")
                if versions and (int(major), int(minor)) not in versions:
                    raise chapter.fail(f"there is no PTX version {value}", value)
            elif numbers and int(value) not in numbers:
                raise chapter.fail(f"there is no target sm_{value}", value)


def _check_duplicates(chapter: Chapter) -> None:
    """Checks that special registers, directives and similar items are described once."""
    seen: set[tuple[str, str]] = set()
    for node in chapter.tree.children:
        kind = str(getattr(node, "data", ""))
        if kind in ("directive", "pragma", "option", "feature", "tolerance", "target", "versions"):
            places = [each for each in node.children if getattr(each, "data", "") == "places"]
            names = [str(each) for each in node.children if isinstance(each, Token)]
            where = [str(token) for place in places for token in place.children] or [""]
            keys = [
                (f"{kind} on {place}", name)
                for name in (names[:1] if kind in ("feature", "tolerance") else names)
                for place in where
            ]
            _add_unique(keys, seen, chapter, node)


def _add_unique(keys: Iterable[tuple[str, str]], seen: set[tuple[str, str]], chapter: Chapter, node: Node) -> None:
    for key in keys:
        if key in seen:
            raise chapter.fail(f"{key[1]} is described twice", node)
        seen.add(key)


def _check_forms(forms: Sequence[Form], chapters: Mapping[str, Chapter]) -> None:
    """Checks that no form is equal to an earlier one, because it would never be matched."""
    seen: dict[tuple[object, ...], Form] = {}
    for form in forms:
        key = (form.modifiers, form.operands, tuple(rule.condition for rule in form.rules), form.lets)
        earlier = seen.setdefault(key, form)
        if earlier is not form:
            chapter = chapters[form.file]
            message = f"this form is the one of {earlier.file}:{earlier.line} once more"
            raise NotationError(message, chapter.path, chapter.text, form.line, 1)
