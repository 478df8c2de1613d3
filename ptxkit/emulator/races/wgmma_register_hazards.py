"""Registers that wgmma operations use: accesses that are too early, and operands that are used without a fence.

Plain moves are tracked and are not accesses: they rename registers. Reads of the fragment of A by other instructions
are harmless.

Source: PTX ISA, "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group", "wgmma.mma_async".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics import Message
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.emulator.core.findings import UNAWAITED, Violation, Witness
from ptxkit.emulator.limits import MAX_CACHED_OPCODES
from ptxkit.emulator.state.symbols import BlockScope, RegisterSlots
from ptxkit.emulator.sync.async_operation import GROUPED
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.effects import AsyncRegisters, RegisterFence, Value
from ptxkit.isa.expressions import CallExpr
from ptxkit.isa.forms import Match
from ptxkit.isa.table import Mismatch
from ptxkit.semantics.linear_code import LinearStep
from ptxkit.syntax.tree import Operand, operand_names

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import CtaState
    from ptxkit.emulator.threads.thread_groups import Signal, Step, ThreadGroup


_MOVE_OPERATIONS = frozenset({"copy", "pack", "unpack"})


@lru_cache(maxsize=MAX_CACHED_OPCODES)
def may_issue_register_op(opcode: str) -> bool:
    """Returns whether an instruction may start an operation that uses registers until its group is waited for."""
    return any(_async_register_uses(match) for match in table().candidates(opcode))


def _async_register_uses(match: Match) -> list[AsyncRegisters]:
    return [each for each in match.effects if isinstance(each, AsyncRegisters) and each.group in GROUPED]


def operand_slots(operand: Operand | None, scope: BlockScope) -> Iterable[int]:
    """Returns the slots of the registers that an operand names."""
    for name in operand_names(operand):
        found = scope.lookup(name) or scope.lookup(name.partition(".")[0])
        if isinstance(found, RegisterSlots):
            yield from found.slots


@dataclass(frozen=True, slots=True)
class _RegisterUses:
    """The register accesses of an instruction. `is_move` states whether it only renames registers."""

    reads: frozenset[int]
    writes: frozenset[int]
    is_move: bool


def _register_uses(linear: LinearStep[BlockScope], match: Match) -> _RegisterUses:
    instruction, scope = linear.instruction, linear.scope
    values = [each for each in match.effects if isinstance(each, Value)]
    given = [match.operand(each.result, instruction) for each in values]
    writes = frozenset(slot for each in given for slot in operand_slots(each, scope))
    others = [each for each in instruction.operands if not any(each is result for result in given)]
    reads = frozenset(slot for each in others for slot in operand_slots(each, scope))
    moves = len(match.effects) == 1 and all(
        isinstance(each.value, CallExpr) and each.value.function in _MOVE_OPERATIONS for each in values
    )
    return _RegisterUses(reads, writes, moves and bool(values))


class RegisterWatch:
    """The registers of a function that asynchronous operations use, or that moves copy to or from them."""

    def __init__(self, linear_steps: Sequence[LinearStep[BlockScope]]) -> None:
        slots: set[int] = set()
        moves: list[frozenset[int]] = []
        for linear in linear_steps:
            match = table().match(linear.instruction)
            if isinstance(match, Mismatch):
                continue
            for each in _async_register_uses(match):
                slots.update(operand_slots(match.operand(each.operand, linear.instruction), linear.scope))
            uses = _register_uses(linear, match)
            if uses.is_move:
                moves.append(uses.reads | uses.writes)
        grown = -1
        while grown != len(slots):
            grown = len(slots)
            for pair in moves:
                if not slots.isdisjoint(pair):
                    slots |= pair
        self.slots = frozenset(slots)

    def instrument(self, step: Step, linear: LinearStep[BlockScope], match: Match) -> Step:
        """Wraps a step to check the registers that it uses."""
        issues = _async_register_uses(match)
        if issues:
            operands = [(match.operand(each.operand, linear.instruction), each.kind != "read") for each in issues]
            used = {slot: updated for node, updated in operands for slot in operand_slots(node, linear.scope)}
            return _issuing_step(step, used, issues[0].group)
        if any(isinstance(each, RegisterFence) for each in match.effects):
            return _run_after(step, lambda state, group: state.fence(group))
        uses = _register_uses(linear, match)
        reads, writes = sorted(uses.reads & self.slots), sorted(uses.writes & self.slots)
        if not reads and not writes:
            return step
        if uses.is_move:
            return _run_after(step, lambda state, group: state.move(group, reads, writes))
        return _checking_step(step, reads, writes)


def _run_after(step: Step, then: Callable[[RegisterHazards, ThreadGroup], None]) -> Step:
    def run(group: ThreadGroup) -> Signal | None:
        signal = step(group)
        if signal is None and group.cta.machine.observer.is_checking:
            then(hazards_of(group), group)
        return signal

    return run


def _checking_step(step: Step, reads: Sequence[int], writes: Sequence[int]) -> Step:
    def run(group: ThreadGroup) -> Signal | None:
        if group.cta.machine.observer.is_checking:
            hazards_of(group).touch(group, reads, writes)
        return step(group)

    return run


def _issuing_step(step: Step, used: dict[int, bool], kind: str) -> Step:
    def run(group: ThreadGroup) -> Signal | None:
        if not group.cta.machine.observer.is_checking:
            return step(group)
        state = hazards_of(group)
        state.check_fence(group, used)
        signal = step(group)
        if signal is None:
            state.issue(group, used, kind)
        return signal

    return run


def hazards_of(group: ThreadGroup) -> RegisterHazards:
    """Returns the hazards of the executing function's registers."""
    activation = group.activation
    if activation.register_hazards is None:
        activation.register_hazards = RegisterHazards(group.cta)
    found: RegisterHazards = activation.register_hazards
    return found


