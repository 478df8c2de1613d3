"""Combines the conditions of all instructions: of those about one subject, the strongest ones are kept.

A condition of every launch replaces those of single lines that it implies.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from ptxkit.analysis.contract.derived_condition import DerivedCondition
from ptxkit.fast_dataclasses import replace
from ptxkit.model.launch_contract import (
    BoxBytes,
    ClusterLimits,
    ConditionScope,
    DynamicShared,
    ParameterMultiple,
    Requirement,
    TensorMapUse,
)


def keep_strongest(conditions: Iterable[DerivedCondition]) -> list[DerivedCondition]:
    """Returns the conditions that no other one implies; the uses of one tensor map become one condition."""
    kept: list[DerivedCondition] = []
    ordered = sorted(conditions, key=lambda each: each.scope is not ConditionScope.LAUNCH)
    for each in ordered:
        for place, other in enumerate(kept):
            if other.scope in (ConditionScope.LAUNCH, each.scope) and implies(other.requirement, each.requirement):
                break
            if other.scope is each.scope and implies(each.requirement, other.requirement):
                kept[place] = each
                break
            joined = _join(other.requirement, each.requirement) if other.scope is each.scope else None
            if joined is not None:
                kept[place] = replace(other, requirement=joined)
                break
        else:
            kept.append(each)
    return kept


def implies(first: Requirement, second: Requirement) -> bool:
    """Returns whether a launch that satisfies the first requirement satisfies the second one."""
    if first == second:
        return True
    match first, second:
        case ParameterMultiple(), ParameterMultiple():
            return (
                _subject(first) == _subject(second)
                and not first.divisor % second.divisor
                and first.remainder % second.divisor == second.remainder
            )
        case DynamicShared(least=int() as more), DynamicShared(least=int() as less):
            return more >= less
        case DynamicShared(alignment=int() as more), DynamicShared(alignment=int() as less):
            return not more % less
        case ClusterLimits(exact=tuple() as exact), ClusterLimits(least=int() as least):
            return exact[0] * exact[1] * exact[2] >= least
        case ClusterLimits(least=int() as more), ClusterLimits(least=int() as less):
            return more >= less
        case TensorMapUse(parameter=first_map, box_bytes=int() as size), BoxBytes(boxes=((second_map, 1),)):
            return first_map == second_map and size == second.size
    return False


def _subject(requirement: ParameterMultiple | TensorMapUse) -> Hashable:
    parameter = requirement.parameter
    return parameter.index, parameter.offset


def _join(first: Requirement, second: Requirement) -> Requirement | None:
    """Returns the requirement of a tensor map that is used in both ways; None for other requirements."""
    if not isinstance(first, TensorMapUse) or not isinstance(second, TensorMapUse):
        return None
    is_same = (_subject(first), first.rank, first.mode) == (_subject(second), second.rank, second.mode)
    if not is_same or (first.box_bytes and second.box_bytes and first.box_bytes != second.box_bytes):
        return None
    operations = tuple(dict.fromkeys((*first.operations, *second.operations)))
    return replace(first, operations=operations, box_bytes=first.box_bytes or second.box_bytes)
