"""Builds the operands of a form from their parse trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lark import Token, Tree

from ptxkit.fast_dataclasses import replace
from ptxkit.isa.expression_builder import ErrorFactory, ExpressionBuilder
from ptxkit.isa.expressions import ConstantExpr, Expression
from ptxkit.isa.forms import Immediates, OperandForm
from ptxkit.isa.notation import Node

_KINDS = frozenset({"label", "function", "arguments", "symbol", "texture", "surface", "sampler", "any", "sink"})
_FLAGS = frozenset(
    {
        "wider",
        "narrower",
        "integer",
        "halves",
        "exact",
        "lax",
        "cut",
        "special",
        "minus",
        "negative",
        "scalar",
        "typed",
        "own",
        "bare",
        "nameless",
    }
    | {"single", "upto64", "same", "unhinted", "definite"}
    | {"sink", "negatable", "symbol", "loose", "vector", "eight", "many"}
)
_OBJECTS = frozenset({"mbarrier", "tensormap", "texture", "surface", "sampler"})

# The properties that an operand's marks set, for marks that are not words.
_MARKS = {"_": "sink", "!": "negatable", "&": "symbol"}


def roles_of(node: Node | None) -> list[str]:
    """Returns all roles of a form's operands in order."""
    if node is None:
        return []
    found = [
        (slot.meta.start_pos, str(slot.children[0]))
        for slot in node.iter_subtrees()
        if slot.data in ("slot", "address")
    ]
    return [role for _, role in sorted(found)]


