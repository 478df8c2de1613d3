"""Evaluates registers over the graph of their values, at several positions at once.

A position is a thread, or another case for which each register has its own number. A register that differs between the
executions of a step, such as a counter, is unknown.

Source: Braun et al., "Simple and Efficient Construction of Static Single Assignment Form".
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeAlias

from ptxkit.analysis.abstract_interpretation.cta_operands import CtaOperands
from ptxkit.analysis.abstract_interpretation.value_graph import Assignment, Merge, ValueGraph, ValueNode
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_VECTOR_DEPTH
from ptxkit.analysis.values.cta_values import CtaValue, per_thread
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.analysis.values.value_reader import Reader
from ptxkit.syntax.tree import Operand

NumberVector: TypeAlias = "tuple[int, ...]"
"""The number at each position."""


class GraphOperands(CtaOperands):
    """The registers of one function that have one number at each position.

    tids: the thread of each position. sizes: the beginnings of the names of the known registers with a size of the CTA.
    """

    def __init__(self, graph: ValueGraph, launch: LaunchConfig, tids: Sequence[int], sizes: tuple[str, ...]) -> None:
        super().__init__(launch, tids, sizes)
        self._graph = graph
        self._known: dict[ValueNode, CtaValue] = {}

    def positions_coming_from(self, block: int, target: int) -> Collection[int]:  # noqa: ARG002 - for subclasses
        """Returns the positions that may come to a block from another one; here all of them."""
        return range(len(self.tids))

    def predicate(self, step: Step, name: str) -> NumberVector | None:
        """Returns the value of a predicate where a step reads it; None if it is not known at each position."""
        return self.vector(self._at_depth(0)(step, name))

    def value_of(self, step: Step, operand: Operand | None) -> NumberVector | None:
        """Returns the value of an operand where a step reads it; None if it is not known at each position."""
        return self.vector(self.operand(step, operand, self._at_depth(0)))

    def _at_depth(self, depth: int) -> Reader[CtaValue]:
        return lambda step, text: self._node(self._graph.before(step, step.scope.register_name(text)), depth + 1)

    def _node(self, node: ValueNode, depth: int) -> CtaValue:
        if node in self._known:
            return self._known[node]
        if depth > MAX_VECTOR_DEPTH:
            return None
        self._known[node] = None  # for a register that depends on itself
        found: CtaValue = None
        if isinstance(node, Assignment):
            found = self._assignment(node, depth)
        elif isinstance(node, Merge):
            found = self._merge(node, depth)
        self._known[node] = found
        return found

    def _merge(self, node: Merge, depth: int) -> CtaValue:
        """Returns the value that each position has, whatever edge it comes from."""
        found: list[int | None] = [None] * len(self.tids)
        for block, source in self._graph.sources_of(node):
            value = self.vector(self._node(source, depth + 1))
            for at in range(len(found)) if block is None else self.positions_coming_from(block, node.block):
                known = found[at]
                if value is None or known not in (None, value[at]):
                    return None
                found[at] = value[at]
        return per_thread([each or 0 for each in found])

    def _assignment(self, node: Assignment, depth: int) -> CtaValue:
        step, guard = node.step, node.step.instruction.guard
        read = self._at_depth(depth)
        found = self.assigned_value(step, node.register, read)
        if guard is None or found is None:
            return found
        before = self._node(self._graph.before(step, node.register), depth + 1)
        pair = (before, found) if guard.negated else (found, before)
        return self.apply("select", (64, *pair, read(step, guard.predicate)))
