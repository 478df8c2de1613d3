"""Where bytes of shared memory that the generic proxy used are written again through the async proxy.

The proxy fence of such a crossing may stand in the thread that used them, before it hands over, or in the one that
writes, after it took over. Where a thread learns that a bulk copy or an asynchronous multiplication is complete, there
is such a fence, too. Source: PTX ISA, "Async Proxy", "membar / fence", "wgmma.wait_group".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.kernel import World
from ptxkit.analysis.program import Step
from ptxkit.analysis.ranges import RangeIndex
from ptxkit.analysis.thread import Looks, Thread
from ptxkit.analysis.touches import extent, is_generic_read, is_generic_write
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import Access, Barrier, MbarrierWait, WaitGroup
from ptxkit.records import dataclass

_IMPLICIT = ("bulk", "wgmma")


@dataclass(frozen=True, slots=True)
class Refill:
    """An asynchronous write of bytes that a generic access used before, one ordered behind the other.

    sync: what orders the two in the writing thread; None where one thread does both. fenced: whether the proxies are
    ordered, too. is_sure: whether an input surely leads there. threads: how many take part.
    """

    use: Event
    write: Event
    sync: Step | None
    fenced: bool
    is_sure: bool
    threads: int


def refills_of(world: World) -> Iterator[Refill]:
    """The refills between the walked threads of one scenario, each pair of instructions looked at a few times."""
    writers = [thread for thread in world.threads.values() if thread.async_writes]
    if not writers:
        return
    refills = _Refills(world)
    for user in world.threads.values():
        uses = _uses(user)
        for writer in writers:
            for position, event in writer.async_writes:
                for at, use in uses.overlapping(*(extent(event) or (0, 1))):
                    if writer is not user or at < position:
                        yield from refills.between(user, at, use, (writer, position, event))
                if world.budget.is_over:
                    return


def _uses(thread: Thread) -> RangeIndex[tuple[int, Event]]:
    """A thread's generic accesses to shared memory."""
    found: RangeIndex[tuple[int, Event]] = RangeIndex()
    for position, event in thread.accesses:
        stored = is_generic_write(event) and isinstance(event.effect, Access) and event.effect.completion is None
        if stored or is_generic_read(event):
            found.add(*(extent(event) or (0, 0)), (position, event))
    return found


class _Refills:
    """Looks at pairs of accesses in one scenario. told: the mbarriers that tell of copies."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._looks = Looks(world.budget)
        self._told = frozenset(copy.event.barrier for thread in world.threads.values() for copy in thread.copies)

    def between(self, user: Thread, at: int, use: Event, refill: tuple[Thread, int, Event]) -> Iterator[Refill]:
        """The refill that a use and a later write make, where one is ordered behind the other."""
        writer, position, write = refill
        if not self._looks.allow((user.tid, writer.tid, use.step, write.step)):
            return
        if user is writer:
            ways = [[(user, at, position)]]
            syncs = [event.step for when, event in user.positions(Barrier) if at < when < position]
        else:
            handovers = list(self._world.order(user, at, writer, position))
            ways = [[(user, at, way.released), (writer, way.acquired, position)] for way in handovers]
            syncs = [writer.trace.events[way.acquired].step for way in handovers]
        spans = [span for way in ways for span in way]
        if not spans or any(self._world.rewrites.between(*span, extent(write) or (0, 1)) for span in spans):
            return
        fenced = any(self._is_fenced(*span) for span in spans)
        sure = user.trace.is_sure(at) and writer.trace.is_sure(position)
        yield Refill(use, write, syncs[-1] if syncs else None, fenced, sure, 1 if user is writer else 2)

    def _is_fenced(self, thread: Thread, since: int, until: int) -> bool:
        if thread.may_fence_between(since, until):
            return True
        if any(thread.half_fence(half, since, until) is not None for half in ("release", "acquire")):
            return True
        waits = thread.positions(WaitGroup, MbarrierWait)
        return any(since < at < until and self._tells(event) for at, event in waits)

    def _tells(self, event: Event) -> bool:
        """Whether a wait may be for a bulk copy, or for an asynchronous multiplication."""
        if isinstance(event.effect, WaitGroup):
            return event.effect.group in _IMPLICIT
        return event.address in self._told or not isinstance(event.address, int)
