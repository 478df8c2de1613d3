"""Which instructions touch registers that an asynchronous multiplication still uses, on every path from its issue.

A register of PTX is a name for a value, and compilers move values between names where control flow meets. A plain move
is therefore no access here: the new name stands for the same registers. What is reported is an instruction that
computes with them, stores them, or overwrites them, where no path from the issue to it waits for the group.

Source: PTX ISA, "wgmma.wait_group", "wgmma.mma_async".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeAlias

from ptxkit.analysis.flow import Flow
from ptxkit.analysis.program import Program, Step
from ptxkit.analysis.register_parts import Kind, Part, Parts
from ptxkit.isa.effects import AsyncRegisters
from ptxkit.isa.forms import Match
from ptxkit.records import dataclass, field, replace

#: Commits behind an issue that are told apart: a wait leaves at most seven groups pending.
MAX_COMMITS = 8
#: Steps looked at in one function; what lies behind is not judged.
MAX_STEPS = 400_000

Used: TypeAlias = dict[str, tuple[Part, bool]]
"""By register: the issue that uses it, and whether as an accumulator (else a fragment of A)."""

_Key: TypeAlias = tuple[int, int]
"""A block, and how many groups were closed since the issue."""


@dataclass(frozen=True, slots=True)
class Touch:
    """An instruction that touches `register` while the operation issued at `issue` may use it, whatever path led there.

    accumulator: else a fragment of A. may_come_first: a thread may execute the instruction before the issue as well.
    """

    step: Step
    issue: Step
    register: str
    accumulator: bool
    may_come_first: bool = False


@dataclass(slots=True)
class _Outcome:
    """What became of a batch: touches by step; where a wait, or something unknown, ended its flight; left: some path
    ends in flight."""

    touches: dict[Step, Touch] = field(default_factory=dict)
    settled: set[Step] = field(default_factory=set)
    leaves: bool = False


class RegistersInFlight:
    """The touches of one function's asynchronous registers."""

    def __init__(self, program: Program, flow: Flow, parts: Parts) -> None:
        self._program = program
        self._flow = flow
        self._parts = parts
        self._left = MAX_STEPS

    def touches(self, issues: Collection[Step]) -> Iterator[Touch]:
        """All touches, by the batches of issues."""
        for batch in self._batches(issues):
            outcome = self._explore(batch)
            if outcome is not None:
                settled = self._behind(batch, outcome.settled)
                for touch in outcome.touches.values():
                    if not settled(touch.step):
                        yield replace(touch, may_come_first=self._may_come_first(touch))

    def _may_come_first(self, touch: Touch) -> bool:
        """Whether control comes from the touch to the issue."""
        here, there = self._flow.block_of(touch.step), self._flow.block_of(touch.issue)
        if here == there and touch.step.index > touch.issue.index:
            return False  # straight behind it
        return there in self._flow.reachable(self._flow.after[here]) or here == there

    def _batches(self, issues: Collection[Step]) -> Iterator[list[Step]]:
        """Issues of one block with no commit between: they share their fate."""
        batch: list[Step] = []
        block = -1
        for step in sorted(issues, key=lambda each: each.index):
            here = self._flow.block_of(step)
            if batch and (here != block or self._commits_between(batch[-1], step)):
                yield batch
                batch = []
            block = here
            batch.append(step)
        if batch:
            yield batch

    def _commits_between(self, first: Step, last: Step) -> bool:
        return any(self._parts[s].kind is Kind.COMMIT for s in self._program.steps[first.index : last.index])

    def _explore(self, batch: list[Step]) -> _Outcome | None:
        """Follows a batch along every path; None where that takes too long."""
        members = frozenset(batch)
        flow = self._flow
        first = flow.block_of(batch[0])
        start = [step for step in flow.steps(first) if step.index >= batch[0].index]
        outcome = _Outcome()
        entered: dict[_Key, Used] = {}
        waiting: list[_Key] = []

        def go(block: int, after: tuple[int, Used] | None) -> None:
            if after is None:
                return
            commits, used = after
            outcome.leaves = outcome.leaves or not flow.after[block]
            for following in flow.after[block]:
                key = (following, commits)
                known = entered.get(key)
                met = used if known is None else _common(known, used)
                if known is None or len(met) < len(known):
                    entered[key] = met
                    waiting.append(key)

        go(first, self._through(start, 0, {}, members, outcome, initial=True))
        while waiting:
            if self._left < 0:
                return None
            block, commits = waiting.pop()
            go(block, self._through(flow.steps(block), commits, dict(entered[(block, commits)]), members, _Outcome()))
        for (block, commits), used in entered.items():
            self._through(flow.steps(block), commits, dict(used), members, outcome)
        return outcome

    def _through(
        self,
        steps: Collection[Step],
        commits: int,
        used: Used,
        members: frozenset[Step],
        outcome: _Outcome,
        *,
        initial: bool = False,
    ) -> tuple[int, Used] | None:
        """Goes through steps of one block; None where the flight ends, or another one's begins."""
        self._left -= len(steps)
        for step in steps:
            part = self._parts[step]
            match part.kind:
                case Kind.OTHER:
                    if not part.registers.isdisjoint(used):
                        _note(part, part.registers, used, outcome)
                case Kind.COPY:
                    _copy(part, used)
                case Kind.ISSUE if step in members:
                    if not initial:
                        return None
                    _take_over(part, used, outcome)
                    used.update(dict.fromkeys(part.reads, (part, False)))
                    used.update(dict.fromkeys(part.updates, (part, True)))
                case Kind.ISSUE:
                    _take_over(part, used, outcome)
                case Kind.COMMIT if not part.guarded:
                    commits = min(commits + 1, MAX_COMMITS)
                case Kind.COMMIT | Kind.UNKNOWN:
                    outcome.settled.add(step)
                    return None
                case Kind.WAIT if part.guarded or commits > part.pending:
                    outcome.settled.add(step)
                    return None
            if not used:
                return None
        return commits, used

    def _behind(self, batch: list[Step], settled: Collection[Step]) -> _Behind:
        return _Behind(self._flow, batch[0], settled)


