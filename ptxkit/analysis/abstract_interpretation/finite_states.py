"""Determines the numbers that a register has at the start of a loop, if they are few: the stage of a ring, its parity.

The registers that a loop carries from one iteration to the next are computed for each number that they may have, by
whatever instructions: selections, branches, divisions by magic numbers. Everything else may be any number, unless it
is computed from constants.

Source: PTX ISA, "Integer Arithmetic Instructions", "Comparison and Selection Instructions", "Control Flow
Instructions: bra".
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import product
from typing import TypeAlias

from ptxkit.analysis.abstract_interpretation.value_graph import Assignment, Merge, ValueGraph, ValueNode
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_FINITE_STATES, MAX_SPLIT_LOOPS, MAX_STATE_DEPTH, MAX_STATE_ROUNDS, MAX_STATE_WORK
from ptxkit.analysis.values.value_reader import ValueReader
from ptxkit.semantics.value_ops import INTEGER_OPERATIONS, bit_mask

Numbers: TypeAlias = "frozenset[int] | None"
"""The numbers that a value may be, without signs; None if they are unknown or too many."""

_TRUTH = frozenset((0, 1))


class Environment:
    """The numbers of the registers of the loops that are being executed, at the start of the current iteration.

    known: what was computed from them. is_closed: whether the registers of all other loops count as unknown.
    """

    def __init__(self, held: Mapping[Merge, frozenset[int]], *, is_closed: bool = False) -> None:
        self.held, self.is_closed = held, is_closed
        self.known: dict[ValueNode, Numbers] = {}

    @cached_property
    def closed(self) -> Environment:
        return self if self.is_closed else Environment(self.held, is_closed=True)


class FiniteStates:
    """The registers of one function with known paths that loops carry and that have few numbers."""

    def __init__(self, cfg: ControlFlowGraph, graph: ValueGraph) -> None:
        self._cfg, self._graph = cfg, graph
        self._reader = NumberSets()
        self._sets: dict[Merge, Numbers] = {}
        self._readers: dict[Merge, set[Merge]] = defaultdict(set)
        self._waiting: list[Merge] = []
        self._read: dict[Merge, None] = {}
        self._rounds: Counter[Merge] = Counter()
        self._current: Merge | None = None
        self._work = MAX_STATE_WORK

    def numbers_of(self, merge: Merge) -> Numbers:
        """Returns the numbers that a register has at the start of a loop with one entry; None if they are unknown."""
        unchanged = self._sole_source(merge)
        while isinstance(unchanged, Merge) and unchanged is not merge:
            merge, unchanged = unchanged, self._sole_source(unchanged)
        if not self._is_loop_entry(merge.block):
            return None
        if merge not in self._sets:
            self._solve(merge)
        return self._sets[merge] if self._work > 0 else None

    def _solve(self, first: Merge) -> None:
        """Computes the least sets of numbers that contain those of the first iterations, and what follows from each."""
        self._sets[first] = frozenset()
        self._waiting = [first]
        while self._waiting:
            merge = self._current = self._waiting.pop()
            before = self._sets[merge]
            self._rounds[merge] += 1
            if self._rounds[merge] > MAX_STATE_ROUNDS:
                before = self._sets[merge] = None
                self._waiting.extend(self._readers.pop(merge, ()))
            if before is None:
                continue
            found: Numbers = before
            fresh = [frozenset[int](), *(frozenset([each]) for each in before)]
            while fresh and found is not None:
                numbers = self._following(merge, {merge: fresh.pop()}, MAX_SPLIT_LOOPS)
                if numbers is None or len(found | numbers) > MAX_FINITE_STATES:
                    found = None
                    break
                fresh.extend(frozenset([each]) for each in numbers - found)
                found |= numbers
            if found != before:
                self._sets[merge] = found
                self._waiting.extend(self._readers[merge])
        self._current = None

    def _following(self, merge: Merge, held: dict[Merge, frozenset[int]], splits: int) -> Numbers:
        """Returns the numbers that come to a merge; each number of another loop's register on which they depend is a
        case of its own."""
        self._read.clear()
        found = self._join(merge, Environment(held), 0)
        others = [(each, numbers) for each in self._read if (numbers := self._sets[each]) and len(numbers) > 1]
        if not others or not splits or found is None or len(found) < 2:
            return found
        other, numbers = others[0]
        cases = [self._following(merge, {**held, other: frozenset([each])}, splits - 1) for each in numbers]
        return None if None in cases else frozenset(n for each in cases if each is not None for n in each)

    def _merge(self, merge: Merge, given: Environment, depth: int) -> Numbers:
        """Returns the numbers of a register at the start of a block, given those of the loops that contain it."""
        if merge in given.held:
            return given.held[merge]
        if depth > MAX_STATE_DEPTH:
            return None
        unchanged = self._sole_source(merge)
        if unchanged is not None:
            return self._node(unchanged, given, depth + 1)
        if not self._is_loop_entry(merge.block):
            held = {each: numbers for each, numbers in given.held.items() if self._is_in_iteration(merge, each)}
            is_same = len(held) == len(given.held)
            return self._join(merge, given if is_same else Environment(held, is_closed=given.is_closed), depth)
        if given.is_closed:
            return None
        if merge not in self._sets:
            self._sets[merge] = frozenset()
            self._waiting.append(merge)
        self._read[merge] = None
        if self._current is not None:
            self._readers[merge].add(self._current)
        return self._sets[merge]

    def _sole_source(self, merge: Merge) -> ValueNode | None:
        """Returns the only value that a merge may have, which the loop that begins there does not change."""
        sources = {node for _, node in self._graph.sources_of(merge) if node is not merge}
        return sources.pop() if len(sources) == 1 else None

    def _join(self, merge: Merge, given: Environment, depth: int) -> Numbers:
        """Returns the numbers that come to a merge on the edges that control may take."""
        found: frozenset[int] = frozenset()
        for block, source in self._graph.sources_of(merge):
            if block is not None and not self._may_pass(block, merge.block, given, depth):
                continue
            numbers = self._node(source, given, depth + 1)
            if numbers is None:
                return None
            found |= numbers
        return found

    def _is_loop_entry(self, block: int) -> bool:
        """Returns whether a block is the only entry of a loop."""
        loop = self._cfg.loops.innermost_loop(block)
        return loop is not None and loop.entries == {block}

    def _is_in_iteration(self, merge: Merge, outer: Merge) -> bool:
        """Returns whether a merge is inside the loop that begins with another one: both are of one iteration."""
        loop = self._cfg.loops.innermost_loop(outer.block)
        is_inside = loop is not None and merge.block in loop.nodes and merge.block != outer.block
        return is_inside and self._is_loop_entry(outer.block)

    def _may_pass(self, block: int, following: int, given: Environment, depth: int) -> bool:
        """Returns whether control may come from one block to another, by the branches that lead there."""
        for _ in range(MAX_STATE_DEPTH):
            if not self._may_pass_edge(block, following, given, depth):
                return False
            predecessors = self._cfg.predecessors[block]
            if len(predecessors) != 1 or any(merge.block == block for merge in given.held):
                return True
            (before,) = predecessors
            block, following = before, block
        return True

    def _may_pass_edge(self, block: int, following: int, given: Environment, depth: int) -> bool:
        last, is_taken = self._cfg.steps_of_block(block)[-1], self._cfg.guarded_side(block, following)
        guard = last.instruction.guard
        if guard is None or is_taken is None:
            return True
        found = self._register(last, guard.predicate, given.closed, depth + 1)
        return found is None or (is_taken != guard.negated) in {bool(each) for each in found} or not found

    def _node(self, node: ValueNode, given: Environment, depth: int) -> Numbers:
        if node in given.known:
            return given.known[node]
        self._work -= 1
        if self._work < 0 or depth > MAX_STATE_DEPTH:
            return None
        found: Numbers = None
        if isinstance(node, Merge):
            found = self._merge(node, given, depth)
        elif isinstance(node, Assignment):
            found = self._assignment(node, given, depth)
        given.known[node] = found
        return found

    def _assignment(self, node: Assignment, given: Environment, depth: int) -> Numbers:
        step, guard = node.step, node.step.instruction.guard
        found = self._reader.assigned_value(
            step, node.register, lambda at, text: self._register(at, text, given, depth)
        )
        if guard is None:
            return found
        executes = self._register(step, guard.predicate, given, depth)
        truths = {bool(each) != guard.negated for each in (_TRUTH if executes is None else executes)}
        before = (
            self._node(self._graph.before(step, node.register), given, depth + 1) if False in truths else frozenset()
        )
        found = found if True in truths else frozenset()
        return None if found is None or before is None else found | before

    def _register(self, step: Step, text: str, given: Environment, depth: int) -> Numbers:
        return self._node(self._graph.before(step, step.scope.register_name(text)), given, depth + 1)


class NumberSets(ValueReader[Numbers]):
    """The operands of steps as sets of numbers; the value of a special register or of a load is unknown."""

    def constant(self, number: int) -> Numbers:
        return frozenset([number & bit_mask(64)])

    def unknown(self) -> Numbers:
        return None

    def apply(self, name: str, arguments: Sequence[object]) -> Numbers:
        operation = INTEGER_OPERATIONS.get(name)
        if operation is None:
            return None
        columns = [[each] if at in operation.static else each for at, each in enumerate(arguments)]
        if name == "select" and columns[-1] is None:
            columns[-1] = _TRUTH
        known = [each for each in columns if isinstance(each, list | frozenset)]
        if len(known) < len(columns):
            return _TRUTH if name in ("compare", "combine") else None
        found = set()
        for count, row in enumerate(product(*known)):
            result = operation.compute(*row)
            if result is None or count > MAX_FINITE_STATES:
                return None
            found.add(result)
        return frozenset(found)
