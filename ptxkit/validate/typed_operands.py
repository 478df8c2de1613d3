"""The classes of operands with the types of their registers, which are the keys of the cache.

A type is a word of `TypedScope.type_of`: the type of a register, such as `b32` or `v2.f32`, the class of a symbol, such
as `&shared`, or `unknown`.

Source: PTX ISA, "Using Addresses, Arrays, and Vectors".
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

from ptxkit.diagnostics import Message
from ptxkit.fast_dataclasses import dataclass

ELEMENT = "element"
"""The type of a component of a vector if only a whole name is allowed."""

MEMORY = "memory"
"""The part of a variable, or of a component of one, whose name is in braces: assemblers treat it as a register."""


@dataclass(frozen=True, slots=True)
class TypedName:
    """A register, variable or function. part: the component or selector, or `MEMORY`, or empty."""

    type: str
    part: str = ""


@dataclass(frozen=True, slots=True)
class TypedSpecial:
    """A special register. types: with which it may be read. is_component: it is a component of another one, such as
    `%tid.x`.
    """

    types: tuple[str, ...]
    is_component: bool = False

    @property
    def type(self) -> str:
        """The type that it is declared with."""
        return self.types[0]


@dataclass(frozen=True, slots=True)
class TypedConstant:
    """A constant. kind: of its value (`validate.constants`). in_parentheses: it may be an argument, too."""

    kind: str
    in_parentheses: bool = False


class UntypedOperand(Enum):
    """An operand without registers that have a type."""

    SINK = 1
    """`_`"""

    OTHER = 2
    """An expression that assemblers cannot evaluate."""

    UNRESOLVED = 3
    """The same with a special register, or with an undeclared name."""


@dataclass(frozen=True, slots=True)
class TypedNot:
    """A negated name, without its part."""

    operand: TypedName | TypedSpecial | UntypedOperand


@dataclass(frozen=True, slots=True)
class TypedMinus:
    """A name after a minus sign."""

    operand: TypedOperand


@dataclass(frozen=True, slots=True)
class TypedSum:
    """A name plus constants, without its part."""

    operand: TypedName | TypedSpecial


@dataclass(frozen=True, slots=True)
class TypedVector:
    """A vector in braces."""

    elements: tuple[TypedOperand, ...]


@dataclass(frozen=True, slots=True)
class TypedPair:
    """Two destinations."""

    first: TypedOperand
    second: TypedOperand


@dataclass(frozen=True, slots=True)
class TypedAddress:
    """An address in brackets. index: the operands after its commas. is_array: the base is an array of opaque
    references.
    """

    base: TypedOperand
    index: tuple[TypedOperand, ...] = ()
    has_offset: bool = False
    is_array: bool = False


@dataclass(frozen=True, slots=True)
class TypedElement:
    """An element of an array. reason: why it is invalid, or None."""

    array: TypedOperand
    index: TypedOperand
    reason: Message | None


TypedOperand: TypeAlias = (
    TypedName
    | TypedSpecial
    | TypedConstant
    | UntypedOperand
    | TypedNot
    | TypedMinus
    | TypedSum
    | TypedVector
    | TypedPair
    | TypedAddress
    | TypedElement
)


def inner_operands(shape: TypedOperand) -> tuple[TypedOperand, ...]:
    """Returns the operands inside a vector or pair, or after the commas of an address."""
    match shape:
        case TypedVector(inner) | TypedAddress(index=inner):
            return inner
        case TypedPair(first, second):
            return first, second
    return ()