class _Behind:
    """Whether control may come to a step from one that settles a flight, without another issue of the batch."""

    def __init__(self, flow: Flow, issue: Step, settled: Collection[Step]) -> None:
        self._flow = flow
        self._issue = issue
        self._home = flow.block_of(issue)
        self._settled = settled
        self._blocks: set[int] = set()
        waiting = [after for step in settled for after in flow.after[flow.block_of(step)]]
        while waiting:
            block = waiting.pop()
            if block not in self._blocks:
                self._blocks.add(block)
                if block != self._home:
                    waiting.extend(flow.after[block])

    def __call__(self, step: Step) -> bool:
        block = self._flow.block_of(step)
        if block in self._blocks and (block != self._home or step.index < self._issue.index):
            return True
        return any(self._flow.block_of(end) == block and end.index < step.index for end in self._settled)


def _common(first: Used, second: Used) -> Used:
    return {name: owner for name, owner in first.items() if second.get(name) == owner}


def _copy(part: Part, used: Used) -> None:
    """A move gives its target what its source stands for; what the target stood for has another name, or none."""
    owner = used.get(part.source) if part.source is not None else None
    if owner is not None and not part.guarded:
        used[part.target] = owner
    elif part.target in used:
        del used[part.target]


def _take_over(part: Part, used: Used, outcome: _Outcome) -> None:
    """A later multiplication: accumulators of the same shape go on with it; any other use is a touch."""
    chained = {name for name in part.updates if name in used and used[name][1] and used[name][0].shape == part.shape}
    shared = {name for name in part.reads if name in used and not used[name][1]}
    _note(part, part.registers - chained - shared, used, outcome)
    for name in chained:
        del used[name]


def _note(part: Part, registers: Collection[str], used: Used, outcome: _Outcome) -> None:
    for name in sorted(registers):
        if name in used:
            issue, accumulator = used.pop(name)
            touch = Touch(part.step, issue.step, name, accumulator)
            outcome.touches.setdefault(part.step, touch)


def issues_in(program: Program, group: str) -> list[Step]:
    """The instructions that issue operations of a group on registers."""
    return [step for step in program.acting if step.match is not None and _issues(step.match, group)]


def _issues(match: Match, group: str) -> bool:
    return any(isinstance(effect, AsyncRegisters) and effect.group == group for effect in match.effects)


def touches_of(program: Program, group: str) -> list[Touch]:
    """The touches of registers in flight in a function, for a group such as `wgmma`."""
    issues = issues_in(program, group)
    return list(RegistersInFlight(program, Flow(program), Parts(group)).touches(issues)) if issues else []
