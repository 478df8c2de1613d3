"""Builds nodes from the operand rules of `grammars/ptx.lark`.

Source: PTX ISA, "Instruction Operands", "Constant Expressions", "Initializers".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ptxkit.diagnostics.catalogue import syntax_errors
from ptxkit.syntax.constants import (
    MalformedAddressError,
    MalformedConstructError,
    evaluate,
    parse_bits_float,
    parse_decimal_float,
    parse_integer,
)
from ptxkit.syntax.tree import (
    Address,
    Apply,
    Arguments,
    Binary,
    Conditional,
    Element,
    Float,
    Integer,
    Name,
    Not,
    Operand,
    Pair,
    Unary,
    Vector,
)

Children = Sequence[Any]
"""Texts of terminals and results of rules, as the grammar determines."""


def _offset(expression: Operand) -> int:
    value = evaluate(_value(expression))
    if value is None:
        raise MalformedConstructError(syntax_errors.OFFSET_NOT_CONSTANT())
    return value


def _name(children: Children) -> Name:
    return Name("".join(children))


def _integer(children: Children) -> Integer:
    return parse_integer(children[0])


def _float(children: Children) -> Float:
    return parse_decimal_float(children[0])


def _bits(children: Children) -> Float:
    return parse_bits_float(children[0])


def _arguments(children: Children) -> Arguments:
    return Arguments(tuple(children))


def _value(operand: Operand) -> Operand:
    """Returns an operand inside an expression, where a parenthesis only groups constants."""
    if not isinstance(operand, Arguments):
        return operand
    if len(operand.elements) != 1:
        raise MalformedConstructError(syntax_errors.LIST_IN_EXPRESSION())
    first = inner = operand.elements[0]
    while isinstance(first, Binary):  # it is more than a constant only if a name precedes it
        first = first.left
    if isinstance(first, Name) and first.text != "WARP_SZ":
        raise MalformedConstructError(syntax_errors.NAME_IN_PARENTHESES())
    return _value(inner)


def _vector(children: Children) -> Vector:
    return Vector(tuple(children))


def _unary(operator: str) -> Callable[[Children], Operand]:
    def build(children: Children) -> Operand:
        return Unary(operator, _value(children[0]))

    return build


def _binary(operator: str) -> Callable[[Children], Operand]:
    def build(children: Children) -> Operand:
        return Binary(operator, _value(children[0]), _value(children[1]))

    return build


def _negation(children: Children) -> Operand:
    inner = children[0]
    return Not(inner) if isinstance(inner, Name) and inner.text != "WARP_SZ" else Unary("!", _value(inner))


def _cast(children: Children) -> Operand:
    word, operand = children
    if word not in (".s64", ".u64"):
        raise MalformedConstructError(syntax_errors.WRONG_CAST(word=word))
    return Unary(f"({word})", _value(operand))


def _resident(children: Children) -> Pair:
    vector, name = children
    return Pair(vector, name)


def _bar(children: Children) -> Operand:
    first, second = children
    if any(isinstance(each, Name) and each.text != "WARP_SZ" for each in children):
        return Pair(first, second)
    return Binary("|", _value(first), _value(second))


def _conditional(children: Children) -> Operand:
    test, then, otherwise = (_value(child) for child in children)
    return Conditional(test, then, otherwise)


def _element_of(children: Children) -> Operand:
    array, index = children
    first = index
    while isinstance(first, Binary) and first.operator == "+" and evaluate(_value(first.right)) is not None:
        first = first.left
    is_counted = isinstance(first, Name) and first.text != "_" and "." not in first.text
    if not (is_counted or evaluate(_value(index)) is not None):
        raise MalformedConstructError(syntax_errors.WRONG_INDEX())
    return Element(array, index if is_counted else _value(index))


def _apply(children: Children) -> Operand:
    return Apply(children[0], children[1])


def _field(children: Children) -> Operand:
    return Binary("=", Name(children[0]), children[1])


def _address(children: Children) -> Address:
    place, *index = children
    return Address(*_base_and_offset(_value(place)), tuple(index))


def _base_and_offset(place: Operand) -> tuple[Operand, int]:
    """Returns the base of an address and its offset: the operand after the `+` of a name or literal, or nothing."""
    if isinstance(place, Name):
        if place.is_sink:
            raise MalformedAddressError(syntax_errors.SINK_AS_ADDRESS())
        return place, 0
    if isinstance(place, Integer):
        return place, 0
    match place:
        case Binary("+", Integer() as first, rest):
            found: tuple[Operand, Operand] | None = (first, rest)
        case _:
            found = _name_and_offset(place)
    if found is not None:
        return found[0], _offset(found[1])
    value = evaluate(place)
    if value is None:
        raise MalformedAddressError(syntax_errors.WRONG_ADDRESS())
    return Integer(value, str(value)), 0


def _name_and_offset(place: Operand) -> tuple[Name, Operand] | None:
    """Returns the name that a sum begins with, and all after the first `+`: for `%r1+1<<2` the constant `1<<2`."""
    match place:
        case Binary("+", Name() as name, right) if name.text not in ("WARP_SZ", "_"):
            return name, right
        case Binary(operator, left, right):
            found = _name_and_offset(left)
            return None if found is None else (found[0], Binary(operator, found[1], right))
        case Conditional(test, then, otherwise):
            found = _name_and_offset(test)
            return None if found is None else (found[0], Conditional(found[1], then, otherwise))
    return None


_OPERATORS = {
    "or_else": "||", "and_then": "&&", "xor": "^", "and": "&", "eq": "==", "ne": "!=", "lt": "<", "le": "<=",
    "gt": ">", "ge": ">=", "shl": "<<", "shr": ">>", "add": "+", "sub": "-", "mul": "*", "div": "/", "rem": "%",
}  # fmt: skip

OPERAND_RULES: dict[str, Callable[[Children], Any]] = {
    "aggregate": _vector,
    "vector": _vector,
    "field": _field,
    "address": _address,
    "conditional": _conditional,
    "bar": _bar,
    "resident": _resident,
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
"""The method of each rule of operands and initializers."""
