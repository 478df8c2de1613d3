"""Computes what each register may hold where an instruction reads it, on any path, for every thread and all data.

The values are the least fixed point over the assignments on which a question depends, with widening at merges. The
conditions of the branches that lead to an instruction, and its guard, restrict the values there.

Source: Cousot and Cousot, "Abstract Interpretation: A Unified Lattice Model for Static Analysis of Programs by
Construction or Approximation of Fixpoints".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property, reduce
from heapq import heappop, heappush

from ptxkit.analysis.abstract_interpretation.abstract_values import (
    NO_VALUE,
    AbstractValue,
    integers,
    join_values,
    unknown,
    widen_values,
)
from ptxkit.analysis.abstract_interpretation.branch_conditions import BranchConditions, PathComparison, restrict_value
from ptxkit.analysis.abstract_interpretation.finite_states import FiniteStates
from ptxkit.analysis.abstract_interpretation.operand_reader import AbstractOperands
from ptxkit.analysis.abstract_interpretation.returning_calls import has_known_paths
from ptxkit.analysis.abstract_interpretation.strided_ranges import join_ranges, single
from ptxkit.analysis.abstract_interpretation.value_graph import Assignment, Merge, Unassigned, ValueGraph, ValueNode
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.step_registers import read_operands
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.limits import (
    MAX_PRECISE_VISITS,
    MAX_REFINED_DEPTH,
    MAX_THRESHOLD_VISITS,
    MAX_VALUE_WORK,
    MAX_WIDENED_VISITS,
)
from ptxkit.analysis.values.value_reader import Reader
from ptxkit.isa.effects import Value
from ptxkit.isa.expressions import CallExpr, Expression
from ptxkit.syntax.tree import Function, Integer, Name, Operand, operand_names

_Conditions = tuple[PathComparison, ...]


class AbstractRegisters:
    """The values of the registers of one function.

    declared: the kernel with other directives than those of the program, with which it shares what they do not decide.
    """

    def __init__(self, program: Program, declared: Function | None = None) -> None:
        self._program, self._cfg = program, program.analysis(ControlFlowGraph)
        self.reader = AbstractOperands(program, declared or program.function)
        like = program.analysis(AbstractRegisters) if declared is not None else None
        self.graph: ValueGraph = ValueGraph(program, self._cfg) if like is None else like.graph
        self.states: FiniteStates = FiniteStates(self._cfg, self.graph) if like is None else like.states
        self._conditions: BranchConditions = (
            BranchConditions(self._cfg, self.graph) if like is None else like._conditions
        )
        self._known: dict[ValueNode, AbstractValue] = {}
        self._widths: dict[str, int] = {}
        self._visits: dict[ValueNode, int] = defaultdict(int)
        self._dependents: dict[ValueNode, set[ValueNode]] = defaultdict(set)
        self._waiting: list[tuple[int, int, ValueNode]] = []
        self._queued: set[ValueNode] = set()
        self._current: ValueNode | None = None
        self._work = MAX_VALUE_WORK
        self._count = 0
        self._answers: dict[tuple[Step, Operand | None], AbstractValue] = {}
        self._sources: dict[tuple[Step, Operand | None], tuple[Step, ...]] = {}
        self._sources_by_node: dict[ValueNode, frozenset[Step]] = {}

    @cached_property
    def is_applicable(self) -> bool:
        """Whether the instructions and the branch targets of the function are known."""
        return has_known_paths(self._program)

    def value_at(self, step: Step, operand: Operand | None) -> AbstractValue:
        """Returns what an operand may hold whenever a step is executed."""
        if not self.is_applicable:
            return unknown(64)
        found = self._answers.get((step, operand))
        if found is None:
            conditions = self._conditions.before(step)
            found = self._settle(lambda: self._read_operand(step, operand, conditions))
            self._answers[(step, operand)] = found
        return found

    def value_of(self, step: Step, text: str) -> AbstractValue:
        """Returns what a register may hold whenever a step reads it, without the conditions that lead to the step."""
        if not self.is_applicable:
            return unknown(self.reader.width_of(step, text))
        return self._settle(lambda: self._register(step, text))

    def spaces_of(self, step: Step, operand: Operand | None) -> frozenset[str | None]:
        """Returns the spaces in which an operand may hold an address when a step reads it; none if no thread does.

        The spaces include `generic` for a generic address outside `global`, `shared::cluster` for the result of `mapa`,
        and None for a number, and where the space is unknown.
        """
        values = self.value_at(step, operand) if self._program.contains(step) else unknown(64)
        return frozenset(
            f"{each.window}::cluster" if each.is_remote and each.window == "shared" else each.window or None
            for each in values
        )

    def may_be_remote(self, step: Step, operand: Operand | None) -> bool:
        """Returns whether an operand may hold the address of shared memory that `mapa` has mapped to another CTA."""
        return self._program.contains(step) and any(each.is_remote for each in self.value_at(step, operand))

    def _settle(self, question: object) -> AbstractValue:
        assert callable(question)
        result: AbstractValue = question()
        while self._waiting:
            self._solve()
            result = question()
        return result

    def _read_operand(self, step: Step, operand: Operand | None, conditions: _Conditions) -> AbstractValue:
        if not conditions:
            return self.reader.operand(step, operand, self._register)
        known: dict[ValueNode, AbstractValue] = {}
        by_node = self._by_node(conditions)

        def read(at: Step, text: str) -> AbstractValue:
            node = self.graph.before(at, self._note_width(at, text))
            return self._refine(node, by_node, known, 0)

        return self.reader.operand(step, operand, read)

    def _register(self, step: Step, text: str) -> AbstractValue:
        return self._get(self.graph.before(step, self._note_width(step, text)))

    def _note_width(self, step: Step, text: str) -> str:
        """Returns the register of a name, whose width is noted."""
        register = step.scope.register_name(text)
        if register not in self._widths:
            self._widths[register] = self.reader.width_of(step, text)
        return register

    def _get(self, node: ValueNode) -> AbstractValue:
        """Returns the value of a node so far, and notes who depends on it."""
        if isinstance(node, Unassigned):
            return unknown(self._widths.get(node.register, 64))
        if self._current is not None:
            self._dependents[node].add(self._current)
        found = self._known.get(node)
        if found is None:
            numbers = self.states.numbers_of(node) if isinstance(node, Merge) else None
            if numbers:
                width = self._widths.get(node.register, 64)
                found = self._known[node] = integers(reduce(join_ranges, (single(width, each) for each in numbers)))
                return found
            found = self._known[node] = NO_VALUE
            self._queue(node)
        return found

    def _queue(self, node: ValueNode) -> None:
        if node not in self._queued:
            self._queued.add(node)
            self._count += 1
            heappush(self._waiting, (self._position(node), self._count, node))

    def _position(self, node: ValueNode) -> int:
        """Returns a number that orders the nodes as the text does, so that most operands are computed first."""
        if isinstance(node, Assignment):
            return 2 * node.step.index + 1
        return 2 * self._cfg.block_starts[node.block] if isinstance(node, Merge) else 0

    def _solve(self) -> None:
        """Computes the values that wait until none changes."""
        while self._waiting:
            node = heappop(self._waiting)[-1]
            self._queued.discard(node)
            old = self._known[node]
            self._work -= 1
            new = self._evaluate(node) if self._work > 0 else unknown(self._widths.get(node.register, 64))
            visits = self._visits[node]
            if new != old:
                if isinstance(node, Merge) or visits > MAX_WIDENED_VISITS:
                    new = self._widen(old, new, visits)
                if new == old:
                    continue
                self._visits[node] = visits + 1
                self._known[node] = new
                for each in self._dependents[node]:
                    self._queue(each)

    def _widen(self, old: AbstractValue, new: AbstractValue, visits: int) -> AbstractValue:
        if visits > MAX_WIDENED_VISITS:
            joined = join_values(old, new)
            return old if joined == old else unknown(max(each.width for each in joined))
        if visits <= MAX_PRECISE_VISITS:
            return join_values(old, new)
        return widen_values(old, new, self._thresholds if visits <= MAX_THRESHOLD_VISITS else ())

    @cached_property
    def _thresholds(self) -> list[int]:
        """The constants with which steps compare and the numbers next to them, where a loop may end."""
        found = {0, 1}
        for step in self._program.steps:
            if any(isinstance(each, Value) and _compares(each.value) for each in step.effects):
                for operand in step.instruction.operands:
                    found.update(
                        near for each in self._constants_in(step, operand) for near in (each - 1, each, each + 1)
                    )
        return sorted(found)

    def _constants_in(self, step: Step, operand: Operand) -> list[int]:
        """Returns the constant that an operand is, or that the only assignment of its register contains."""
        if isinstance(operand, Integer):
            return [operand.value]
        steps = (
            self._program.definitions.get(step.scope.register_name(operand.text), ())
            if isinstance(operand, Name)
            else ()
        )
        operands = steps[0].instruction.operands if len(steps) == 1 else ()
        return [each.value for each in operands if isinstance(each, Integer)]

    def _evaluate(self, node: ValueNode) -> AbstractValue:
        self._current = node
        try:
            if isinstance(node, Merge):
                return self._evaluate_merge(node)
            assert isinstance(node, Assignment)
            return self._evaluate_assignment(node, self._register)
        finally:
            self._current = None

    def _evaluate_assignment(self, node: Assignment, read: Reader[AbstractValue]) -> AbstractValue:
        value = self.reader.assigned_value(node.step, node.register, read)
        if node.step.instruction.guard is None:
            return value
        before = self._get(self.graph.before(node.step, node.register))
        return join_values(value, before)

    def _evaluate_merge(self, node: Merge) -> AbstractValue:
        found = NO_VALUE
        for block, source in self.graph.sources_of(node):
            conditions = () if block is None else self._conditions.along(block, node.block)
            value = self._refine(source, self._by_node(conditions), {}, 0) if conditions else self._get(source)
            found = join_values(found, value)
        return found

    def _by_node(self, conditions: _Conditions) -> Mapping[ValueNode, list[PathComparison]]:
        found: dict[ValueNode, list[PathComparison]] = defaultdict(list)
        for each in conditions:
            found[each.node].append(each)
        return found

    def _refine(
        self,
        node: ValueNode,
        conditions: Mapping[ValueNode, list[PathComparison]],
        known: dict[ValueNode, AbstractValue],
        depth: int,
    ) -> AbstractValue:
        """Returns the value of a node where conditions hold."""
        found = known.get(node)
        if found is not None:
            return found
        value = self._get(node)
        if isinstance(node, Assignment) and depth < MAX_REFINED_DEPTH and self._is_arithmetic(node):

            def read(at: Step, text: str) -> AbstractValue:
                inner = self.graph.before(at, self._note_width(at, text))
                return self._refine(inner, conditions, known, depth + 1)

            value = self._evaluate_assignment(node, read)
        for each in conditions.get(node, ()):
            other = self.reader.expression(each.step, each.other, self._register)
            value = restrict_value(value, each, other)
        known[node] = value
        return value

    def _is_arithmetic(self, node: Assignment) -> bool:
        """Returns whether a value is computed from other registers of the thread, once, by a step without a guard."""
        step = node.step
        values = [effect for effect in step.effects if isinstance(effect, Value)]
        return step.instruction.guard is None and len(values) == 1 and _is_pure(values[0].value)

    def sources_of(self, step: Step, operand: Operand | None) -> tuple[Step, ...]:
        """Returns the instructions from which an operand has the bases of its addresses, in the order of the text.

        These name a variable, load an argument of the kernel, or convert an address.
        """
        known = self._sources.get((step, operand))
        if known is None:
            known = self._sources[(step, operand)] = self._find_sources(step, operand)
        return known

    def _find_sources(self, step: Step, operand: Operand | None) -> tuple[Step, ...]:
        found = set[Step]().union(*map(self._sources_of_node, self._nodes_in(step, operand)))
        return tuple(sorted(found, key=lambda each: each.index))

    def _sources_of_node(self, first: ValueNode) -> frozenset[Step]:
        """Returns the instructions from which a value has its bases; addresses often begin with the same value."""
        if first in self._sources_by_node:
            return self._sources_by_node[first]
        found: set[Step] = set()
        nodes = Worklist([first])
        for node in nodes:
            if node in self._sources_by_node:
                found |= self._sources_by_node[node]
            elif isinstance(node, Merge):
                nodes.add(each for _, each in self.graph.sources_of(node))
            elif isinstance(node, Assignment):
                if self.reader.is_source(node.step):
                    found.add(node.step)
                for each in (*read_operands(node.step), self.reader.forwarded.get(node.step)):
                    nodes.add(self._nodes_in(node.step, each))
                if node.step.instruction.guard is not None:
                    nodes.add([self.graph.before(node.step, node.register)])
        return self._sources_by_node.setdefault(first, frozenset(found))

    def _nodes_in(self, step: Step, operand: Operand | None) -> list[ValueNode]:
        """Returns the values of the registers in an operand that may be addresses."""
        found = []
        for name in operand_names(operand):
            named = step.scope.find(name)
            if named is not None and named.is_register and step.scope.variable(name) is None:
                value = self.value_of(step, name)
                if any(each.base is not None for each in value):
                    found.append(self.graph.before(step, step.scope.register_name(name)))
        return found

    def all_values(self) -> Iterator[tuple[Assignment, AbstractValue]]:
        """Yields the value of each register after each step that assigns it."""
        for step in self._program.steps:
            for register in dict.fromkeys(step.result_registers()):
                node = self.graph.after(step, register)
                yield node, self._settle(lambda node=node: self._get(node))


def _compares(expression: Expression) -> bool:
    if not isinstance(expression, CallExpr):
        return False
    return expression.function == "compare" or any(map(_compares, expression.arguments))


def _is_pure(expression: Expression) -> bool:
    if isinstance(expression, CallExpr):
        return expression.function not in _IMPURE and all(map(_is_pure, expression.arguments))
    return True


#: The operations whose result does not only depend on the operands in the same thread.
_IMPURE = ("load", "unknown", "float", "shuffle", "redux", "elected", "vote", "ballot")
