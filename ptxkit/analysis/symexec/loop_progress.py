"""Predicts whether an execution that covers nothing new can leave its loops within the budget.

Most loops in which an execution exhausts its budget are counted: up to a size that was given as input, or to a
constant. After some iterations the executor can predict that no exit is taken within the budget, and it may stop
immediately.

An exit is predictable if its predicate compares two numbers whose distance changes by the same amount in each
iteration. An exit that depends on data has been taken by then, or cannot be predicted. Only in asynchronous kernels,
whose rings of stages wrap around late, does the execution continue for such an exit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import STALLED_ITERATIONS
from ptxkit.analysis.symexec.lane_ops import LANE_OPS
from ptxkit.analysis.symexec.operand_compiler import OperandCompiler, ValueReader
from ptxkit.analysis.values.symbolic_values import SymbolicValue, Value, value_of_lane
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import effects as fx
from ptxkit.isa.expressions import CallExpr, ConstantExpr
from ptxkit.semantics.value_ops import integer_type, interpret, to_signed
from ptxkit.syntax.tree import Name

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.compiled_code import CompiledBlock
    from ptxkit.analysis.symexec.group_state import GroupState

#: The number of consecutive equal changes after which a distance is taken to be a loop counter.
MIN_STEADY_ITERATIONS = 3
#: The minimum distance at which the first number of an ordered comparison is not below the second.
_ORDER_THRESHOLDS = {"lt": 0, "lo": 0, "ge": 0, "hs": 0, "le": 1, "ls": 1, "gt": 1, "hi": 1}
_EQUALITY_OPERATORS = ("eq", "ne")

ComparisonReaders: TypeAlias = "tuple[str, tuple[int, bool], ValueReader, ValueReader]"
"""A comparison: its operator, the width of its type and whether the type is signed, and the two numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class _GuardedStep:
    """A guarded step.

    targets: the indices of the next steps, if it transfers control; None if it ends the execution, or they are unknown.
    """

    step: Step
    predicate: str
    transfers_control: bool
    targets: tuple[int, ...] | None


def _guarded_steps(block: CompiledBlock) -> Iterator[_GuardedStep]:
    for step, guard, _ in block.steps:
        if guard is not None:
            predicate, _, _, leaves = guard
            yield _GuardedStep(step, predicate, leaves, _branch_targets(step, block.next_index))


def _written_registers(block: CompiledBlock) -> Iterator[tuple[str, ComparisonReaders | None]]:
    """Yields the registers that a block writes, each with the comparison that gives its value."""
    for step, guard, _ in block.steps:
        operands = OperandCompiler(step, LANE_OPS)
        for effect in step.effects:
            target = operands.step.operand(effect.result) if isinstance(effect, fx.Value) else None
            if isinstance(effect, fx.Value) and isinstance(target, Name):
                yield (
                    operands.scope.register_name(target.text),
                    None if guard else _comparison_readers(operands, effect),
                )


def _branch_targets(step: Step, after: int) -> tuple[int, ...] | None:
    kinds = [effect.kind for effect in step.effects if isinstance(effect, fx.Control)]
    return (*step.targets, after) if kinds == ["branch"] and step.targets else None


def _comparison_readers(operands: OperandCompiler, effect: fx.Value) -> ComparisonReaders | None:
    match effect.value:
        case CallExpr(
            function="compare",
            arguments=(ConstantExpr(value=str(operator)), ConstantExpr(value=str(kind)), left, right),
        ):
            first, second = operands.evaluator(left), operands.evaluator(right)
            if (
                first is not None
                and second is not None
                and (read := integer_type(kind)) is not None
                and operator in (*_ORDER_THRESHOLDS, *_EQUALITY_OPERATORS)
            ):
                return operator, read, first, second
    return None


