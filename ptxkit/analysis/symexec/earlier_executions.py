"""The executions of a kernel that another launch of it repeats, so that they need not be computed again.

A launch that declares what was assumed, such as the size of the block, executes the same as the assumed one. Only the
checks of operands ask whether every launch has all threads of the block (`GroupTrace.block_violations`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from ptxkit.analysis.symexec.exploration import Exploration
from ptxkit.analysis.symexec.trace import GroupTrace
from ptxkit.analysis.values.scenario import Scenario
from ptxkit.fast_dataclasses import replace


class EarlierExecutions:
    """The complete executions of some clusters, by the conditions under which they began.

    explorations: those of the first CTAs; those of other CTAs are ignored.
    """

    def __init__(self, explorations: Iterable[Exploration]) -> None:
        self._known: dict[Hashable, list[Exploration]] = {
            each.conditions: each.cluster
            for each in explorations
            if each.conditions is not None and all(cta.is_complete for cta in each.cluster)
        }

    def repeat(self, scenario: Scenario) -> Exploration | None:
        """Returns the execution of a scenario that has not begun, as that of its launch; None if none is known."""
        same = self._known.get(scenario.conditions, ())
        if not same or any(_may_differ(each, scenario) for each in same):
            return None
        cluster: list[Exploration] = []
        for each in same:
            own = replace(each.scenario, launch=scenario.launch, sample_count=scenario.sample_count)
            groups = [_in_launch(group, scenario) for group in each.groups]
            cluster.append(replace(each, scenario=own, groups=groups, cluster=cluster))
        return cluster[0]


def _in_launch(group: GroupTrace, scenario: Scenario) -> GroupTrace:
    """Returns a group, with the same events, in the launch of a scenario."""
    if not scenario.launch.is_exact or not group.block_violations:
        return group
    return replace(group, operand_violations=group.operand_violations | group.block_violations, block_violations={})


def _may_differ(known: Exploration, scenario: Scenario) -> bool:
    """Returns whether a check of an operand may have another result in the launch of a scenario."""
    is_declared = known.scenario.launch.is_exact
    return is_declared != scenario.launch.is_exact and (
        is_declared or any(group.depends_on_block for group in known.groups)
    )
