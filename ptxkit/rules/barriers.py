"""How rules word the barrier that is missing between two accesses."""

from __future__ import annotations

from ptxkit.analysis.conflicts import Touch
from ptxkit.analysis.kernel import World
from ptxkit.analysis.ordering_barriers import CTA_BARRIER, OrderingBarrier, Spot, ordering_barrier
from ptxkit.analysis.program import Step
from ptxkit.analysis.thread import Thread
from ptxkit.rules.finding import Change, Mend


def barrier_between(world: World, first: Touch, last: Touch) -> OrderingBarrier:
    """The narrowest barrier that orders one access, once it is over, before another."""
    return ordering_barrier(world, Spot(first.path, first.tid, first.end), Spot(last.path, last.tid, last.position))


def spot(world: World, thread: Thread, position: int) -> Spot:
    """The place of an event of one thread's trace in the events of its group."""
    event = thread.trace.events[position]
    path = world.causality.path_of(thread.tid)
    return Spot(path, thread.tid, world.causality.places(path.group)[(event.step, event.visit)])


def release_label(barrier: OrderingBarrier) -> tuple[tuple[Step, str], ...]:
    """The label at what one lane hands over with, to stand behind that of the other access; none where none does."""
    if barrier.release is None:
        return ()
    words = "relaxed: it orders nothing before it" if barrier.is_relaxed else "one lane hands over here for its warp"
    return ((barrier.release, words),)


def mends_of(barrier: OrderingBarrier, first: Step, last: Step) -> tuple[Mend, ...]:
    """The barrier in front of what hands over, else of the later access; on both sides, where it is parted."""
    if barrier.text is None:
        return ()
    before = Change(barrier.release or last, barrier.text)
    changes = (Change(first, barrier.text, "after"), before) if barrier.is_parted else (before,)
    return (Mend(f"add `{barrier.text}`", changes, safe=False),)


def words_of(barrier: OrderingBarrier, where: str, first: str, lines: tuple[int, int] = (1, 2)) -> str:
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
    if barrier.is_parted:
        return (
            f"add `{barrier.text}` behind line {{{earlier}}} and before line {{0}}: {barrier.threads} threads come by "
            "the two, and no place between them is common to all"
        )
    if barrier.threads is not None and barrier.text != CTA_BARRIER:
        return f"add `{barrier.text}` {where}: {barrier.threads} threads come by, not the whole CTA"
    return f"add `{barrier.text}` {where}"
