"""Finds accesses to registers that an asynchronous multiplication still uses, on the paths from its issue.

A register of PTX is a name for a value, and compilers move values between names where control flow merges. A plain move
is therefore not an access here: the new name stands for the same registers. An instruction is found that computes with
the registers, stores them, or overwrites them, where some path from the issue to it does not wait for the group.

Source: PTX ISA, "wgmma.wait_group", "wgmma.mma_async".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeAlias

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.analysis.limits import MAX_FUNCTION_STEPS, MAX_PENDING_COMMITS
from ptxkit.analysis.registers.wgmma_events import WgmmaEvent, WgmmaEventKind, WgmmaEvents
from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.isa.effects import AsyncRegisters

InflightRegisters: TypeAlias = dict[str, tuple[WgmmaEvent, bool]]
"""The issue that uses each register, and whether the register is an accumulator (otherwise it is a fragment of A)."""

_Key: TypeAlias = tuple[int, int]
"""A block, and the number of groups that were committed since the issue."""


@dataclass(frozen=True, slots=True)
class WgmmaHazard:
    """An instruction that accesses `register` while the operation issued at `issue` may use it.

    is_accumulator: whether the register is an accumulator; otherwise it is a fragment of A. may_precede_issue: whether
    a thread may also execute the instruction before the issue. may_have_waited: whether some other path to the
    instruction waits for the operation.
    """

    step: Step
    issue: Step
    register: str
    is_accumulator: bool
    may_precede_issue: bool = False
    may_have_waited: bool = False


@dataclass(slots=True)
class _BatchOutcome:
    """The outcome of a batch in flight.

    hazards: the accesses to its registers, by step. end_steps: the waits after which it is no longer in flight, and the
    steps that may have completed it.
    """

    hazards: dict[Step, WgmmaHazard] = field(default_factory=dict)
    end_steps: set[Step] = field(default_factory=set)


class WgmmaHazardAnalysis:
    """The accesses to the registers of one function's asynchronous operations."""

    def __init__(self, program: Program, flow: ControlFlowGraph, parts: WgmmaEvents) -> None:
        self._program = program
        self._cfg = flow
        self._events = parts
        self._remaining_steps = MAX_FUNCTION_STEPS

    def find_hazards(self, issues: Collection[Step]) -> Iterator[WgmmaHazard]:
        """Yields all accesses to registers in flight, by batches of issues."""
        for batch in self._batches(issues):
            outcome = self._follow_batch(batch)
            if outcome is not None:
                settled = _LaterState(self._cfg, batch[0], outcome.end_steps)
                for touch in outcome.hazards.values():
                    yield replace(
                        touch, may_precede_issue=self._may_precede_issue(touch), may_have_waited=settled(touch.step)
                    )

    def _may_precede_issue(self, touch: WgmmaHazard) -> bool:
        """Returns whether control may reach the issue from the access."""
        here, there = self._cfg.block_of(touch.step), self._cfg.block_of(touch.issue)
        if here == there and touch.step.index > touch.issue.index:
            return False  # the access follows the issue in the same block
        return there in self._cfg.reachable(self._cfg.successors[here]) or here == there

    def _batches(self, issues: Collection[Step]) -> Iterator[list[Step]]:
        """Yields the issues of one block that complete together: no commit, or wait for all of them, is between."""
        batch: list[Step] = []
        block = -1
        for step in sorted(issues, key=lambda each: each.index):
            here = self._cfg.block_of(step)
            if batch and (here != block or self._closes_between(batch[-1], step)):
                yield batch
                batch = []
            block = here
            batch.append(step)
        if batch:
            yield batch

    def _closes_between(self, first: Step, last: Step) -> bool:
        """Returns whether a commit, or a wait that completes operations without one, is between two steps."""
        between = (self._events[step] for step in self._program.steps[first.index : last.index])
        return any(
            each.kind is WgmmaEventKind.COMMIT or (each.kind is WgmmaEventKind.WAIT and each.pending < 0)
            for each in between
        )

    def _follow_batch(self, batch: list[Step]) -> _BatchOutcome | None:
        """Follows a batch along every path; returns None where this exceeds the limit."""
        members = frozenset(batch)
        flow = self._cfg
        first = flow.block_of(batch[0])
        start = [step for step in flow.steps_of_block(first) if step.index >= batch[0].index]
        outcome = _BatchOutcome()
        entered: dict[_Key, InflightRegisters] = {}
        waiting: list[_Key] = []

        def go(block: int, after: tuple[int, InflightRegisters] | None) -> None:
            if after is None:
                return
            commits, used = after
            for following in flow.successors[block]:
                key = (following, commits)
                known = entered.get(key)
                met = used if known is None else _intersect(known, used)
                if known is None or len(met) < len(known):
                    entered[key] = met
                    waiting.append(key)

        go(first, self._transfer_block(start, 0, {}, members, outcome, initial=True))
        while waiting:
            if self._remaining_steps < 0:
                return None
            block, commits = waiting.pop()
            go(
                block,
                self._transfer_block(
                    flow.steps_of_block(block), commits, dict(entered[(block, commits)]), members, _BatchOutcome()
                ),
            )
        for (block, commits), used in entered.items():
            self._transfer_block(flow.steps_of_block(block), commits, dict(used), members, outcome)
        return outcome

    def _transfer_block(
        self,
        steps: Collection[Step],
        commits: int,
        used: InflightRegisters,
        members: frozenset[Step],
        outcome: _BatchOutcome,
        *,
        initial: bool = False,
    ) -> tuple[int, InflightRegisters] | None:
        """Applies the steps of one block; returns None where the batch ends or another one is issued."""
        self._remaining_steps -= len(steps)
        for step in steps:
            part = self._events[step]
            match part.kind:
                case WgmmaEventKind.OTHER:
                    if not part.registers.isdisjoint(used):
                        _record_hazards(part, part.registers, used, outcome)
                case WgmmaEventKind.COPY:
                    _transfer_copy(part, used)
                case WgmmaEventKind.ISSUE if step in members:
                    if not initial:
                        return None
                    _transfer_issue(part, used, outcome)
                    used.update(dict.fromkeys(part.fragments, (part, False)))
                    used.update(dict.fromkeys(part.accumulators, (part, True)))
                case WgmmaEventKind.ISSUE:
                    _transfer_issue(part, used, outcome)
                case WgmmaEventKind.COMMIT if not part.is_guarded:
                    commits = min(commits + 1, MAX_PENDING_COMMITS)
                case WgmmaEventKind.COMMIT | WgmmaEventKind.UNKNOWN:
                    outcome.end_steps.add(step)  # what follows may come after a commit and a wait
                case WgmmaEventKind.WAIT if commits > part.pending:
                    outcome.end_steps.add(step)
                    if not part.is_guarded:
                        return None
            if not used:
                return None
        return commits, used


