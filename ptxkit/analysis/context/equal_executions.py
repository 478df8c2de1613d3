"""Finds executions that are equal event for event, so that whatever is derived from them is computed once.

Many samples of the arguments lead to the same execution, and so does a launch that only declares what was assumed.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.analysis.symexec.exploration import Exploration
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, TraceEvent, UnknownCall
from ptxkit.analysis.values.symbolic_values import LaneValues
from ptxkit.fast_dataclasses import fields

_UNCOMPARED = ("events", "operand_violations", "block_violations", "depends_on_block")
"""The fields of groups that are compared elsewhere, or may differ."""


def are_equal_clusters(first: Sequence[Exploration], second: Sequence[Exploration]) -> bool:
    """Returns whether the CTAs of two clusters of one geometry executed the same, in any launches of one kernel.

    Which operands are invalid in all launches may differ.
    """
    if len(first) != len(second) or any(map(_differ_in_form, first, second)):
        return False
    pairs = [
        pair for one, other in zip(first, second, strict=True) for pair in zip(one.groups, other.groups, strict=True)
    ]
    return all(map(_have_equal_events, *zip(*pairs, strict=True))) if pairs else True


def _differ_in_form(first: Exploration, second: Exploration) -> bool:
    """Returns whether two executions differ in anything but the operands of events."""
    one, other = first.scenario, second.scenario
    if (one.launch.block, one.launch.cluster, one.rank, first.is_complete, len(first.groups)) != (
        other.launch.block,
        other.launch.cluster,
        other.rank,
        second.is_complete,
        len(second.groups),
    ):
        return True
    return any(map(_differ_in_fields, first.groups, second.groups))


def _differ_in_fields(first: GroupTrace, second: GroupTrace) -> bool:
    if len(first.events) != len(second.events):
        return True
    names = (each.name for each in fields(first) if each.name not in _UNCOMPARED)
    return any(getattr(first, name) != getattr(second, name) for name in names)


def _have_equal_events(first: GroupTrace, second: GroupTrace) -> bool:
    return first.events is second.events or all(map(_are_equal_events, first.events, second.events))


def _are_equal_events(
    first: TraceEvent | GroupEvent | UnknownCall, second: TraceEvent | GroupEvent | UnknownCall
) -> bool:
    if not isinstance(first, GroupEvent) or not isinstance(second, GroupEvent):
        return first == second
    return (
        (first.step, first.visit, first.effect, first.participants)
        == (second.step, second.visit, second.effect, second.participants)
        and len(first.fields) == len(second.fields)
        and all(map(_are_equal_values, first.fields, second.fields))
    )


def _are_equal_values(first: object, second: object) -> bool:
    if isinstance(first, LaneValues) and isinstance(second, LaneValues):
        return first is second or first.values == second.values
    return first == second
