"""Flags in global memory that threads wait for, and what they copy of global memory then, with no proxy fence between.

What another CTA, grid or GPU stored before it set a flag is known to the generic proxy of the thread that has read the
flag; a copy reads through the async proxy. Nobody else need run for that to be seen: the strict policy asks for the
fence behind every such wait.

Source: PTX ISA, "Causality Order", "Async Proxy", "membar, fence", "Release and Acquire Patterns".
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.faults import Finding
from ptxkit.emulate.knowledge import level_of
from ptxkit.isa import table
from ptxkit.isa.effects import Access, Control, MemoryFence, Value

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.groups import Group
    from ptxkit.emulate.memory import Pool
    from ptxkit.emulate.operations import Operation
    from ptxkit.emulate.program import Code

_BEYOND = level_of("gpu")
_WORD = 4
_READ, _ACQUIRED = 1, 2
"""What a thread has done with a flag: read it, which a fence makes an acquire; or acquired it."""


@lru_cache(maxsize=4096)
def _is_idle(opcode: str) -> bool:
    """Whether an instruction only reads and computes: others belong to no wait for a flag."""
    return all(
        isinstance(effect, Value | MemoryFence | Control)
        or (isinstance(effect, Access) and (effect.kind, effect.proxy) == ("read", "generic"))
        for match in table().candidates(opcode)
        for effect in match.effects
    )


class Polls:
    """Who has waited for which flag, and has not fenced since."""

    def __init__(self) -> None:
        self._waits: dict[tuple[Code, int], bool] = {}
        self._state: dict[Cta, Any] = {}
        self._flags: dict[tuple[Cta, int], tuple[Code, int, Pool, int]] = {}

    def read(self, group: Group, pool: Pool, places: Any, level: int, *, acquires: bool) -> None:
        """Threads read global memory strongly, at a scope of a level."""
        code, pc = group.activation.code, group.pc
        if level < _BEYOND or not self._is_wait(code, pc):
            return
        index = group.lanes.index
        self._of(group.cta)[index] = _ACQUIRED if acquires else _READ
        for thread, place in zip(index.tolist(), places.tolist(), strict=True):
            self._flags[group.cta, thread] = (code, pc, pool, place)

    def fence(self, group: Group, level: int) -> None:
        """Threads execute a fence between memory accesses."""
        state = self._state.get(group.cta)
        if state is not None and level >= _BEYOND:
            index = group.lanes.index
            state[index] = numpy.where(state[index] == _READ, _ACQUIRED, state[index])

    def fence_proxy(self, group: Group) -> None:
        """Threads execute a fence between the proxies that covers global memory."""
        state = self._state.get(group.cta)
        if state is not None:
            state[group.lanes.index] = 0

    def issued(self, operation: Operation) -> None:
        """An operation begins: report where it reads global memory behind a wait."""
        state = self._state.get(operation.cta)
        if state is None or operation.proxy != "async":
            return
        pools = [each.pool("source") for each in operation.transfers]
        pool = next((each for each in pools if each is not None and each.name == "global"), None)
        rows = numpy.flatnonzero(state[operation.threads] == _ACQUIRED)
        if pool is None or not len(rows):
            return
        thread = int(operation.threads[rows[0]])
        code, pc, of_flag, place = self._flags[operation.cta, thread]
        flight = operation.cta.machine.asynchrony.flight
        transfer = next(each for each in operation.transfers if each.pool("source") is pool)
        octets = transfer.octets("source", numpy.ones(transfer.rows, bool))
        own = flight.of_operation(operation, int(rows[0]), pool, int(octets.min()), len(octets))
        other = flight.witness(code, pc, operation.cta, thread, of_flag, place, _WORD)
        message = (
            f"`{own.action}` copies global memory that others may have written before they set the flag read at line "
            f"{other.line}: no proxy fence stands between"
        )
        missing = "`fence.proxy.async.global` behind the wait"
        offset = operation.code.offsets[operation.pc]
        finding = Finding("PTX406", message, own.line, offset, (own, other), missing, "warning")
        operation.cta.machine.report.add(finding)

    def _of(self, cta: Cta) -> Any:
        found = self._state.get(cta)
        if found is None:
            found = self._state[cta] = numpy.zeros(cta.threads, numpy.uint8)
        return found

    def _is_wait(self, code: Code, pc: int) -> bool:
        """Whether a read stands in a loop that does nothing but read, by no guard of its own."""
        found = self._waits.get((code, pc))
        if found is None:
            found = self._waits[code, pc] = code.instructions[pc].guard is None and any(
                start <= pc and all(_is_idle(each.opcode) for each in code.instructions[start : end + 1])
                for end in range(pc, len(code.instructions))
                for start in code.goes_to(end)
            )
        return found
