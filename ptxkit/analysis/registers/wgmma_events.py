"""Classifies the effect of each instruction on the registers that asynchronous operations (wgmma, tcgen05.ld) use.

Source: PTX ISA, "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group", "tcgen05.wait".
"""

from __future__ import annotations

from enum import Enum

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.ir.referenced_names import registers_in
from ptxkit.analysis.ir.step_registers import named_registers
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import AsyncRegisters, CommitGroup, Control, RegisterFence, Value, WaitGroup
from ptxkit.isa.expressions import CallExpr, ConstantExpr, OperandRole
from ptxkit.syntax.tree import Integer, Name

_PACKED_IN_FLIGHT = "tcgen05.ld"
"""The mechanism whose registers compilers pack into wider ones before the wait, as `ptxas` makes each use wait."""


class WgmmaEventKind(Enum):
    """The effect of a step on a group of asynchronous operations."""

    ISSUE = "issue"
    COMMIT = "commit"
    WAIT = "wait"
    FENCE = "fence"
    COPY = "copy"
    UNKNOWN = "unknown"
    OTHER = "other"


@dataclass(frozen=True, slots=True, eq=False)
class WgmmaEvent:
    """The effect of a step on the registers of a group.

    registers: all registers that the step names. accumulators, fragments: of an issue, the registers that it writes,
    and those of A that it only reads. pending: of a wait, the number of groups that it leaves pending, less one if it
    commits first: -1 where it also completes operations that no commit followed. sources: of a copy, the registers that
    it copies, none for a constant. target: of a copy, the register that it writes. accumulator_count: of an issue, the
    number of its accumulators. is_guarded: whether the step has a guard.
    """

    step: Step
    kind: WgmmaEventKind
    registers: frozenset[str] = frozenset()
    accumulators: frozenset[str] = frozenset()
    fragments: frozenset[str] = frozenset()
    pending: int = 0
    sources: tuple[str, ...] = ()
    target: str = ""
    accumulator_count: int = 0
    is_guarded: bool = False


class WgmmaEvents:
    """The events of a function's steps, created on first use.

    group: the mechanism, `wgmma` or `tcgen05.ld`.
    """

    def __init__(self, group: str) -> None:
        self._group = group
        self._cache: dict[Step, WgmmaEvent] = {}

    def __getitem__(self, step: Step) -> WgmmaEvent:
        part = self._cache.get(step)
        if part is None:
            part = self._cache[step] = self._classify(step)
        return part

    def _classify(self, step: Step) -> WgmmaEvent:
        guarded = step.instruction.guard is not None
        for effect in step.effects:
            match effect:
                case AsyncRegisters(group=self._group):
                    return self._issue_event(step, guarded)
                case CommitGroup(group=self._group):
                    return WgmmaEvent(step, WgmmaEventKind.COMMIT, is_guarded=guarded)
                case WaitGroup(group=self._group):
                    pending = _pending_groups(step, effect)
                    if pending is None:
                        return WgmmaEvent(step, WgmmaEventKind.UNKNOWN)
                    return WgmmaEvent(
                        step, WgmmaEventKind.WAIT, pending=pending - int(effect.commits), is_guarded=guarded
                    )
                case RegisterFence(group=self._group):
                    return WgmmaEvent(step, WgmmaEventKind.FENCE, is_guarded=guarded)
                case Control(kind="call") if step.is_opaque_call:
                    return WgmmaEvent(step, WgmmaEventKind.UNKNOWN)
        if step.match is None:
            return WgmmaEvent(step, WgmmaEventKind.UNKNOWN)
        return _copy_event(step, guarded, packs=self._group == _PACKED_IN_FLIGHT) or WgmmaEvent(
            step, WgmmaEventKind.OTHER, frozenset(named_registers(step)), is_guarded=guarded
        )

    def _issue_event(self, step: Step, guarded: bool) -> WgmmaEvent:
        updates: set[str] = set()
        reads: set[str] = set()
        for effect in step.effects:
            if isinstance(effect, AsyncRegisters):
                found = registers_in(step.operand(effect.operand), step.scope)
                (reads if effect.kind == "read" else updates).update(found)
        return WgmmaEvent(
            step,
            WgmmaEventKind.ISSUE,
            frozenset(updates | reads),
            frozenset(updates),
            frozenset(reads),
            accumulator_count=len(updates),
            is_guarded=guarded,
        )


def _pending_groups(step: Step, effect: WaitGroup) -> int | None:
    """Returns how many groups a wait leaves pending; None if this is unknown."""
    pending = effect.pending
    if isinstance(pending, OperandRole):
        operand = step.operand(pending.name)
        return operand.value if isinstance(operand, Integer) else None
    return pending.value if isinstance(pending, ConstantExpr) and isinstance(pending.value, int) else None


def _copy_event(step: Step, guarded: bool, *, packs: bool) -> WgmmaEvent | None:
    """Returns the event of a plain move of a register or constant to another register; None for any other step.

    packs: whether a move that packs several registers into one is plain, too.
    """
    match, operands = step.match, step.instruction.operands
    if match is None or len(match.effects) != 1 or len(operands) != 2:
        return None
    effect = match.effects[0]
    target, source = operands
    function = effect.value.function if isinstance(effect, Value) and isinstance(effect.value, CallExpr) else ""
    if not isinstance(target, Name) or not (function == "copy" or (packs and function == "pack")):
        return None
    return WgmmaEvent(
        step,
        WgmmaEventKind.COPY,
        frozenset(named_registers(step)),
        sources=tuple(dict.fromkeys(registers_in(source, step.scope))),
        target=step.scope.register_name(target.text),
        is_guarded=guarded,
    )
