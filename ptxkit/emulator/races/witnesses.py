"""Witnesses of accesses of memory: the instruction, its thread and the address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.emulator.core.findings import Witness
from ptxkit.semantics.layout import scalar_bytes
from ptxkit.semantics.object_names import quote_variable, type_of

if TYPE_CHECKING:
    from ptxkit.diagnostics import Message
    from ptxkit.emulator.state.memory import ByteBuffer, MemorySegment
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
        segment = _segment_of(cta, buffer)
        address += segment.start if segment is not None else 0
    line, by = machine.line_of(offset), machine.thread_of(thread)
    return Witness(text, line, by, cta.ctaid, buffer.name, address, size, place=place, offset=offset)


def shared_place(cta: CtaState, start: int, opcode: str) -> str:
    """Returns the variable at an address in the shared memory of a CTA, with the index of what an instruction moves."""
    type_ = type_of(opcode)
    unit = scalar_bytes(type_) if type_ is not None else None
    return cta.machine.program.shared.element_at(start % cta.cluster.stride, unit)


def memory_name(cta: CtaState, buffer: ByteBuffer, start: int) -> str | Message:
    """Returns what a buffer has from an offset on: a variable of shared memory, an argument, or the space."""
    if buffer.name == "shared":
        variable = cta.machine.program.shared.variable_at(start % cta.cluster.stride)
        name = quote_variable(variable.name) if variable is not None else None
    else:
        segment = _segment_of(cta, buffer)
        held = segment.allocation_at(segment.start + start) if segment is not None else None
        name = held.name if held is not None else None
    return name or ptx6xx.MEMORY_OF_SPACE(space=buffer.name)


def _segment_of(cta: CtaState, buffer: ByteBuffer) -> MemorySegment | None:
    return next((each for each in cta.machine.memory.segments.values() if each.buffer is buffer), None)


def operation_witness(operation: AsyncOperation, row: int, buffer: ByteBuffer, start: int, size: int) -> Witness:
    """Returns an access by a row of an asynchronous operation as a witness."""
    thread = int(operation.threads[row]) if len(operation.threads) else 0
    return access_witness(operation.function, operation.pc, operation.cta, thread, buffer, start, size)