class RegisterHazards:
    """The registers of one call, by their slots; each entry is an array over the threads of the CTA.

    `pending_group` has the number of the group of the last operation that uses the register, or -1.
    `touched_since_fence` states whether the thread has accessed the register since its last fence, and `unfenced`
    whether it has not executed any. `is_updated` states whether the operation writes the register, and `issue_location`
    is the step that issued it.
    """

    __slots__ = ("cta", "is_updated", "issue_location", "kind", "pending_group", "touched_since_fence", "unfenced")

    def __init__(self, cta: CtaState) -> None:
        self.cta, self.kind = cta, ""
        self.pending_group: dict[int, Any] = {}
        self.touched_since_fence: dict[int, Any] = {}
        self.is_updated: dict[int, bool] = {}
        self.issue_location: dict[int, int] = {}
        self.unfenced = numpy.ones(cta.threads, bool)

    def fence(self, group: ThreadGroup) -> None:
        """Records that threads order their register accesses before later operations."""
        index = group.lanes.index
        self.unfenced[index] = False
        for each in self.touched_since_fence.values():
            each[index] = False

    def touch(self, group: ThreadGroup, reads: Iterable[int], writes: Iterable[int]) -> None:
        """Records uses of registers by other instructions."""
        index = group.lanes.index
        for slots, is_write in ((reads, False), (writes, True)):
            for slot in slots:
                if slot in self.pending_group and (is_write or self.is_updated[slot]):
                    self._check(group, slot, index)
                self._row(self.touched_since_fence, slot, False)[index] = True

    def move(self, group: ThreadGroup, sources: Sequence[int], targets: Sequence[int]) -> None:
        """Records moves between registers; without sources, moves of constants."""
        index = group.lanes.index
        numbers = [self.pending_group[each][index] for each in sources if each in self.pending_group]
        touched = [self.touched_since_fence[each][index] for each in sources if each in self.touched_since_fence]
        number = numpy.maximum.reduce(numbers) if numbers else -1
        was_touched = numpy.logical_or.reduce(touched) if touched else False
        for slot in targets:
            if numbers or slot in self.pending_group:
                self._row(self.pending_group, slot, -1)[index] = number
                origin = next((each for each in sources if each in self.pending_group), slot)
                self.is_updated[slot], self.issue_location[slot] = (
                    self.is_updated.get(origin, False),
                    self.issue_location.get(origin, 0),
                )
            if touched or slot in self.touched_since_fence:
                self._row(self.touched_since_fence, slot, False)[index] = was_touched

    def issue(self, group: ThreadGroup, used: dict[int, bool], kind: str) -> None:
        """Records that an operation may use registers from now on."""
        index, self.kind = group.lanes.index, kind
        numbers = group.cta.machine.async_engine.committed_groups(group.cta, kind)[index]
        for slot, updated in used.items():
            self._row(self.pending_group, slot, -1)[index] = numbers
            self.is_updated[slot], self.issue_location[slot] = updated, group.pc

    def _row(self, rows: dict[int, Any], slot: int, empty: int | bool) -> Any:
        found = rows.get(slot)
        if found is None:
            found = rows[slot] = numpy.full(self.cta.threads, empty, bool if isinstance(empty, bool) else numpy.int64)
        return found

    def _check(self, group: ThreadGroup, slot: int, index: Any) -> None:
        complete = group.cta.completed_groups.get(self.kind)
        limits = 0 if complete is None else complete[index]
        flying = self.pending_group[slot][index] >= limits
        if flying.any():
            what = "an accumulator" if self.is_updated[slot] else "the fragment of A"
            thread = int(index[numpy.flatnonzero(flying)[0]])
            self._report(group, thread, ptx3xx.REGISTERS_TOUCHED_IN_FLIGHT(registers=what), self.issue_location[slot])

    def check_fence(self, group: ThreadGroup, used: Iterable[int]) -> None:
        """Checks that accesses of threads to registers are ordered before the operation that uses these."""
        index = group.lanes.index
        wrong = self.unfenced[index]
        if wrong.any():
            first: Any = wrong
            template = ptx3xx.NO_REGISTER_FENCE
        else:
            rows = [self.touched_since_fence[slot][index] for slot in used if slot in self.touched_since_fence]
            first = next((each for each in rows if each.any()), None)
            template = ptx3xx.NO_REGISTER_FENCE_SINCE_ACCESS
        if first is not None and first.any():
            thread = int(index[numpy.flatnonzero(first)[0]])
            self._report(group, thread, template())

    def _report(self, group: ThreadGroup, thread: int, content: Message, other: int = -1) -> None:
        machine, here = group.cta.machine, group.activation.function
        at = machine.thread_of(thread)

        def witness(pc: int) -> Witness:
            offset = here.offsets[pc]
            return Witness(here.instructions[pc].opcode, machine.line_of(offset), at, group.cta.ctaid, offset=offset)

        shown = (witness(group.pc),) if other < 0 else (witness(group.pc), witness(other))
        content = content.with_fields(action=shown[0].action)
        lacks = UNAWAITED if other >= 0 else ()
        machine.report.add(Violation(content, shown[0].line, here.offsets[group.pc], shown, lacks=lacks))
