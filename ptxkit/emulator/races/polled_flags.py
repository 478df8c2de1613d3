"""Flags in global memory that threads wait for, and later copies from global memory without a proxy fence.

What another CTA, grid or GPU stored before it set a flag is known to the generic proxy of the thread that has read the
flag; a copy reads through the async proxy. The check does not require the other thread to run: the strict policy
requires the fence after every such wait.

Source: PTX ISA, "Causality Order", "Async Proxy", "membar, fence", "Release and Acquire Patterns".
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.core.findings import Violation
from ptxkit.emulator.races.vector_clocks import scope_level
from ptxkit.isa import table
from ptxkit.isa.effects import Access, Control, MemoryFence, Value

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.engine.executable import DecodedFunction
    from ptxkit.emulator.state.memory import ByteBuffer
    from ptxkit.emulator.sync.async_operation import AsyncOperation
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

_MIN_LEVEL = scope_level("gpu")
_WORD = 4
_FLAG_READ, _FLAG_ACQUIRED = 1, 2
"""What a thread has done with a flag: read it, which a fence makes an acquire; or acquired it."""


@lru_cache(maxsize=4096)
def _is_side_effect_free(opcode: str) -> bool:
    """Return whether an instruction only reads and computes; a loop that waits for a flag has no others."""
    return all(
        isinstance(effect, Value | MemoryFence | Control)
        or (isinstance(effect, Access) and (effect.kind, effect.proxy) == ("read", "generic"))
        for match in table().candidates(opcode)
        for effect in match.effects
    )


class PolledFlags:
    """The threads that have waited for a flag and have not executed a proxy fence since."""

    def __init__(self) -> None:
        self._is_polling_cache: dict[tuple[DecodedFunction, int], bool] = {}
        self._state: dict[Cta, Any] = {}
        self._flags: dict[tuple[Cta, int], tuple[DecodedFunction, int, ByteBuffer, int]] = {}

    def record_read(self, group: ThreadGroup, pool: ByteBuffer, places: Any, level: int, *, acquires: bool) -> None:
        """Record strong reads of global memory, with the level of their scope."""
        code, pc = group.activation.function, group.pc
        if level < _MIN_LEVEL or not self._is_polling_read(code, pc):
            return
        index = group.lanes.index
        self._state_of(group.cta)[index] = _FLAG_ACQUIRED if acquires else _FLAG_READ
        for thread, place in zip(index.tolist(), places.tolist(), strict=True):
            self._flags[group.cta, thread] = (code, pc, pool, place)

    def record_fence(self, group: ThreadGroup, level: int) -> None:
        """Record a memory fence by threads."""
        state = self._state.get(group.cta)
        if state is not None and level >= _MIN_LEVEL:
            index = group.lanes.index
            state[index] = numpy.where(state[index] == _FLAG_READ, _FLAG_ACQUIRED, state[index])

    def record_proxy_fence(self, group: ThreadGroup) -> None:
        """Record a proxy fence by threads that covers global memory."""
        state = self._state.get(group.cta)
        if state is not None:
            state[group.lanes.index] = 0

    def check_issue(self, operation: AsyncOperation) -> None:
        """Report where an operation that starts reads global memory after a wait."""
        state = self._state.get(operation.cta)
        if state is None or operation.proxy != "async":
            return
        pools = [each.buffer("source") for each in operation.transfers]
        pool = next((each for each in pools if each is not None and each.name == "global"), None)
        rows = numpy.flatnonzero(state[operation.threads] == _FLAG_ACQUIRED)
        if pool is None or not len(rows):
            return
        thread = int(operation.threads[rows[0]])
        code, pc, of_flag, place = self._flags[operation.cta, thread]
        flight = operation.cta.machine.async_engine.inflight
        transfer = next(each for each in operation.transfers if each.buffer("source") is pool)
        octets = transfer.byte_offsets("source", numpy.ones(transfer.rows, bool))
        own = flight.operation_witness(operation, int(rows[0]), pool, int(octets.min()), len(octets))
        other = flight.access_witness(code, pc, operation.cta, thread, of_flag, place, _WORD)
        message = (
            f"`{own.action}` copies global memory that others may have written before they set the flag read at line "
            f"{other.line}: no proxy fence stands between"
        )
        missing = "`fence.proxy.async.global` behind the wait"
        offset = operation.function.offsets[operation.pc]
        finding = Violation("PTX406", message, own.line, offset, (own, other), missing, "warning")
        operation.cta.machine.report.add(finding)

    def _state_of(self, cta: Cta) -> Any:
        found = self._state.get(cta)
        if found is None:
            found = self._state[cta] = numpy.zeros(cta.threads, numpy.uint8)
        return found

    def _is_polling_read(self, code: DecodedFunction, pc: int) -> bool:
        """Return whether a read without a guard is part of a loop that only reads and computes."""
        found = self._is_polling_cache.get((code, pc))
        if found is None:
            found = self._is_polling_cache[code, pc] = code.instructions[pc].guard is None and any(
                start <= pc and all(_is_side_effect_free(each.opcode) for each in code.instructions[start : end + 1])
                for end in range(pc, len(code.instructions))
                for start in code.branch_targets(end)
            )
        return found
