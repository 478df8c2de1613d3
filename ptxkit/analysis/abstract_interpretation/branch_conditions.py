"""The comparisons that hold where an instruction is executed: those of the branches that lead to it, and of its guard.

Source: PTX ISA, "Predicated Execution", "setp", "PathComparison and Selection Instructions".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.abstract_interpretation.abstract_values import NO_VALUE, AbstractValue, integers_in
from ptxkit.analysis.abstract_interpretation.range_ops import resize
from ptxkit.analysis.abstract_interpretation.strided_ranges import StridedRange, restrict, without
from ptxkit.analysis.abstract_interpretation.value_graph import Assignment, ValueGraph, ValueNode
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph, is_control_transfer
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_CONDITIONS
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import CallExpr, ConstantExpr, Expression, OperandRole
from ptxkit.semantics.value_ops import NEGATED_COMPARISONS, SWAPPED_COMPARISONS, integer_type
from ptxkit.syntax.tree import Name, Not, Operand

#: The longest chain of predicates that are computed one from the other.
_DEPTH = 6


@dataclass(frozen=True, slots=True, eq=False)
class PathComparison:
    """A register compares in this way with another operand of the comparing step."""

    node: ValueNode
    test: str
    type: str
    step: Step
    other: Expression


class BranchConditions:
    """The conditions in one function."""

    def __init__(self, cfg: ControlFlowGraph, graph: ValueGraph) -> None:
        self._cfg, self._graph = cfg, graph
        self._of_block: dict[int, tuple[PathComparison, ...]] = {}
        self._of_edge: dict[tuple[int, int], tuple[PathComparison, ...]] = {}

    def before(self, step: Step) -> tuple[PathComparison, ...]:
        """Returns what holds whenever a step is executed."""
        guard = step.instruction.guard
        own = self._block(self._cfg.block_of(step))
        if guard is None or is_control_transfer(step):
            return own
        return (*self._predicate(step, Name(guard.predicate), not guard.negated, _DEPTH), *own)

    def along(self, block: int, following: int) -> tuple[PathComparison, ...]:
        """Returns what holds whenever control passes from one block to another."""
        return (*self._edge(block, following), *self._block(block))

    def _block(self, block: int) -> tuple[PathComparison, ...]:
        found = self._of_block.get(block)
        if found is None:
            listed: list[PathComparison] = []
            at: int | None = block
            while at is not None and len(listed) < MAX_CONDITIONS:
                predecessors = self._cfg.predecessors[at]
                if len(predecessors) == 1 and at != 0:
                    listed += self._edge(predecessors[0], at)
                at = self._cfg.dominators.parents[at]
            found = self._of_block[block] = tuple(listed)
        return found

    def _edge(self, block: int, following: int) -> tuple[PathComparison, ...]:
        found = self._of_edge.get((block, following))
        if found is None:
            found = self._of_edge[(block, following)] = tuple(self._find_edge(block, following))
        return found

    def _find_edge(self, block: int, following: int) -> Iterator[PathComparison]:
        last, side = self._cfg.steps_of_block(block)[-1], self._cfg.guarded_side(block, following)
        guard = last.instruction.guard
        if guard is not None and side is not None:
            yield from self._predicate(last, Name(guard.predicate), side != guard.negated, _DEPTH)

    def _predicate(self, step: Step, operand: Operand | None, truth: bool, depth: int) -> Iterator[PathComparison]:
        """Yields the comparisons that hold if a predicate has a truth value where a step reads it."""
        if isinstance(operand, Not):
            operand, truth = operand.operand, not truth
        if not isinstance(operand, Name) or not depth:
            return
        register = step.scope.register_name(operand.text)
        node = self._graph.before(step, register)
        if not isinstance(node, Assignment) or node.step.instruction.guard is not None:
            return
        for effect in node.step.effects:
            if not isinstance(effect, Value):
                continue
            target = node.step.operand(effect.result)
            if isinstance(target, Name) and node.step.scope.register_name(target.text) == register:
                yield from self._expression(node.step, effect.value, truth, depth - 1)
                return

    def _expression(self, step: Step, expression: Expression, truth: bool, depth: int) -> Iterator[PathComparison]:
        match expression:
            case OperandRole(name=role):
                yield from self._predicate(step, step.operand(role), truth, depth)
            case CallExpr(function="not", arguments=(ConstantExpr(value=1), inner)):
                yield from self._expression(step, inner, not truth, depth)
            case CallExpr(function="copy", arguments=(ConstantExpr(value=1), inner)):
                yield from self._expression(step, inner, truth, depth)
            case (
                CallExpr(function="and" | "or" as operator, arguments=(ConstantExpr(value=1), *inputs))
                | CallExpr(function="combine", arguments=(ConstantExpr(value="and" | "or" as operator), *inputs))
            ):
                if truth == (operator == "and"):
                    for each in inputs:
                        yield from self._expression(step, each, truth, depth)
            case CallExpr(
                function="compare",
                arguments=(ConstantExpr(value=str(test)), ConstantExpr(value=str(type_)), first, second),
            ) if integer_type(type_) is not None and test in NEGATED_COMPARISONS:
                holds = test if truth else NEGATED_COMPARISONS[test]
                yield from self._comparison(step, holds, type_, first, second)
                yield from self._comparison(step, SWAPPED_COMPARISONS[holds], type_, second, first)

    def _comparison(
        self, step: Step, test: str, type_: str, subject: Expression, other: Expression
    ) -> Iterator[PathComparison]:
        operand = step.operand(subject.name) if isinstance(subject, OperandRole) else None
        if not isinstance(operand, Name) or step.scope.variable(operand.text) is not None:
            return
        named = step.scope.find(operand.text)
        if named is not None and named.is_register:
            node = self._graph.before(step, step.scope.register_name(operand.text))
            yield PathComparison(node, test, type_, step, other)


def restrict_value(value: AbstractValue, condition: PathComparison, other: AbstractValue) -> AbstractValue:
    """Returns the part of a value for which a comparison with another value holds.

    Only integers are restricted: how addresses compare depends on where variables are placed.
    """
    bounds, type_ = integers_in(other), integer_type(condition.type)
    if type_ is None or (bounds is None and other != NO_VALUE):
        return value
    if bounds is None:
        return NO_VALUE
    found = []
    for each in value:
        if each.base is not None or each.width != type_[0]:
            found.append(each)
            continue
        kept = _restrict_range(each.offset, condition.test, resize(type_[0], bounds), is_signed=type_[1])
        if kept is not None:
            found.append(replace(each, offset=kept))
    return tuple(found)


def _restrict_range(held: StridedRange, test: str, bounds: StridedRange, *, is_signed: bool) -> StridedRange | None:
    low, high, _ = bounds.numbers(is_signed=is_signed)
    least, most, _ = held.numbers(is_signed=is_signed)
    match test:
        case "lt" | "lo":
            most = min(most, high - 1)
        case "le" | "ls":
            most = min(most, high)
        case "gt" | "hi":
            least = max(least, low + 1)
        case "ge" | "hs":
            least = max(least, low)
        case "eq":
            least, most = max(least, low), min(most, high)
        case "ne":
            return without(held, bounds.low) if bounds.is_single else held
    return restrict(held, least, most, is_signed=is_signed) if least <= most else None
