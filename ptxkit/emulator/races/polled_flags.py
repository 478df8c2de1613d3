"""Flags in global memory that threads wait for, and later copies from global memory without a proxy fence.

The stores of another CTA, grid or GPU before it set a flag are known to the generic proxy of the thread that has read
the flag, but a copy reads through the async proxy. The check does not require the other thread to run, because the
strict policy requires the fence after every such wait.

Source: PTX ISA, "Causality Order", "Async Proxy", "membar / fence", "Release and Acquire Patterns".
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics.catalogue import ptx4xx
from ptxkit.emulator.core.findings import Violation
from ptxkit.emulator.limits import MAX_CACHED_OPCODES
from ptxkit.emulator.races.witnesses import access_witness, operation_witness
from ptxkit.emulator.threads.machine_observer import AccessEvent, MachineObserver
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa import table
from ptxkit.isa.effects import Access, Control, MemoryFence, Value
from ptxkit.semantics.ordering import ACQUIRE_ORDERS, GPU_LEVEL, scope_level

if TYPE_CHECKING:
    from ptxkit.emulator.state.memory import ByteBuffer
    from ptxkit.emulator.sync.async_operation import AsyncOperation
    from ptxkit.emulator.threads.machine_state import CtaState, FunctionCode
    from ptxkit.emulator.threads.thread_groups import ThreadGroup

_WORD = 4
_FLAG_READ, _FLAG_ACQUIRED = 1, 2
"""The state of a flag for a thread: it has read the flag, which a fence makes an acquire, or it has acquired it."""


@lru_cache(maxsize=MAX_CACHED_OPCODES)
def _is_side_effect_free(opcode: str) -> bool:
    """Returns whether an instruction only reads and computes, as all instructions of a loop that waits for a flag
    do.
    """
    return all(
        isinstance(effect, Value | MemoryFence | Control)
        or (isinstance(effect, Access) and (effect.kind, effect.proxy) == ("read", "generic"))
        for match in table().candidates(opcode)
        for effect in match.effects
    )


@dataclass(frozen=True, slots=True)
class _Flag:
    """A flag in global memory, and the instruction that reads it."""

    function: FunctionCode
    pc: int
    buffer: ByteBuffer
    byte_offset: int


class PolledFlags(MachineObserver):
    """The threads that have waited for a flag and have not executed a proxy fence since, for the strict policy."""

    def __init__(self) -> None:
        self._is_polling_cache: dict[tuple[FunctionCode, int], bool] = {}
        self._state: dict[CtaState, Any] = {}
        self._flags: dict[tuple[CtaState, int], _Flag] = {}

    def on_access(self, event: AccessEvent) -> None:
        """Records strong reads of global memory."""
        if event.order == "weak" or event.kind == "write" or event.buffer.name != "global":
            return
        group = event.group
        code, pc = group.activation.function, group.pc
        if scope_level(event.scope) < GPU_LEVEL or not self._is_polling_read(code, pc):
            return
        index = group.lanes.index
        self._state_of(group.cta)[index] = _FLAG_ACQUIRED if event.order in ACQUIRE_ORDERS else _FLAG_READ
        for thread, place in zip(index.tolist(), event.byte_offsets.tolist(), strict=True):
            self._flags[group.cta, thread] = _Flag(code, pc, event.buffer, place)

    def on_fence(self, group: ThreadGroup, order: str, scope: str) -> None:
        """Records a memory fence by threads."""
        state = self._state.get(group.cta)
        if state is not None and scope_level(scope) >= GPU_LEVEL:
            index = group.lanes.index
            state[index] = numpy.where(state[index] == _FLAG_READ, _FLAG_ACQUIRED, state[index])

    def on_proxy_fence(
        self, group: ThreadGroup, proxy: str, space: str | None, direction: str, scope: str | None, address: Any = None
    ) -> None:
        """Records a proxy fence by threads, which is a memory fence, too, if it has a scope."""
        if direction == "acquire" and scope is not None:
            self.on_fence(group, direction, scope)
        state = self._state.get(group.cta)
        if state is not None and proxy == "async" and space in (None, "global"):
            state[group.lanes.index] = 0
        if direction == "release" and scope is not None:
            self.on_fence(group, direction, scope)

    def on_issue(self, operation: AsyncOperation) -> None:
        """Reports an operation that starts and reads global memory after a wait."""
        state = self._state.get(operation.cta)
        if state is None or operation.proxy != "async":
            return
        pools = [each.buffer("source") for each in operation.transfers]
        pool = next((each for each in pools if each is not None and each.name == "global"), None)
        rows = numpy.flatnonzero(state[operation.threads] == _FLAG_ACQUIRED)
        if pool is None or not len(rows):
            return
        thread = int(operation.threads[rows[0]])
        flag = self._flags[operation.cta, thread]
        transfer = next(each for each in operation.transfers if each.buffer("source") is pool)
        octets = transfer.byte_offsets("source", numpy.ones(transfer.rows, bool))
        own = operation_witness(operation, int(rows[0]), pool, int(octets.min()), len(octets))
        other = access_witness(flag.function, flag.pc, operation.cta, thread, flag.buffer, flag.byte_offset, _WORD)
        message = ptx4xx.POLLED_COPY_SEEN(action=own.action)
        offset = operation.function.offsets[operation.pc]
        finding = Violation(message, own.line, offset, (own, other))
        operation.cta.machine.report.add(finding)

    def _state_of(self, cta: CtaState) -> Any:
        found = self._state.get(cta)
        if found is None:
            found = self._state[cta] = numpy.zeros(cta.threads, numpy.uint8)
        return found

    def _is_polling_read(self, code: FunctionCode, pc: int) -> bool:
        """Returns whether a read without a guard is part of a loop that only reads and computes."""
        found = self._is_polling_cache.get((code, pc))
        if found is None:
            found = self._is_polling_cache[code, pc] = code.instructions[pc].guard is None and any(
                start <= pc and all(_is_side_effect_free(each.opcode) for each in code.instructions[start : end + 1])
                for end in range(pc, len(code.instructions))
                for start in code.branch_targets(end)
            )
        return found
