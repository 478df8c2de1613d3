"""PTX401: a generic write is read through the async proxy with no `fence.proxy.async` between.

What it does
    Finds shared memory that ordinary instructions wrote (a store, an atomic, a matrix store, a completed `cp.async`)
    and that a bulk copy, a bulk reduction or a matrix instruction then reads through the async proxy, where no
    `fence.proxy.async` stands on the way: in the writing thread after the write and before it hands over, or in the
    issuing thread after it took over. Of the one-way fences, `generic.release` and `generic.acquire`, it takes both.

    Both places count, under either policy: the ISA and the mixed-proxy model ("Mixed-proxy extensions for the NVIDIA
    PTX memory consistency model", ISCA 2022) ask for a proxy fence anywhere on the causality path from the write to the
    read, in the CTA of the operation that is not generic.

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
    "Async Proxy", "membar / fence", "Causality Order". Catalogue: PX1, PX6, PX7, PX9, PX11, PX12, PX15.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ptxkit.analysis.collectives import WARP
from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.order import Handover
from ptxkit.analysis.ordering_barriers import OrderingBarrier, Spot, ordering_barrier
from ptxkit.analysis.program import Step
from ptxkit.analysis.ranges import RangeIndex
from ptxkit.analysis.thread import Looks, Thread
from ptxkit.analysis.touches import extent, is_async_read, is_generic_write
from ptxkit.analysis.trace import Event, GroupEvent
from ptxkit.isa.effects import Barrier, MbarrierWait
from ptxkit.records import dataclass, replace
from ptxkit.rules.barriers import spot
from ptxkit.rules.finding import Change, Doubt, Finding, Mend, Observation, Rule

_FENCE = "fence.proxy.async.shared::cta;"


def check(kernel: Kernel) -> Iterator[Observation | Doubt]:
    """Looks at every pair of a generic write and an async read that surely share bytes."""
    for number, world in enumerate(kernel.worlds):
        yield from _world(number, world)


def _world(number: int, world: World) -> Iterator[Observation]:
    readers = [
        (thread, position, event, *(extent(event) or (0, 1)))
        for thread in world.threads.values()
        for position, event in thread.accesses
        if is_async_read(event)
    ]
    places: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, (_, _, _, low, high) in enumerate(readers):
        places[(low, high)].append(index)
    looks = Looks(world.budget)
    for writer in world.threads.values() if readers else ():
        writes = _writes(writer)
        # The last write is named first.
        written = {
            place: sorted(found, key=lambda item: item[0], reverse=True)
            for place in places
            if (found := writes.overlapping(*place))
        }
        for index in sorted(index for place in written for index in places[place]):
            if world.budget.is_over:
                return
            reader, position, event, low, high = readers[index]
            for at, write in written[(low, high)]:
                key = (writer.tid, reader.tid, write.step, event.step)
                if (reader is not writer or at < position) and looks.allow(key):
                    pair = _Pair(world, writer, at, write, reader, position, event)
                    yield from pair.observe(number)


def _writes(writer: Thread) -> RangeIndex[tuple[int, Event]]:
    """The thread's generic writes, each from where it is done."""
    done = {copy.position: copy.done for copy in writer.copies if copy.group == "cp.async"}
    writes: RangeIndex[tuple[int, Event]] = RangeIndex()
    for position, event in writer.accesses:
        at = done.get(position, position)
        if is_generic_write(event) and at is not None:
            writes.add(*(extent(event) or (0, 0)), (at, event))
    return writes


