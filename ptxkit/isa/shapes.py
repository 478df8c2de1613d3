"""Which operand forms an operand's shape allows.

Only what the text of one instruction shows counts here: `%r1` may be a register, a label or a variable. Types of
registers are the validator's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ptxkit.isa.expressions import Const
from ptxkit.isa.forms import OperandForm
from ptxkit.syntax.tree import (
    Address,
    Apply,
    Arguments,
    Binary,
    Element,
    Float,
    Integer,
    Name,
    Not,
    Operand,
    Pair,
    Vector,
)

Shape: TypeAlias = str | tuple[object, ...]

_SIMPLE = {Integer: "constant", Float: "constant", Not: "not", Element: "element", Apply: "apply"}
# A name that is a constant wherever it stands.
_CONSTANT_NAMES = frozenset({"WARP_SZ"})


def shape_of(operand: Operand) -> Shape:
    """What of an operand decides the form: its kind, and its parts' kinds; equal shapes match alike."""
    kind = type(operand)
    if kind is Name:
        text = operand.text  # type: ignore[union-attr]
        return "sink" if text == "_" else "constant" if text in _CONSTANT_NAMES else "name"
    simple = _SIMPLE.get(kind)
    if simple is not None:
        return simple
    if isinstance(operand, Vector):
        return ("vector", *[shape_of(element) for element in operand.elements])
    if isinstance(operand, Address):
        return ("address", *[shape_of(element) for element in operand.index])
    if isinstance(operand, Pair):
        return ("pair", shape_of(operand.first), shape_of(operand.second))
    if isinstance(operand, Arguments):
        return ("arguments", *[_unwrapped(element) for element in operand.elements])
    return "symbolic" if _names_symbol(operand) else "constant"


def _unwrapped(operand: Operand) -> Shape:
    """The shape of what stands inside parentheses: `((1))` is `(1)`."""
    while isinstance(operand, Arguments) and len(operand.elements) == 1:
        operand = operand.elements[0]
    return shape_of(operand)


def _names_symbol(operand: Operand) -> bool:
    if isinstance(operand, Name | Apply):
        return not (isinstance(operand, Name) and operand.text in _CONSTANT_NAMES)
    if isinstance(operand, Binary):
        return _names_symbol(operand.left) or _names_symbol(operand.right)
    return False


def fits(operand: OperandForm, shape: Shape) -> bool:
    """Whether an operand of this shape can stand where `operand` is asked for."""
    if shape[0] == "arguments" and operand.kind != "arguments":  # `(1)` is a constant in parentheses
        return shape[1:] in (("constant",), ("symbolic",)) and fits(operand, shape[1])  # type: ignore[arg-type]
    match operand.kind:
        case "register":
            return _fits_register(operand, shape)
        case "immediate":
            return shape == "constant"
        case "label" | "function" | "texture" | "surface" | "sampler":
            return shape == "name"
        case "symbol":
            return shape in ("name", "symbolic", "apply", "element", "constant")
        case "sink":
            return shape == "sink"
        case "arguments":
            return shape[0] == "arguments"
        case "address":
            return shape[0] == "address" and fit_all(operand.elements, shape[1:])
        case "vector":
            return _fits_vector(operand, shape)
        case "pair":
            return shape[0] == "pair" and fit_all(operand.elements, shape[1:])
        case _:
            return True


def fit_all(operands: Sequence[OperandForm], shapes: Sequence[object]) -> bool:
    """Whether operands and shapes agree one by one."""
    return len(operands) == len(shapes) and all(map(fits, operands, shapes))  # type: ignore[arg-type]


def _fits_register(operand: OperandForm, shape: Shape) -> bool:
    if operand.count is not None and shape[0] == "vector":  # `{%r1}`, a vector of one
        return len(shape) == 2 and shape[1] in ("name", "constant")
    match shape:
        case "name":
            return True
        case "constant":
            return operand.immediates is not None
        case "sink":
            return operand.sink
        case "not":
            return operand.negatable
        case "symbolic":  # to ptxas the address of a variable with an offset is a constant like any other
            return operand.symbol or operand.immediates is not None
        case "apply" | "element":
            return operand.symbol
        case _:
            return False


def _fits_vector(operand: OperandForm, shape: Shape) -> bool:
    if shape == "name":  # a register declared with `.v2`
        return not operand.elements
    if shape[0] != "vector":
        return False
    parts = shape[1:]
    if operand.elements:
        return fit_all(operand.elements, parts)
    assert isinstance(operand.count, Const)
    if len(parts) != operand.count.value or "symbolic" in parts or set(parts) == {"sink"}:
        return False
    return all(_fits_register(operand, part) for part in parts)  # type: ignore[arg-type]
