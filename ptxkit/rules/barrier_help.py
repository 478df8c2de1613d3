"""Help texts for a missing barrier between two accesses."""

from __future__ import annotations

from ptxkit.analysis.context.barrier_placement import CTA_BARRIER, OrderingBarrier
from ptxkit.analysis.ir.program import Step
from ptxkit.diagnostics import LabelLine, Message
from ptxkit.diagnostics.catalogue import fix_titles, ptx6xx
from ptxkit.rules.model import FixCandidate, StepEdit


def release_label(barrier: OrderingBarrier) -> tuple[tuple[Step, Message], ...]:
    """Returns the label at the release by one lane; empty without such a release.

    It follows the label of the other access.
    """
    if barrier.release is None:
        return ()
    template = ptx6xx.RELAXED_RELEASE if barrier.is_relaxed else ptx6xx.RELEASE_BY_ONE_LANE
    return ((barrier.release, template()),)


def barrier_fixes(barrier: OrderingBarrier, first: Step, last: Step) -> tuple[FixCandidate, ...]:
    """Returns the barrier before the release, otherwise before the later access.

    A split barrier is inserted on both sides of the later access.
    """
    if barrier.text is None:
        return ()
    before = StepEdit(barrier.release or last, barrier.text)
    changes = (StepEdit(first, barrier.text, "after"), before) if barrier.is_split else (before,)
    return (FixCandidate(fix_titles.ADD(text=barrier.text), changes, safe=False),)


def format_barrier_help(
    barrier: OrderingBarrier, where: Message, first: str, lines: tuple[int, int] = (1, 2)
) -> Message:
    """Returns the help of a finding whose primary location is the later access.

    where: the place of the barrier, in words. first: the threads of the earlier access. lines: the numbers of the
    labels at the earlier access, or at its completion, and at the release.
    """
    earlier, release = LabelLine(lines[0]), LabelLine(lines[1])
    if barrier.is_relaxed:
        return ptx6xx.MAKE_ARRIVAL_RELEASE(release=release)
    if barrier.release is not None:
        return ptx6xx.ADD_BARRIER_BEFORE_RELEASE(barrier=barrier.text, earlier=earlier, release=release)
    if barrier.text is None:
        return ptx6xx.ARRIVE_AND_WAIT_AT_MBARRIER(threads=first, earlier=earlier)
    if barrier.is_split:
        return ptx6xx.ADD_SPLIT_BARRIER(barrier=barrier.text, earlier=earlier, threads=barrier.threads)
    if barrier.threads is not None and barrier.text != CTA_BARRIER:
        return ptx6xx.ADD_BARRIER_OF_SOME_THREADS(barrier=barrier.text, place=where, threads=barrier.threads)
    return ptx6xx.ADD_ORDERING_BARRIER(barrier=barrier.text, place=where)
