"""From Python values to PTX operands, checked against what a form wants in that place.

`fit` either gives the tree's operand, with how far its type is from the form's (0: the same), or says in words why the
value cannot stand there. The table decides what is legal PTX; this file only adds what Python knows more: types, state
spaces and alignments of the values.
"""

from __future__ import annotations

import math
import struct
from typing import Protocol, TypeAlias, cast, get_args

from ptxkit.build.addresses import Address, Shared, SharedCluster
from ptxkit.build.recorder import Label
from ptxkit.build.types import SCALARS, Scalar
from ptxkit.build.values import Register
from ptxkit.isa.expressions import Const, Expression
from ptxkit.isa.forms import OperandForm
from ptxkit.isa.words import immediate_words
from ptxkit.records import dataclass
from ptxkit.syntax import tree

SAME, COMPATIBLE = 0, 1
"""Distances: the very type; untyped bits on one side."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """An operand that may stand there."""

    operand: tree.Operand
    distance: int = SAME


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a value cannot stand there. nearly: its kind, type and space would do, so this reason explains best."""

    reason: str
    nearly: bool = False


Fit: TypeAlias = Fitted | Misfit


class _Make(Protocol):
    def __call__(self, operands: tuple[tree.Operand, ...], /) -> tree.Operand: ...


def constant(expression: Expression | None) -> float | str | bool | None:
    """The value of an expression that is folded; None where it depends on operands."""
    return expression.value if isinstance(expression, Const) else None


def type_word(form: OperandForm) -> str | None:
    """The PTX type of a register operand, where the form fixes one."""
    word = constant(form.type)
    return word if isinstance(word, str) else None


def fit(value: object, form: OperandForm) -> Fit:
    """`value` as the operand that `form` describes."""
    if isinstance(value, Register):
        return _register(value, form)
    if isinstance(value, Address):
        return _address(value, form)
    if isinstance(value, bool):
        return Misfit("a Python truth value is no operand; compare into a predicate register")
    if isinstance(value, int | float):
        return _number(value, form)
    if isinstance(value, Label):
        return Fitted(tree.Name(value.name)) if form.kind == "label" else _unlike("a label", form)
    if isinstance(value, tuple | list):
        return _tuple(tuple(value), form)
    if isinstance(value, get_args(tree.Operand)):
        return Fitted(cast("tree.Operand", value))  # the raw layer: what the user spelled out himself
    return Misfit(f"{type(value).__name__} is no operand")


def _register(value: Register[Scalar], form: OperandForm) -> Fit:
    if form.kind == "address":
        return Misfit(
            f"needs an address{_space_text(form)}, got the register {value!r}; k.pointer(...) makes an address of one"
        )
    if form.kind in {"vector", "pair", "label"}:
        return _unlike(f"the register {value!r}", form)
    word = type_word(form)
    if word is None:
        return Fitted(tree.Name(value.name))
    distance = _distance(value.type, word)
    if distance is None:
        return Misfit(f"needs .{word}, got {value!r}")
    return Fitted(tree.Name(value.name), distance)


def _distance(scalar: type[Scalar], word: str) -> int | None:
    """How far a value's type is from the form's: None where they do not go together."""
    if scalar.word == word:
        return SAME
    wanted = SCALARS.get(word)
    if wanted is None:
        return COMPATIBLE if word.startswith("b") or scalar.family == "b" else None
    families = (wanted.family, scalar.family)
    if wanted.bits == scalar.bits and "p" not in families and "b" in families:
        return COMPATIBLE
    return None


# ------------------------------------------------------------------------------------------------ addresses


def _address(value: Address[Scalar], form: OperandForm) -> Fit:
    if form.kind != "address":
        return Misfit(f"needs {_kind_text(form)}, got the address {value!r}; load from it, or say .to_register()")
    wanted = _space(form)
    if not _inside(value.space, wanted):
        return Misfit(f"needs an address{_space_text(form)}, got {value!r}{_remedy(value.space, wanted)}")
    alignment = constant(form.alignment)
    if isinstance(alignment, int) and value.alignment < alignment:
        return Misfit(
            f"needs an address aligned to {alignment} bytes, got {value!r}; declare the array with align={alignment}, "
            f"or say .aligned({alignment}) where you know better",
            nearly=True,
        )
    return Fitted(value.operand())


def _space(form: OperandForm) -> str:
    """The space that a form wants: `generic` where it names none, empty where it depends on operands."""
    if form.space is None:
        return "generic"
    if not isinstance(form.space, Const):
        return ""
    word = form.space.value
    return word if isinstance(word, str) else "generic"


def _inside(space: str, wanted: str) -> bool:
    """Whether an address of `space` is one of `wanted`: the CTA's shared window lies in the cluster's."""
    if wanted in ("", space):
        return True
    return space == Shared.space and wanted == SharedCluster.space


def _remedy(space: str, wanted: str) -> str:
    if wanted == "generic":
        return f"; say .to_generic() if a conversion from .{space} is meant"
    if space == "generic":
        return f"; convert it with cvta.to.{wanted} if it is known to lie there"
    return ""


# ------------------------------------------------------------------------------------------------ constants