class OperandBuilder:
    """Builds the operand forms of one form; their types remain expressions."""

    def __init__(
        self, fail: ErrorFactory, expressions: ExpressionBuilder, values: Mapping[str, tuple[str, ...]]
    ) -> None:
        self.fail, self.expressions, self.values = fail, expressions, values
        self._groups = 0

    def build(self, node: Node | None) -> tuple[OperandForm, ...]:
        """Returns all operands in order, including those of optional parts."""
        if node is None:
            return ()
        roles = roles_of(node)
        for role in roles:
            if roles.count(role) > 1:
                raise self.fail(f"two operands play the role {role}", node)
        return tuple(self._sequence(node, ()))

    def _sequence(self, node: Node, group: tuple[int, ...]) -> Iterator[OperandForm]:
        for child in node.children:
            if child.data == "optional":
                self._groups += 1
                yield from self._sequence(child, (*group, self._groups))
            else:
                built = self._operand(child)
                yield replace(built, optional=bool(group), group=group)

    def _operand(self, node: Node) -> OperandForm:
        item, condition = node.children
        built = self._item(item)
        return built if condition is None else replace(built, condition=self.expressions.build(condition))

    def _item(self, node: Node) -> OperandForm:
        match node.data:
            case "slot":
                return self._slot(node)
            case "pair" | "maybe_pair":
                first, second = (self._slot(child) for child in node.children)
                return OperandForm(first.role, str(node.data), elements=(first, second))
            case "vector":
                return self._vector(node)
            case _:
                return self._address(node)

    def _vector(self, node: Node) -> OperandForm:
        elements = tuple(self._slot(child) for child in node.children)
        if len(elements) == 1:
            only = elements[0]
            count = only.count or ConstantExpr(1)
            return replace(only, kind="vector", count=count, braced=True)
        return OperandForm(elements[0].role, "vector", count=ConstantExpr(len(elements)), elements=elements)

    def _address(self, node: Node) -> OperandForm:
        space: Expression | None = None
        symbols: Expression | None = None
        alignment: Expression | None = None
        thing: str | None = None
        unlike = 0
        marks: list[str] = []
        allowed_if: list[tuple[str, Expression]] = []
        index: list[OperandForm] = []
        for child in node.children[1:]:
            match child.data:
                case "space":
                    space = self.expressions.build(child.children[0])
                case "symbols":
                    symbols = self.expressions.build(child.children[0])
                case "alignment":
                    alignment = self.expressions.build(child.children[0])
                case "wide" | "long" | "in_register" | "untyped":
                    marks.append(str(child.data))
                    condition = child.children[0]
                    if condition is not None:
                        allowed_if.append((str(child.data), self.expressions.build(condition)))
                case "element" | "lax" | "bare" | "sink" | "loose" | "data" | "opaque":
                    marks.append(str(child.data))
                case "unlike":
                    width, condition = child.children
                    unlike = int(str(width))
                    if condition is not None:
                        allowed_if.append(("unlike", self.expressions.build(condition)))
                case "object":
                    thing = str(child.children[0])
                    if thing not in _OBJECTS:
                        raise self.fail(f"{thing} is no object of memory; known: {', '.join(sorted(_OBJECTS))}", child)
                case _:
                    index.append(self._operand(child))
        role = str(node.children[0])
        place = OperandForm(role, "address", None, None, None, space, alignment, thing, elements=tuple(index))
        wide, in_register = "wide" in marks, "in_register" in marks
        long, exact = "long" in marks, "untyped" in marks
        place = replace(place, wide=wide, long=long, in_register=in_register, exact=exact, symbol="element" in marks)
        place = replace(place, lax="lax" in marks, bare="bare" in marks, sink="sink" in marks)
        place = replace(place, loose="loose" in marks, unlike=unlike, data="data" in marks, opaque="opaque" in marks)
        return replace(place, symbols=symbols, allowed_if=tuple(allowed_if))

    def _slot(self, node: Node) -> OperandForm:
        role, selector, kind, *rest = node.children
        counts = [part for part in rest if isinstance(part, Tree) and part.data == "count"]
        form = OperandForm(str(role), "register")
        if isinstance(kind, Tree) and kind.data.endswith(("_immediate", "_range", "_from", "_set")):
            form = replace(form, kind="immediate", immediates=immediates_of(kind))
        elif isinstance(kind, Tree) and kind.data == "name" and str(kind.children[0]) in _KINDS:
            form = replace(form, kind=str(kind.children[0]))
        else:
            form = replace(form, type=self.expressions.build(kind))
        if selector is not None:
            form = replace(form, parts=self._parts(selector), whole=selector.data == "absent")
        for count in counts:
            number, more = count.children
            form = replace(form, kind="vector_or_register", count=self.expressions.build(number), more=more is not None)
        for part in rest:
            if part not in counts:
                form = self._add_alternative(form, part)
        return form

    def _parts(self, selector: Node) -> tuple[str, ...]:
        (name,) = next(selector.find_data("choice")).children
        if str(name) not in self.values:
            raise self.fail(f"the selector {name} has no line `{name} = ...`", selector)
        return self.values[str(name)]

    def _add_alternative(self, form: OperandForm, alternative: Node | Token) -> OperandForm:
        if isinstance(alternative, Tree) and alternative.data == "allowed_if":
            mark, condition = alternative.children
            if mark == "space":
                return replace(form, space=self.expressions.build(condition))
            allowed = self._add_alternative(form, mark)
            return replace(allowed, allowed_if=(*form.allowed_if, (str(mark), self.expressions.build(condition))))
        if isinstance(alternative, Tree):
            return replace(form, immediates=immediates_of(alternative))
        field = _MARKS.get(str(alternative)) or (str(alternative) if alternative in _FLAGS else None)
        if field is None:
            raise self.fail(f"/{alternative} means nothing; known: /# /{' /'.join([*_MARKS, *_FLAGS])}", alternative)
        allowed_too: dict[str, Any] = {field: True}
        return replace(form, **allowed_too)


def immediates_of(node: Node) -> Immediates:
    """Returns the legal constants of `#...`."""
    numbers = [None if child is None else int(child, 0) for child in node.children]
    match node.data:
        case "any_immediate":
            return Immediates()
        case "one_immediate":
            return Immediates(numbers[0], numbers[0])
        case "immediate_range":
            return Immediates(numbers[0], numbers[1], numbers[2] or 1)
        case "immediate_from":
            return Immediates(numbers[0], None, numbers[1] or 1)
        case _:
            return Immediates(members=tuple(number for number in numbers if number is not None))
