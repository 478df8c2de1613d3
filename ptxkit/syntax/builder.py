"""From the rules of `grammars/ptx.lark` to nodes: one method a rule, each given its children in order.

Children are the texts of terminals and what other rules' methods returned. The methods do not look at positions, nor
at anything but their children, so that the parser can run them again on other texts with the same token types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ptxkit.syntax.constants import MalformedError, bits_float, decimal_float, evaluate, integer
from ptxkit.syntax.tree import (
    Address,
    Apply,
    Arguments,
    Binary,
    Conditional,
    Declaration,
    Declarator,
    Directive,
    Element,
    Float,
    Function,
    Guard,
    Instruction,
    Integer,
    LabelStatement,
    Name,
    Not,
    Operand,
    Pair,
    Prototype,
    Section,
    Unary,
    Vector,
)

Children = Sequence[Any]
"""Texts of terminals and results of rules; the grammar decides which."""


@dataclass(frozen=True, slots=True)
class _Pointer:
    words: tuple[str, ...]
    alignment: int | None


@dataclass(frozen=True, slots=True)
class _Alignment:
    bytes: int


@dataclass(frozen=True, slots=True)
class _Head:
    """What stands in front of the declared names: space and specifiers."""

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


class _Attributes(tuple[str, ...]):
    __slots__ = ()


class _Results(tuple[Declaration, ...]):
    __slots__ = ()


class _Formals(tuple[Declaration, ...]):
    __slots__ = ()


class _Linkages(tuple[str, ...]):
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Bound:
    count: int


@dataclass(frozen=True, slots=True)
class _Dimension:
    length: int | None


@dataclass(frozen=True, slots=True)
class _Offset:
    bytes: int


def _constant(expression: Operand, what: str) -> int:
    value = evaluate(_value(expression))
    if value is None:
        raise MalformedError(f"{what} must be an integer constant")
    return value


def _space(word: str) -> str:
    return word[1:]


def _of(kind: type[Any], children: Children) -> Any:
    """The first child of that class, or None."""
    return next((child for child in children if isinstance(child, kind)), None)


# ---------------------------------------------------------------------------------------------- module level


def _version(children: Children) -> Directive:
    return Directive("version", (children[0],))


def _target(children: Children) -> Directive:
    return Directive("target", tuple(children))


def _address_size(children: Children) -> Directive:
    return Directive("address_size", (children[0],))


def _file(children: Children) -> Directive:
    return Directive("file", tuple(children))


def _pragma(children: Children) -> Directive:
    return Directive("pragma", tuple(children))


def _alias(children: Children) -> Directive:
    return Directive("alias", tuple(children))


def _dwarf(children: Children) -> Directive:
    return Directive("@@DWARF", tuple(children[0].split()[1:]))


def _section(children: Children) -> Section:
    return Section(children[0], tuple(children[1:]))


def _section_label(children: Children) -> str:
    return f"{children[0]}:"


def _section_data(children: Children) -> str:
    return f"{children[0]} {', '.join(children[1:])}"


def _section_value(children: Children) -> str:
    return "".join(children)


SOURCE_SECTION = "nv_intermediate_source_section"


def _source_section(children: Children) -> Section:
    text: str = children[0]
    inner = text[text.index("{") + 1 : text.rindex("}")]
    return Section(SOURCE_SECTION, tuple(line.rstrip() for line in inner.strip("\r\n \t").split("\n")))


# ----------------------------------------------------------------------------------- variables, parameters


def _linkages(children: Children) -> _Linkages:
    return _Linkages(children)


def _word(children: Children) -> str:
    return _space(children[0])


def _type(children: Children) -> _Type:
    return _Type(_space(children[0]))


def _alignment(children: Children) -> _Alignment:
    return _Alignment(integer(children[0]).value)


def _pointer(children: Children) -> _Pointer:
    if children and children[-1][0].isdigit():
        return _Pointer(tuple(children[:-1]), integer(children[-1]).value)
    return _Pointer(tuple(children), None)


def _attribute(children: Children) -> str:
    return children[0] if len(children) == 1 else f"{children[0]}({', '.join(children[1:])})"


def _attributes(children: Children) -> _Attributes:
    return _Attributes(children)


def _parameter_head(children: Children) -> _Head:
    types = [str(child) for child in children if isinstance(child, _Type)]
    vector = next((word for word in types if word in _VECTORS), None)
    scalars = [word for word in types if word not in _VECTORS]
    if len(scalars) != 1:
        raise MalformedError("a declaration needs one type" + (", here are several" if scalars else ""))
    alignment = _of(_Alignment, children)
    return _Head(
        space=children[0],
        type=scalars[0],
        vector=vector,
        alignment=alignment.bytes if alignment else None,
        attributes=tuple(_of(_Attributes, children) or ()),
        pointer=_of(_Pointer, children),
    )


_VECTORS = frozenset({"v2", "v4", "v8"})


def _parameter(children: Children) -> Declaration:
    head: _Head = children[0]
    return head.declare((children[1],))


def _variable(children: Children) -> Declaration:
    linkages, *declarators = children
    head: _Head = declarators.pop(0)
    return head.declare(tuple(declarators), tuple(linkages))


def _declarator(children: Children) -> Declarator:
    rest = children[1:]
    bound = _of(_Bound, rest)
    dimensions = tuple(child.length for child in rest if isinstance(child, _Dimension))
    initialiser = next((child for child in rest if not isinstance(child, _Bound | _Dimension)), None)
    return Declarator(children[0], bound.count if bound else None, dimensions, initialiser)


def _bound(children: Children) -> _Bound:
    return _Bound(integer(children[0]).value)


def _dimension(children: Children) -> _Dimension:
    return _Dimension(_constant(children[0], "an array length") if children else None)


def _vector(children: Children) -> Vector:
    return Vector(tuple(children))


# ------------------------------------------------------------------------------------------------- functions


def _function(children: Children) -> Function:
    header: Function = children[0]
    return replace(header, body=children[1]) if len(children) > 1 else header


def _header(children: Children) -> Function:
    linkages, *directives = children
    head: Function = directives.pop(0)
    return replace(head, linkage=tuple(linkages), directives=tuple(directives))


def _function_head(kind: str) -> Callable[[Children], Function]:
    def build(children: Children) -> Function:
        name = next(child for child in children if isinstance(child, str))
        return Function(
            kind=kind,
            name=name,
            parameters=tuple(_of(_Formals, children) or ()),
            results=tuple(_of(_Results, children) or ()),
            attributes=tuple(_of(_Attributes, children) or ()),
        )

    return build


def _results(children: Children) -> _Results:
    return _Results(children[0])


def _formals(children: Children) -> _Formals:
    return _Formals(children)


def _function_directive(children: Children) -> Directive:
    first, *words = children
    return first if isinstance(first, Directive) else Directive(_space(first), tuple(words))


def _first(children: Children) -> Any:
    return children[0]


# ------------------------------------------------------------------------------------------------ statements


def _label(children: Children) -> LabelStatement:
    return LabelStatement(children[0])


def _loc(children: Children) -> Directive:
    words = list(children[:3])
    for attribute in children[3:]:
        words.extend(attribute)
    return Directive("loc", tuple(words))


def _loc_attribute(children: Children) -> tuple[str, ...]:
    if "+" in children:
        return children[0], "".join(children[1:])
    return tuple(children)


def _loc_intermediate(children: Children) -> Directive:
    return Directive("loc_intermediate", tuple(children))


def _branch_targets(children: Children) -> Directive:
    label, keyword, *names = children
    return Directive(_space(keyword), tuple(names), label)


def _prototype(children: Children) -> Prototype:
    label, *rest = children
    return Prototype(
        label=label,
        results=tuple(_of(_Results, rest) or ()),
        parameters=tuple(_of(_Formals, rest) or ()),
        directives=tuple(child for child in rest if isinstance(child, Directive)),
    )


def _instruction(children: Children) -> Instruction:
    if isinstance(children[0], Guard):
        return Instruction(children[1], tuple(children[2:]), children[0])
    return Instruction(children[0], tuple(children[1:]))


def _guard(children: Children) -> Guard:
    return Guard(children[0])


def _guard_not(children: Children) -> Guard:
    return Guard(children[0], negated=True)


def _opcode(children: Children) -> str:
    return "".join(children)


# -------------------------------------------------------------------------------------------------- operands


def _name(children: Children) -> Name:
    return Name("".join(children))


def _integer(children: Children) -> Integer:
    return integer(children[0])


def _float(children: Children) -> Float:
    return decimal_float(children[0])


def _bits(children: Children) -> Float:
    return bits_float(children[0])


def _arguments(children: Children) -> Arguments:
    return Arguments(tuple(children))


def _value(operand: Operand) -> Operand:
    """An operand inside an expression: a parenthesis there only groups."""
    if not isinstance(operand, Arguments):
        return operand
    if len(operand.elements) != 1:
        raise MalformedError("a list in parentheses cannot stand in an expression")
    return _value(operand.elements[0])


def _unary(operator: str) -> Callable[[Children], Operand]:
    def build(children: Children) -> Operand:
        return Unary(operator, _value(children[0]))

    return build


def _binary(operator: str) -> Callable[[Children], Operand]:
    def build(children: Children) -> Operand:
        return Binary(operator, _value(children[0]), _value(children[1]))

    return build


def _negation(children: Children) -> Operand:
    return Not(children[0]) if isinstance(children[0], Name) else Unary("!", _value(children[0]))


def _cast(children: Children) -> Operand:
    word, operand = children
    if word not in (".s64", ".u64"):
        raise MalformedError(f"a constant can be cast to `.s64` or `.u64`, not to `{word}`")
    return Unary(f"({word})", _value(operand))


def _bar(children: Children) -> Operand:
    first, second = children
    if isinstance(first, Name) or isinstance(second, Name):
        return Pair(first, second)
    return Binary("|", _value(first), _value(second))


def _conditional(children: Children) -> Operand:
    test, then, otherwise = (_value(child) for child in children)
    return Conditional(test, then, otherwise)


def _element_of(children: Children) -> Operand:
    return Element(children[0], children[1])


def _apply(children: Children) -> Operand:
    return Apply(children[0], children[1])


def _field(children: Children) -> Operand:
    return Binary("=", Name(children[0]), children[1])


def _address(children: Children) -> Address:
    base, *rest = children
    if rest and isinstance(rest[0], _Offset):
        return Address(base, rest[0].bytes, tuple(rest[1:]))
    return Address(base, 0, tuple(rest))


def _offset(children: Children) -> _Offset:
    return _Offset(_constant(children[0], "the offset of an address"))


_OPERATORS = {
    "or_else": "||", "and_then": "&&", "xor": "^", "and": "&", "eq": "==", "ne": "!=", "lt": "<", "le": "<=",
    "gt": ">", "ge": ">=", "shl": "<<", "shr": ">>", "add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%",
}  # fmt: skip

RULES: dict[str, Callable[[Children], Any]] = {
    "version": _version,
    "target": _target,
    "address_size": _address_size,
    "file": _file,
    "pragma": _pragma,
    "alias": _alias,
    "dwarf": _dwarf,
    "section": _section,
    "section_label": _section_label,
    "section_data": _section_data,
    "section_value": _section_value,
    "source_section": _source_section,
    "linkages": _linkages,
    "linkage": _word,
    "space": _word,
    "type": _type,
    "alignment": _alignment,
    "pointer": _pointer,
    "attribute": _attribute,
    "attributes": _attributes,
    "parameter_head": _parameter_head,
    "parameter": _parameter,
    "variable": _variable,
    "declarator": _declarator,
    "bound": _bound,
    "dimension": _dimension,
    "aggregate": _vector,
    "field": _field,
    "function": _function,
    "header": _header,
    "entry": _function_head("entry"),
    "func": _function_head("func"),
    "results": _results,
    "formals": _formals,
    "function_directive": _function_directive,
    "argument": _first,
    "label": _label,
    "loc": _loc,
    "loc_attribute": _loc_attribute,
    "loc_intermediate": _loc_intermediate,
    "branch_targets": _branch_targets,
    "prototype": _prototype,
    "instruction": _instruction,
    "guard": _guard,
    "guard_not": _guard_not,
    "opcode": _opcode,
    "modifier": _first,
    "vector": _vector,
    "address": _address,
    "offset": _offset,
    "conditional": _conditional,
    "bar": _bar,
    "minus": _unary("-"),
    "plus": _unary("+"),
    "complement": _unary("~"),
    "negation": _negation,
    "cast": _cast,
    "float": _float,
    "bits": _bits,
    "element_of": _element_of,
    "arguments": _arguments,
    "apply": _apply,
    "name": _name,
    "integer": _integer,
    **{f"binary_{name}": _binary(operator) for name, operator in _OPERATORS.items()},
}
"""The method of each rule but `module`, `body` and `block`, which need positions."""
