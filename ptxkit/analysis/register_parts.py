"""What each instruction does to the registers that asynchronous operations use (wgmma): issue, commit, wait, touch.

Source: PTX ISA, "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group".
"""

from __future__ import annotations

from enum import Enum

from ptxkit.analysis.program import Step
from ptxkit.analysis.slicing import registers_in
from ptxkit.isa.effects import AsyncRegisters, CommitGroup, Control, RegisterFence, Value, WaitGroup
from ptxkit.isa.expressions import Call, Const, Role
from ptxkit.records import dataclass
from ptxkit.syntax.tree import Integer, Name


class Kind(Enum):
    """What a step is to a group of asynchronous operations."""

    ISSUE = "issue"
    COMMIT = "commit"
    WAIT = "wait"
    FENCE = "fence"
    COPY = "copy"
    UNKNOWN = "unknown"
    OTHER = "other"


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A step as its group sees it. registers: all that it names.

    updates, reads: of an issue, the registers it writes (accumulators), and those it only reads (fragments of A).
    pending: of a wait. source: of a copy, the register it copies, None for a constant; target: where to. shape: of an
    issue, what two of one shape have in common. guarded: it may be skipped.
    """

    step: Step
    kind: Kind
    registers: frozenset[str] = frozenset()
    updates: frozenset[str] = frozenset()
    reads: frozenset[str] = frozenset()
    pending: int = 0
    source: str | None = None
    target: str = ""
    shape: int = 0
    guarded: bool = False


class Parts:
    """The parts of a function's steps, made on first use. group: `wgmma`."""

    def __init__(self, group: str) -> None:
        self._group = group
        self._made: dict[Step, Part] = {}

    def __getitem__(self, step: Step) -> Part:
        part = self._made.get(step)
        if part is None:
            part = self._made[step] = self._make(step)
        return part

    def _make(self, step: Step) -> Part:
        guarded = step.instruction.guard is not None
        for effect in step.effects:
            match effect:
                case AsyncRegisters(group=self._group):
                    return self._issue(step, guarded)
                case CommitGroup(group=self._group):
                    return Part(step, Kind.COMMIT, guarded=guarded)
                case WaitGroup(group=self._group):
                    pending = _number(step, effect)
                    kind = Kind.UNKNOWN if pending is None else Kind.WAIT
                    return Part(step, kind, pending=pending or 0, guarded=guarded)
                case RegisterFence(group=self._group):
                    return Part(step, Kind.FENCE, guarded=guarded)
                case Control(kind="call") if step.is_opaque_call:
                    return Part(step, Kind.UNKNOWN)
        if step.match is None:
            return Part(step, Kind.UNKNOWN)
        return _copy(step, guarded) or Part(step, Kind.OTHER, _named(step), guarded=guarded)

    def _issue(self, step: Step, guarded: bool) -> Part:
        updates: set[str] = set()
        reads: set[str] = set()
        for effect in step.effects:
            if isinstance(effect, AsyncRegisters) and step.match is not None:
                operand = step.match.operand(effect.operand, step.instruction)
                found = registers_in(operand, step.scope) if operand is not None else ()
                (reads if effect.kind == "read" else updates).update(found)
        return Part(
            step,
            Kind.ISSUE,
            frozenset(updates | reads),
            frozenset(updates),
            frozenset(reads),
            shape=len(updates),
            guarded=guarded,
        )


def _named(step: Step) -> frozenset[str]:
    return frozenset(name for operand in step.instruction.operands for name in registers_in(operand, step.scope))


def _number(step: Step, effect: WaitGroup) -> int | None:
    """How many groups a wait leaves pending."""
    pending = effect.pending
    if isinstance(pending, Role) and step.match is not None:
        operand = step.match.operand(pending.name, step.instruction)
        return operand.value if isinstance(operand, Integer) else None
    return pending.value if isinstance(pending, Const) and isinstance(pending.value, int) else None


def _copy(step: Step, guarded: bool) -> Part | None:
    """A plain move of one register, or constant, to another register."""
    match, operands = step.match, step.instruction.operands
    if match is None or len(match.effects) != 1 or len(operands) != 2:
        return None
    effect = match.effects[0]
    target, source = operands
    is_copy = isinstance(effect, Value) and isinstance(effect.value, Call) and effect.value.function == "copy"
    if not is_copy or not isinstance(target, Name):
        return None
    name = step.scope.register(source.text) if isinstance(source, Name) else None
    return Part(step, Kind.COPY, _named(step), source=name, target=step.scope.register(target.text), guarded=guarded)
