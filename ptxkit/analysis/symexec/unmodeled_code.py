"""Finds the questions that the analyses cannot answer because a kernel contains code that cannot be executed.

After a call of a function without a body anything may have happened, so the analyses stop. The questions that they
would have raised are those that they raise for the same executions without these calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy

from ptxkit.analysis.ir.program import Program, Step, callee_of
from ptxkit.analysis.symexec.exploration import Exploration
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.analysis.symexec.trace import GroupTrace, UnknownCall
from ptxkit.fast_dataclasses import replace


def find_unmodeled_code(explorer: Explorer) -> dict[Step, str]:
    """Returns the steps after which the state is unknown, in the order of the text, each with a description."""
    found = {
        event.step
        for group in _groups_with_unknown_calls(explorer)
        for event in group.events
        if isinstance(event, UnknownCall)
    }
    return {step: _describe(step, explorer.program) for step in sorted(found, key=lambda step: step.start)}


def without_unmodeled_code(explorer: Explorer) -> Explorer:
    """Returns the same executions under the assumption that these steps have no effect."""
    silent = copy(explorer)
    clusters: dict[int, list[Exploration]] = {}
    silent.explorations = []
    for exploration in explorer.explorations:
        key = id(exploration.cluster)
        if key not in clusters:
            clusters[key] = [_drop_unknown_calls(each) for each in exploration.cluster]
            for each in clusters[key]:
                each.cluster = clusters[key]
        place = next(at for at, each in enumerate(exploration.cluster) if each is exploration)
        silent.explorations.append(clusters[key][place])
    return silent


def _drop_unknown_calls(exploration: Exploration) -> Exploration:
    return replace(exploration, groups=[_drop_calls_of_group(group) for group in exploration.groups])


def _drop_calls_of_group(group: GroupTrace) -> GroupTrace:
    if not group.has_unknown_call:
        return group
    kept = [not isinstance(event, UnknownCall) for event in group.events]
    events = [event for event, keep in zip(group.events, kept, strict=True) if keep]
    guessed = None if group.first_guess is None else sum(kept[: group.first_guess])
    return replace(group, events=events, first_guess=guessed, has_unknown_call=False)


def _groups_with_unknown_calls(explorer: Explorer) -> Iterator[GroupTrace]:
    for exploration in explorer.explorations:
        yield from (group for each in exploration.cluster for group in each.groups if group.has_unknown_call)


def _describe(step: Step, program: Program) -> str:
    callee = callee_of(step)
    if callee is None:
        return f"`{step.instruction.opcode}`, which no form of the instruction table fits"
    if callee in program.callees or callee == program.function.name:
        return f"a call of `{callee}` that is not followed: too many calls are in progress"
    declared = any(function.name == callee for function in program.module.functions())
    return f"a call of `{callee}`, whose code is not here" if declared else "an indirect call"
