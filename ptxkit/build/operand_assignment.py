"""Assignment of the given values and the result registers to the operands of a form.

Results are returned and not passed, so the operands of a form are the given values with the results inserted between
them. The effects of the form state which operands are results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

from ptxkit.build.addresses import Address
from ptxkit.build.operand_fitting import (
    FittedOperand,
    OperandMismatch,
    RegisterConstant,
    constant_value,
    fit_operand,
    type_word,
)
from ptxkit.build.registers import Register
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.effects import MbarrierArrive, MbarrierWait, Value
from ptxkit.isa.expressions import ConstantExpr, OperandRole
from ptxkit.isa.forms import Match, OperandForm
from ptxkit.kernel_model.scalar_types import SCALARS, Scalar, b32
from ptxkit.syntax import tree


@dataclass(frozen=True, slots=True)
class ResultPlaceholder:
    """A position where the instruction writes a register, or a vector of `count` registers if that is not None.

    `is_integer` states that an untyped result is no floating-point value, as a mask of lanes.
    """

    type: type[Scalar]
    count: int | None = None
    is_integer: bool = False


@dataclass(frozen=True, slots=True)
class PairPlaceholder:
    """Two destinations that are joined by a bar."""

    first: OperandPart
    second: OperandPart


OperandPart: TypeAlias = tree.Operand | RegisterConstant | ResultPlaceholder | PairPlaceholder


@dataclass(frozen=True, slots=True)
class OperandAssignment:
    """A form with every operand assigned.

    `distance` is the distance of the values' types from those of the form. `sources` is the index of the given value of
    each operand, or None for results and sinks.
    """

    match: Match
    parts: tuple[OperandPart, ...]
    distance: int
    sources: tuple[int | None, ...] = ()

    def with_operands(self, given: Sequence[object]) -> tuple[OperandPart, ...]:
        """Returns the parts for other values that have the same properties as the first ones."""
        pairs = zip(self.parts, self.sources, strict=True)
        return tuple(part if at is None else _refit(cast("tree.Operand", part), given[at]) for part, at in pairs)


@dataclass(frozen=True, slots=True)
class FormRejection:
    """The reason why a form does not accept the values. `progress` is twice the number of accepted values; the reason
    with the highest progress is reported, and among equals one that `wants_generic` last.
    """

    match: Match
    progress: int
    reason: str
    wants_generic: bool = False


def find_result_roles(match: Match) -> frozenset[str]:
    """Returns the roles of the registers that the instruction writes."""
    found = set()
    for effect in match.effects:
        if isinstance(effect, Value | MbarrierWait):
            found.add(effect.result)
        elif isinstance(effect, MbarrierArrive) and effect.state is not None:
            found.add(effect.state)
    return frozenset(found)


def assign_operands(
    match: Match, given: Sequence[object], *, results_given: bool = False
) -> OperandAssignment | FormRejection:
    """Assigns `given` to the operands of `match`. With `results_given`, as in `emit`, results are given values, too."""
    roles = frozenset[str]() if results_given else find_result_roles(match)
    names = [form.role for form in match.operands] if results_given else list_input_roles(match.operands, roles)
    if len(names) != len(given):
        reason = f"takes {len(names)} operand{'s' * (len(names) != 1)} ({', '.join(names) or 'none'}), got {len(given)}"
        return FormRejection(match, -abs(len(names) - len(given)) - 1, reason)
    values = dict(zip(names, given, strict=True))
    parts: list[OperandPart] = []
    sources: list[int | None] = []
    reached = distance = 0
    for form in match.operands:
        filled = _fill_operand(form, roles, values)
        if isinstance(filled, OperandMismatch):
            reason = f"operand `{form.role}` {filled.reason}"
            return FormRejection(match, reached + filled.is_near_match, reason, filled.wants_generic)
        if isinstance(filled, FittedOperand):
            distance += filled.distance
            reached += 2
            parts.append(filled.operand)
            sources.append(names.index(form.role) if form.role in values else None)
        else:
            parts.append(filled)
            sources.append(None)
    return OperandAssignment(match, tuple(parts), distance, tuple(sources))


def _refit(operand: tree.Operand, value: object) -> tree.Operand:
    """Returns `operand` for a value with the same properties as the one that it was made of. Constants are equal."""
    if isinstance(value, Register):
        return tree.Name(value.name)
    if isinstance(value, Address):
        return value.operand()
    if not isinstance(value, tuple | list):
        return operand
    match operand:
        case tree.Vector(elements):
            pairs = zip(elements, value, strict=False)
            return tree.Vector(
                tuple([tree.Name(each.name) if type(each) is Register else _refit(old, each) for old, each in pairs])
            )
        case tree.Pair(first, second):
            return tree.Pair(_refit(first, value[0]), _refit(second, value[1]))
        case tree.Address():
            plain = value[0].operand()
            return tree.Address(plain.base, plain.offset, tuple(map(_refit, operand.index, value[1:])))
    raise AssertionError(f"{operand!r} is not made of several values")


def list_input_roles(forms: Sequence[OperandForm], roles: frozenset[str]) -> list[str]:
    """Returns the names of the operands that take a given value, in order."""
    names: list[str] = []
    for form in forms:
        if _holds_results(form, roles):
            names += list_input_roles(form.elements, roles)
        elif form.kind != "sink":
            names.append(form.role)
    return names


def _holds_results(form: OperandForm, roles: frozenset[str]) -> bool:
    if form.kind in ("pair", "vector") and form.elements:
        return any(element.role in roles for element in form.elements)
    return form.role in roles and form.kind in ("register", "vector")


def _fill_operand(
    form: OperandForm, roles: frozenset[str], values: Mapping[str, object]
) -> FittedOperand | OperandMismatch | OperandPart:
    if form.kind == "sink" and form.role not in values:
        return FittedOperand(tree.Name("_"))
    if not _holds_results(form, roles):
        return fit_operand(values[form.role], _with_alignment(form, values))
    if not form.elements:
        count = constant_value(form.count)
        length = count if form.kind == "vector" and isinstance(count, int) else None
        return ResultPlaceholder(SCALARS.get(type_word(form) or "", b32), length, form.integer)
    inner = [_fill_operand(element, roles, values) for element in form.elements]
    if len(inner) != 2 or form.kind != "pair" or not all(isinstance(part, ResultPlaceholder) for part in inner):
        return OperandMismatch("has a shape that only k.emit(...) can write")
    first, second = inner
    assert isinstance(first, ResultPlaceholder)
    assert isinstance(second, ResultPlaceholder)
    return PairPlaceholder(first, second)


def _with_alignment(form: OperandForm, values: Mapping[str, object]) -> OperandForm:
    """Returns the form with a constant alignment if another operand determines it, as the size of a copy does."""
    if not isinstance(form.alignment, OperandRole):
        return form
    value = values.get(form.alignment.name)
    if not isinstance(value, int) or value < 1 or value & (value - 1):
        return replace(form, alignment=None)
    return replace(form, alignment=ConstantExpr(value))


# ------------------------------------------------------------------------------------------------- results


def allocate_results(
    parts: Sequence[OperandPart],
    register: Callable[[ResultPlaceholder], Register[Scalar]],
    load_constant: Callable[[RegisterConstant], Register[Scalar]],
) -> tuple[tuple[tree.Operand, ...], list[object]]:
    """Returns the operands with registers for the results and the constants, and the registers of the results (tuples
    for vectors).
    """
    results: list[object] = []

    def fill(part: OperandPart) -> tree.Operand:
        if isinstance(part, PairPlaceholder):
            return tree.Pair(fill(part.first), fill(part.second))
        if isinstance(part, RegisterConstant):
            return tree.Name(load_constant(part).name)
        if not isinstance(part, ResultPlaceholder):
            return part
        if part.count is None:
            results.append(single := register(part))
            return tree.Name(single.name)
        several = tuple(register(part) for _ in range(part.count))
        results.append(several)
        return tree.Vector(tuple(tree.Name(each.name) for each in several))

    return tuple(fill(part) for part in parts), results