@dataclass(frozen=True, slots=True)
class _Pair:
    """A generic write, and an async read of its bytes; positions in the traces of their threads."""

    world: World
    writer: Thread
    written: int
    write: Event
    reader: Thread
    position: int
    read: Event

    def observe(self, number: int) -> Iterator[Observation]:
        exact = self.writer.trace.is_sure(self.written) and self.reader.trace.is_sure(self.position)
        key = (self.read.step, self.write.step)
        verdict = self._same_thread() if self.writer is self.reader else self._two_threads()
        if verdict is not None:
            finding = verdict if isinstance(verdict, Finding) else None
            yield Observation(key, number, exact, finding, 1 if self.writer is self.reader else 2)

    def _same_thread(self) -> Finding | bool | None:
        """True: a fence stands between. None: the bytes are replaced before they are read."""
        if self.reader.may_fence_between(self.written, self.position):
            return True
        if self._rewritten(self.reader, self.written, self.position):
            return None
        released = self.writer.half_fence("release", self.written, self.position)
        if released is not None and self.reader.half_fence("acquire", released, self.position) is not None:
            return True
        syncs = [event.step for at, event in self.reader.positions(Barrier) if self.written < at < self.position]
        half = self.reader.half_fence("acquire", self.written, self.position) if released is None else released
        finding = self._finding(syncs[-1] if syncs else None)
        if half is None:
            return finding
        there = self.reader.trace.events[half].step
        return _half(finding, *((None, there) if released is None else (there, None)))

    def _two_threads(self) -> Finding | bool | None:
        """True: a fence stands on the way, on either side of what hands over. None: not ordered, or replaced."""
        ways = list(self.world.order(self.writer, self.written, self.reader, self.position))
        if not ways:
            if not self._unordered_round():
                return None
            there = self.writer.fence_since(self.written)
            return _unordered(self.read.step, self.write.step, there, self.world.name_of(self.read), self._barrier())
        if any(
            self.writer.may_fence_between(self.written, way.released)
            or self.reader.may_fence_between(way.acquired, self.position)
            for way in ways
        ):
            return True
        way = ways[-1]
        halves = [self._halves(way) for way in ways]
        if any(released is not None and acquired is not None for released, acquired in halves):
            return True
        finding = _half(self._finding(self.reader.trace.events[way.acquired].step), *halves[-1])
        replaced = self._rewritten(self.writer, self.written, way.released)
        if replaced or self._rewritten(self.reader, way.acquired, self.position):
            return None
        return finding

    def _halves(self, way: Handover) -> tuple[Step | None, Step | None]:
        """The one-way fences that stand on a way: that of the writer before it, that of the reader after it."""
        released = self.writer.half_fence("release", self.written, way.released)
        acquired = self.reader.half_fence("acquire", way.acquired, self.position)
        return (
            None if released is None else self.writer.trace.events[released].step,
            None if acquired is None else self.reader.trace.events[acquired].step,
        )

    def _unordered_round(self) -> bool:
        """Whether the reader did its own part of this write and met no barrier since: the writer may be anywhere."""
        own = self.reader.accesses_at.get((self.write.step, self.write.visit), self.position)
        if own >= self.position or self._rewritten(self.reader, own, self.position):
            return False
        return not self.reader.marks.takes_between(own, self.position)

    def _barrier(self) -> OrderingBarrier:
        """The barrier between the write by any thread, one of another warp where there is one, and the read."""
        write, read = spot(self.world, self.writer, self.written), spot(self.world, self.reader, self.position)
        seen, tids = write.path.group.events[write.position], write.path.group.tids
        who = seen.who if isinstance(seen, GroupEvent) and seen.who is not None else (True,) * len(tids)
        for tid, does in zip(tids, who, strict=True):
            if does and tid // WARP != self.reader.tid // WARP:
                write = Spot(self.world.causality.path_of(tid), tid, write.position)
                break
        return ordering_barrier(self.world, write, read)

    def _finding(self, sync: Step | None) -> Finding:
        since = self.writer.trace.events[self.written].step
        return _finding(self.read.step, self.write.step, sync, since, self.world.name_of(self.read))

    def _rewritten(self, thread: Thread, since: int, until: int) -> bool:
        return self.world.rewrites.between(thread, since, until, extent(self.read) or (0, 1))