class _LaterState:
    """The steps that control may reach from an end of the batch's flight without another issue of the batch."""

    def __init__(self, flow: ControlFlowGraph, issue: Step, settled: Collection[Step]) -> None:
        self._cfg = flow
        self._issue = issue
        self._issue_block = flow.block_of(issue)
        self._end_steps = settled
        blocks = Worklist(after for step in settled for after in flow.successors[flow.block_of(step)])
        for block in blocks:
            if block != self._issue_block:
                blocks.add(flow.successors[block])
        self._reachable_blocks = blocks.seen

    def __call__(self, step: Step) -> bool:
        block = self._cfg.block_of(step)
        if block in self._reachable_blocks and (block != self._issue_block or step.index < self._issue.index):
            return True
        return any(self._cfg.block_of(end) == block and end.index < step.index for end in self._end_steps)


def _intersect(first: InflightRegisters, second: InflightRegisters) -> InflightRegisters:
    return {name: owner for name, owner in first.items() if second.get(name) == owner}


def _transfer_copy(part: WgmmaEvent, used: InflightRegisters) -> None:
    """Makes the target of a move a name for the registers of its source, and not for those that it named before."""
    owner = next((used[each] for each in part.sources if each in used), None)
    if owner is not None and not part.is_guarded:
        used[part.target] = owner
    elif part.target in used:
        del used[part.target]


def _transfer_issue(part: WgmmaEvent, used: InflightRegisters, outcome: _BatchOutcome) -> None:
    """Applies a later multiplication: accumulators of the same shape pass to it; any other use is an access."""
    chained = {
        name
        for name in part.accumulators
        if name in used and used[name][1] and used[name][0].accumulator_count == part.accumulator_count
    }
    shared = {name for name in part.fragments if name in used and not used[name][1]}
    _record_hazards(part, part.registers - chained - shared, used, outcome)
    for name in chained:
        del used[name]


def _record_hazards(
    part: WgmmaEvent, registers: Collection[str], used: InflightRegisters, outcome: _BatchOutcome
) -> None:
    for name in sorted(registers):
        if name in used:
            issue, accumulator = used.pop(name)
            touch = WgmmaHazard(part.step, issue.step, name, accumulator)
            outcome.hazards.setdefault(part.step, touch)


def find_issues(program: Program, group: str) -> list[Step]:
    """Returns the instructions that issue operations of a group on registers."""
    return [
        step
        for step in program.own_effectful_steps
        if any(isinstance(effect, AsyncRegisters) and effect.group == group for effect in step.effects)
    ]


def find_wgmma_hazards(program: Program, group: str) -> list[WgmmaHazard]:
    """Returns the accesses to registers in flight in a function, for a group such as `wgmma`."""
    issues = find_issues(program, group)
    return (
        list(WgmmaHazardAnalysis(program, program.analysis(ControlFlowGraph), WgmmaEvents(group)).find_hazards(issues))
        if issues
        else []
    )
