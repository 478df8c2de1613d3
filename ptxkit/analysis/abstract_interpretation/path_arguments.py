"""Solves the conditions on the paths to an instruction for the integer arguments of a kernel.

An instruction is executed if each branch on which it is control dependent takes a certain side. The guards of these
branches are evaluated for many choices of arguments at once, and the choice that satisfies the most of them is changed
in one argument after the other. Guards that depend on data, or on a counter, are left out: the machine shows whether
the instruction is reached.

Source: Ferrante, Ottenstein, Warren, "The Program Dependence Graph and Its Use in Optimization".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ptxkit.analysis.abstract_interpretation.graph_operands import GraphOperands
from ptxkit.analysis.abstract_interpretation.value_graph import ValueGraph
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.limits import MAX_SOLVED_CHOICES, MAX_SOLVER_ROUNDS
from ptxkit.analysis.values.cta_values import CtaValue, per_thread
from ptxkit.analysis.values.scenario import LaunchConfig, ParameterKey
from ptxkit.analysis.values.value_reader import Reader, loaded_argument
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.expressions import CallExpr
from ptxkit.semantics.value_ops import bit_mask

_USUAL_NUMBERS = (64, 1, 2, 4, 16, 128, 256, 0, 3, 8, 32, 512, 1024, 4096)
"""The numbers that are tried for each argument, besides those with which branches compare arguments."""

Choice = tuple[int, ...]
"""A number for each argument that is solved for."""


@dataclass(frozen=True, slots=True)
class PathCondition:
    """A step whose guard must have a value, so that control comes to an instruction."""

    step: Step
    is_true: bool


def path_conditions(program: Program, target: Step) -> list[PathCondition]:
    """Returns the conditions on which an instruction is executed, its own guard first, then the nearest branches.

    A branch of which either side leads there is no condition.
    """
    flow = program.analysis(ControlFlowGraph)
    sides: dict[int, set[bool | None]] = {}
    blocks = Worklist([flow.block_of(target)])
    for block in blocks:
        for deciding in flow.control_dependences[block]:
            leading = (at for at in flow.successors[deciding] if flow.post_dominators.dominates(block, at))
            sides.setdefault(deciding, set()).update(flow.guarded_side(deciding, at) for at in leading)
        blocks.add(flow.control_dependences[block])
    found = [(target, True)] if target.instruction.guard is not None else []
    for deciding, wanted in sides.items():
        if len(wanted) == 1 and None not in wanted:
            found.append((flow.steps_of_block(deciding)[-1], True in wanted))
    return [
        PathCondition(step, side != step.instruction.guard.negated)
        for step, side in found
        if step.instruction.guard is not None
    ]


class PathArguments:
    """The arguments of one kernel. launch: the size of its CTAs."""

    def __init__(self, program: Program, launch: LaunchConfig) -> None:
        self._program, self._launch = program, launch
        self._graph = ValueGraph(program, program.analysis(ControlFlowGraph))

    def leading_to(
        self,
        target: Step,
        deciding: Callable[[Step], Iterable[ParameterKey]],
        compared: Callable[[Step], Iterable[int]],
    ) -> tuple[tuple[ParameterKey, int], ...] | None:
        """Returns arguments that satisfy the most conditions of an instruction; None if none of them decides any.

        deciding: the integer arguments on which the guard of a step depends. compared: the numbers with which it
        compares them.
        """
        conditions = path_conditions(self._program, target)
        places = sorted({place for each in conditions for place in deciding(each.step)})
        if not places:
            return None
        constants = tuple(dict.fromkeys(number for each in conditions for number in compared(each.step)))
        choices: list[Choice] = [(number,) * len(places) for number in dict.fromkeys((*_USUAL_NUMBERS, *constants))]
        best, reached = choices[0], -1
        for _ in range(MAX_SOLVER_ROUNDS):
            satisfied, wanted = self._count_satisfied(conditions, places, choices)
            if not wanted:
                return None
            most = max(satisfied)
            if most <= reached:
                break
            best, reached = choices[satisfied.index(most)], most
            if reached == wanted:
                break
            choices = _change_one(best, constants)
        return tuple(zip(places, best, strict=True))

    def _count_satisfied(
        self, conditions: Iterable[PathCondition], places: Sequence[ParameterKey], choices: Sequence[Choice]
    ) -> tuple[list[int], int]:
        """Returns for each choice how many conditions it satisfies, and the number of those that are evaluated."""
        given = dict(zip(places, zip(*choices, strict=True), strict=True))
        operands = _ArgumentOperands(self._graph, self._launch, given, len(choices))
        counts, wanted = [0] * len(choices), 0
        for each in conditions:
            guard = each.step.instruction.guard
            values = operands.predicate(each.step, guard.predicate) if guard is not None else None
            if values is None:
                continue
            wanted += 1
            counts = [count + (bool(value) == each.is_true) for count, value in zip(counts, values, strict=True)]
        return counts, wanted


def _change_one(choice: Choice, constants: Sequence[int]) -> list[Choice]:
    """Returns the choice, and choices that differ from it in one argument.

    constants: the numbers with which branches compare arguments. Differences and quotients of these and other arguments
    are tried, too, because branches compare sums and products.
    """
    pairs = [(constant, other) for constant in constants for other in dict.fromkeys(choice)]
    derived = (number for large, small in pairs for number in (large - small, large // max(small, 1)) if number >= 0)
    numbers = dict.fromkeys((*constants, *choice, *_USUAL_NUMBERS, *derived))
    changed = [
        (*choice[:at], number, *choice[at + 1 :])
        for number in numbers
        for at in range(len(choice))
        if number != choice[at]
    ]
    return [choice, *changed[: MAX_SOLVED_CHOICES - 1]]


class _ArgumentOperands(GraphOperands):
    """The registers of the first thread of a kernel for several choices of arguments; a position is a choice.

    given: the numbers of each argument that is chosen.
    """

    def __init__(
        self, graph: ValueGraph, launch: LaunchConfig, given: Mapping[ParameterKey, Sequence[int]], count: int
    ) -> None:
        super().__init__(graph, launch, (0,) * count, ("%ntid",))
        self._given = given

    def special(self, name: str) -> CtaValue:
        return 0 if name.startswith(("%ctaid", "%clusterid")) else super().special(name)

    def load(self, step: Step, call: CallExpr, place: int, read: Reader[CtaValue]) -> CtaValue:
        """Returns an argument that is chosen; None for an address and for anything else that is loaded."""
        argument = loaded_argument(step, call, place)
        numbers = self._given.get(argument[:2]) if argument is not None else None
        if argument is None or numbers is None:
            return super().load(step, call, place, read)
        return per_thread([number & bit_mask(argument[2]) for number in numbers])
