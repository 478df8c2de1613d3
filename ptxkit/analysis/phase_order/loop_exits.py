"""The branches of one kernel that an unknown number of iterations decides.

A loop is left at one branch, whose predicate depends on one register that the loop advances from a value, by a rule and
to a limit that arguments determine. Two loops that agree in all of this have the same number of iterations, whichever
threads execute them. A loop that counts by a constant is described by the number with which its position is compared,
so that it does not matter whether it counts up or down, in which steps, or whether it is tested before or after the
counter is advanced. Other predicates in the loop compare the same counter with a limit, so that a copy is started only
for an iteration that exists.

Compilers unroll loops: one loop counts to the largest multiple of four in the number, say, and the code after it counts
the rest. Both continue the same count.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.analysis.abstract_interpretation.value_graph import Merge, ValueNode
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph, is_control_transfer
from ptxkit.analysis.cfg.loops import CfgLoop, reachable_nodes
from ptxkit.analysis.intervals.thread_values import ThreadValues
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.phase_order.counted_numbers import as_rest, exit_by_distance, test_of_number
from ptxkit.analysis.phase_order.iteration_counts import LoopExit
from ptxkit.analysis.values.cta_values import CtaValue, MixedTerm, is_uniform
from ptxkit.analysis.values.uniform_terms import UniformTerm, atom
from ptxkit.fast_dataclasses import dataclass, replace

#: The value of the register that a loop advances, while its expressions are described.
_PROBE = UniformTerm(atom("counter"))


@dataclass(frozen=True, slots=True)
class _Counter:
    """A register that a loop advances, from its first value. following: the next value after `_PROBE`.

    continued: the exit of the loop before, if the first value is relative to the position that this loop has left.
    """

    merge: Merge
    first: CtaValue
    following: CtaValue
    continued: LoopExit | None = None


def loop_exits(
    program: Program, cfg: ControlFlowGraph, values: ThreadValues, guarded: Iterable[Step]
) -> dict[int, LoopExit]:
    """Returns the branches that a number of iterations decides, and the tests for later iterations, by their index.

    guarded: the steps whose guards may be such tests.
    """
    return _Description(program, cfg, values, guarded).found


class _Description:
    def __init__(self, program: Program, cfg: ControlFlowGraph, values: ThreadValues, guarded: Iterable[Step]) -> None:
        self._program, self._cfg, self._values = program, cfg, values
        self._ending = reachable_nodes(cfg.predecessors, cfg.exit_blocks)  # the others lead to a trap
        self._left: dict[Merge, tuple[_Counter, LoopExit]] = {}
        self.found: dict[int, LoopExit] = {}
        guarded = list(guarded)
        loops = [(loop, last) for loop in cfg.loops.loops if (last := self._last_of(loop)) is not None]
        for _ in range(2):  # a loop may continue the count of another one
            for loop, last in loops:
                testing = [step for step in guarded if cfg.loops.innermost_loop(cfg.block_of(step)) is loop]
                self._add_loop(loop, last, testing)
        for step in guarded:
            if cfg.loops.innermost_loop(cfg.block_of(step)) is None and step.index not in self.found:
                self._add_test_of_rest(step)

    def _last_of(self, loop: CfgLoop) -> Step | None:
        """Returns the branch at which a loop is left, if it is the only one and each iteration executes it once."""
        cfg = self._cfg
        leaving = {block for block, after in cfg.loops.exit_edges(loop) if after in self._ending}
        if len(leaving) != 1 or len(loop.entries) != 1:
            return None
        (block,) = leaving
        (entry,) = loop.entries
        last = cfg.steps_of_block(block)[-1]
        latches = [each for each in cfg.predecessors[entry] if each in loop.nodes]
        is_once = cfg.loops.innermost_loop(block) is loop and all(
            cfg.dominators.dominates(block, latch) for latch in latches
        )
        return last if is_once and last.instruction.guard is not None and is_control_transfer(last) else None

    def _add_loop(self, loop: CfgLoop, last: Step, testing: Iterable[Step]) -> None:
        guard = last.instruction.guard
        assert guard is not None
        ends = {self._cfg.block_of(self._program.steps[at]) for at in last.targets if at < len(self._program.steps)}
        stays = int(any(each in loop.nodes for each in ends) != guard.negated)
        described = self._describe(last, loop, (stays,))
        if described is None:
            return
        counter, leaving = described
        tests: dict[int, LoopExit] = {}
        for step in testing:
            found = self._describe(step, loop, (1, 0)) if step is not last else None
            if found is not None:
                tests[step.index] = found[1].as_test(is_passed=self._cfg.dominates(last, step))
        others = dict.fromkeys((each.number, each.step) for each in tests.values())
        self.found.update(tests)
        self.found[last.index] = leaving.with_others(tuple(each for each in others if each[0] != leaving.number))
        self._left[counter.merge] = counter, leaving

    def _describe(self, step: Step, loop: CfgLoop, sides: tuple[int, ...]) -> tuple[_Counter, LoopExit] | None:
        """Returns the exit that the guard of a step is. sides: the values of it that may continue the loop."""
        values = self._values
        (node,) = values.guard_nodes(step)
        support = list(values.support_of([node]))
        if len(support) != 1 or not isinstance(support[0], Merge) or support[0].block not in loop.entries:
            return None
        counter = self._counter_of(support[0], loop)
        if counter is None:
            return None
        held = values.value(node, {counter.merge: _PROBE})
        test = held.term if isinstance(held, MixedTerm) else held
        if not isinstance(test, UniformTerm) or test.offset != 0:
            return None
        by_distance = (exit_by_distance(_PROBE, counter.first, counter.following, test, each) for each in sides)
        found = next((each for each in by_distance if each is not None), None)
        if counter.continued is not None:
            if found is None or found.number != counter.continued.number:
                return None
            alone = replace(found, number=("rest", step.index))
            found = replace(found, continues=counter.continued.rest, rest=0, alone=alone)
        elif found is None:
            found = LoopExit((counter.first, counter.following, test), 0, sides[0])
        else:
            found = self._as_rest(found) or found
        is_of_all = held is test and isinstance(values.value(node, {counter.merge: counter.first}), UniformTerm)
        return counter, replace(found, is_of_all=is_of_all)

    def _counter_of(self, merge: Merge, loop: CfgLoop) -> _Counter | None:
        """Returns the register that a loop advances, if its first value and the rule are known."""
        values = self._values
        sources = values.graph.sources_of(merge)
        starts = [values.resolve(source) for block, source in sources if block not in loop.nodes]
        steps = [values.resolve(source) for block, source in sources if block in loop.nodes]
        if len(starts) != 1 or len(steps) != 1 or values.support_of(steps) - {merge}:
            return None
        following = values.value(steps[0], {merge: _PROBE})
        if not is_uniform(following):
            return None
        if values.support_of(starts):
            continued = self._continued_count(starts[0])
            return None if continued is None else _Counter(merge, continued[0], following, continued[1])
        first = values.value(starts[0], {})
        return _Counter(merge, first, following) if is_uniform(first) else None

    def _continued_count(self, start: ValueNode) -> tuple[int, LoopExit] | None:
        """Returns a value relative to the position that a loop has left, and the exit of this loop.

        Where the loop is skipped, the value is the same relative to the position 0.
        """
        values = self._values
        (merge, *others) = values.support_of([start])
        moved = values.value(start, {merge: _PROBE})
        if others or not isinstance(merge, Merge) or not isinstance(moved, UniformTerm) or moved.atom != _PROBE.atom:
            return None
        found: set[int] = set()
        leaving: set[LoopExit] = set()
        for _, source in values.graph.sources_of(merge):
            node = values.resolve(source)
            support = values.support_of([node])
            if not support:
                value = values.value(node, {})
                if not isinstance(value, int):
                    return None
                found.add(value)
                continue
            (counter_merge, *more) = support
            if more or not isinstance(counter_merge, Merge) or counter_merge not in self._left:
                return None
            counter, left = self._left[counter_merge]
            last = values.value(node, {counter_merge: _PROBE})
            if not isinstance(last, UniformTerm) or last.atom != _PROBE.atom or not left.rest:
                return None
            if not isinstance(counter.first, int) or counter.following != replace(_PROBE, offset=left.step):
                return None
            assert isinstance(last.offset, int)
            found.add(counter.first + last.offset + left.rest - left.offset)
            leaving.add(left)
        if len(found) != 1 or len(leaving) != 1 or not isinstance(moved.offset, int):
            return None
        return found.pop() + moved.offset, leaving.pop()

    def _add_test_of_rest(self, step: Step) -> None:
        """Adds a branch that tests whether a loop in larger steps has left a part of its number."""
        (node,) = self._values.guard_nodes(step)
        held = self._values.value(node, {}) if not self._values.support_of([node]) else None
        found = test_of_number(held) if isinstance(held, UniformTerm) and held.offset == 0 else None
        rest = self._as_rest(found) if found is not None else None
        if rest is not None:
            self.found[step.index] = rest

    def _as_rest(self, leaving: LoopExit) -> LoopExit | None:
        """Returns an exit as one that counts what another loop has left of a number; None if there is no such loop."""
        rest = as_rest(leaving)
        lefts = {(left.number, left.rest) for _, left in self._left.values()}
        return rest if rest is not None and (rest.number, rest.continues) in lefts else None
