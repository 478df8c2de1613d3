"""Counts the groups that a thread has committed and may not have waited for, on all paths: the largest number.

A wait that leaves as many groups pending as there may be completes nothing. Operations that are in no group yet do not
count, because a wait completes none of them.

Source: PTX ISA, "Async-group mechanism", "cp.async.wait_group / cp.async.wait_all", "cp.async.bulk.wait_group",
"wgmma.wait_group".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from ptxkit.analysis.abstract_interpretation.async_groups import pending_groups
from ptxkit.analysis.abstract_interpretation.path_cases import path_cases
from ptxkit.analysis.abstract_interpretation.solver import ForwardSolution
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.limits import MAX_PENDING_COMMITS
from ptxkit.isa.effects import CommitGroup, WaitGroup

Counts: TypeAlias = Mapping[str, tuple[int, int]]
"""By the kind of the groups, how many may be incomplete, and of how many the sources may still be read."""


class GroupCounts:
    """The domain: the largest numbers of groups on any path to a step. MAX_PENDING_COMMITS stands for any number."""

    def entry(self) -> Counts:
        return {}

    def join(self, first: Counts, second: Counts) -> Counts:
        kinds = {**first, **second}
        pairs = {kind: (first.get(kind, (0, 0)), second.get(kind, (0, 0))) for kind in kinds}
        return {kind: (max(one[0], other[0]), max(one[1], other[1])) for kind, (one, other) in pairs.items()}

    def is_relevant(self, step: Step) -> bool:
        return any(isinstance(effect, CommitGroup | WaitGroup) for effect in step.effects)

    def transfer(self, step: Step, state: Counts) -> Counts:
        for effect in step.effects:
            if isinstance(effect, CommitGroup) or (isinstance(effect, WaitGroup) and effect.commits):
                incomplete, read = state.get(effect.group, (0, 0))
                counts = min(incomplete + 1, MAX_PENDING_COMMITS), min(read + 1, MAX_PENDING_COMMITS)
                state = {**state, effect.group: counts}
            left = pending_groups(step, effect) if isinstance(effect, WaitGroup) else None
            if isinstance(effect, WaitGroup) and left is not None:
                incomplete, read = state.get(effect.group, (0, 0))
                counts = incomplete if effect.read_only else min(incomplete, left), min(read, left)
                state = {**state, effect.group: counts}
        return state


def largest_group_counts(program: Program) -> Mapping[Step, Counts]:
    """Returns the largest numbers of groups before each commit and wait of a function with known paths."""
    domain, cfg = GroupCounts(), program.analysis(ControlFlowGraph)
    found: dict[Step, Counts] = {}
    for case in path_cases(program, cfg, [step for step in program.own_effectful_steps if domain.is_relevant(step)]):
        solution = ForwardSolution(case, domain)
        for block in range(len(cfg.block_starts)):
            for step, counts in solution.states_before(block):
                found[step] = domain.join(found.get(step, {}), counts)
    return found