def _half(finding: Finding, released: Step | None, acquired: Step | None) -> Finding:
    """The finding where one of two one-way fences is there."""
    there = released or acquired
    if there is None:
        return finding
    if released is not None:
        missing, where = "acquire.sync_restrict::shared::cluster.cluster", "before line {0}, in the thread that reads"
    else:
        missing, where = "release.sync_restrict::shared::cta.cluster", "after line {1}, in every thread that writes"
    return replace(
        finding,
        labels=(*finding.labels[:1], (there, "half of a fence: its counterpart is missing")),
        help=f"add `fence.proxy.async::generic.{missing};` {where}",
        cause=there,
        mends=(_mend(f"fence.proxy.async::generic.{missing};", finding, released is not None),),
    )


def _mend(fence: str, finding: Finding, in_reader: bool) -> Mend:
    """A one-way fence, before the read or after the write."""
    write = finding.labels[0][0]
    change = Change(finding.primary, fence) if in_reader else Change(write, fence, "after")
    return Mend(f"add `{fence}`", (change,))


def _unordered(read: Step, write: Step, fence: Step | None, name: str, barrier: OrderingBarrier) -> Finding:
    """fence: the writers' own, which orders proxies and no threads; None where they have none. barrier: the one that is
    missing."""
    has_fence = fence is not None and write.start < fence.start < read.start
    behind, line = (fence, "the fence at line {2}") if fence is not None and has_fence else (write, "the write")
    both: tuple[Mend, ...] = ()
    alone: tuple[Mend, ...] = ()
    if barrier.text is None:
        mend = f"let the writers arrive at an mbarrier behind {line}, and wait for its phase before line {{0}}"
        mend += "" if has_fence else f"; add `{_FENCE}` before they arrive"
    else:
        places = f"after {line} and before line {{0}}" if barrier.is_parted else f"after {line}, before line {{0}}"
        mend = f"add `{barrier.text}` {places}" if has_fence else f"add `{_FENCE}` and then `{barrier.text}` {places}"
        second = (Change(read, barrier.text),) if barrier.is_parted else ()
        fenced = Change(write, f"{_FENCE}\n{barrier.text}", "after")
        both = (Mend("add a proxy fence and a barrier", (fenced, *second), safe=False),)
        alone = (Mend("add a barrier", (Change(behind, barrier.text, "after"), *second), safe=False),)
    return Finding(
        primary=read,
        message=f"reads {name} through the async proxy; other threads write it at line {{1}}, and nothing orders them",
        labels=(
            (write, "generic write, by every thread"),
            *(((behind, "orders the proxies, not the threads"),) if has_fence else ()),
        ),
        help=mend,
        properties={"space": "shared::cta"},
        cause=write,
        mends=(*(alone if has_fence else ()), *both),
    )


def _finding(read: Step, write: Step, sync: Step | None, since: Step, name: str) -> Finding:
    between = ((sync, "orders the threads, not the proxies"),) if sync is not None and sync is not read else ()
    place = "before the barrier at line {2}" if between else "before line {0}"
    if sync is not None and any(isinstance(effect, MbarrierWait) for effect in sync.effects):
        place = "before it arrives at the mbarrier whose phase is waited for at line {2}"
    return Finding(
        primary=read,
        message=f"reads {name} through the async proxy, but the write at line {{1}} went through the generic proxy",
        labels=((write, "generic write"), *between),
        help=f"add `fence.proxy.async.shared::cta;` after the write, in every thread that writes, {place}",
        properties={"space": "shared::cta"},
        cause=between[0] if between else since,
        mends=tuple(
            Mend(f"add `{_FENCE}`", (change,))
            for change in (
                *(Change(step, _FENCE) for step, _ in between),
                Change(write, _FENCE, "after"),
                Change(read, _FENCE),
            )
        ),
    )


RULE = Rule("PTX401", "missing-proxy-fence", ("Async Proxy", "membar / fence"), check, asynchronous=True)
