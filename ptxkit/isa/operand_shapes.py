"""The operand forms that accept an operand's shape.

A shape is determined by the text of one instruction: `%r1` may be a register, a label or a variable. The validator
checks the types of registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final, Literal, TypeAlias

from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.expressions import ConstantExpr
from ptxkit.isa.forms import Immediates, OperandForm
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

_SimpleShape: TypeAlias = Literal["name", "constant", "element", "sink", "not", "symbolic", "address", "malformed"]
"""A shape without further properties: an address is one without operands after its base."""


@dataclass(frozen=True, slots=True)
class SelectorShape:
    """A name with a selector: `%r.b0`."""

    selector: str


@dataclass(frozen=True, slots=True)
class MinusShape:
    """A name after a minus sign."""

    inner: OperandShape


@dataclass(frozen=True, slots=True)
class VectorShape:
    """Elements in braces."""

    elements: tuple[OperandShape, ...]


@dataclass(frozen=True, slots=True)
class PairShape:
    """Two destinations."""

    parts: tuple[OperandShape, OperandShape]


@dataclass(frozen=True, slots=True)
class IndexedShape:
    """An address with operands after its base."""

    index: tuple[OperandShape, ...]


@dataclass(frozen=True, slots=True)
class ArgumentsShape:
    """A list in parentheses."""

    elements: tuple[OperandShape, ...]


OperandShape: TypeAlias = (
    _SimpleShape | SelectorShape | MinusShape | VectorShape | PairShape | IndexedShape | ArgumentsShape
)

_SIMPLE: dict[type, _SimpleShape] = {Integer: "constant", Float: "constant", Element: "element"}
# A name that is a constant wherever it occurs.
_CONSTANT_NAMES = frozenset({"WARP_SZ"})

# Operands that assemblers may accept as an address without brackets.
_BARE = frozenset({"name", "not", "symbolic", "sink", "constant"})

MALFORMED: Final = "malformed"
"""The shape of an operand that no form accepts: `-%r1`, `4+table`, `generic(t)`, `[texture+8, {%r1}]`, `%v.x|%p`,
`!%r.b0`.
"""

_PARENTHESIZED_CONSTANT = ArgumentsShape(("constant",))


def shape_of(operand: Operand) -> OperandShape:
    """Returns the properties of an operand that determine the form: its kind, and its parts' kinds. Equal shapes match
    the same forms.
    """
    kind = type(operand)  # called for every operand of a module: the common kinds first, without calls
    if kind is Name:
        text = operand.text  # type: ignore[union-attr]
        if "." in text:
            return _name_shape(text)
        return "sink" if text == "_" else "constant" if text in _CONSTANT_NAMES else "name"
    simple = _SIMPLE.get(kind)
    if simple is not None:
        return simple
    if isinstance(operand, Address):
        if not operand.index:
            return "address"
        return MALFORMED if operand.offset else IndexedShape(tuple(map(_index_shape, operand.index)))
    if isinstance(operand, Vector):
        return VectorShape(tuple(map(shape_of, operand.elements)))
    if isinstance(operand, Pair):
        parts = (_whole_shape(operand.first), _whole_shape(operand.second))
        return MALFORMED if parts == ("sink", "sink") else PairShape(parts)
    if kind is Not:
        return MALFORMED if "." in operand.operand.text else "not"  # type: ignore[union-attr]
    if isinstance(operand, Arguments):
        return ArgumentsShape(tuple(map(_strip_parentheses, operand.elements)))
    return _expression_shape(operand)


def selector_of(name: str) -> str | None:
    """Returns the part of a register that a name selects: `b0` for `%r1.b0`, `h10` for `%r1.h10`."""
    selector = name.rpartition(".")[2]
    return selector if selector[:1] in ("b", "h") and selector[1:].isdigit() and "." in name else None


def _name_shape(name: str) -> OperandShape:
    selector = selector_of(name)
    return "name" if selector is None else SelectorShape(selector)


def _strip_parentheses(operand: Operand) -> OperandShape:
    """Returns the shape inside parentheses: `((1))` is `(1)`."""
    while isinstance(operand, Arguments) and len(operand.elements) == 1:
        operand = operand.elements[0]
    return shape_of(operand)


def _index_shape(operand: Operand) -> OperandShape:
    """Returns the shape after a comma in an address, which is a name or elements in braces."""
    return _whole_shape(operand) if isinstance(operand, Name | Vector) else MALFORMED


def _whole_shape(operand: Operand) -> OperandShape:
    """Returns the shape of a part of a pair, or of a name after a comma, which is not an element of a vector."""
    return MALFORMED if isinstance(operand, Name) and "." in operand.text else shape_of(operand)


def _expression_shape(operand: Operand) -> OperandShape:
    """Returns the shape of a constant, or of a name plus constants; no assembler computes with names in any other
    way.
    """
    if not _mentions_name(operand):
        return "constant"
    if isinstance(operand, Unary) and operand.operator == "-" and isinstance(operand.operand, Name):
        return MinusShape(shape_of(operand.operand))
    while isinstance(operand, Binary) and operand.operator == "+" and not _mentions_name(operand.right):
        operand = operand.left
    if isinstance(operand, Name) and "." in operand.text:
        return MALFORMED
    return "symbolic" if isinstance(operand, Name) else MALFORMED


def _mentions_name(operand: Operand) -> bool:
    match operand:
        case Name(text):
            return text not in _CONSTANT_NAMES
        case Apply() | Not():
            return True
        case Unary(operand=inner):
            return _mentions_name(inner)
        case Binary(left=left, right=right):
            return _mentions_name(left) or _mentions_name(right)
        case Conditional(test, then, otherwise):
            return any(map(_mentions_name, (test, then, otherwise)))
        case Arguments(elements):
            return any(map(_mentions_name, elements))
    return False


def accepts_shape(operand: OperandForm, shape: OperandShape) -> bool:
    """Returns whether an operand of this shape can be written where `operand` is required."""
    if isinstance(shape, ArgumentsShape) and operand.kind != "arguments":  # `(1)` is a constant in parentheses
        return shape == _PARENTHESIZED_CONSTANT and accepts_shape(operand, "constant")
    match operand.kind:
        case "register":
            if operand.negative and not isinstance(shape, MinusShape):
                return False
            return _accepts_register(operand, shape) or (operand.loose and _accepts_loosely(operand, shape))
        case "immediate":
            return shape == "constant"
        case "label" | "function" | "texture" | "surface" | "sampler":
            return shape == "name"
        case "symbol":
            return shape in ("name", "symbolic", "element", "constant")
        case "sink":
            return shape == "sink"
        case "arguments":
            return isinstance(shape, ArgumentsShape)
        case "address":
            return _accepts_address(operand, shape)
        case "vector":
            return _accepts_vector(operand, shape)
        case "pair":
            return isinstance(shape, PairShape) and accept_shapes(operand.elements, shape.parts)
        case _:
            return shape != MALFORMED and not isinstance(shape, MinusShape)


def accept_shapes(operands: Sequence[OperandForm], shapes: Sequence[OperandShape]) -> bool:
    """Returns whether operands and shapes agree one by one."""
    return len(operands) == len(shapes) and all(map(accepts_shape, operands, shapes))


def _accepts_address(operand: OperandForm, shape: OperandShape) -> bool:
    if shape == "address":
        return not operand.elements
    if shape == "element":
        return (operand.symbol or operand.bare) and not operand.elements
    if shape in _BARE:
        return operand.sink if shape == "sink" else operand.bare
    return isinstance(shape, IndexedShape) and accept_shapes(operand.elements, shape.index)


def _accepts_register(operand: OperandForm, shape: OperandShape) -> bool:
    match shape:
        case VectorShape(elements) if operand.count is not None:  # `{%r1}`, a vector with one element
            return len(elements) == 1 and _without_selector(elements[0]) in ("name", "constant")
        case "name":
            return operand.whole
        case SelectorShape(selector):
            return any(fnmatchcase(selector, pattern) for pattern in operand.parts)
        case MinusShape(inner):
            return operand.minus and inner != "sink" and _accepts_register(operand, inner)
        case "constant":
            return operand.immediates is not None
        case "sink":
            return operand.sink
        case "not":
            return operand.negatable
        case "symbolic":  # ptxas treats the address of a variable with an offset as a constant like any other
            return operand.whole
        case "element":
            return operand.symbol
        case _:
            return False


def _accepts_vector(operand: OperandForm, shape: OperandShape) -> bool:
    if operand.more and not operand.braced and shape in ("constant", "symbolic") and operand.immediates is not None:
        return True
    if shape in ("name", "symbolic"):  # a register declared with `.v2`; `%tid+4`, which assemblers accept for one
        return operand.vector or not (operand.elements or operand.braced)
    if not isinstance(shape, VectorShape) or operand.bare:
        return False
    parts = tuple(map(_without_selector, shape.elements))
    if operand.elements:
        return "symbolic" not in parts and accept_shapes(operand.elements, parts)
    assert isinstance(operand.count, ConstantExpr)
    wanted = int(operand.count.value or 0)
    enough = len(parts) in (1, 2, 4) and len(parts) >= wanted if operand.more else len(parts) == wanted
    if not enough or "symbolic" in parts or set(parts) == {"sink"}:
        return False
    element = replace(operand, immediates=Immediates()) if operand.more else operand
    if operand.loose:  # constants are accepted for registers
        parts = tuple("name" if part == "constant" else part for part in parts)
    return all(isinstance(part, str) and _accepts_register(element, part) for part in parts)


def _without_selector(part: OperandShape) -> OperandShape:
    """Returns the shape of an element. For `%r.b0` it is that of `%r`, because assemblers ignore selectors here; `(3)`
    is `3`.
    """
    if part == _PARENTHESIZED_CONSTANT:
        return "constant"
    return "name" if isinstance(part, SelectorShape) else part


def _accepts_loosely(operand: OperandForm, shape: OperandShape) -> bool:
    """Returns whether an assembler accepts this for a register that it does not check."""
    if isinstance(shape, VectorShape):
        count = len(shape.elements)
        return (
            operand.vector
            and (operand.many or count in (1, 2, 4) or (operand.eight and count == 8))
            and all(_without_selector(part) in ("name", "constant") for part in shape.elements)
        )
    return shape in ("constant", "not")
