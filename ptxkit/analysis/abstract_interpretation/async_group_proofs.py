"""Proves for all paths of a function that asynchronous operations are committed, and complete where they must be."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

from ptxkit.analysis.abstract_interpretation.async_groups import AsyncGroups, AsyncGroupState, WorkLimitError
from ptxkit.analysis.abstract_interpretation.path_cases import PathCase, path_cases
from ptxkit.analysis.abstract_interpretation.returning_calls import ReturningCalls, has_known_paths
from ptxkit.analysis.abstract_interpretation.solver import ForwardSolution
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step

Proof = tuple[Step, ...]
"""The steps on which a proof rests, in the order of the text."""


class AsyncGroupProofs:
    """The proofs about the operations that one function starts, until it returns or the thread exits.

    Nothing is proven about a function with an instruction that the table does not know, or with unknown branch targets.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._calls = ReturningCalls(program)
        self._cfg = program.analysis(ControlFlowGraph)
        self._domain = AsyncGroups(program)
        self._commits: dict[int, set[Step]] = defaultdict(set)
        self._waits: dict[int, set[Step]] = defaultdict(set)
        self._binding: dict[int, set[Step]] = defaultdict(set)
        self._unbound_at_exit: set[int] = set()
        self._reading_at_exit: set[int] = set()

    def proof_of_commit(self, step: Step) -> Proof | None:
        """Returns the commits of which one follows a step on each path to an exit, or that an mbarrier tracks it.

        The result is None if there may be a path without.
        """
        if not self._is_solved or step.index not in self._domain.starts or step.index in self._unbound_at_exit:
            return None
        return _in_text_order(self._binding[step.index])

    def proof_of_read_sources(self, step: Step) -> Proof | None:
        """Returns the commits and waits after which the operations of a step have read their sources before an exit."""
        if not self._is_solved or step.index not in self._domain.starts or step.index in self._reading_at_exit:
            return None
        return _in_text_order((*self._commits[step.index], *self._waits[step.index]))

    def waits_for(self, starts: Iterable[int]) -> Proof:
        """Returns the commits and waits that complete the operations of some steps on some path."""
        return _in_text_order(step for index in starts for step in (*self._commits[index], *self._waits[index]))

    def group_of(self, index: int) -> str:
        """Returns the group of the operations that the step with an index starts."""
        return self._domain.starts[index]

    @property
    def is_applicable(self) -> bool:
        """Whether all paths of the function are known."""
        return self._is_solved

    def pending_before(self, steps: Iterable[Step]) -> Mapping[Step, frozenset[int]]:
        """Returns, for each of some steps, the steps whose operations may be incomplete before it, by their indices."""
        return self._collect_before(steps, lambda state: state.pending)

    def uncommitted_before(self, steps: Iterable[Step]) -> Mapping[Step, frozenset[int]]:
        """Returns the same for the steps whose operations may be in no group yet."""
        return self._collect_before(steps, lambda state: [at for at, commits in state.pending.items() if not commits])

    def _collect_before(
        self, steps: Iterable[Step], part: Callable[[AsyncGroupState], Iterable[int]]
    ) -> Mapping[Step, frozenset[int]]:
        wanted: dict[int, list[Step]] = defaultdict(list)
        for step in steps:
            wanted[self._cfg.block_of(step)].append(step)
        found: dict[Step, frozenset[int]] = {}
        for _, solution in self._solutions:
            for block, own in wanted.items():
                before = list(solution.states_before(block))
                end = solution.state_at_end(block)
                for step in own if end is not None else ():
                    later = (state for other, state in before if other.index >= step.index)
                    state = next(later, end)
                    assert state is not None
                    found[step] = found.get(step, frozenset()).union(part(state))
        return found

    @cached_property
    def _solutions(self) -> list[tuple[PathCase, ForwardSolution[AsyncGroupState]]]:
        steps = [step for step in self._program.own_effectful_steps if self._domain.is_relevant(step)]
        cases = path_cases(self._program, self._cfg, steps)
        return [(case, ForwardSolution(case, self._domain)) for case in cases]

    @cached_property
    def _is_solved(self) -> bool:
        """Whether the paths of the function are known; then the results of all cases are collected."""
        if not has_known_paths(self._program):
            return False
        try:
            self._collect_all()
        except WorkLimitError:
            return False
        self._domain.lift_limit()
        return True

    def _collect_all(self) -> None:
        for case, solution in self._solutions:
            for block in range(len(self._cfg.block_starts)):
                for step, state in solution.states_before(block):
                    self._collect(step, state, solution.apply(step, state))
                end = solution.state_at_end(block)
                if end is not None and case.may_leave(block):
                    self._collect_exit(end)

    def _collect(self, step: Step, before: AsyncGroupState, after: AsyncGroupState) -> None:
        if not self._calls.returns(step):
            self._collect_exit(before)
        for index in before.unbound - after.unbound:
            self._binding[index].add(step)
        if before.pending is after.pending and before.reading is after.reading:
            return
        for old, new in ((before.pending, after.pending), (before.reading, after.reading)):
            for index, count in old.items():
                if index not in new:
                    self._waits[index].add(step)
                elif new[index] > count:
                    self._commits[index].add(step)

    def _collect_exit(self, state: AsyncGroupState) -> None:
        self._unbound_at_exit |= state.unbound
        self._reading_at_exit |= state.reading.keys()


def _in_text_order(steps: Iterable[Step]) -> Proof:
    return tuple(sorted(dict.fromkeys(steps), key=lambda step: step.index))
