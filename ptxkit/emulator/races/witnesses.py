"""Witnesses of accesses of memory: the instruction, its thread and the address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.emulator.core.findings import Witness
from ptxkit.semantics.layout import scalar_bytes
from ptxkit.semantics.object_names import type_of

if TYPE_CHECKING:
    from ptxkit.emulator.state.memory import ByteBuffer
    from ptxkit.emulator.sync.async_operation import AsyncOperation
    from ptxkit.emulator.threads.machine_state import CtaState, FunctionCode


def access_witness(
    code: FunctionCode, pc: int, cta: CtaState, thread: int, buffer: ByteBuffer, start: int, size: int
) -> Witness:
    """Returns an access by a thread of bytes of a buffer as a witness."""
    machine = cta.machine
    address, place = start, ""
    offset = code.offsets[pc]
    text = code.instructions[pc].opcode
    if buffer.name == "shared":
        address = start % cta.cluster.stride
        place = shared_place(cta, address, text)
    else:
        segment = next((each for each in machine.memory.segments.values() if each.buffer is buffer), None)
        address += segment.start if segment is not None else 0
    line, by = machine.line_of(offset), machine.thread_of(thread)
    return Witness(text, line, by, cta.ctaid, buffer.name, address, size, place=place)


def shared_place(cta: CtaState, start: int, opcode: str) -> str:
    """Returns the variable at an address in the shared memory of a CTA, with the index of what an instruction moves."""
    type_ = type_of(opcode)
    unit = scalar_bytes(type_) if type_ is not None else None
    return cta.machine.program.shared.element_at(start % cta.cluster.stride, unit)


def operation_witness(operation: AsyncOperation, row: int, buffer: ByteBuffer, start: int, size: int) -> Witness:
    """Returns an access by a row of an asynchronous operation as a witness."""
    thread = int(operation.threads[row]) if len(operation.threads) else 0
    return access_witness(operation.function, operation.pc, operation.cta, thread, buffer, start, size)
