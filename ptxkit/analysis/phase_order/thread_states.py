"""The states of the threads of a CTA, divided at each instruction that orders threads or asynchronous operations.

Source: PTX ISA, "mbarrier", "bar, barrier", "Asynchronous Operations", "Proxies".
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator

from ptxkit.analysis.abstract_interpretation.uniform_execution import UniformExecution
from ptxkit.analysis.abstract_interpretation.value_graph import Assignment, Merge, ValueNode
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph, is_control_transfer
from ptxkit.analysis.intervals.cta_states import CtaStates, Departure, IntervalState
from ptxkit.analysis.intervals.thread_values import Environment, Origin, ThreadValues
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.values.cta_values import CtaValue, MixedTerm, per_thread
from ptxkit.analysis.values.uniform_terms import Atom, UniformTerm, atom
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.effects import (
    Access,
    Barrier,
    CommitGroup,
    Effect,
    MbarrierEffect,
    MbarrierWait,
    MemoryFence,
    ProxyFence,
    TensorFence,
    WaitGroup,
)
from ptxkit.syntax.tree import Name


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a branch that an unknown decides.

    value: that of the predicate. threads: those for which it decides. is_uniform: whether they share it.
    """

    atom: Atom
    offset: int
    value: int
    threads: int
    is_uniform: bool = True


@dataclass(frozen=True, slots=True)
class WaitResult:
    """What a test of an mbarrier returned: whether the phase is complete."""

    is_complete: bool


#: An upper bound for the least counter that is replaced by one of unknown size.
_LEAST = 8


def ordering_steps(program: Program) -> list[Step]:
    """Returns the steps that order threads or asynchronous operations, so that a state ends there.

    A copy that completes on an mbarrier is one, since its bytes count; and so is one of a group with a guard, which
    decides about the commit that belongs to the copy. Memory fences count where there is relaxed synchronization.
    """
    steps = program.own_effectful_steps
    synchronizing = (each for step in steps for each in step.effects if isinstance(each, Barrier | MbarrierEffect))
    has_relaxed = any(getattr(each, "order", None) == "relaxed" for each in synchronizing)
    return [step for step in steps if _is_ordering(step) or (has_relaxed and any(map(_fences_memory, step.effects)))]


def _is_ordering(step: Step) -> bool:
    is_guarded = step.instruction.guard is not None
    return any(_orders(each) or (is_guarded and _is_bulk_copy(each)) for each in step.effects)


def _fences_memory(effect: Effect) -> bool:
    return isinstance(effect, MemoryFence) and effect.only is None


def _is_bulk_copy(effect: Effect) -> bool:
    return isinstance(effect, Access) and effect.completion == "bulk"


def _orders(effect: Effect) -> bool:
    if isinstance(effect, Barrier):
        return effect.level != "warp" or effect.order != "relaxed"
    if isinstance(effect, Access):
        return effect.completion == "wgmma"
    if isinstance(effect, TensorFence):
        return effect.side == "after"
    return isinstance(effect, MbarrierEffect | CommitGroup | WaitGroup | ProxyFence)