def _number(value: float, form: OperandForm) -> Fit:
    if form.kind not in {"register", "immediate"}:
        return _unlike(f"the number {value}", form)
    scalar = SCALARS.get(type_word(form) or "")
    if scalar is not None and scalar.family == "f":
        return _float(float(value), scalar, form)
    if isinstance(value, float):
        return Misfit(f"needs {_kind_text(form)}, got the number {value}")
    return _integer(value, scalar, form)


def _float(value: float, scalar: type[Scalar], form: OperandForm) -> Fit:
    if scalar.bits not in (32, 64):
        return Misfit(f"PTX has no constants of type .{scalar.word}; move the bits into a register")
    if form.immediates is None:
        return Misfit(f"needs a register, got the constant {value}")
    return Fitted(float_operand(value, scalar.bits))


def _integer(value: int, scalar: type[Scalar] | None, form: OperandForm) -> Fit:
    legal = form.immediates
    if legal is None:
        return Misfit(f"needs a register, got the constant {value}")
    low, high = legal.low, legal.high
    in_range = (low is None or value >= low) and (high is None or value <= high)
    in_steps = legal.step <= 1 or (value - (low or 0)) % legal.step == 0
    if not (in_range and in_steps and (legal.members is None or value in legal.members)):
        return Misfit(f"needs {immediate_words(legal)}, got {value}", nearly=True)
    if scalar is not None:
        least = 0 if scalar.family == "u" else -(1 << (scalar.bits - 1))
        most = (1 << (scalar.bits - 1 if scalar.family == "s" else scalar.bits)) - 1
        if not least <= value <= most:
            return Misfit(f"{value} does not fit in .{scalar.word} ({least}..{most})", nearly=True)
    return Fitted(integer_operand(value))


def integer_operand(value: int) -> tree.Operand:
    """A constant as the parser reads it: a sign is an operator."""
    if value < 0:
        return tree.Unary("-", tree.Integer(-value, str(-value)))
    return tree.Integer(value, str(value))


def float_operand(value: float, width: int) -> tree.Float:
    """A floating-point constant, exactly: by its bits. OverflowError is a `Misfit` of the caller's number."""
    if width == 64:
        bits = int.from_bytes(struct.pack(">d", value), "big")
        return tree.Float(bits, 64, f"0d{bits:016X}")
    try:
        packed = struct.pack(">f", value)
    except OverflowError:
        packed = struct.pack(">f", math.copysign(math.inf, value))
    bits = int.from_bytes(packed, "big")
    return tree.Float(bits, 32, f"0f{bits:08X}")


# --------------------------------------------------------------------------------------------------- tuples


def _tuple(values: tuple[object, ...], form: OperandForm) -> Fit:
    """Several values in one place: a vector, or an address with what follows its comma."""
    if form.kind == "address":
        return _indexed_address(values, form)
    if form.kind == "pair" and len(values) == 2:
        parts = [fit(value, part) for value, part in zip(values, form.elements, strict=True)]
        return _joined(parts, lambda operands: tree.Pair(*operands))
    if form.kind != "vector":
        return _unlike(f"{len(values)} values", form)
    count = constant(form.count) if form.count is not None else len(form.elements)
    if isinstance(count, int) and count != len(values):
        return Misfit(f"needs {count} values, got {len(values)}")
    element = OperandForm(form.role, "register", form.type, immediates=form.immediates, sink=form.sink)
    elements = form.elements or (element,) * len(values)
    parts = [fit(value, part) for value, part in zip(values, elements, strict=False)]
    return _joined(parts, tree.Vector)


def _indexed_address(values: tuple[object, ...], form: OperandForm) -> Fit:
    if not form.elements or len(values) != len(form.elements) + 1:
        return Misfit(f"needs {_kind_text(form)}, got {len(values)} values")
    base = fit(values[0], OperandForm(form.role, "address", space=form.space, alignment=form.alignment))
    if isinstance(base, Misfit):
        return base
    assert isinstance(base.operand, tree.Address)
    plain = base.operand
    parts = [fit(value, part) for value, part in zip(values[1:], form.elements, strict=True)]
    return _joined(parts, lambda operands: tree.Address(plain.base, plain.offset, operands))


def _joined(parts: list[Fit], make: _Make) -> Fit:
    operands: list[tree.Operand] = []
    distance = SAME
    for part in parts:
        if isinstance(part, Misfit):
            return part
        operands.append(part.operand)
        distance = max(distance, part.distance)
    return Fitted(make(tuple(operands)), distance)


# ----------------------------------------------------------------------------------------------------- words


def _unlike(what: str, form: OperandForm) -> Misfit:
    return Misfit(f"needs {_kind_text(form)}, got {what}")


def _kind_text(form: OperandForm) -> str:
    if form.kind == "address":
        return f"an address{_space_text(form)}"
    word = type_word(form)
    if form.kind == "register" and word:
        return f"a .{word} value"
    return {"register": "a value", "immediate": "a constant"}.get(form.kind, f"a {form.kind}")


def _space_text(form: OperandForm) -> str:
    space = _space(form)
    return f" in .{space}" if space and space != "generic" else " that is generic" if space == "generic" else ""