class _LoopCounter:
    """The distance between the two numbers of a comparison, for the first and the last thread of a group."""

    def __init__(self, compared: ComparisonReaders) -> None:
        self._operator, self._type, self._first, self._second = compared
        self.is_known = True
        self._distances: list[int] = []
        self._changes: list[int] = []
        self._steady_iterations = self._steady_since = 0

    def update(self, state: GroupState) -> None:
        """Samples the numbers again. Once they are unknown, they are not sampled again."""
        if not self.is_known:
            return
        first, second = self._first(state), self._second(state)
        distances = [
            self._distance(value_of_lane(first, at), value_of_lane(second, at)) for at in {0, len(state.tids) - 1}
        ]
        before, self._distances = self._distances, [each for each in distances if each is not None]
        self.is_known = len(self._distances) == len(distances)
        if len(before) != len(distances) or not self.is_known:
            self._steady_iterations = 0
            return
        changes = [now - then for then, now in zip(before, self._distances, strict=True)]
        if changes != self._changes:
            self._changes, self._steady_iterations, self._steady_since = changes, 0, state.executed_steps
        self._steady_iterations += 1

    def _distance(self, first: Value, second: Value) -> int | None:
        if isinstance(first, SymbolicValue) or isinstance(second, SymbolicValue):
            same = (
                isinstance(first, SymbolicValue)
                and isinstance(second, SymbolicValue)
                and first.identity == second.identity
            )
            return first.offset - second.offset if same else None  # type: ignore[union-attr]
        distance = interpret(first, *self._type) - interpret(second, *self._type)
        # Equality ignores multiples of the number range, so that a countdown to an unsigned -1 ends.
        return to_signed(distance, self._type[0]) if self._operator in _EQUALITY_OPERATORS else distance

    def stays_unchanged(self, taken: int, left: int) -> bool:
        """Returns whether the predicate certainly keeps its value for this many more steps."""
        if self._steady_iterations < MIN_STEADY_ITERATIONS:
            return False
        each = (taken - self._steady_since) / self._steady_iterations
        rounds = [self._iterations_until_change(*one) for one in zip(self._distances, self._changes, strict=True)]
        return all(number is None or number * each > left for number in rounds)

    def _iterations_until_change(self, distance: int, change: int) -> int | None:
        """Returns the number of further iterations after which the predicate changes; None if it never changes."""
        if not change:
            return None
        if self._operator in _EQUALITY_OPERATORS:
            rounds, rest = divmod(-distance, change)
            return 1 if not distance else None if rest or rounds < 0 else rounds
        missing = _ORDER_THRESHOLDS[self._operator] - distance
        if missing > 0:
            return -(-missing // change) if change > 0 else None
        return -missing // -change + 1 if change < 0 else None


class LoopProgress:
    """The blocks of the current loops.

    newest: the number of executed steps when execution last covered something new.
    """

    def __init__(self, state: GroupState, newest: int) -> None:
        self.last_progress = newest
        self._awaits_unknown_conditions = state.code.is_asynchronous
        self._start = state.executed_steps
        self._counters: dict[int, list[_LoopCounter]] = {}
        self._loop_length = 0
        self._guarded_steps: list[_GuardedStep] = []
        self._written_registers: dict[str, _LoopCounter | None] = {}
        self._next_check = 0

    def enter_block(self, state: GroupState, block: CompiledBlock) -> None:
        """Records that the execution is about to enter a block of the current code."""
        first = block.next_index - block.length
        counts = self._counters.get(first)
        if counts is None:
            counts = self._counters[first] = self._counters_in(block)
            self._guarded_steps.extend(_guarded_steps(block))
            self._loop_length += block.length
        for count in counts:
            count.update(state)

    def _counters_in(self, block: CompiledBlock) -> list[_LoopCounter]:
        found: list[_LoopCounter] = []
        for register, compared in _written_registers(block):
            count = None if compared is None or register in self._written_registers else _LoopCounter(compared)
            self._written_registers[register] = count
            if count is not None:
                found.append(count)
        return found

    def exceeds_budget(self, state: GroupState, until: int) -> bool:
        """Returns whether, by its counters, the execution certainly covers nothing new before step `until`."""
        taken = state.executed_steps
        if taken - self._start <= STALLED_ITERATIONS * self._loop_length or taken < self._next_check:
            return False
        self._next_check = taken + self._loop_length
        return all(
            self._stays_closed(exit_step, taken, until)
            for exit_step in self._guarded_steps
            if self._leads_to_new_code(exit_step, state)
        )

    def _leads_to_new_code(self, exit_step: _GuardedStep, state: GroupState) -> bool:
        """Returns whether a guarded step leads to, or is, a step that was not executed since counting began."""
        if not exit_step.transfers_control:
            return exit_step.step not in state.trace.covered_steps
        return exit_step.targets is None or not all(side in self._counters for side in exit_step.targets)

    def _stays_closed(self, exit_step: _GuardedStep, taken: int, until: int) -> bool:
        """Returns whether the guard of a step keeps its value.

        This is so if no step in the loops writes it, if its counter is far from its limit, or if it cannot be predicted
        and the execution does not wait for it.
        """
        if exit_step.predicate not in self._written_registers:
            return True
        count = self._written_registers[exit_step.predicate]
        if count is None or not count.is_known:
            return not self._awaits_unknown_conditions
        return count.stays_unchanged(taken, until - taken)
