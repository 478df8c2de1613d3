"""Registers that a thread reads although it has not written them.

Registers that are written on every path to an instruction that reads them need no check. For the others, the machine
records which threads have written them. A read before that is not an error by itself, because compilers intentionally
emit such reads if the value does not matter; `ptxkit.emulator.driver.uninitialized_dependence` checks whether it does.

Source: PTX ISA, "State Spaces: Register State Space".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy

from ptxkit.emulator.core.findings import Witness
from ptxkit.emulator.core.uninitialized_reads import UninitializedRead
from ptxkit.emulator.limits import MAX_CACHED_FUNCTIONS
from ptxkit.emulator.state.symbols import BlockScope, RegisterSlots
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa import table
from ptxkit.isa.forms import Match
from ptxkit.isa.table import Mismatch
from ptxkit.semantics.control_flow import successors_of
from ptxkit.semantics.linear_code import LinearStep
from ptxkit.syntax.tree import (
    Address,
    Function,
    Instruction,
    Operand,
    operand_names,
)

if TYPE_CHECKING:
    from ptxkit.emulator.threads.thread_groups import Signal, Step, ThreadGroup

_MAYBE_UNINITIALIZED_CACHE: dict[int, tuple[Function, frozenset[str]]] = {}
"""A cache of results by the identity of the function, because a kernel is run many times."""


# ----------------------------------------------------------------------------------- which registers are watched


def maybe_uninitialized(function: Function, steps: Sequence[LinearStep[BlockScope]]) -> frozenset[str]:
    """Returns the names of the registers that some step of a function may read before they are written."""
    known = _MAYBE_UNINITIALIZED_CACHE.get(id(function))
    if known is None or known[0] is not function:
        if len(_MAYBE_UNINITIALIZED_CACHE) >= MAX_CACHED_FUNCTIONS:
            _MAYBE_UNINITIALIZED_CACHE.clear()
        known = _MAYBE_UNINITIALIZED_CACHE[id(function)] = (
            function,
            frozenset(_compute_maybe_uninitialized(steps)),
        )
    return known[1]


@dataclass(slots=True)
class _BasicBlock:
    """A basic block. `reads` are registers that it reads before it writes them, and `writes` those that it always
    writes.
    """

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    successors: set[int] = field(default_factory=set)


def _compute_maybe_uninitialized(steps: Sequence[LinearStep[BlockScope]]) -> set[str]:
    blocks = _basic_blocks(steps)
    written: dict[int, set[str]] = {0: set()}  # before each block, on every path to it
    waiting = [0]
    while waiting:
        start = waiting.pop()
        after = written[start] | blocks[start].writes
        for each in blocks[start].successors:
            before = written.get(each)
            if before is None or not before <= after:
                written[each] = after if before is None else before & after
                waiting.append(each)
    return {name for start, before in written.items() for name in blocks[start].reads - before}


def _basic_blocks(steps: Sequence[LinearStep[BlockScope]]) -> dict[int, _BasicBlock]:
    """Returns the basic blocks by the indices of their first instructions."""
    matches = [table().match(step.instruction) for step in steps]
    following = [
        successors_of(step, match.effects if isinstance(match, Match) else ())
        for step, match in zip(steps, matches, strict=True)
    ]
    starts = {0}
    for number, after in enumerate(following, 1):
        if after != (number,):
            starts.update(after, (number,))
    starts.discard(len(steps))
    found: dict[int, _BasicBlock] = {}
    block = _BasicBlock()
    for number, step in enumerate(steps):
        if number in starts:
            block = found[number] = _BasicBlock()
        results, read = _defs_and_uses(step.instruction, matches[number])
        block.reads |= read - block.writes
        if step.instruction.guard is None:
            block.writes |= results
        block.successors |= starts.intersection(following[number])
    return found or {0: block}


def _defs_and_uses(instruction: Instruction, match: Match | Mismatch) -> tuple[set[str], set[str]]:
    """Returns the names that an instruction writes, and those that it only reads; updated registers count as
    written.
    """
    roles = match.results if isinstance(match, Match) else ()
    operands = [match.operand(role, instruction) for role in roles] if isinstance(match, Match) else []
    results = {name for each in operands for name in _names_in(each)}
    read = {name for each in instruction.operands for name in _names_in(each)} - results
    if instruction.guard is not None:
        read.add(instruction.guard.predicate)
    return results, read


def _names_in(operand: Operand | None) -> set[str]:
    """Returns the names in an operand: for an element of a vector the vector's name, for an address its base."""
    value = operand.base if isinstance(operand, Address) else operand
    return {name.partition(".")[0] for name in operand_names(value)}


# ---------------------------------------------------------------------------------------------------- watching


class InitializedRegisters:
    """The threads that have written the checked registers of a function. `slots` has the registers' names by slot."""

    def __init__(self, linear_steps: Sequence[LinearStep[BlockScope]], names: frozenset[str]) -> None:
        self.slots: dict[int, str] = {}
        for linear in linear_steps:
            results, read = _defs_and_uses(linear.instruction, table().match(linear.instruction))
            for name in (results | read) & names:
                self.slots |= dict.fromkeys(_slots_of(name, linear.scope), name)

    def instrument(self, step: Step, linear: LinearStep[BlockScope], match: Match) -> Step:
        """Wraps a step to report unwritten registers that it reads, and to record those that it writes."""
        instruction, scope = linear.instruction, linear.scope
        results, read = _defs_and_uses(instruction, match)
        if instruction.guard is not None:
            read = read - {instruction.guard.predicate}  # all threads of the group read it, not only the active ones
        return _instrumented_step(step, self._slots_of_names(read, scope), list(self._slots_of_names(results, scope)))

    def instrument_guard(self, step: Step, linear: LinearStep[BlockScope]) -> Step:
        """Wraps a step to report its guard only."""
        guard = linear.instruction.guard
        names = {guard.predicate} if guard is not None else set()
        return _instrumented_step(step, self._slots_of_names(names, linear.scope), [])

    def _slots_of_names(self, names: set[str], scope: BlockScope) -> Mapping[int, str]:
        return {slot: name for name in names for slot in _slots_of(name, scope) if slot in self.slots}


def _slots_of(name: str, scope: BlockScope) -> tuple[int, ...]:
    found = scope.lookup(name)
    return found.slots if isinstance(found, RegisterSlots) else ()


def _instrumented_step(step: Step, read: Mapping[int, str], writes: Sequence[int]) -> Step:
    if not read and not writes:
        return step

    def run(group: ThreadGroup) -> Signal | None:
        index, written = group.lanes.index, group.activation.initialized
        for slot, name in read.items():
            known = written.get(slot)
            missing = index if known is None else index[~known[index]]
            if len(missing):
                _record_read(group, name, int(missing[0]))
        signal = step(group)
        if signal is None:
            for slot in writes:
                known = written.get(slot)
                if known is None:
                    known = written[slot] = numpy.zeros(group.cta.threads, bool)
                known[index] = True
        return signal

    return run


def _record_read(group: ThreadGroup, name: str, thread: int) -> None:
    machine, code = group.cta.machine, group.activation.function
    offset = code.offsets[group.pc]
    if (name, offset) not in machine.uninitialized_reads.reads:
        line = machine.line_of(offset)
        opcode = code.instructions[group.pc].opcode
        witness = Witness(opcode, line, machine.thread_of(thread), group.cta.ctaid)
        machine.uninitialized_reads.reads[name, offset] = UninitializedRead(name, line, offset, witness)
