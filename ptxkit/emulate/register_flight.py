"""Registers that asynchronous multiplications use: who touches them too early, or hands them over without a fence.

Plain moves are followed and count as no access: they give registers other names. That another instruction only reads
the fragment of A does no harm.

Source: PTX ISA, "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group", "wgmma.mma_async".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

from ptxkit.emulate.faults import Finding, Witness
from ptxkit.emulate.operations import GROUPED
from ptxkit.emulate.scopes import Register, Scope
from ptxkit.isa import table
from ptxkit.isa.effects import AsyncRegisters, RegisterFence, Value
from ptxkit.isa.expressions import Call
from ptxkit.isa.forms import Match
from ptxkit.isa.table import Mismatch
from ptxkit.records import dataclass
from ptxkit.syntax.tree import Address, Binary, Element, Instruction, Name, Not, Operand, Unary, Vector

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.groups import Group, Signal

Step: TypeAlias = "Callable[[Group], Signal | None]"

_MOVES = frozenset({"copy", "pack", "unpack"})


@lru_cache(maxsize=4096)
def is_issue(opcode: str) -> bool:
    """Whether an instruction may start an operation that uses registers until its group is waited for."""
    return any(_issues(match) for match in table().candidates(opcode))


def _issues(match: Match) -> list[AsyncRegisters]:
    return [each for each in match.effects if isinstance(each, AsyncRegisters) and each.group in GROUPED]


def slots_in(operand: Operand | None, scope: Scope) -> Iterable[int]:
    """The places of the registers that an operand names."""
    match operand:
        case Name(text=text):
            found = scope.lookup(text) or scope.lookup(text.partition(".")[0])
            if isinstance(found, Register):
                yield from found.slots
        case Vector(elements=elements):
            for each in elements:
                yield from slots_in(each, scope)
        case Address(base=inner) | Not(operand=inner) | Unary(operand=inner) | Element(index=inner):
            yield from slots_in(inner, scope)
        case Binary(left=left, right=right):
            yield from slots_in(left, scope)
            yield from slots_in(right, scope)
        case _:
            pass


@dataclass(frozen=True, slots=True)
class _Uses:
    """What an instruction does to registers. moves: it only gives them other names."""

    reads: frozenset[int]
    writes: frozenset[int]
    moves: bool


def _uses(instruction: Instruction, match: Match, scope: Scope) -> _Uses:
    values = [each for each in match.effects if isinstance(each, Value)]
    given = [match.operand(each.result, instruction) for each in values]
    writes = frozenset(slot for each in given for slot in slots_in(each, scope))
    others = [each for each in instruction.operands if not any(each is result for result in given)]
    reads = frozenset(slot for each in others for slot in slots_in(each, scope))
    moves = len(match.effects) == 1 and all(
        isinstance(each.value, Call) and each.value.function in _MOVES for each in values
    )
    return _Uses(reads, writes, moves and bool(values))


class Watch:
    """The registers of a function that asynchronous operations use, or that moves bring to those or take from them."""

    def __init__(self, body: Sequence[tuple[Instruction, Scope]]) -> None:
        slots: set[int] = set()
        moves: list[frozenset[int]] = []
        for instruction, scope in body:
            match = table().match(instruction)
            if isinstance(match, Mismatch):
                continue
            for each in _issues(match):
                slots.update(slots_in(match.operand(each.operand, instruction), scope))
            uses = _uses(instruction, match, scope)
            if uses.moves:
                moves.append(uses.reads | uses.writes)
        grown = -1
        while grown != len(slots):
            grown = len(slots)
            for pair in moves:
                if not slots.isdisjoint(pair):
                    slots |= pair
        self.slots = frozenset(slots)

    def watched(self, step: Step, instruction: Instruction, match: Match, scope: Scope) -> Step:
        """A step that minds the registers that it uses."""
        issues = _issues(match)
        if issues:
            operands = [(match.operand(each.operand, instruction), each.kind != "read") for each in issues]
            used = {slot: updated for node, updated in operands for slot in slots_in(node, scope)}
            return _issuing(step, used, issues[0].group)
        if any(isinstance(each, RegisterFence) for each in match.effects):
            return _after(step, lambda state, group: state.fence(group))
        uses = _uses(instruction, match, scope)
        reads, writes = sorted(uses.reads & self.slots), sorted(uses.writes & self.slots)
        if not reads and not writes:
            return step
        if uses.moves:
            return _after(step, lambda state, group: state.move(group, reads, writes))
        return _touching(step, reads, writes)


def _after(step: Step, then: Callable[[Registers, Group], None]) -> Step:
    def run(group: Group) -> Signal | None:
        signal = step(group)
        if signal is None and group.cta.machine.order.watches:
            then(registers_of(group), group)
        return signal

    return run


def _touching(step: Step, reads: Sequence[int], writes: Sequence[int]) -> Step:
    def run(group: Group) -> Signal | None:
        if group.cta.machine.order.watches:
            registers_of(group).touch(group, reads, writes)
        return step(group)

    return run


def _issuing(step: Step, used: dict[int, bool], kind: str) -> Step:
    def run(group: Group) -> Signal | None:
        if not group.cta.machine.order.watches:
            return step(group)
        state = registers_of(group)
        state.check_fence(group, used)
        signal = step(group)
        if signal is None:
            state.issue(group, used, kind)
        return signal

    return run


def registers_of(group: Group) -> Registers:
    """What is known of the registers of the executing function."""
    activation = group.activation
    if activation.flying is None:
        activation.flying = Registers(group.cta)
    found: Registers = activation.flying
    return found


class Registers:
    """The registers of one call, by their places; each entry an array over the threads of the CTA.

    number: of the group of the last operation that uses it, -1 for none. touched: since the last fence. updated:
    whether the operation writes it. issued: the place of the operation. unfenced: threads that have had no fence yet.
    """

    __slots__ = ("cta", "issued", "kind", "number", "touched", "unfenced", "updated")

    def __init__(self, cta: Cta) -> None:
        self.cta, self.kind = cta, ""
        self.number: dict[int, Any] = {}
        self.touched: dict[int, Any] = {}
        self.updated: dict[int, bool] = {}
        self.issued: dict[int, int] = {}
        self.unfenced = numpy.ones(cta.threads, bool)

    def fence(self, group: Group) -> None:
        """Threads order what they did to registers before operations that come."""
        index = group.lanes.index
        self.unfenced[index] = False
        for each in self.touched.values():
            each[index] = False

    def touch(self, group: Group, reads: Iterable[int], writes: Iterable[int]) -> None:
        """Threads use registers otherwise."""
        index = group.lanes.index
        for slots, is_write in ((reads, False), (writes, True)):
            for slot in slots:
                if slot in self.number and (is_write or self.updated[slot]):
                    self._check(group, slot, index)
                self._row(self.touched, slot, False)[index] = True

    def move(self, group: Group, sources: Sequence[int], targets: Sequence[int]) -> None:
        """Registers get the contents of others; of none, where these are constants."""
        index = group.lanes.index
        numbers = [self.number[each][index] for each in sources if each in self.number]
        touched = [self.touched[each][index] for each in sources if each in self.touched]
        number = numpy.maximum.reduce(numbers) if numbers else -1
        was_touched = numpy.logical_or.reduce(touched) if touched else False
        for slot in targets:
            if numbers or slot in self.number:
                self._row(self.number, slot, -1)[index] = number
                origin = next((each for each in sources if each in self.number), slot)
                self.updated[slot], self.issued[slot] = self.updated.get(origin, False), self.issued.get(origin, 0)
            if touched or slot in self.touched:
                self._row(self.touched, slot, False)[index] = was_touched

    def issue(self, group: Group, used: dict[int, bool], kind: str) -> None:
        """An operation may use registers from here on."""
        index, self.kind = group.lanes.index, kind
        numbers = group.cta.machine.asynchrony.closed(group.cta, kind)[index]
        for slot, updated in used.items():
            self._row(self.number, slot, -1)[index] = numbers
            self.updated[slot], self.issued[slot] = updated, group.pc

    def _row(self, rows: dict[int, Any], slot: int, empty: int | bool) -> Any:
        found = rows.get(slot)
        if found is None:
            found = rows[slot] = numpy.full(self.cta.threads, empty, bool if isinstance(empty, bool) else numpy.int64)
        return found

    def _check(self, group: Group, slot: int, index: Any) -> None:
        complete = group.cta.complete.get(self.kind)
        limits = 0 if complete is None else complete[index]
        flying = self.number[slot][index] >= limits
        if flying.any():
            what = "an accumulator" if self.updated[slot] else "the fragment of A"
            thread = int(index[numpy.flatnonzero(flying)[0]])
            self._report(
                group,
                thread,
                "PTX311",
                f"touches {what} of the asynchronous operation at line {{}}, which may be in flight",
                "a wait for the group of that operation, before this",
                self.issued[slot],
            )

    def check_fence(self, group: Group, used: Iterable[int]) -> None:
        """Whether what threads did to registers is ordered before the operation that takes them."""
        index = group.lanes.index
        wrong = self.unfenced[index]
        if wrong.any():
            first: Any = wrong
            message = "uses registers, and no fence of registers comes before"
        else:
            rows = [self.touched[slot][index] for slot in used if slot in self.touched]
            first = next((each for each in rows if each.any()), None)
            message = "uses a register that was accessed before, with no fence of registers between"
        if first is not None and first.any():
            thread = int(index[numpy.flatnonzero(first)[0]])
            self._report(group, thread, "PTX312", message, "`wgmma.fence` behind the last access to the registers")

    def _report(self, group: Group, thread: int, code: str, message: str, missing: str, other: int = -1) -> None:
        machine, here = group.cta.machine, group.activation.code
        at = machine.thread_of(thread)

        def witness(pc: int) -> Witness:
            return Witness(here.instructions[pc].opcode, machine.line_of(here.offsets[pc]), at, group.cta.ctaid)

        shown = (witness(group.pc),) if other < 0 else (witness(group.pc), witness(other))
        text = f"`{shown[0].action}` " + message.format(shown[-1].line)
        machine.report.add(Finding(code, text, shown[0].line, here.offsets[group.pc], shown, missing))
