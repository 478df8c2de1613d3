"""Conversion of Python values to PTX operands, with checks against the form of the operand.

`fit_operand` returns the tree's operand with the distance of its type from that of the form (0 for the same type), or
the reason why the value does not fit. The table determines what is legal PTX; this module adds the checks that only
Python's types allow: types, state spaces and alignments of the values.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias, cast, get_args

from ptxkit.build.addresses import Address, Shared, SharedCluster
from ptxkit.build.number_formats import encode_number, float_operand, needs_register
from ptxkit.build.recorder import Label
from ptxkit.build.registers import Register
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.expressions import ConstantExpr, Expression
from ptxkit.isa.forms import OperandForm
from ptxkit.isa.wording import describe_immediates
from ptxkit.kernel_model.scalar_types import SCALARS, Scalar
from ptxkit.syntax import tree

SAME_TYPE, COMPATIBLE_TYPE = 0, 1
"""Distances of types: the same type, or untyped bits on one side."""


@dataclass(frozen=True, slots=True)
class RegisterConstant:
    """A number in a position that takes registers only: its `bits` are moved to a register of the type before."""

    type: type[Scalar]
    bits: int


@dataclass(frozen=True, slots=True)
class FittedOperand:
    """An operand that fits."""

    operand: tree.Operand | RegisterConstant
    distance: int = SAME_TYPE


@dataclass(frozen=True, slots=True)
class OperandMismatch:
    """The reason why a value does not fit. `is_near_match` is set if kind, type and state space fit, so that this
    reason is the best explanation, and `wants_generic` if an address in a state space is not generic, as another form
    may need a state space.
    """

    reason: str
    is_near_match: bool = False
    wants_generic: bool = False


FitResult: TypeAlias = FittedOperand | OperandMismatch


class _OperandFactory(Protocol):
    def __call__(self, operands: tuple[tree.Operand, ...], /) -> tree.Operand: ...


def constant_value(expression: Expression | None) -> float | str | bool | None:
    """Returns the value of an expression without operands, or None if it depends on operands."""
    return expression.value if isinstance(expression, ConstantExpr) else None


def type_word(form: OperandForm) -> str | None:
    """Returns the PTX type of a register operand, or None if the form does not determine it."""
    word = constant_value(form.type)
    return word if isinstance(word, str) else None


def fit_operand(value: object, form: OperandForm) -> FitResult:
    """Converts `value` to the operand that `form` describes."""
    if isinstance(value, Register):
        return _fit_register(value, form)
    if isinstance(value, Address):
        return _fit_address(value, form)
    if isinstance(value, bool):
        return OperandMismatch("a Python truth value is not an operand; compare into a predicate register")
    if isinstance(value, int | float):
        return _fit_number(value, form)
    if isinstance(value, Label):
        return FittedOperand(tree.Name(value.name)) if form.kind == "label" else _kind_mismatch("a label", form)
    if isinstance(value, tuple | list):
        return _fit_tuple(tuple(value), form)
    if isinstance(value, get_args(tree.Operand)):
        return FittedOperand(cast("tree.Operand", value))  # `emit` passes operands that the user has written in full
    return OperandMismatch(f"{type(value).__name__} is not an operand")


def _fit_register(value: Register[Scalar], form: OperandForm) -> FitResult:
    if form.kind == "address":
        return OperandMismatch(
            f"needs an address{_describe_space(form)}, got the register {value!r}; k.pointer(...) makes an "
            f"address of one"
        )
    if form.kind in {"vector", "pair", "label"}:
        return _kind_mismatch(f"the register {value!r}", form)
    word = type_word(form)
    if word is None:
        return FittedOperand(tree.Name(value.name))
    distance = _type_distance(value.type, word)
    if distance is None:
        return OperandMismatch(f"needs .{word}, got {value!r}")
    return FittedOperand(tree.Name(value.name), distance)


def _type_distance(scalar: type[Scalar], word: str) -> int | None:
    """Returns the distance of a value's type from that of the form, or None if they are incompatible."""
    if scalar.word == word:
        return SAME_TYPE
    wanted = SCALARS.get(word)
    if wanted is None:
        return COMPATIBLE_TYPE if word.startswith("b") or scalar.family == "b" else None
    families = (wanted.family, scalar.family)
    if wanted.bits == scalar.bits and "p" not in families and "b" in families:
        return COMPATIBLE_TYPE
    return None


# ------------------------------------------------------------------------------------------------ addresses


def _fit_address(value: Address[Scalar], form: OperandForm) -> FitResult:
    if form.kind != "address":
        return OperandMismatch(
            f"needs {_describe_kind(form)}, got the address {value!r}; load from it, or use .to_register()"
        )
    wanted = _required_space(form)
    if not _is_subspace(value.space, wanted):
        return OperandMismatch(
            f"needs an address{_describe_space(form)}, got {value!r}{_conversion_hint(value.space, wanted)}",
            wants_generic=wanted == "generic",
        )
    alignment = constant_value(form.alignment)
    if isinstance(alignment, int) and value.alignment < alignment:
        return OperandMismatch(
            f"needs an address aligned to {alignment} bytes, got {value!r}; declare the array with align={alignment}, "
            f"or use .aligned({alignment}) if the address is aligned",
            is_near_match=True,
        )
    return FittedOperand(value.operand())


def _required_space(form: OperandForm) -> str:
    """Returns the state space that a form requires: `generic` if it names none, empty if it depends on operands."""
    if form.space is None:
        return "generic"
    if not isinstance(form.space, ConstantExpr):
        return ""
    word = form.space.value
    return word if isinstance(word, str) else "generic"


