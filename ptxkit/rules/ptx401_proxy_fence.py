"""PTX401: a generic write is read through the async proxy with no `fence.proxy.async` between.

What it does
    Finds shared memory that ordinary instructions wrote (a store, an atomic, a matrix store, a completed `cp.async`)
    and that a bulk copy, a bulk reduction or a matrix instruction then reads through the async proxy, where no
    `fence.proxy.async` stands on the way: in the writing thread after the write and before it hands over, or in the
    issuing thread after it took over.

Why it matters
    Barriers order threads, not proxies. The async proxy may read the bytes as they were before the write, for as long
    as no fence covers them. The result is stale data, rarely and without any error.

Example
    st.shared.b32 [%r1], %r2;
    bar.sync 0;
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 4096;

Use instead
    st.shared.b32 [%r1], %r2;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 4096;

ISA section
    "Async Proxy", "membar / fence", "Causality Order". Catalogue: PX1, PX6, PX7, PX9, PX11, PX15.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ptxkit.analysis.kernel import Kernel, Looks, Thread, World, extent, is_async_read, is_async_write, is_generic_write
from ptxkit.analysis.program import Step
from ptxkit.analysis.ranges import RangeIndex
from ptxkit.analysis.trace import Event, Opaque
from ptxkit.diagnostics import Severity
from ptxkit.isa.effects import Access, Barrier, ProxyFence
from ptxkit.rules.finding import Doubt, Finding, Observation, Rule

#: The manual does not say whether this placement counts; the mixed-proxy model accepts it (policy `strict` warns).
_LATE_FENCE = "; the only fence stands in the issuing thread, after the barrier"
#: A tensor copy of unknown box may have rewritten this much from its address on.
_LARGEST_BOX = 64 << 10


def check(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Looks at every pair of a generic write and an async read that surely share bytes."""
    for number, world in enumerate(kernel.worlds):
        yield from _in_one_thread(number, world)
        yield from _between_threads(number, world, kernel.policy == "strict")


def _covers(event: Event) -> bool:
    """Whether a fence orders generic accesses to shared memory before async ones."""
    effect = event.effect
    if not isinstance(effect, ProxyFence) or effect.proxy != "async":
        return False
    return not effect.spaces or any(space.startswith("shared") for space in effect.spaces)


def _in_one_thread(number: int, world: World) -> Iterator[Observation]:
    for thread in world.threads.values():
        yield from _Replay(number, world, thread).observations()


class _Replay:
    """One trace, with the generic writes that no fence has covered yet."""

    def __init__(self, number: int, world: World, thread: Thread) -> None:
        self._number = number
        self._world = world
        self._thread = thread
        self._plain: list[tuple[int, int, Step]] = []
        self._fenced: dict[Step, list[tuple[int, int]]] = {}
        self._sync: Step | None = None
        self._done = {copy.position: copy.done for copy in thread.copies if copy.group == "cp.async"}
        self._arrivals: dict[int, list[tuple[int, int, Step]]] = {}

    def observations(self) -> Iterator[Observation]:
        for position, event in enumerate(self._thread.trace.events):
            self._plain.extend(self._arrivals.pop(position, ()))
            if isinstance(event, Opaque) or _covers(event):
                self._cover()
            elif isinstance(event.effect, Barrier):
                self._sync = event.step
            elif isinstance(event.effect, Access):
                yield from self._access(position, event)

    def _access(self, position: int, event: Event) -> Iterator[Observation]:
        touched = extent(event)
        if touched is None:
            return
        low, high = touched
        if is_generic_write(event):
            done = self._done.get(position, position)
            if done is not None:
                self._arrivals.setdefault(done + 1, []).append((low, high, event.step))
        if is_async_write(event):
            end = high if isinstance(event.size, int) else low + _LARGEST_BOX
            self._plain = [item for item in self._plain if not (low <= item[0] < end)]
        if is_async_read(event):
            yield from self._read(low, high, event)

    def _cover(self) -> None:
        for low, high, step in self._plain:
            self._fenced.setdefault(step, []).append((low, high))
        self._plain.clear()

    def _read(self, low: int, high: int, event: Event) -> Iterator[Observation]:
        exact = not self._thread.trace.guesses
        broken: set[Step] = set()
        for start, end, step in self._plain:
            if start < high and low < end and step not in broken:
                broken.add(step)
                finding = _finding(event.step, step, self._sync)
                yield Observation((event.step, step), self._number, exact, finding)
        for step, ranges in self._fenced.items():
            if step not in broken and any(start < high and low < end for start, end in ranges[-256:]):
                yield Observation((event.step, step), self._number, exact)


