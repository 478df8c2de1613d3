"""Registers that a thread reads though it has not written them.

Where every way to an instruction writes what it reads, nothing can be unwritten, and nothing is watched. Of the other
registers the machine keeps which threads have written them. A read before that is no fault by itself: compilers emit
some on purpose, where the value does not matter (`ptxkit.emulate.unwritten` asks whether it does).

Source: PTX ISA, "State Spaces: Register State Space".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy

from ptxkit.emulate.faults import Witness
from ptxkit.emulate.scopes import Register, Scope
from ptxkit.isa import table
from ptxkit.isa.effects import Control
from ptxkit.isa.forms import Match
from ptxkit.isa.table import Mismatch
from ptxkit.records import dataclass, field
from ptxkit.syntax.tree import (
    Address,
    Arguments,
    Binary,
    Element,
    Function,
    Instruction,
    Name,
    Not,
    Operand,
    Pair,
    Unary,
    Vector,
)

if TYPE_CHECKING:
    from ptxkit.emulate.groups import Group, Signal

Step: TypeAlias = "Callable[[Group], Signal | None]"
Body: TypeAlias = "Sequence[tuple[Instruction, Scope]]"

_KNOWN: dict[int, tuple[Function, frozenset[str]]] = {}
"""What was found of functions, by their identity: a kernel is run many times."""
_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class UnwrittenRead:
    """The first read of a register, by an instruction, of a thread that has not written it. offset, line: of it."""

    register: str
    line: int
    offset: int
    witness: Witness


@dataclass(slots=True)
class UnwrittenReads:
    """The reads of one run. perturbed: registers that hold other bits at first."""

    perturbed: frozenset[str] = frozenset()
    found: dict[tuple[str, int], UnwrittenRead] = field(default_factory=dict)


# ----------------------------------------------------------------------------------- which registers are watched


def doubtful(function: Function, body: Body, goes_to: Callable[[int], list[int]]) -> frozenset[str]:
    """The names of the registers that some instruction may read before anything has written them.

    body: the instructions of the function; goes_to: the numbers of those that one names by their labels.
    """
    known = _KNOWN.get(id(function))
    if known is None or known[0] is not function:
        if len(_KNOWN) >= _REMEMBERED:
            _KNOWN.clear()
        known = _KNOWN[id(function)] = function, frozenset(_doubtful(body, goes_to))
    return known[1]


@dataclass(slots=True)
class _Block:
    """Instructions without branches or labels among them. reads: what it reads before it writes it; writes: surely."""

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    following: set[int] = field(default_factory=set)


def _doubtful(body: Body, goes_to: Callable[[int], list[int]]) -> set[str]:
    blocks = _blocks(body, goes_to)
    written: dict[int, set[str]] = {0: set()}  # before each block, on every way to it
    waiting = [0]
    while waiting:
        start = waiting.pop()
        after = written[start] | blocks[start].writes
        for each in blocks[start].following:
            before = written.get(each)
            if before is None or not before <= after:
                written[each] = after if before is None else before & after
                waiting.append(each)
    return {name for start, before in written.items() for name in blocks[start].reads - before}


def _blocks(body: Body, goes_to: Callable[[int], list[int]]) -> dict[int, _Block]:
    """By the numbers of their first instructions."""
    matches = [table().match(instruction) for instruction, _ in body]
    controls = {number: _control(match) for number, match in enumerate(matches)}
    targets = {number: goes_to(number) for number, kind in controls.items() if kind.startswith("branch")}
    starts = {0, *(each for some in targets.values() for each in some)}
    starts |= {number + 1 for number, kind in controls.items() if kind}
    starts.discard(len(body))
    found: dict[int, _Block] = {}
    block = _Block()
    for number, (instruction, _) in enumerate(body):
        if number in starts:
            block = found[number] = _Block()
        results, read = _uses(instruction, matches[number])
        block.reads |= read - block.writes
        if instruction.guard is None:
            block.writes |= results
        kind = controls[number]
        block.following |= starts & set(targets.get(number, ()))
        if number + 1 in starts and (not kind or instruction.guard is not None):
            block.following.add(number + 1)
    return found or {0: block}


def _control(match: Match | Mismatch) -> str:
    """How an instruction changes control; empty for one that does not, or comes back."""
    effects = match.effects if isinstance(match, Match) else ()
    return next((each.kind for each in effects if isinstance(each, Control) and each.kind != "call"), "")


def _uses(instruction: Instruction, match: Match | Mismatch) -> tuple[set[str], set[str]]:
    """The names that an instruction writes, and those that it reads only; what it updates counts as written."""
    roles = match.results if isinstance(match, Match) else ()
    operands = [match.operand(role, instruction) for role in roles] if isinstance(match, Match) else []
    results = {name for each in operands if each is not None for name in _names(each)}
    read = {name for each in instruction.operands for name in _names(each)} - results
    if instruction.guard is not None:
        read.add(instruction.guard.predicate)
    return results, read


def _names(operand: Operand | None) -> Iterator[str]:
    """The names in an operand; of an element of a vector, the vector's."""
    match operand:
        case Name(text=text):
            yield text.partition(".")[0]
        case Vector(elements=elements) | Arguments(elements=elements):
            for each in elements:
                yield from _names(each)
        case Address(base=inner) | Not(operand=inner) | Unary(operand=inner) | Element(index=inner):
            yield from _names(inner)
        case Binary(left=first, right=second) | Pair(first=first, second=second):
            yield from _names(first)
            yield from _names(second)
        case _:
            pass


