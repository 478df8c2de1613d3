"""Findings about two accesses of memory: their witnesses and their messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ptxkit.diagnostics import DiagnosticCode, LabelLine, Message, MessageTemplate, Severity
from ptxkit.diagnostics.catalogue import ptx3xx, ptx4xx, ptx5xx, ptx6xx
from ptxkit.emulator.core.findings import Violation, Witness
from ptxkit.emulator.races.access_history import AccessSite
from ptxkit.emulator.races.memory_access import MemoryAccess
from ptxkit.emulator.races.shadow_memory import WRITE
from ptxkit.emulator.races.witnesses import shared_place

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import CtaState, FunctionCode

_ACCESS_KINDS = ("write", "read", "read")
_UNORDERED: Mapping[DiagnosticCode, MessageTemplate] = {
    ptx6xx.SHARED_MEMORY_RACE: ptx6xx.ACCESSES_UNORDERED,
    ptx6xx.ATOMIC_SCOPE_TOO_NARROW: ptx6xx.SCOPE_TOO_NARROW,
    ptx3xx.READ_BEFORE_WAIT: ptx3xx.COMPLETION_NOT_KNOWN,
    ptx3xx.SOURCE_REUSED_IN_FLIGHT: ptx3xx.COMPLETION_NOT_KNOWN,
    ptx3xx.OPERANDS_REUSED: ptx3xx.OPERAND_READ_NOT_KNOWN,
    ptx5xx.MBARRIER_WITHOUT_ORDERING: ptx5xx.HANDOVER_DOES_NOT_ORDER,
    ptx4xx.MIXED_REDUCTIONS: ptx4xx.ATOMICS_OF_DIFFERENT_PROXIES,
}
"""The messages about two unordered accesses, by the rule that they violate."""


def report_unordered(
    access: MemoryAccess,
    row: int,
    kind: int,
    site: AccessSite,
    other: int,
    rule: DiagnosticCode = ptx6xx.SHARED_MEMORY_RACE,
) -> None:
    """Reports that an access by a thread (`row`) is not ordered after one of a kind by another thread at a site."""
    verb, earlier = ("reads", "writes") if access.kind == "read" else ("writes", _ACCESS_KINDS[kind] + "s")
    too = ", too" if kind == WRITE and access.kind != "read" else ""
    content = _UNORDERED[rule](access=verb, earlier=earlier, too=too).under(rule)
    report_conflict(content, access, row, kind, site, other)


def report_conflict(
    content: Message,
    access: MemoryAccess,
    row: int,
    kind: int,
    site: AccessSite,
    other: int,
    severity: Severity | None = None,
) -> None:
    """Reports an access by a thread (`row`) and an earlier one of a kind by another thread at a site.

    The message lacks the fields that all such findings share. `severity` is None for the default of the code.
    """
    thread, start = int(access.index[row]), int(access.byte_offsets[row])
    here = _witness(access, access.kind, access.location, thread, start)
    there = _witness(access, _ACCESS_KINDS[kind], site.location, other, start)
    location = ptx6xx.OTHER_ACCESS(
        at=ptx6xx.AT_LINE(line=LabelLine(int(there.line != here.line))) if there.line else "",
        cta=f" of CTA {there.cta}" if there.cta != here.cta else "",
    )
    content = content.with_fields(size=access.size, space=access.buffer.name, thread=there.thread, location=location)
    code, pc, cta = access.location
    cta.machine.report.add(Violation(content, here.line, code.offsets[pc], (here, there), severity), site.offset)


def _witness(
    access: MemoryAccess, kind: str, location: tuple[FunctionCode, int, CtaState], thread: int, start: int
) -> Witness:
    code, pc, cta = location
    machine, buffer, end = cta.machine, access.buffer, start + access.size
    opcode, line = code.instructions[pc].opcode, machine.line_of(code.offsets[pc])
    place = shared_place(cta, start, opcode) if buffer.name == "shared" else ""
    by, old = machine.thread_of(thread), buffer.data[start:end].tobytes().hex()
    return Witness(f"{kind}: {opcode}", line, by, cta.ctaid, buffer.name, start, access.size, old=old, place=place)