def _is_subspace(space: str, wanted: str) -> bool:
    """Returns whether `space` is part of `wanted`: the CTA's shared memory is part of the cluster's."""
    if wanted in ("", space):
        return True
    return space == Shared.space and wanted == SharedCluster.space


def _conversion_hint(space: str, wanted: str) -> str:
    if wanted == "generic":
        return f"; use .to_generic() if a conversion from .{space} is meant"
    if space == "generic":
        return f"; convert it with cvta.to.{wanted} if it is known to lie there"
    return ""


# ------------------------------------------------------------------------------------------------ constants


def _fit_number(value: float, form: OperandForm) -> FitResult:
    if form.kind not in {"register", "immediate"}:
        return _kind_mismatch(f"the number {value}", form)
    scalar = SCALARS.get(type_word(form) or "")
    if scalar is not None and scalar.family == "f":
        return _fit_float(float(value), scalar, form)
    if isinstance(value, float):
        return OperandMismatch(f"needs {_describe_kind(form)}, got the number {value}")
    return _fit_integer(value, scalar, form)


def _fit_float(value: float, scalar: type[Scalar], form: OperandForm) -> FitResult:
    if needs_register(scalar):
        return FittedOperand(RegisterConstant(scalar, encode_number(value, scalar)))
    if form.immediates is None:
        return OperandMismatch(f"needs a register, got the constant {value}")
    return FittedOperand(float_operand(value, scalar.bits))


def _fit_integer(value: int, scalar: type[Scalar] | None, form: OperandForm) -> FitResult:
    legal = form.immediates
    if legal is None:
        return OperandMismatch(f"needs a register, got the constant {value}")
    low, high = legal.low, legal.high
    in_range = (low is None or value >= low) and (high is None or value <= high)
    in_steps = legal.step <= 1 or (value - (low or 0)) % legal.step == 0
    if not (in_range and in_steps and (legal.members is None or value in legal.members)):
        return OperandMismatch(f"needs {describe_immediates(legal)}, got {value}", is_near_match=True)
    if scalar is not None:
        least = 0 if scalar.family == "u" else -(1 << (scalar.bits - 1))
        most = (1 << (scalar.bits - 1 if scalar.family == "s" else scalar.bits)) - 1
        if not least <= value <= most:
            return OperandMismatch(f"{value} does not fit in .{scalar.word} ({least}..{most})", is_near_match=True)
    return FittedOperand(integer_operand(value))


def integer_operand(value: int) -> tree.Operand:
    """Returns a constant as the parser reads it, where a sign is an operator."""
    if value < 0:
        return tree.Unary("-", tree.Integer(-value, str(-value)))
    return tree.Integer(value, str(value))


# --------------------------------------------------------------------------------------------------- tuples


def _fit_tuple(values: tuple[object, ...], form: OperandForm) -> FitResult:
    """Converts several values in one place: a vector, or an address with the operands after its comma."""
    if form.kind == "address":
        return _fit_indexed_address(values, form)
    if form.kind == "pair" and len(values) == 2:
        parts = [fit_operand(value, part) for value, part in zip(values, form.elements, strict=True)]
        return _combine(parts, lambda operands: tree.Pair(*operands))
    if form.kind != "vector":
        return _kind_mismatch(f"{len(values)} values", form)
    count = constant_value(form.count) if form.count is not None else len(form.elements)
    if isinstance(count, int) and count != len(values):
        return OperandMismatch(f"needs {count} values, got {len(values)}")
    element = OperandForm(form.role, "register", form.type, immediates=form.immediates, sink=form.sink)
    elements = form.elements or (element,) * len(values)
    parts = [fit_operand(value, part) for value, part in zip(values, elements, strict=False)]
    return _combine(parts, tree.Vector)


def _fit_indexed_address(values: tuple[object, ...], form: OperandForm) -> FitResult:
    if not form.elements or len(values) != len(form.elements) + 1:
        return OperandMismatch(f"needs {_describe_kind(form)}, got {len(values)} values")
    base = fit_operand(values[0], OperandForm(form.role, "address", space=form.space, alignment=form.alignment))
    if isinstance(base, OperandMismatch):
        return base
    assert isinstance(base.operand, tree.Address)
    plain = base.operand
    parts = [fit_operand(value, part) for value, part in zip(values[1:], form.elements, strict=True)]
    return _combine(parts, lambda operands: tree.Address(plain.base, plain.offset, operands))


def _combine(parts: list[FitResult], make: _OperandFactory) -> FitResult:
    operands: list[tree.Operand] = []
    distance = SAME_TYPE
    for part in parts:
        if isinstance(part, OperandMismatch):
            return part
        if isinstance(part.operand, RegisterConstant):
            return OperandMismatch(f"needs registers of type .{part.operand.type.word}, got a number")
        operands.append(part.operand)
        distance = max(distance, part.distance)
    return FittedOperand(make(tuple(operands)), distance)


# ----------------------------------------------------------------------------------------------------- words


def _kind_mismatch(what: str, form: OperandForm) -> OperandMismatch:
    return OperandMismatch(f"needs {_describe_kind(form)}, got {what}")


def _describe_kind(form: OperandForm) -> str:
    if form.kind == "address":
        return f"an address{_describe_space(form)}"
    word = type_word(form)
    if form.kind == "register" and word:
        return f"a .{word} value"
    return {"register": "a value", "immediate": "a constant"}.get(form.kind, f"a {form.kind}")


def _describe_space(form: OperandForm) -> str:
    space = _required_space(form)
    return f" in .{space}" if space and space != "generic" else " that is generic" if space == "generic" else ""
