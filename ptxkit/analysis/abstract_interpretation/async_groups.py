"""Tracks the asynchronous operations of a thread by group, on all paths: which may be in flight at an instruction.

For each instruction that starts operations, a state has the least number of groups that were committed since on any
path. A wait that leaves fewer groups pending completes the operations. An operation that was started in an earlier
iteration of a loop was followed by at least as many groups as the last one, so one number represents all of them.

Source: PTX ISA, "Async-group mechanism", "cp.async.wait_group / cp.async.wait_all", "cp.async.bulk.wait_group",
"wgmma.wait_group", "cp.async.mbarrier.arrive".
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import TypeAlias

from ptxkit.analysis.abstract_interpretation.returning_calls import ReturningCalls
from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step, callee_of
from ptxkit.analysis.limits import MAX_GROUP_WORK, MAX_PENDING_COMMITS
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effects import Access, AsyncRegisters, CommitGroup, Control, Effect, MbarrierTrack, WaitGroup
from ptxkit.isa.expressions import ConstantExpr, OperandRole
from ptxkit.syntax.tree import Integer

Flight: TypeAlias = Mapping[int, int]
"""By the index of the step that starts operations, the least number of groups that were committed since."""

_TRACKED_BY_MBARRIER = "cp.async"


@dataclass(frozen=True, slots=True)
class AsyncGroupState:
    """What may hold for the operations that a thread has started.

    unbound: the steps whose operations may be neither committed to a group nor tracked by an mbarrier. pending: those
    whose operations may be incomplete. reading: those whose operations may still read their sources.
    """

    unbound: frozenset[int] = frozenset()
    pending: Flight = field(default_factory=dict)
    reading: Flight = field(default_factory=dict)


class WorkLimitError(Exception):
    """The analysis of a function would take too long."""


class AsyncGroups:
    """The domain: the operations of one function. `transfer` raises WorkLimitError where the limit is exceeded."""

    def __init__(self, program: Program) -> None:
        self._group_of: dict[int, str] = {}
        self._work: float = MAX_GROUP_WORK
        self._called: dict[int, list[Step]] = {}
        calls = ReturningCalls(program)
        for step in program.own_effectful_steps:
            for effect in step.effects:
                group = _group_started(effect)
                if group is not None:
                    self._group_of[step.index] = group
            callee = program.callees.get(callee_of(step) or "")
            if callee is not None and calls.returns(step):
                self._called[step.index] = _certain_steps(callee)

    @property
    def starts(self) -> Mapping[int, str]:
        """The group of each step that starts operations, by its index."""
        return self._group_of

    def lift_limit(self) -> None:
        """Ends the limit of the work: the problem is solved, and what is left visits each step once."""
        self._work = inf

    def is_relevant(self, step: Step) -> bool:
        """Returns whether a step starts operations or changes their state, or is a call, which may end the thread."""
        return step.index in self._group_of or any(map(_is_relevant_effect, step.effects))

    def entry(self) -> AsyncGroupState:
        return AsyncGroupState()

    def join(self, first: AsyncGroupState, second: AsyncGroupState) -> AsyncGroupState:
        if first == second:
            return first
        return AsyncGroupState(
            first.unbound | second.unbound,
            _join_flights(first.pending, second.pending),
            _join_flights(first.reading, second.reading),
        )

    def transfer(self, step: Step, state: AsyncGroupState) -> AsyncGroupState:
        self._work -= len(state.pending) + 1
        if self._work < 0:
            raise WorkLimitError
        if step.index in self._group_of:
            started = {step.index: 0}
            state = AsyncGroupState(
                state.unbound | {step.index}, {**state.pending, **started}, {**state.reading, **started}
            )
        for executed in (step, *self._called.get(step.index, ())):
            state = self._execute(executed, state)
        return state

    def _execute(self, step: Step, state: AsyncGroupState) -> AsyncGroupState:
        for effect in step.effects:
            match effect:
                case CommitGroup(group=group):
                    state = self._commit(state, group)
                case WaitGroup(group=group):
                    state = self._wait(self._commit(state, group) if effect.commits else state, step, effect)
                case MbarrierTrack():
                    state = AsyncGroupState(
                        self._without_group(state.unbound, _TRACKED_BY_MBARRIER), state.pending, state.reading
                    )
        return state

    def _commit(self, state: AsyncGroupState, group: str) -> AsyncGroupState:
        return AsyncGroupState(
            self._without_group(state.unbound, group),
            self._count_commit(state.pending, group),
            self._count_commit(state.reading, group),
        )

    def _without_group(self, unbound: frozenset[int], group: str) -> frozenset[int]:
        return frozenset(index for index in unbound if self._group_of[index] != group)

    def _count_commit(self, flight: Flight, group: str) -> Flight:
        return {
            index: min(count + 1, MAX_PENDING_COMMITS) if self._group_of[index] == group else count
            for index, count in flight.items()
        }

    def _wait(self, state: AsyncGroupState, step: Step, effect: WaitGroup) -> AsyncGroupState:
        left = pending_groups(step, effect)
        if left is None:
            return state
        pending = state.pending if effect.read_only else self._retire(state.pending, effect.group, left)
        return AsyncGroupState(state.unbound, pending, self._retire(state.reading, effect.group, left))

    def _retire(self, flight: Flight, group: str, left: int) -> Flight:
        return {index: count for index, count in flight.items() if self._group_of[index] != group or count <= left}


def _certain_steps(callee: Program) -> list[Step]:
    """Returns the commits and waits that each call of a function executes, in order; it may execute more of them."""
    cfg = callee.analysis(ControlFlowGraph)
    passed, block = set[int](), 0 if callee.steps else None
    while block is not None:
        passed.add(block)
        block = cfg.post_dominators.parents[block]
    steps = (step for step in callee.own_effectful_steps if step.instruction.guard is None)
    return [step for step in steps if cfg.block_of(step) in passed and any(map(_changes_groups, step.effects))]


def pending_groups(step: Step, effect: WaitGroup) -> int | None:
    """Returns how many groups a wait may leave pending; None if this is unknown."""
    pending = effect.pending
    if isinstance(pending, OperandRole):
        operand = step.operand(pending.name)
        return operand.value if isinstance(operand, Integer) and operand.value >= 0 else None
    return pending.value if isinstance(pending, ConstantExpr) and isinstance(pending.value, int) else None


def _join_flights(first: Flight, second: Flight) -> Flight:
    return {
        index: min(first.get(index, MAX_PENDING_COMMITS), second.get(index, MAX_PENDING_COMMITS))
        for index in {**first, **second}
    }


def _is_relevant_effect(effect: Effect) -> bool:
    if isinstance(effect, Control):
        return effect.kind == "call"
    return _changes_groups(effect)


def _changes_groups(effect: Effect) -> bool:
    return isinstance(effect, CommitGroup | WaitGroup | MbarrierTrack)


def _group_started(effect: Effect) -> str | None:
    """Returns the group of the operations that an effect starts, which a commit and a wait complete."""
    if isinstance(effect, AsyncRegisters):
        return effect.group
    if isinstance(effect, Access) and effect.completion in ("cp.async", "bulk", "wgmma"):
        return effect.completion
    return None