class ThreadStates(CtaStates):
    """The states of one kernel. A state ends at each step that orders something, which it has as its `barrier`.

    The environment gives the predicates of the tests of mbarriers: each is true or false. counted: the indexes of the
    steps whose guard a number of iterations decides, for all threads. leaving: the states at whose end threads may
    leave the kernel while others continue, with those that may, and what decides it.
    """

    def __init__(
        self,
        program: Program,
        cfg: ControlFlowGraph,
        values: ThreadValues,
        execution: UniformExecution,
        wanted: Iterable[tuple[int, ValueNode]],
        counted: Collection[int],
    ) -> None:
        self._counted = counted
        self.leaving: dict[IntervalState, tuple[int, Hashable]] = {}
        self._results = {node.step: node for node in wait_results(program, values)}
        super().__init__(program, cfg, values, execution, ordering_steps(program), wanted)

    def _examine_values(self) -> None:
        super()._examine_values()
        self._compared = self._values.compared_constants(node for _, node in self._wanted)

    def _least(self, origin: Origin, modulus: int) -> int:
        """Returns the least value that is replaced: code often treats the first iterations in a special way."""
        least = min(self._compared.get(origin, 0) + 2, _LEAST)
        return -(-least // modulus) * modulus

    def _leave(self, state: IntervalState) -> Iterator[Departure]:
        is_cut = state.end in self._barriers and self._is_in_block(state.end, state.block)
        if not is_cut:
            yield from self._branch(state, state.values, None)
            return
        step = state.barrier = self._program.steps[state.end]
        shared = self._values.numbers.shared
        kept = {origin: shared(self._approximate_value(origin, value)) for origin, value in state.values.items()}
        node = self._results.get(step)
        for result in (1, 0) if node is not None else (None,):
            values, choice = kept, None
            if node is not None and result is not None:
                choice = WaitResult(bool(result))
                if node in values:
                    values = {**kept, node: shared(self._result(node, result, state.values))}
            if self._is_in_block(state.end + 1, state.block):
                yield state.block, state.end + 1, values, state.threads, choice
            else:
                yield from self._branch(state, values, choice)

    def step_before(self, index: int) -> Step:
        """Returns the step before one with an index."""
        return self._program.steps[index - 1]

    def _is_in_block(self, index: int, block: int) -> bool:
        return index < len(self._program.steps) and super()._is_in_block(index, block)

    def _is_uniform(self, merge: Merge) -> bool:  # noqa: ARG002 (the other states distinguish merges)
        """Returns True: the threads that are in one state of a group have executed the same steps equally often."""
        return True

    def _values_at(self, block: int, after: int, values: Environment) -> Environment:
        """Returns the values at the start of a block; what a loop computes again is replaced as at an ordering step.

        A loop may be repeated without one.
        """
        found = super()._values_at(block, after, values)
        if not self._cfg.dominators.dominates(after, block):
            return found
        is_made = {each: isinstance(each, Merge) and each.block == after for each in found}
        shared = self._values.numbers.shared
        return {
            each: shared(self._approximate_value(each, value)) if is_made[each] else value
            for each, value in found.items()
        }

    def _result(self, node: Assignment, result: int, values: Environment) -> CtaValue:
        """Returns the predicate after a test, which threads keep whose guard is false."""
        guard = self._values.guard(node.step, values)
        if guard == 1:
            return result
        before = self._values.resolve(self._values.graph.before(node.step, node.register))
        old = self._values.value(before, values)
        if guard == 0:
            return old
        if not isinstance(guard, tuple) or not isinstance(old, int | tuple):
            return None
        held = (old,) * len(guard) if isinstance(old, int) else old
        return per_thread([result if runs & 1 else kept for runs, kept in zip(guard, held, strict=True)])

    def _branch(self, state: IntervalState, values: Environment, choice: WaitResult | None) -> Iterator[Departure]:
        cfg, block = self._cfg, state.block
        last = self._last_step[block]
        taken, others = state.threads, state.threads
        side: Side | None = None
        if last.instruction.guard is not None and is_control_transfer(last):
            taken, others = self._values.members(last, values)
            if taken & others:
                side = self.side_of(last, values)
            if block in cfg.exit_blocks:
                self.leaving[state] = (state.threads & taken, side)
        for each in cfg.successors[block]:
            is_taken = cfg.guarded_side(block, each)
            own = state.threads if is_taken is None else state.threads & (taken if is_taken else others)
            label: Hashable = side or choice
            if is_taken is None:
                label = choice
            elif isinstance(side, Side) and not is_taken:
                label = replace(side, value=1 - side.value)
            yield each, cfg.block_starts[each], self._values_at(block, each, values), own, label

    def side_of(self, step: Step, values: Environment) -> Side:
        """Returns the value of the predicate with which a step is executed, which an unknown decides."""
        guard = step.instruction.guard
        assert guard is not None
        if step.index in self._counted:
            return Side(atom("iterations", step.index), 0, int(not guard.negated), self._all)
        held = self._values.value(self._values.node_before(step, guard.predicate), values)
        threads = self._all
        if isinstance(held, MixedTerm):
            threads, held = held.unknown, held.term
        if isinstance(held, UniformTerm) and isinstance(held.offset, int):
            return Side(held.atom, held.offset, int(not guard.negated), threads)
        return Side(atom("data", step.index), 0, int(not guard.negated), self._all, is_uniform=False)

    def ends_kernel(self, state: IntervalState) -> bool:
        """Returns whether threads leave the kernel at the end of a state; a trap ends all of them."""
        return state.barrier is None and not state.following and state.block in self._cfg.exit_blocks


def wait_results(program: Program, values: ThreadValues) -> Iterator[Assignment]:
    """Yields the predicates that tests of mbarriers assign."""
    for step in program.own_effectful_steps:
        for effect in step.effects:
            operand = step.operand(effect.result) if isinstance(effect, MbarrierWait) else None
            if isinstance(operand, Name):
                yield values.graph.after(step, step.scope.register_name(operand.text))
