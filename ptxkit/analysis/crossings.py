"""Where bytes of shared memory pass from the generic proxy to the async proxy, and the proxy fence that stands there.

A generic write (a store, a completed `cp.async`) and an async read of the same bytes, in the same thread or in two that
a barrier orders, make a crossing. The fence may stand in the writing thread before it hands over, or in the reading one
after it took over. Source: PTX ISA, "Async Proxy", "membar / fence".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.kernel import World
from ptxkit.analysis.program import Step
from ptxkit.analysis.ranges import RangeIndex
from ptxkit.analysis.thread import Looks, Thread
from ptxkit.analysis.touches import covers_shared, extent, is_async_read, is_generic_write
from ptxkit.analysis.trace import Event, Opaque
from ptxkit.records import dataclass


@dataclass(frozen=True, slots=True)
class Crossing:
    """fence: the first that covers the crossing; None where none does."""

    write: Step
    read: Step
    fence: Step | None


def crossings_of(world: World) -> Iterator[Crossing]:
    """The crossings between the walked threads of one scenario, each pair of instructions looked at a few times."""
    readers = [
        (thread, position, event)
        for thread in world.threads.values()
        for position, event in thread.accesses
        if is_async_read(event)
    ]
    if not readers:
        return
    looks = Looks(world.budget)
    for writer in world.threads.values():
        writes = _writes(writer)
        for reader, position, event in readers:
            low, high = extent(event) or (0, 1)
            for at, write in dict.fromkeys(writes.overlapping(low, high)):
                ordered = reader is not writer or at < position
                if ordered and looks.allow((writer.tid, reader.tid, write.step, event.step)):
                    yield from _crossing(world, writer, at, write, reader, position, event)


def _writes(writer: Thread) -> RangeIndex[tuple[int, Event]]:
    """The thread's generic writes, each from where it is done."""
    done = {copy.position: copy.done for copy in writer.copies if copy.group == "cp.async"}
    writes: RangeIndex[tuple[int, Event]] = RangeIndex()
    for position, event in writer.accesses:
        written = done.get(position, position)
        if is_generic_write(event) and written is not None:
            writes.add(*(extent(event) or (0, 0)), (written, event))
    return writes


def _crossing(
    world: World, writer: Thread, written: int, write: Event, reader: Thread, position: int, read: Event
) -> Iterator[Crossing]:
    bytes_ = extent(read) or (0, 1)
    if writer is reader:
        spans = [(reader, written, position)]
    else:
        ways = list(world.order(writer, written, reader, position))
        spans = [(writer, written, way.released) for way in ways] + [(reader, way.acquired, position) for way in ways]
    if not spans:
        return
    fence = next((found for span in spans if (found := _fence_in(*span)) is not None), None)
    if fence is None and any(_is_murky(world, *span, bytes_) for span in spans):
        return
    yield Crossing(write.step, read.step, fence)


def _fence_in(thread: Thread, low: int, high: int) -> Step | None:
    for event in thread.trace.events[low:high]:
        if isinstance(event, Event) and covers_shared(event, None):
            return event.step
    return None


def _is_murky(world: World, thread: Thread, low: int, high: int, bytes_: tuple[int, int]) -> bool:
    """Whether the bytes may have been replaced on the way, or something unknown was called."""
    if any(isinstance(event, Opaque) for event in thread.trace.events[low:high]):
        return True
    return world.rewrites.between(thread, low, high, bytes_)
