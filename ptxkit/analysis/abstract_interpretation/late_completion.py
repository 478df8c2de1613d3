"""Finds the instructions before which operations would be complete too late if a wait or a commit were deleted.

Without a wait, its operations are complete after a later wait that leaves as few groups pending, where the groups that
are committed between the two count. Without a commit, its operations belong to the next group, so that a wait that does
not count back to it completes the same operations, and any other completes fewer.

Source: PTX ISA, "Async-group mechanism", "cp.async.wait_group / cp.async.wait_all", "cp.async.bulk.wait_group",
"wgmma.wait_group".
"""

from __future__ import annotations

from typing import TypeAlias

from ptxkit.analysis.abstract_interpretation.async_groups import pending_groups
from ptxkit.analysis.abstract_interpretation.path_cases import PathCase, path_cases
from ptxkit.analysis.abstract_interpretation.solver import ForwardSolution
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.limits import MAX_PENDING_COMMITS
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import CommitGroup, Value, WaitGroup

_Lag: TypeAlias = "tuple[int, bool] | tuple[()]"
"""The least number of commits since the deleted instruction, and whether a wait has completed too little since; empty
if nothing differs from the execution with it.
"""


@dataclass(frozen=True, slots=True)
class DeletedGroupSync:
    """A wait or a commit that is deleted.

    kept: the groups that the wait leaves pending; -1 for a commit, and for a wait that commits. read_only: whether
    waits suffice after which only the sources have been read. is_late: whether operations are late at once.
    """

    step: Step
    group: str
    kept: int
    read_only: bool
    is_late: bool


class LateCompletion:
    """What depends on a deleted wait or commit of a function with known paths.

    steps: the instructions before which operations may be incomplete that would be complete otherwise. instead: the
    waits that complete them. reaches_exit: whether they may be incomplete, or in no group, when the thread exits.
    """

    def __init__(self, program: Program, deleted: DeletedGroupSync) -> None:
        self.steps: set[Step] = set()
        self.instead: set[Step] = set()
        self.reaches_exit = False
        domain, cfg = _Deletion(deleted), program.analysis(ControlFlowGraph)
        relevant = [step for step in program.own_effectful_steps if domain.changes_groups(step)]
        for case in path_cases(program, cfg, relevant):
            self._collect(case, ForwardSolution(case, domain), domain)

    def _collect(self, case: PathCase, solution: ForwardSolution[_Lag], domain: _Deletion) -> None:
        for block in range(len(case.cfg.block_starts)):
            for step, state in solution.states_before(block):
                if not state or case.executes(step) is False:
                    continue
                if state[1]:
                    self.steps.add(step)
                if not domain.transfer(step, state):
                    self.instead.add(step)
            if solution.state_at_end(block) and case.may_leave(block):
                self.reaches_exit = True


class _Deletion:
    """The domain: whether a deleted instruction was executed without another one that has its effect since."""

    def __init__(self, deleted: DeletedGroupSync) -> None:
        self._deleted = deleted

    def entry(self) -> _Lag:
        return ()

    def join(self, first: _Lag, second: _Lag) -> _Lag:
        if not first or not second:
            return first or second
        return min(first[0], second[0]), first[1] or second[1]

    def is_relevant(self, step: Step) -> bool:
        return any(not isinstance(effect, Value) for effect in step.effects)

    def changes_groups(self, step: Step) -> bool:
        kinds = CommitGroup | WaitGroup
        return any(isinstance(effect, kinds) and effect.group == self._deleted.group for effect in step.effects)

    def transfer(self, step: Step, state: _Lag) -> _Lag:
        deleted = self._deleted
        if step is deleted.step:
            return 0, deleted.is_late or bool(state and state[1])
        for effect in step.effects if state and self.changes_groups(step) else ():
            assert state
            commits, is_late = state
            if isinstance(effect, CommitGroup) or (isinstance(effect, WaitGroup) and effect.commits):
                commits = min(commits + 1, MAX_PENDING_COMMITS)
            if isinstance(effect, WaitGroup):
                left = pending_groups(step, effect)
                if left is not None and left <= deleted.kept + commits and (deleted.read_only or not effect.read_only):
                    return ()
                is_late = True
            state = commits, is_late
        return state
