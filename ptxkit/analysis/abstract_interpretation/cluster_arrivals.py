"""Proves that each thread arrives at the barrier of its cluster and waits there in turn, on all paths.

Source: PTX ISA, "barrier.cluster".
"""

from __future__ import annotations

from collections.abc import Mapping

from ptxkit.analysis.abstract_interpretation.path_cases import path_cases
from ptxkit.analysis.abstract_interpretation.returning_calls import is_sole_function
from ptxkit.analysis.abstract_interpretation.solver import ForwardSolution
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.isa.effects import Barrier, Effect


class ClusterArrivals:
    """The domain: whether a thread may have arrived without a wait since (True), or may not (False)."""

    def entry(self) -> frozenset[bool]:
        return frozenset([False])

    def join(self, first: frozenset[bool], second: frozenset[bool]) -> frozenset[bool]:
        return first | second

    def is_relevant(self, step: Step) -> bool:
        return any(map(is_of_cluster, step.effects))

    def transfer(self, step: Step, state: frozenset[bool]) -> frozenset[bool]:
        for effect in step.effects:
            if isinstance(effect, Barrier) and is_of_cluster(effect):
                state = frozenset([effect.action == "arrive"])
        return state


def is_of_cluster(effect: Effect) -> bool:
    return isinstance(effect, Barrier) and effect.level == "cluster"


def unpaired_steps(program: Program) -> frozenset[Step] | None:
    """Returns the arrivals that may follow another one, and the waits that may follow none; None if unknown."""
    found = program.analysis(_states_before)
    if found is None:
        return None
    return frozenset(step for step, before in found.items() if not before <= _states_of_pair(step))


def surely_unpaired_steps(program: Program) -> frozenset[Step]:
    """Returns the arrivals that follow another one on each path to them, and the waits that follow none."""
    found = program.analysis(_states_before) or {}
    return frozenset(step for step, before in found.items() if before and before.isdisjoint(_states_of_pair(step)))


def _states_before(program: Program) -> Mapping[Step, frozenset[bool]] | None:
    if not is_sole_function(program):
        return None
    cfg, domain = program.analysis(ControlFlowGraph), ClusterArrivals()
    steps = [step for step in program.own_effectful_steps if domain.is_relevant(step)]
    before = dict.fromkeys(steps, frozenset[bool]())
    for case in path_cases(program, cfg, steps):
        solution = ForwardSolution(case, domain)
        for block in {cfg.block_of(step) for step in steps}:
            for step, state in solution.states_before(block):
                if case.executes(step) is not False:
                    before[step] |= state
    return before


def _states_of_pair(step: Step) -> frozenset[bool]:
    """Returns the state before which a step is one of a pair."""
    actions = [effect.action for effect in step.effects if isinstance(effect, Barrier) and is_of_cluster(effect)]
    return frozenset([actions[0] == "wait"]) if len(actions) == 1 else frozenset()
