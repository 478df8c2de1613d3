"""How rules word the barrier that is missing between two accesses."""

from __future__ import annotations

from ptxkit.analysis.context.barrier_placement import CTA_BARRIER, OrderingBarrier, PathPoint, find_ordering_barrier
from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.context.races import AccessInstance
from ptxkit.analysis.context.thread_view import ThreadView
from ptxkit.analysis.ir.program import Step
from ptxkit.rules.model import FixCandidate, StepEdit


def find_barrier_between(world: ScenarioFacts, first: AccessInstance, last: AccessInstance) -> OrderingBarrier:
    """The narrowest barrier that orders one access, once it is over, before another."""
    return find_ordering_barrier(
        world, PathPoint(first.path, first.tid, first.end_position), PathPoint(last.path, last.tid, last.position)
    )


def path_point_of(world: ScenarioFacts, thread: ThreadView, position: int) -> PathPoint:
    """The place of an event of one thread's trace in the events of its group."""
    event = thread.trace.events[position]
    path = world.happens_before.path_of(thread.tid)
    return PathPoint(
        path, thread.tid, world.happens_before.positions_by_execution(path.group)[(event.step, event.visit)]
    )


def release_label(barrier: OrderingBarrier) -> tuple[tuple[Step, str], ...]:
    """The label at what one lane hands over with, to stand behind that of the other access; none where none does."""
    if barrier.release is None:
        return ()
    words = "relaxed: it orders nothing before it" if barrier.is_relaxed else "one lane hands over here for its warp"
    return ((barrier.release, words),)


def barrier_fixes(barrier: OrderingBarrier, first: Step, last: Step) -> tuple[FixCandidate, ...]:
    """The barrier in front of what hands over, else of the later access; on both sides, where it is parted."""
    if barrier.text is None:
        return ()
    before = StepEdit(barrier.release or last, barrier.text)
    changes = (StepEdit(first, barrier.text, "after"), before) if barrier.is_split else (before,)
    return (FixCandidate(f"add `{barrier.text}`", changes, safe=False),)


def format_barrier_help(barrier: OrderingBarrier, where: str, first: str, lines: tuple[int, int] = (1, 2)) -> str:
    """The help of a finding whose primary place is the later access.

    where: the place of the barrier, in words. first: who does the earlier access. lines: the numbers of the labels at
    the earlier access, or at what ends it, and at the release.
    """
    earlier, release = lines
    if barrier.is_relaxed:
        return f"make the arrival at line {{{release}}} a release, and the wait for it an acquire"
    if barrier.release is not None:
        return (
            f"add `{barrier.text}` between line {{{earlier}}} and line {{{release}}}: one lane hands over there for its"
            f" warp, whose other lanes may still be at line {{{earlier}}}"
        )
    if barrier.text is None:
        return (
            f"let the {first} arrive at an mbarrier behind line {{{earlier}}}, and wait for its phase before line"
            " {0}: no place between the two is common to both"
        )
    if barrier.is_split:
        return (
            f"add `{barrier.text}` behind line {{{earlier}}} and before line {{0}}: {barrier.threads} threads come by "
            "the two, and no place between them is common to all"
        )
    if barrier.threads is not None and barrier.text != CTA_BARRIER:
        return f"add `{barrier.text}` {where}: {barrier.threads} threads come by, not the whole CTA"
    return f"add `{barrier.text}` {where}"
