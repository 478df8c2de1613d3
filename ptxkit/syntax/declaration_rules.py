"""Builds nodes from the declaration rules of `grammars/ptx.lark`: variables, registers, parameters.

Source: PTX ISA, "Variables", "Kernel Function Parameter Attributes".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ptxkit.diagnostics.catalogue import syntax_errors
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.syntax.constants import MalformedDeclarationError, parse_number
from ptxkit.syntax.operand_rules import Children
from ptxkit.syntax.tree import (
    Declaration,
    Declarator,
)


@dataclass(frozen=True, slots=True)
class _Pointer:
    """`.ptr` and the words after it; words: None if an alignment follows the type without `.ptr`."""

    words: tuple[str, ...] | None
    alignment: int | None


@dataclass(frozen=True, slots=True)
class _Alignment:
    bytes: int


@dataclass(frozen=True, slots=True)
class _DeclarationHead:
    """The part of a declaration before the names: state space and specifiers."""

    space: str
    type: str
    vector: str | None
    alignment: int | None
    attributes: tuple[str, ...]
    pointer: _Pointer | None

    def declare(self, declarators: tuple[Declarator, ...], linkage: tuple[str, ...] = ()) -> Declaration:
        pointer = self.pointer
        return Declaration(
            space=self.space,
            type=self.type,
            declarators=declarators,
            linkage=linkage,
            alignment=self.alignment,
            vector=self.vector,
            attributes=self.attributes,
            pointer=pointer.words if pointer else None,
            pointer_alignment=pointer.alignment if pointer else None,
        )


class _Type(str):
    """A type or vector word of a declaration, without its dot."""

    __slots__ = ()


class Attributes(tuple[str, ...]):
    __slots__ = ()


class Results(tuple[Declaration, ...]):
    __slots__ = ()


class Formals(tuple[Declaration, ...]):
    __slots__ = ()


class _Linkages(tuple[str, ...]):
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Bound:
    count: int


@dataclass(frozen=True, slots=True)
class _Dimension:
    length: int | None


def without_dot(word: str) -> str:
    return word[1:]


def find_child(kind: type[Any], children: Children) -> Any:
    """Returns the first child of that class, or None."""
    return next((child for child in children if isinstance(child, kind)), None)


def _linkages(children: Children) -> _Linkages:
    return _Linkages(children)


def _word(children: Children) -> str:
    return without_dot(children[0])


def _type(children: Children) -> _Type:
    return _Type(without_dot(children[0]))


def _alignment(children: Children) -> _Alignment:
    return _Alignment(parse_number(children[0]))


def _pointer(children: Children) -> _Pointer:
    if children and (children[-1][0].isdigit() or children[-1] == "WARP_SZ"):
        return _Pointer(tuple(children[:-1]), parse_number(children[-1]))
    return _Pointer(tuple(children), None)


def _late_alignment(children: Children) -> _Pointer:
    return _Pointer(None, parse_number(children[0]))


def _attribute(children: Children) -> str:
    return children[0] if len(children) == 1 else f"{children[0]}({', '.join(children[1:])})"


def _attributes(children: Children) -> Attributes:
    return Attributes(children)


def _parameter_head(children: Children) -> _DeclarationHead:
    types = [str(child) for child in children if isinstance(child, _Type)]
    if len(types) > 1 and types[0] not in _VECTORS:
        raise MalformedDeclarationError(syntax_errors.SEVERAL_TYPES())
    if types[-1] in _VECTORS:
        raise MalformedDeclarationError(syntax_errors.TYPE_NOT_LAST(type=types[-1]))
    head = _DeclarationHead(
        space=children[0],
        type=types[-1],
        vector=types[0] if len(types) > 1 else None,
        alignment=None,
        attributes=(),
        pointer=find_child(_Pointer, children),
    )
    return _apply_qualifiers(head, children)


_VECTORS = frozenset({"v2", "v4", "v8"})


def _apply_qualifiers(head: _DeclarationHead, children: Children) -> _DeclarationHead:
    """Returns the head with the alignment and the attributes among the children; the largest of several alignments
    counts.
    """
    alignments = [child.bytes for child in children if isinstance(child, _Alignment)]
    attributes = [word for child in children if isinstance(child, Attributes) for word in child]
    if head.alignment is not None:
        alignments.append(head.alignment)
    return replace(head, alignment=max(alignments, default=None), attributes=(*attributes, *head.attributes))


def _nothing(children: Children) -> Declaration:
    linkages, *rest = children
    if linkages:
        raise MalformedDeclarationError(syntax_errors.STATE_SPACE_NEEDED())
    return _parameter_head(("", *rest)).declare(())


def _parameter(children: Children) -> Declaration:
    head: _DeclarationHead = children[0]
    return head.declare((children[1],))


def _variable(children: Children) -> Declaration:
    linkages, *rest = children
    place = next(place for place, child in enumerate(rest) if isinstance(child, _DeclarationHead))
    head: _DeclarationHead = rest[place]
    if head.pointer is not None and head.pointer.words is None:
        raise MalformedDeclarationError(syntax_errors.ALIGN_AFTER_TYPE())
    if place:
        head = _apply_qualifiers(head, rest[:place])
    return head.declare(tuple(rest[place + 1 :]), tuple(linkages))


def _declarator(children: Children) -> Declarator:
    rest = children[1:]
    bound = find_child(_Bound, rest)
    dimensions = tuple(child.length for child in rest if isinstance(child, _Dimension))
    initializer = next((child for child in rest if not isinstance(child, _Bound | _Dimension)), None)
    return Declarator(children[0], bound.count if bound else None, dimensions, initializer)


def _parse_bound(children: Children) -> _Bound:
    return _Bound(parse_count(children[0]))


def parse_count(text: str) -> int:
    """Returns the number in angle brackets after a prefix of names; raises MalformedDeclarationError over 32 bits."""
    count = parse_number(text)
    if count >> 32:
        raise MalformedDeclarationError(syntax_errors.COUNT_TOO_WIDE())
    return count


def _dimension(children: Children) -> _Dimension:
    if not children:
        return _Dimension(None)
    return _Dimension(parse_number(children[0]))


def _results(children: Children) -> Results:
    return Results(children[0])


def _formals(children: Children) -> Formals:
    return Formals(children)


DECLARATION_RULES: dict[str, Callable[[Children], Any]] = {
    "linkages": _linkages,
    "linkage": _word,
    "space": _word,
    "type": _type,
    "alignment": _alignment,
    "pointer": _pointer,
    "late_alignment": _late_alignment,
    "formal": _declarator,
    "attribute": _attribute,
    "attributes": _attributes,
    "parameter_head": _parameter_head,
    "parameter": _parameter,
    "variable": _variable,
    "nothing": _nothing,
    "declarator": _declarator,
    "bound": _parse_bound,
    "dimension": _dimension,
    "results": _results,
    "formals": _formals,
}
"""The method of each rule of declarations and parameter lists."""
