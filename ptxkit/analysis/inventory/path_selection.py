"""Determines by trials on which addresses and sizes a kernel's paths into shared memory depend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptxkit.analysis.cfg.control_flow_graph import step_successors
from ptxkit.analysis.context.kernel_facts import ScenarioFacts, build_scenario_facts
from ptxkit.analysis.dataflow.dependence import Dependence
from ptxkit.analysis.dataflow.pointer_params import pointer_parameters
from ptxkit.analysis.inventory.condition_synthesis import describe_outcome
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.referenced_names import registers_in
from ptxkit.analysis.ir.step_registers import guard_registers
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.limits import MAX_SPACE_BRANCHES
from ptxkit.analysis.symexec.alignment_trials import USUAL_SIZES, AlignmentTrial, AlignmentTrials, find_deciding_branch
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effects import Control

_UNCLEAR = "depends on addresses or sizes, in a way that is not simple"
_SPACE = "by a test of the state space of an address"
_NEVER = "never: no addresses or sizes that were tried lead here"


@dataclass(frozen=True, slots=True)
class PathDecision:
    """The condition under which a path is taken, in words, and the branch that decides."""

    words: str
    branch: Step | None


@dataclass(frozen=True, slots=True)
class PathSelection:
    """The result of the trials.

    decisions: the conditions of the steps that some trials reach and others do not. reached_steps: the steps that some
    trial reaches. scenarios: the trials that reach more steps than the previous explorations, to be examined like them.
    """

    decisions: Mapping[Step, PathDecision] = field(default_factory=dict)
    reached_steps: frozenset[Step] = frozenset()
    scenarios: Sequence[ScenarioFacts] = ()


def select_paths(explorer: Explorer, copies: Sequence[Step], covered: set[Step]) -> PathSelection:
    """Decides between the paths of a kernel into shared memory.

    Trials are executed only where a branch depends on an address that was passed to the kernel: such a branch tests the
    alignment or the state space of an address. Of an address that is loaded from memory, only the test itself is known.
    """
    if len(copies) < 2:
        return PathSelection()
    program = explorer.program
    pointers = pointer_parameters(program)
    tests = program.analysis(Dependence).registers_testing_addresses(pointers)
    trials: list[AlignmentTrial] = []
    if any(not tests.isdisjoint(_tested_registers(step)) for step in program.steps):
        trials = AlignmentTrials(explorer, pointers).run(copies)
    decisions = {step: found for step in copies if (found := _decide(program, step, trials)) is not None}
    reached = frozenset(step for step in copies if any(step.index in trial.reached_steps for trial in trials))
    if decisions:
        decisions.update({step: PathDecision(_NEVER, None) for step in copies if step not in reached})
    else:
        decisions = decide_by_space(program, copies)
    return PathSelection(decisions, reached, tuple(_newly_covering_scenarios(explorer, trials, copies, covered)))


def decide_by_space(program: Program, copies: Sequence[Step]) -> dict[Step, PathDecision]:
    """Returns the decisions between paths on different sides of a branch on the state space of an address."""
    if len(copies) < 2:
        return {}
    tests = program.analysis(Dependence).space_tests
    decisions: dict[Step, PathDecision] = {}
    branches = [step for step in program.steps if not tests.isdisjoint(_tested_registers(step))]
    for branch in branches[:MAX_SPACE_BRANCHES]:
        sides = [_reachable_indices(program, branch, after) for after in step_successors(program, branch)]
        on = {copy: {number for number, side in enumerate(sides) if copy.index in side} for copy in copies}
        apart = [copy for copy in copies if 0 < len(on[copy]) < len(sides)]
        if len({frozenset(on[copy]) for copy in apart}) > 1:
            decisions.update(dict.fromkeys(apart, PathDecision(_SPACE, branch)))
    return decisions


def _reachable_indices(program: Program, branch: Step, first: int) -> set[int]:
    """Returns the indices of the steps that may be executed from `first` on, until a branch is reached again."""
    indices = Worklist([first], {branch.index})
    for index in indices:
        indices.add(step_successors(program, program.steps[index]))
    return indices.seen


def _tested_registers(step: Step) -> Iterator[str]:
    """Yields the registers that decide whether an instruction is executed, or where it continues."""
    yield from guard_registers(step)
    if any(isinstance(e, Control) and e.kind == "branch_indexed" for e in step.effects):
        yield from registers_in(step.instruction.operands[0], step.scope)


def _decide(program: Program, step: Step, trials: Sequence[AlignmentTrial]) -> PathDecision | None:
    outcome = {trial.inputs: step.index in trial.reached_steps for trial in trials}
    usual = {setting: happened for setting, happened in outcome.items() if setting.integer_size in USUAL_SIZES}
    by_size = [
        {happened for setting, happened in usual.items() if setting.integer_size == size} for size in USUAL_SIZES
    ]
    if all(len(seen) < 2 for seen in by_size):
        return None  # sizes by themselves decide how often a path is taken, not which one
    described = describe_outcome(outcome)
    words = f"when {described}" if described is not None else _UNCLEAR
    taken = [trial.reached_steps for trial in trials if step.index in trial.reached_steps]
    avoided = [trial.reached_steps for trial in trials if step.index not in trial.reached_steps]
    return PathDecision(words, find_deciding_branch(program, step, taken, avoided))


def _newly_covering_scenarios(
    explorer: Explorer, trials: Sequence[AlignmentTrial], copies: Sequence[Step], covered: set[Step]
) -> list[ScenarioFacts]:
    missing = {step.index for step in copies if step not in covered}
    scenarios: list[ScenarioFacts] = []
    for trial in trials:
        if trial.explore is not None and missing & trial.reached_steps:
            missing -= trial.reached_steps
            scenarios.append(build_scenario_facts(trial.explore(), explorer.program, explorer.budget))
    return scenarios
