"""A checker of evidence: a search from the operation along every path, which counts only what the evidence names.

It has no domain and no fixed point, and it tries every number of commits on its own, so that it shares no reasoning
with the analysis but the values of guards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping
from itertools import product

from ptxkit.analysis.abstract_interpretation.async_groups import pending_groups
from ptxkit.analysis.abstract_interpretation.guard_values import GuardValues
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph, is_control_transfer
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.isa.effects import CommitGroup, Control, MbarrierTrack, WaitGroup
from ptxkit.semantics.control_flow import successors_of

MOST_COMMITS, MOST_GUARDS = 12, 8


class EvidenceChecker:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._guards = GuardValues(program, ControlFlowGraph(program))

    def ends_unbound(self, start: Step, evidence: Collection[Step]) -> bool:
        """Whether a path leads from an operation to an exit without a commit of the evidence."""
        return any(
            self._reaches(start, evidence, sides, None, commits_suffice=True) for sides in self._sides(start, evidence)
        )

    def reaches_in_flight(self, start: Step, evidence: Collection[Step], target: Step | None) -> bool:
        """Whether a path leads from an operation to a step, or to an exit, without a wait that completes it."""
        return any(
            self._reaches(start, evidence, sides, target, commits_suffice=False)
            for sides in self._sides(start, evidence)
        )

    def _sides(self, start: Step, evidence: Collection[Step]) -> Iterator[Mapping[Hashable, bool]]:
        """All values of the guards that several branches and steps of the evidence have."""
        steps = (
            step
            for step in self._program.own_effectful_steps
            if step in (start, *evidence) or is_control_transfer(step)
        )
        values = (self._guards.value_of_guard(step) for step in steps)
        counts = Counter(value[0] for value in values if value is not None)
        keys = [key for key, times in counts.most_common(MOST_GUARDS) if times > 1]
        for sides in product((True, False), repeat=len(keys)):
            yield dict(zip(keys, sides, strict=True))

    def _executes(self, step: Step, sides: Mapping[Hashable, bool]) -> bool | None:
        value = self._guards.value_of_guard(step)
        if value is None or value[0] not in sides:
            return True if step.instruction.guard is None else None
        return sides[value[0]] == value[1]

    def _reaches(
        self,
        start: Step,
        evidence: Collection[Step],
        sides: Mapping[Hashable, bool],
        target: Step | None,
        *,
        commits_suffice: bool,
    ) -> bool:
        if self._executes(start, sides) is False or not self._is_reachable(start, sides):
            return False
        seen: set[tuple[int, int]] = set()
        waiting = [(index, 0) for index in self._following(start, sides)]
        while waiting:
            index, commits = at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            if index == len(self._program.steps):
                if target is None:
                    return True
                continue
            step = self._program.steps[index]
            if step is target:
                return True
            if target is None and self._leaves(step) and self._executes(step, sides) is not False:
                return True
            if step in evidence and self._executes(step, sides):
                after = _count(step, commits)
                if after is None or (commits_suffice and after):
                    continue
                commits = after
            waiting.extend((each, commits) for each in self._following(step, sides))
        return False

    def _is_reachable(self, step: Step, sides: Mapping[Hashable, bool]) -> bool:
        seen: set[int] = set()
        waiting = [0]
        while waiting:
            index = waiting.pop()
            if index not in seen and index < len(self._program.steps):
                seen.add(index)
                waiting.extend(self._following(self._program.steps[index], sides))
        return step.index in seen

    def _following(self, step: Step, sides: Mapping[Hashable, bool]) -> tuple[int, ...]:
        following = successors_of(step.linear, step.effects)
        executes = self._executes(step, sides)
        if step.instruction.guard is None or executes is None or not is_control_transfer(step):
            return following
        return step.targets if executes else (step.index + 1,)

    def _leaves(self, step: Step) -> bool:
        return any(isinstance(effect, Control) and effect.kind in ("return", "exit") for effect in step.effects)


def _count(step: Step, commits: int) -> int | None:
    """The number of commits after a step; None after a wait that completes the operation."""
    for effect in step.effects:
        if isinstance(effect, CommitGroup | MbarrierTrack) or getattr(effect, "commits", False):
            commits = min(commits + 1, MOST_COMMITS)
        if isinstance(effect, WaitGroup):
            left = pending_groups(step, effect)
            if left is not None and commits > left:
                return None
    return commits
