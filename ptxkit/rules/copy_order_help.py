"""Help texts for a read of bytes that an asynchronous copy writes: what is missing between the copy and the read."""

from __future__ import annotations

from ptxkit.analysis.context.barrier_placement import PathPoint, find_ordering_barrier, path_point_of
from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.memory.copy_reads import CopyRead
from ptxkit.analysis.memory.copy_wait_faults import CopyWaitCause, CopyWaitFault
from ptxkit.analysis.sync.sync_edges import find_unordered_release
from ptxkit.diagnostics import LabelLine, Message
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.fast_dataclasses import dataclass
from ptxkit.rules.barrier_help import barrier_fixes, format_barrier_help, release_label
from ptxkit.rules.model import FixCandidate
from ptxkit.rules.operation_nouns import operation_noun


@dataclass(frozen=True, slots=True)
class OrderHelp:
    """The words about what is missing between a copy and a read.

    reason, help: those of a finding. labels: those after the label of the copy. barrier: the text of the missing
    barrier; None if no barrier is missing.
    """

    reason: Message
    help: Message
    labels: tuple[tuple[Step, Message], ...] = ()
    barrier: str | None = None
    fixes: tuple[FixCandidate, ...] = ()


def explain_wait_fault(facts: ScenarioFacts, read: CopyRead, fault: CopyWaitFault) -> OrderHelp:
    """Returns the words about a wait that is missing, wrong, or too late."""
    noun, copy, wait = operation_noun(read.copy.event.step), read.copy, fault.wait
    match fault.cause:
        case CopyWaitCause.PASSED_WAIT:
            fix = ptx3xx.WAIT_FOR_OTHER_PARITY(line=LabelLine(2))
            reason, label = ptx3xx.WAIT_OBSERVES_NO_PHASE(operation=noun), ptx3xx.PASSES_FOR_OTHER_PARITY()
        case CopyWaitCause.EARLIER_PHASE:
            reason, fix = (
                ptx3xx.WAITS_FOR_EARLIER_PHASE(operation=noun, phase=copy.phase),
                ptx3xx.WAIT_FOR_MBARRIER_PHASE(),
            )
            label = ptx3xx.OBSERVES_EARLIER_PHASE(phase=fault.phase)
        case CopyWaitCause.PENDING_GROUP:
            reason, fix = ptx3xx.WAIT_LEAVES_GROUP_PENDING(), ptx3xx.LOWER_WAIT_COUNT()
            label = ptx3xx.MAY_LEAVE_GROUP_UNFINISHED()
        case CopyWaitCause.SOURCES_ONLY:
            reason, fix = ptx3xx.WAIT_IS_FOR_SOURCES(), ptx3xx.WAIT_FOR_WRITES()
            label = ptx3xx.ENDS_READS_OF_SOURCES()
        case CopyWaitCause.LATE_WAIT:
            reason, fix, label = ptx3xx.WAIT_TOO_LATE(), ptx3xx.WAIT_EARLIER(), ptx3xx.FIRST_COVERING_WAIT()
        case CopyWaitCause.NO_MBARRIER_WAIT:
            return OrderHelp(ptx3xx.NO_WAIT_ON_MBARRIER(operation=noun), ptx3xx.WAIT_FOR_MBARRIER_PHASE())
        case CopyWaitCause.NOT_COMMITTED:
            fix = ptx3xx.COMMIT_BEFORE_WAIT() if fault.group_waits else ptx3xx.COMMIT_AND_WAIT()
            return OrderHelp(ptx3xx.GROUP_NOT_COMMITTED(), fix)
        case CopyWaitCause.NO_GROUP_WAIT:
            return OrderHelp(ptx3xx.NOTHING_WAITS(), ptx3xx.ADD_WAIT_AND_BARRIER(group=copy.group))
        case CopyWaitCause.UNORDERED_READER:
            assert copy.completion_position is not None
            started = path_point_of(facts, read.issuer, copy.position)
            over = path_point_of(facts, read.issuer, copy.completion_position)
            return explain_missing_order(facts, started, over, path_point_of(facts, read.reader, read.position))
    return OrderHelp(reason, fix, ((wait, label),) if wait is not None else ())


def explain_missing_order(facts: ScenarioFacts, copy: PathPoint, over: PathPoint, read: PathPoint) -> OrderHelp:
    """Returns the words about what is missing between the wait of the issuing thread and the read of another thread."""
    what, wait = ptx3xx.ONLY_ISSUER_WAITED(), (over.step, ptx3xx.WAIT_OF_ISSUER())
    release = find_unordered_release(
        copy.tid, copy.events, copy.position, over.position, read.path.release_acquire_points, read.position
    )
    if release is not None and not release.is_relaxed:
        label = (release.step, ptx3xx.HANDOVER_BEFORE_WAIT())
        return OrderHelp(ptx3xx.WAIT_AFTER_HANDOVER(), ptx3xx.MOVE_WAIT_BEFORE_HANDOVER(), (wait, label))
    barrier = find_ordering_barrier(facts, over, read)
    fix = format_barrier_help(barrier, ptx3xx.BETWEEN_WAIT_AND_READ(), "issuing threads", (2, 3))
    what = ptx3xx.ONLY_ISSUER_WAITED_AND_RELAXED() if barrier.is_relaxed else what
    fixes = barrier_fixes(barrier, over.step, read.step)
    return OrderHelp(what, fix, (wait, *release_label(barrier)), barrier.sole_text, fixes)
