"""Binds effects to an opcode: from `EffectForm` to the classes of `ptxkit.isa.effects`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache

from ptxkit.fast_dataclasses import MISSING, Field, fields
from ptxkit.isa import effects
from ptxkit.isa.effects import Effect
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.isa.forms import EffectForm
from ptxkit.isa.functions import space

ACCESS_KINDS = ("read", "write", "update")
# Fields that hold the name of a role rather than a word.
ROLE_FIELDS = frozenset(
    {"address", "barrier", "state", "phase", "result", "unless", "multicast", "target", "operand", "companion"}
)


@cache
def effect_classes() -> dict[str, type]:
    """Effect classes by their name in the notation: `mbarrier_init`, `commit_group`..."""
    found = {}
    for value in vars(effects).values():
        if isinstance(value, type) and value.__module__ == effects.__name__:
            name = "".join(f"_{c.lower()}" if c.isupper() else c for c in value.__name__).lstrip("_")
            found[name] = value
    return found


def effect_fields(name: str) -> tuple[Field[object], ...]:
    if name in ACCESS_KINDS:
        return fields(effects.Access)[1:]
    return fields(effect_classes()[name])


def is_required(each: Field[object]) -> bool:
    return each.default is MISSING and each.default_factory is MISSING


def bind_effect(form: EffectForm, fold: Callable[[Expression], Expression], roles: Collection[str]) -> Effect | None:
    """Returns the effect of a match, or None if its condition fails or a required role is absent."""
    if form.condition is not None and not _is_true(fold(form.condition)):
        return None
    given = dict(form.arguments)
    values: dict[str, object] = {}
    for each in effect_fields(form.name):
        if each.name not in given:
            continue
        raw = given[each.name]
        if isinstance(raw, OperandRole) and raw.name not in roles:
            raw = ConstantExpr(None)
        if each.name in ROLE_FIELDS:
            value: object = (
                raw.name if isinstance(raw, OperandRole) else raw.value if isinstance(raw, ConstantExpr) else None
            )
        elif "Expression" in str(each.type):
            folded = fold(raw)
            absent = folded == ConstantExpr(None) or (folded == CallExpr("unknown", ()) and "None" in str(each.type))
            value = None if absent else folded
        else:
            value = _bind_field(
                each, fold(raw) if not (isinstance(raw, CallExpr) and raw.function == "list") else raw, fold
            )
        if value is None and "None" not in str(each.type):
            if is_required(each):
                return None
            continue
        values[each.name] = value
    if form.name in ACCESS_KINDS:
        return effects.Access(kind=form.name, **values)  # type: ignore[arg-type]
    built: Effect = effect_classes()[form.name](**values)
    return built


def _bind_field(each: Field[object], value: Expression, fold: Callable[[Expression], Expression]) -> object:
    """Returns the value of a field with words or truth values; `space` fields have the names that effects use."""
    if each.name == "spaces":
        parts = [fold(part) for part in value.arguments] if isinstance(value, CallExpr) else [value]
        words = [part.value for part in parts if isinstance(part, ConstantExpr) and part.value is not None]
        return tuple(space(word) for word in words)
    if not isinstance(value, ConstantExpr):
        raise TypeError(f"the field {each.name} must be known when the form is bound, and is {value}")
    if each.name == "space":
        return space(value.value)
    if str(each.type) == "bool":
        return bool(value.value)
    return value.value


def _is_true(value: Expression) -> bool:
    if not isinstance(value, ConstantExpr):
        raise TypeError(f"a condition depends on an operand's value: {value}")
    return bool(value.value)
