"""Witnesses of accesses of memory: the instruction, its thread and the address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.emulator.core.findings import Witness

if TYPE_CHECKING:
    from ptxkit.emulator.state.memory import ByteBuffer
    from ptxkit.emulator.sync.async_operation import AsyncOperation
    from ptxkit.emulator.threads.machine_state import CtaState, FunctionCode


def access_witness(
    code: FunctionCode, pc: int, cta: CtaState, thread: int, buffer: ByteBuffer, start: int, size: int
) -> Witness:
    """Returns an access by a thread of bytes of a buffer as a witness."""
    machine = cta.machine
    address = start
    if buffer.name == "shared":
        address = start % cta.cluster.stride
    else:
        segment = next((each for each in machine.memory.segments.values() if each.buffer is buffer), None)
        address += segment.start if segment is not None else 0
    offset = code.offsets[pc]
    text = code.instructions[pc].opcode
    return Witness(text, machine.line_of(offset), machine.thread_of(thread), cta.ctaid, buffer.name, address, size)


def operation_witness(operation: AsyncOperation, row: int, buffer: ByteBuffer, start: int, size: int) -> Witness:
    """Returns an access by a row of an asynchronous operation as a witness."""
    thread = int(operation.threads[row]) if len(operation.threads) else 0
    return access_witness(operation.function, operation.pc, operation.cta, thread, buffer, start, size)
