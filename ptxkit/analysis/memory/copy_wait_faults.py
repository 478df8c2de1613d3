"""Determines why a copy may still be in flight where its bytes are read: which wait is missing, wrong, or too late.

Source: PTX ISA, "cp.async.wait_group / cp.async.wait_all", "cp.async.commit_group", "Phases of the mbarrier object".
"""

from __future__ import annotations

from enum import Enum

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.memory.copy_completion import is_group_copy, last_phase_wait
from ptxkit.analysis.memory.copy_reads import CopyRead
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import WaitGroup


class CopyWaitCause(Enum):
    """The reason why a copy may still be in flight where its bytes are read."""

    NO_MBARRIER_WAIT = "no wait on the mbarrier precedes the read"
    PASSED_WAIT = "the wait on the mbarrier observes no phase"
    EARLIER_PHASE = "the wait on the mbarrier observes an earlier phase"
    NOT_COMMITTED = "the group of the copy is never committed"
    PENDING_GROUP = "the waits may leave the group of the copy pending"
    SOURCES_ONLY = "the wait is only for the reads of the sources of the group"
    NO_GROUP_WAIT = "no wait for the group of the copy exists"
    LATE_WAIT = "the wait for the group of the copy follows the read"
    UNORDERED_READER = "the issuing thread has waited, and another thread reads without being ordered after the wait"


@dataclass(frozen=True, slots=True)
class CopyWaitFault:
    """A cause, with the instructions that explain it.

    group_waits: the waits for the group of the copy that may precede the read. wait: the wait that does not suffice;
    None where no wait exists. phase: the earlier phase that it observes.
    """

    cause: CopyWaitCause
    group_waits: tuple[Step, ...]
    wait: Step | None = None
    phase: int | None = None


def find_wait_fault(read: CopyRead) -> CopyWaitFault:
    """Returns why the copy of a pending read may still be in flight."""
    copy, issuer = read.copy, read.issuer
    until = read.position if read.is_own and copy.completion_position is not None else len(issuer.trace.events)
    waits = tuple(
        found.step
        for at, found in issuer.positions(WaitGroup)
        if copy.position < at < until and isinstance(found.effect, WaitGroup) and found.effect.group == copy.group
    )
    if not is_group_copy(copy):
        return _find_phase_fault(read, waits)
    if copy.commit_position is None:
        return CopyWaitFault(CopyWaitCause.NOT_COMMITTED, waits)
    if waits and (read.is_own or copy.completion_position is None):
        freed = copy.source_free_position
        if freed is not None and freed < until and freed != copy.completion_position:
            return CopyWaitFault(CopyWaitCause.SOURCES_ONLY, waits, issuer.trace.events[freed].step)
        return CopyWaitFault(CopyWaitCause.PENDING_GROUP, waits, waits[0])
    if copy.completion_position is None:
        return CopyWaitFault(CopyWaitCause.NO_GROUP_WAIT, waits)
    cause = CopyWaitCause.LATE_WAIT if read.is_own else CopyWaitCause.UNORDERED_READER
    return CopyWaitFault(cause, waits, issuer.trace.events[copy.completion_position].step)


def _find_phase_fault(read: CopyRead, waits: tuple[Step, ...]) -> CopyWaitFault:
    """Returns why the phase of a copy that completes on an mbarrier is not observed."""
    earlier = last_phase_wait(read.reader, read.position, read.copy)
    if earlier is not None and not earlier[1]:
        return CopyWaitFault(CopyWaitCause.PASSED_WAIT, waits, earlier[0])
    if earlier is not None and read.copy.phase is not None:
        return CopyWaitFault(CopyWaitCause.EARLIER_PHASE, waits, *earlier)
    return CopyWaitFault(CopyWaitCause.NO_MBARRIER_WAIT, waits)
