"""Findings about two accesses of memory: their witnesses and their messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ptxkit.diagnostics import DiagnosticCode, Message, MessageTemplate, Severity
from ptxkit.diagnostics.catalogue import ptx3xx, ptx4xx, ptx5xx, ptx6xx
from ptxkit.emulator.core.findings import UNORDERED, Violation, Witness
from ptxkit.emulator.races.access_history import AccessSite
from ptxkit.emulator.races.memory_access import MemoryAccess
from ptxkit.emulator.races.shadow_memory import WRITE
from ptxkit.emulator.races.witnesses import memory_name, shared_place
from ptxkit.fast_dataclasses import replace

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
    _report(access, site, replace(_conflict(content, access, row, kind, site, other), lacks=UNORDERED))


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
    _report(access, site, replace(_conflict(content, access, row, kind, site, other), assigned_severity=severity))


def _report(access: MemoryAccess, site: AccessSite, finding: Violation) -> None:
    access.location[2].machine.report.add(finding, site.offset)


def _conflict(content: Message, access: MemoryAccess, row: int, kind: int, site: AccessSite, other: int) -> Violation:
    thread, start = int(access.index[row]), int(access.byte_offsets[row])
    here = _witness(access, access.kind, access.location, thread, start)
    there = _witness(access, _ACCESS_KINDS[kind], site.location, other, start)
    code, pc, cta = access.location
    content = content.with_fields(
        size=access.size,
        variable=memory_name(cta, access.buffer, start),
        thread=there.thread,
        cta=ptx6xx.OF_CTA(cta=there.cta) if there.cta != here.cta else "",
        at=ptx6xx.AT_OTHER_LINE() if there.line else "",
    )
    return Violation(content, here.line, code.offsets[pc], (here, there))


def _witness(
    access: MemoryAccess, kind: str, location: tuple[FunctionCode, int, CtaState], thread: int, start: int
) -> Witness:
    code, pc, cta = location
    machine, buffer, end = cta.machine, access.buffer, start + access.size
    opcode, offset = code.instructions[pc].opcode, code.offsets[pc]
    return Witness(
        f"{kind}: {opcode}",
        machine.line_of(offset),
        machine.thread_of(thread),
        cta.ctaid,
        buffer.name,
        start,
        access.size,
        old=buffer.data[start:end].tobytes().hex(),
        place=shared_place(cta, start, opcode) if buffer.name == "shared" else "",
        offset=offset,
    )
