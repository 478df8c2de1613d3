"""Which of a kernel's ways into shared memory is taken when: tests of addresses and sizes, told by trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptxkit.analysis.conditions import describe
from ptxkit.analysis.definitions import successors
from ptxkit.analysis.dependence import Dependence
from ptxkit.analysis.explore import Explorer
from ptxkit.analysis.kernel import World, world_of
from ptxkit.analysis.pointers import pointer_parameters
from ptxkit.analysis.program import Program, Step
from ptxkit.analysis.slicing import registers_in
from ptxkit.analysis.trials import USUAL_SIZES, Trial, Trials, deciding_branch
from ptxkit.isa.effects import Control
from ptxkit.records import dataclass, field

#: Branches on state spaces that are looked at.
MAX_BRANCHES = 16
_UNCLEAR = "depends on addresses or sizes, in a way that is not simple"
_SPACE = "by a test of the state space of an address"
_NEVER = "never: no addresses or sizes that were tried lead here"


@dataclass(frozen=True, slots=True)
class Decision:
    """When a way is taken, in words, and the branch that decides."""

    words: str
    branch: Step | None


@dataclass(frozen=True, slots=True)
class Choices:
    """decisions: of the steps that some trials reach and others do not. reached: by some trial. worlds: those trials
    that reach more than the walks before did, to be looked at like these.
    """

    decisions: Mapping[Step, Decision] = field(default_factory=dict)
    reached: frozenset[Step] = frozenset()
    worlds: Sequence[World] = ()


def choices(explorer: Explorer, ways: Sequence[Step], covered: set[Step]) -> Choices:
    """Decides between the ways into shared memory that a kernel holds.

    Walks are spent on it only where a branch depends on an address that the kernel was given: such a branch tests the
    alignment or the state space of something. Of an address that comes from memory, only the test itself is known.
    """
    if len(ways) < 2:
        return Choices()
    program = explorer.program
    pointers = pointer_parameters(program)
    dependence = Dependence(program)
    tests = dependence.testing(pointers)
    trials: list[Trial] = []
    if any(not tests.isdisjoint(_tested(step)) for step in program.steps):
        trials = Trials(explorer, pointers).run(ways)
    decisions = {step: found for step in ways if (found := _decision(program, step, trials)) is not None}
    reached = frozenset(step for step in ways if any(step.index in trial.reached for trial in trials))
    if decisions:
        decisions.update({step: Decision(_NEVER, None) for step in ways if step not in reached})
    else:
        decisions = by_space(program, ways, dependence)
    return Choices(decisions, reached, tuple(_worlds(explorer, trials, ways, covered)))


def by_space(program: Program, ways: Sequence[Step], dependence: Dependence | None = None) -> dict[Step, Decision]:
    """The ways that stand on different sides of a branch on the state space of an address."""
    if len(ways) < 2:
        return {}
    tests = (dependence or Dependence(program)).space_tests
    decisions: dict[Step, Decision] = {}
    branches = [step for step in program.steps if not tests.isdisjoint(_tested(step))]
    for branch in branches[:MAX_BRANCHES]:
        sides = [_reach(program, branch, after) for after in successors(program, branch)]
        on = {way: {number for number, side in enumerate(sides) if way.index in side} for way in ways}
        apart = [way for way in ways if 0 < len(on[way]) < len(sides)]
        if len({frozenset(on[way]) for way in apart}) > 1:
            decisions.update(dict.fromkeys(apart, Decision(_SPACE, branch)))
    return decisions


def _reach(program: Program, branch: Step, first: int) -> set[int]:
    """The indices of the steps that may be executed from one on, up to the next time at a branch."""
    seen = {branch.index}
    waiting = [first]
    while waiting:
        index = waiting.pop()
        if index not in seen:
            seen.add(index)
            waiting.extend(successors(program, program.steps[index]))
    return seen


def _tested(step: Step) -> Iterator[str]:
    """The registers that decide whether an instruction is executed, or where it goes on."""
    guard = step.instruction.guard
    if guard is not None:
        yield step.scope.register(guard.predicate)
    if any(isinstance(e, Control) and e.kind == "branch_indexed" for e in step.effects):
        yield from registers_in(step.instruction.operands[0], step.scope)


def _decision(program: Program, step: Step, trials: Sequence[Trial]) -> Decision | None:
    outcome = {trial.setting: step.index in trial.reached for trial in trials}
    usual = {setting: happened for setting, happened in outcome.items() if setting.size in USUAL_SIZES}
    by_size = [{happened for setting, happened in usual.items() if setting.size == size} for size in USUAL_SIZES]
    if all(len(seen) < 2 for seen in by_size):
        return None  # sizes alone decide how often, not which way
    described = describe(outcome)
    words = f"when {described}" if described is not None else _UNCLEAR
    taken = [trial.reached for trial in trials if step.index in trial.reached]
    avoided = [trial.reached for trial in trials if step.index not in trial.reached]
    return Decision(words, deciding_branch(program, step, taken, avoided))


def _worlds(explorer: Explorer, trials: Sequence[Trial], ways: Sequence[Step], covered: set[Step]) -> list[World]:
    missing = {step.index for step in ways if step not in covered}
    worlds: list[World] = []
    for trial in trials:
        if trial.walks is not None and missing & trial.reached:
            missing -= trial.reached
            worlds.append(world_of(trial.walks(), explorer.program, explorer.budget))
    return worlds