# ---------------------------------------------------------------------------------------------------- watching


class WrittenRegisters:
    """Which threads have written the doubtful registers of a function. slots: their places, with their names."""

    def __init__(self, body: Body, names: frozenset[str]) -> None:
        self.slots: dict[int, str] = {}
        for instruction, scope in body:
            results, read = _uses(instruction, table().match(instruction))
            for name in (results | read) & names:
                self.slots |= dict.fromkeys(_slots(name, scope), name)

    def watched(self, step: Step, instruction: Instruction, match: Match, scope: Scope) -> Step:
        """A step that tells of the registers that it reads unwritten, and notes those that it writes."""
        results, read = _uses(instruction, match)
        if instruction.guard is not None:
            read = read - {instruction.guard.predicate}  # all threads of the group read it, not only those that go on
        return _watching(step, self._places(read, scope), list(self._places(results, scope)))

    def guarded(self, step: Step, instruction: Instruction, scope: Scope) -> Step:
        """The same of the guard alone."""
        names = {instruction.guard.predicate} if instruction.guard is not None else set()
        return _watching(step, self._places(names, scope), [])

    def _places(self, names: set[str], scope: Scope) -> Mapping[int, str]:
        wanted = names & set(self.slots.values())
        return {slot: name for name in wanted for slot in _slots(name, scope)}


def _slots(name: str, scope: Scope) -> tuple[int, ...]:
    found = scope.lookup(name)
    return found.slots if isinstance(found, Register) else ()


def _watching(step: Step, read: Mapping[int, str], writes: Sequence[int]) -> Step:
    if not read and not writes:
        return step

    def run(group: Group) -> Signal | None:
        index, written = group.lanes.index, group.activation.written
        for slot, name in read.items():
            known = written.get(slot)
            missing = index if known is None else index[~known[index]]
            if len(missing):
                _note(group, name, int(missing[0]))
        signal = step(group)
        if signal is None:
            for slot in writes:
                known = written.get(slot)
                if known is None:
                    known = written[slot] = numpy.zeros(group.cta.threads, bool)
                known[index] = True
        return signal

    return run


def _note(group: Group, name: str, thread: int) -> None:
    machine, code = group.cta.machine, group.activation.code
    offset = code.offsets[group.pc]
    if (name, offset) not in machine.unwritten_reads.found:
        line = machine.line_of(offset)
        opcode = code.instructions[group.pc].opcode
        witness = Witness(opcode, line, machine.thread_of(thread), group.cta.ctaid)
        machine.unwritten_reads.found[name, offset] = UnwrittenRead(name, line, offset, witness)
