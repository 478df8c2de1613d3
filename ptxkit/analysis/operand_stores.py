"""Where shared memory that a tensor-core operation of `tcgen05` read is stored to again through the generic proxy.

The manual names no proxy fence that comes with the completion of such an operation, as it does for bulk copies and
`wgmma`. Source: PTX ISA, "Async Proxy", "tcgen05: Shared Memory Accesses", "membar / fence".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.kernel import World
from ptxkit.analysis.program import Step
from ptxkit.analysis.ranges import RangeIndex
from ptxkit.analysis.thread import Looks, Thread
from ptxkit.analysis.touches import extent, is_async_read, is_generic_write
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import Access
from ptxkit.records import dataclass


@dataclass(frozen=True, slots=True)
class OperandStore:
    """A store of bytes that an operation read before, ordered behind it by `sync` (None: one thread does both)."""

    operation: Event
    store: Event
    sync: Step | None
    fenced: bool
    is_sure: bool
    threads: int


def operand_stores_of(world: World) -> Iterator[OperandStore]:
    """Such stores between the walked threads of one scenario, each pair of instructions looked at a few times."""
    issuers = [(thread, _operands(thread)) for thread in world.threads.values()]
    issuers = [(thread, operands) for thread, operands in issuers if operands]
    if not issuers:
        return
    looks = Looks(world.budget)
    for writer in world.threads.values():
        for position, event in writer.accesses:
            if not _is_store(event):
                continue
            for issuer, operands in issuers:
                for at, operation in operands.overlapping(*(extent(event) or (0, 1))):
                    key = (issuer.tid, writer.tid, operation.step, event.step)
                    if (issuer is not writer or at < position) and looks.allow(key):
                        yield from _between(world, (issuer, at, operation), (writer, position, event))
            if world.budget.is_over:
                return


def _operands(thread: Thread) -> RangeIndex[tuple[int, Event]]:
    """What a thread's operations read in shared memory."""
    found: RangeIndex[tuple[int, Event]] = RangeIndex()
    for position, event in thread.accesses:
        effect = event.effect
        if is_async_read(event) and isinstance(effect, Access) and effect.completion == "tcgen05":
            found.add(*(extent(event) or (0, 0)), (position, event))
    return found


def _is_store(event: Event) -> bool:
    return is_generic_write(event) and isinstance(event.effect, Access) and event.effect.completion is None


def _between(
    world: World, operation: tuple[Thread, int, Event], store: tuple[Thread, int, Event]
) -> Iterator[OperandStore]:
    issuer, at, first = operation
    writer, position, second = store
    if issuer is writer:
        spans, sync = [(issuer, at, position)], None
    else:
        ways = list(world.order(issuer, at, writer, position))
        spans = [span for way in ways for span in ((issuer, at, way.released), (writer, way.acquired, position))]
        sync = writer.trace.events[ways[-1].acquired].step if ways else None
    if not spans or any(world.rewrites.between(*span, extent(second) or (0, 1)) for span in spans):
        return
    fenced = any(thread.may_fence_between(since, until) for thread, since, until in spans)
    sure = issuer.trace.is_sure(at) and writer.trace.is_sure(position)
    yield OperandStore(first, second, sync, fenced, sure, 1 if issuer is writer else 2)