def _between_threads(number: int, world: World, strict: bool) -> Iterator[Observation]:
    rewritten: RangeIndex[Event] = RangeIndex()
    for thread in world.threads.values():
        for _, event in thread.accesses:
            if is_async_write(event):
                low, high = extent(event) or (0, 0)
                rewritten.add(low, high if isinstance(event.size, int) else low + _LARGEST_BOX, event)
    readers = [
        (thread, position, event)
        for thread in world.threads.values()
        for position, event in thread.accesses
        if is_async_read(event) and not any(rewritten.overlapping(*(extent(event) or (0, 1))))
    ]
    if not readers:
        return
    looks = Looks()
    for writer in world.threads.values():
        writes: RangeIndex[tuple[int, Event]] = RangeIndex()
        for position, event in writer.accesses:
            if is_generic_write(event):
                writes.add(*(extent(event) or (0, 0)), (position, event))
        for reader, position, event in readers:
            if reader is not writer:
                for at, write in dict.fromkeys(writes.overlapping(*(extent(event) or (0, 1)))):
                    if looks.allow((writer.tid, reader.tid, write.step, event.step)):
                        yield from _pair(number, world, (writer, at, write), (reader, position, event), strict)


def _pair(
    number: int, world: World, write: tuple[Thread, int, Event], read: tuple[Thread, int, Event], strict: bool
) -> Iterator[Observation]:
    (writer, written, first), (reader, position, second) = write, read
    ways = list(world.order(writer, written, reader, position))
    exact = not (writer.trace.guesses or reader.trace.guesses)
    key = (second.step, first.step)
    if not ways:
        if _same_round_unordered(writer, first, reader, position):
            yield Observation(key, number, exact, _unordered(second.step, first.step))
        return
    sync = reader.trace.events[ways[-1].acquired].step
    if any(_fence_within(writer, written, way.released) for way in ways):
        yield Observation(key, number, exact)
    elif any(_fence_within(reader, way.acquired, position) for way in ways):
        finding = _finding(second.step, first.step, sync)
        late = replace(finding, severity=Severity.WARNING, message=finding.message + _LATE_FENCE)
        yield Observation(key, number, exact, late if strict else None)
    else:
        yield Observation(key, number, exact, _finding(second.step, first.step, sync))


def _same_round_unordered(writer: Thread, write: Event, reader: Thread, position: int) -> bool:
    """Whether the reader did its own part of this write and met no barrier since: the other thread may be anywhere."""
    if writer.tid // 32 == reader.tid // 32:
        return False
    own = [at for at, event in reader.accesses if event.step is write.step and event.visit == write.visit]
    if not own or own[0] > position:
        return False
    return not any(own[0] < at < position for marks in reader.marks.acquires.values() for at in marks)


def _unordered(read: Step, write: Step) -> Finding:
    return Finding(
        primary=read,
        message="reads shared memory through the async proxy that other threads write at line {1}: nothing orders them",
        labels=((write, "generic write, by every thread"),),
        help="add `fence.proxy.async.shared::cta;` and then `bar.sync 0;` after the write, before line {0}",
        properties={"space": "shared::cta"},
    )


def _fence_within(thread: Thread, low: int, high: int) -> bool:
    return any(isinstance(event, Opaque) or _covers(event) for event in thread.trace.events[low:high])


def _finding(read: Step, write: Step, sync: Step | None) -> Finding:
    between = ((sync, "orders the threads, not the proxies"),) if sync is not None and sync is not read else ()
    place = "before the barrier at line {2}" if between else "before line {0}"
    return Finding(
        primary=read,
        message="reads shared memory through the async proxy, but the write at line {1} went through the generic proxy",
        labels=((write, "generic write"), *between),
        help=f"add `fence.proxy.async.shared::cta;` after the write, in every thread that writes, {place}",
        properties={"space": "shared::cta"},
    )


RULE = Rule("PTX401", "missing-proxy-fence", ("Async Proxy", "membar / fence"), check)
