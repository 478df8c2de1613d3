"""The executions of one scenario: all threads of a CTA, in groups that take one path."""

from __future__ import annotations

from collections.abc import Hashable

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_DIVERGED_GROUPS
from ptxkit.analysis.symexec.executor import LockstepExecutor
from ptxkit.analysis.symexec.group_state import GroupState
from ptxkit.analysis.symexec.trace import GroupTrace
from ptxkit.analysis.symexec.unrepeated_loops import last_visits_of
from ptxkit.analysis.values.scenario import Scenario
from ptxkit.fast_dataclasses import dataclass, field


@dataclass(slots=True)
class Exploration:
    """The executions of one scenario.

    groups: the traces of all groups; where `is_complete`, every thread is in one of them. cluster: the explorations of
    all CTAs of the cluster, including this one, by rank; only the first two where there are too many. conditions: of
    the first of them, those under which the cluster was executed (`Scenario.conditions`). steps: the number of steps
    that this took.
    """

    scenario: Scenario
    groups: list[GroupTrace] = field(default_factory=list)
    is_complete: bool = True
    cluster: list[Exploration] = field(default_factory=list, repr=False, compare=False)
    conditions: Hashable = field(default=None, repr=False, compare=False)
    steps: int = field(default=0, repr=False, compare=False)
    _last_visits: dict[Step, int] | None = field(default=None, repr=False, compare=False)

    @property
    def last_visits(self) -> dict[Step, int]:
        """The `last_visits_of` the finished executions."""
        if self._last_visits is None:
            self._last_visits = last_visits_of(self.groups)
        return self._last_visits

    @property
    def is_truncated(self) -> bool:
        """Whether some execution did not terminate although its path was certain."""
        return any(group.end_reason == "budget" and group.first_guess is None for group in self.groups)

    def covers(self, step: Step) -> bool:
        """Returns whether some execution reached a step."""
        return any(step in group.covered_steps for group in self.groups)


def execute_all(group: GroupState, budget: int) -> tuple[Exploration, int]:
    """Executes a group and those that diverge from it, and returns the number of steps.

    No group is started once the budget is exceeded.
    """
    exploration = Exploration(group.scenario)
    waiting = [group]
    taken = 0
    while waiting:
        if taken >= budget or len(exploration.groups) >= MAX_DIVERGED_GROUPS:
            exploration.is_complete = False
            break
        # The group with the lowest thread is executed first, since other lanes read the values of lane 0.
        group = waiting.pop(min(range(len(waiting)), key=lambda index: waiting[index].tids[0]))
        before = group.executed_steps
        exploration.groups.append(LockstepExecutor(group).run())
        taken += group.executed_steps - before
        waiting.extend(group.diverged_groups)
    return exploration, taken
