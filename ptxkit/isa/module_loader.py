"""Builds the module definitions from the parse tree of an `.isa` file: versions, targets, directives, types of
variables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lark import Token, Tree

from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.forms import Gate, Requirement
from ptxkit.isa.module_forms import DataType, DirectiveArgument, DirectiveForm, Feature, ModuleForms
from ptxkit.isa.notation import Node
from ptxkit.isa.operand_forms import immediates_of

HEADS = frozenset({"versions", "target", "option", "directive", "pragma", "datatype", "feature"})
"""The lines that begin a description of a part of a module."""


@dataclass(slots=True)
class ModuleBlock:
    """Such a line, the lines that belong to it, and the title of its section."""

    head: Node
    section: str = ""
    others: list[Node] = field(default_factory=list)

    def undotted_words(self, keyword: str) -> tuple[str, ...]:
        """Returns the words of the lines with that keyword, without their dots."""
        return tuple(word for node in self.others if node.data == keyword for word in _undotted_words(node.children[0]))


def build_module(
    blocks: Sequence[ModuleBlock],
    requirement: Callable[[Node], Requirement],
    fail: Callable[[str, Node | Token], Exception],
) -> ModuleForms:
    """Returns the definitions. Raises the error of `fail` if a name that is used is not described."""
    return _Builder(requirement, fail).build(blocks)


class _Builder:
    def __init__(
        self, requirement: Callable[[Node], Requirement], fail: Callable[[str, Node | Token], Exception]
    ) -> None:
        self.requirement, self.fail = requirement, fail

    def build(self, blocks: Sequence[ModuleBlock]) -> ModuleForms:
        heads: dict[str, list[ModuleBlock]] = {head: [] for head in HEADS}
        for block in blocks:
            heads[block.head.data].append(block)
        directives = tuple(self._directive(block) for block in heads["directive"])
        self._check_names(heads["directive"], {each.name for each in directives})
        return ModuleForms(
            versions=tuple(_version(token) for block in heads["versions"] for token in block.head.children),
            targets=tuple(each for block in heads["target"] for each in self._targets(block)),
            options=tuple(self._option(block) for block in heads["option"]),
            directives=directives,
            pragmas=tuple(self._directive(block) for block in heads["pragma"]),
            types=tuple(each for block in heads["datatype"] for each in self._types(block)),
            features=tuple(self._feature(block) for block in heads["feature"]),
        )

    def _check_names(self, blocks: Sequence[ModuleBlock], known: set[str]) -> None:
        for block in blocks:
            for keyword in ("excludes", "companions", "idle"):
                for word in block.undotted_words(keyword):
                    if word not in known:
                        raise self.fail(f"there is no directive .{word}", block.head)

    def _gates(self, block: ModuleBlock, subject: str) -> tuple[Gate, ...]:
        return tuple(
            Gate(subject, tuple(map(self.requirement, node.children[1].children)))
            for node in block.others
            if node.data == "gate"
        )

    def _targets(self, block: ModuleBlock) -> list[Feature]:
        *names, needs = block.head.children
        asked = tuple(map(self.requirement, needs.children[0].children)) if needs is not None else ()
        return [
            Feature(str(name), f"`.target {name}`", (Gate(str(name), asked),) if asked else (), block.section)
            for name in names
        ]

    def _option(self, block: ModuleBlock) -> DirectiveForm:
        name = str(block.head.children[0])
        return DirectiveForm(
            name, (), excludes=block.undotted_words("excludes"), gates=self._gates(block, name), section=block.section
        )

    def _directive(self, block: ModuleBlock) -> DirectiveForm:
        name, operands, places = block.head.children
        return DirectiveForm(
            name=name[1:-1] if name[0] == '"' else name[1:],
            places=_undotted_words(places),
            arguments=tuple(self._arguments(operands)) if operands is not None else (),
            excludes=block.undotted_words("excludes"),
            companions=block.undotted_words("companions"),
            idle_without=block.undotted_words("idle"),
            once=any(node.data == "once" for node in block.others),
            first=any(node.data == "first" for node in block.others),
            last=block.undotted_words("last"),
            gates=self._gates(block, str(name)),
            section=block.section,
            summary=next((str(n.children[0])[1:-1] for n in block.others if n.data == "summary"), ""),
            line=block.head.meta.line,
        )

    def _arguments(self, node: Node, *, optional: bool = False) -> list[DirectiveArgument]:
        found: list[DirectiveArgument] = []
        for child in node.children:
            if child.data == "optional":
                found += self._arguments(child, optional=True)
                continue
            item = child.children[0]
            constant = item.children[2] if item.data == "slot" else None
            if not isinstance(constant, Tree) or not str(constant.data).endswith(
                ("_immediate", "_range", "_from", "_set")
            ):
                raise self.fail("a directive takes constants only, such as n:#1..", child)
            found.append(DirectiveArgument(str(item.children[0]), immediates_of(constant), optional))
        return found

    def _types(self, block: ModuleBlock) -> list[DataType]:
        names, *spaces = block.head.children
        single, arrays, vectors = (_undotted_words(node) if node is not None else () for node in spaces)
        return [
            DataType(
                name=name,
                spaces=single,
                arrays=arrays,
                vectors=vectors,
                initial=block.undotted_words("initial"),
                fields=block.undotted_words("fields"),
                symbols=block.undotted_words("symbols"),
                gates=self._gates(block, f".{name}"),
                section=block.section,
            )
            for name in _undotted_words(names)
        ]

    def _feature(self, block: ModuleBlock) -> Feature:
        name, words = block.head.children
        text = str(words)[1:-1]
        return Feature(str(name), text, self._gates(block, text), block.section)


def _version(token: Token) -> tuple[int, int]:
    major, minor = token.split(".")
    return int(major), int(minor)


def _undotted_words(node: Node) -> tuple[str, ...]:
    return tuple(str(word).removeprefix(".") for word in node.children)
