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

from ptxkit.analysis.context.barrier_placement import OrderingBarrier, PathPoint, find_ordering_barrier
from ptxkit.analysis.context.collective_participation import WARP
from ptxkit.analysis.context.kernel_facts import KernelFacts, ScenarioFacts
from ptxkit.analysis.context.thread_view import PairBudget, ThreadView
from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.symexec.access_ranges import access_range, is_async_read, is_generic_write
from ptxkit.analysis.symexec.trace import GroupEvent, TraceEvent
from ptxkit.analysis.sync.sync_edges import SyncEdge
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.isa.effects import Barrier, MbarrierWait
from ptxkit.rules.barrier_help import path_point_of
from ptxkit.rules.model import Finding, FixCandidate, Observation, OpenObligation, Rule, StepEdit

_FENCE = "fence.proxy.async.shared::cta;"


def check(kernel: KernelFacts) -> Iterator[Observation | OpenObligation]:
    """Looks at every pair of a generic write and an async read that surely share bytes."""
    for number, world in enumerate(kernel.scenarios):
        yield from _check_scenario(number, world)


def _check_scenario(number: int, world: ScenarioFacts) -> Iterator[Observation]:
    readers = [
        (thread, position, event, *(access_range(event) or (0, 1)))
        for thread in world.threads.values()
        for position, event in thread.accesses
        if is_async_read(event)
    ]
    places: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, (_, _, _, low, high) in enumerate(readers):
        places[(low, high)].append(index)
    looks = PairBudget(world.budget)
    for writer in world.threads.values() if readers else ():
        writes = _generic_writes(writer)
        # The last write is named first.
        written = {
            place: sorted(found, key=lambda item: item[0], reverse=True)
            for place in places
            if (found := writes.overlapping(*place))
        }
        for index in sorted(index for place in written for index in places[place]):
            if world.budget.is_exhausted:
                return
            reader, position, event, low, high = readers[index]
            for at, write in written[(low, high)]:
                key = (writer.tid, reader.tid, write.step, event.step)
                if (reader is not writer or at < position) and looks.allow(key):
                    pair = _WriteReadPair(world, writer, at, write, reader, position, event)
                    yield from pair.observe(number)


def _generic_writes(writer: ThreadView) -> IntervalIndex[tuple[int, TraceEvent]]:
    """The thread's generic writes, each from where it is done."""
    done = {copy.position: copy.completion_position for copy in writer.copies if copy.group == "cp.async"}
    writes: IntervalIndex[tuple[int, TraceEvent]] = IntervalIndex()
    for position, event in writer.accesses:
        at = done.get(position, position)
        if is_generic_write(event) and at is not None:
            writes.add(*(access_range(event) or (0, 0)), (at, event))
    return writes


@dataclass(frozen=True, slots=True)
class _WriteReadPair:
    """A generic write, and an async read of its bytes; positions in the traces of their threads."""

    facts: ScenarioFacts
    writer: ThreadView
    write_position: int
    write: TraceEvent
    reader: ThreadView
    read_position: int
    read: TraceEvent

    def observe(self, number: int) -> Iterator[Observation]:
        exact = self.writer.trace.is_certain(self.write_position) and self.reader.trace.is_certain(self.read_position)
        key = (self.read.step, self.write.step)
        verdict = self._check_same_thread() if self.writer is self.reader else self._check_two_threads()
        if verdict is not None:
            finding = verdict if isinstance(verdict, Finding) else None
            yield Observation(key, number, exact, finding, 1 if self.writer is self.reader else 2)

    def _check_same_thread(self) -> Finding | bool | None:
        """True: a fence stands between. None: the bytes are replaced before they are read."""
        if self.reader.may_fence_between(self.write_position, self.read_position):
            return True
        if self._may_be_overwritten(self.reader, self.write_position, self.read_position):
            return None
        released = self.writer.first_one_way_fence("release", self.write_position, self.read_position)
        if (
            released is not None
            and self.reader.first_one_way_fence("acquire", released, self.read_position) is not None
        ):
            return True
        syncs = [
            event.step for at, event in self.reader.positions(Barrier) if self.write_position < at < self.read_position
        ]
        half = (
            self.reader.first_one_way_fence("acquire", self.write_position, self.read_position)
            if released is None
            else released
        )
        finding = self._finding(syncs[-1] if syncs else None)
        if half is None:
            return finding
        there = self.reader.trace.events[half].step
        return _with_missing_half(finding, *((None, there) if released is None else (there, None)))

    def _check_two_threads(self) -> Finding | bool | None:
        """True: a fence stands on the way, on either side of what hands over. None: not ordered, or replaced."""
        ways = list(self.facts.sync_edges(self.writer, self.write_position, self.reader, self.read_position))
        if not ways:
            if not self._is_unordered_iteration():
                return None
            there = self.writer.first_fence_since(self.write_position)
            return _unordered_finding(
                self.read.step, self.write.step, there, self.facts.name_of(self.read), self._missing_barrier()
            )
        if any(
            self.writer.may_fence_between(self.write_position, way.release_position)
            or self.reader.may_fence_between(way.acquire_position, self.read_position)
            for way in ways
        ):
            return True
        way = ways[-1]
        halves = [self._one_way_fences(way) for way in ways]
        if any(released is not None and acquired is not None for released, acquired in halves):
            return True
        finding = _with_missing_half(self._finding(self.reader.trace.events[way.acquire_position].step), *halves[-1])
        replaced = self._may_be_overwritten(self.writer, self.write_position, way.release_position)
        if replaced or self._may_be_overwritten(self.reader, way.acquire_position, self.read_position):
            return None
        return finding

    def _one_way_fences(self, way: SyncEdge) -> tuple[Step | None, Step | None]:
        """The one-way fences that stand on a way: that of the writer before it, that of the reader after it."""
        released = self.writer.first_one_way_fence("release", self.write_position, way.release_position)
        acquired = self.reader.first_one_way_fence("acquire", way.acquire_position, self.read_position)
        return (
            None if released is None else self.writer.trace.events[released].step,
            None if acquired is None else self.reader.trace.events[acquired].step,
        )

    def _is_unordered_iteration(self) -> bool:
        """Whether the reader did its own part of this write and met no barrier since: the writer may be anywhere."""
        own = self.reader.access_positions.get((self.write.step, self.write.visit), self.read_position)
        if own >= self.read_position or self._may_be_overwritten(self.reader, own, self.read_position):
            return False
        return not self.reader.release_acquire_points.acquires_between(own, self.read_position)

    def _missing_barrier(self) -> OrderingBarrier:
        """The barrier between the write by any thread, one of another warp where there is one, and the read."""
        write, read = (
            path_point_of(self.facts, self.writer, self.write_position),
            path_point_of(self.facts, self.reader, self.read_position),
        )
        seen, tids = write.path.group.events[write.position], write.path.group.tids
        who = (
            seen.participants if isinstance(seen, GroupEvent) and seen.participants is not None else (True,) * len(tids)
        )
        for tid, does in zip(tids, who, strict=True):
            if does and tid // WARP != self.reader.tid // WARP:
                write = PathPoint(self.facts.happens_before.path_of(tid), tid, write.position)
                break
        return find_ordering_barrier(self.facts, write, read)

    def _finding(self, sync: Step | None) -> Finding:
        since = self.writer.trace.events[self.write_position].step
        return _finding(self.read.step, self.write.step, sync, since, self.facts.name_of(self.read))

    def _may_be_overwritten(self, thread: ThreadView, since: int, until: int) -> bool:
        return self.facts.async_overwrites.may_overwrite_between(
            thread, since, until, access_range(self.read) or (0, 1)
        )


def _with_missing_half(finding: Finding, released: Step | None, acquired: Step | None) -> Finding:
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
        group_key=there,
        fixes=(_one_way_fence_fix(f"fence.proxy.async::generic.{missing};", finding, released is not None),),
    )


def _one_way_fence_fix(fence: str, finding: Finding, in_reader: bool) -> FixCandidate:
    """A one-way fence, before the read or after the write."""
    write = finding.labels[0][0]
    change = StepEdit(finding.primary, fence) if in_reader else StepEdit(write, fence, "after")
    return FixCandidate(f"add `{fence}`", (change,))


def _unordered_finding(read: Step, write: Step, fence: Step | None, name: str, barrier: OrderingBarrier) -> Finding:
    """fence: the writers' own, which orders proxies and no threads; None where they have none. barrier: the one that is
    missing."""
    has_fence = fence is not None and write.start < fence.start < read.start
    behind, line = (fence, "the fence at line {2}") if fence is not None and has_fence else (write, "the write")
    both: tuple[FixCandidate, ...] = ()
    alone: tuple[FixCandidate, ...] = ()
    if barrier.text is None:
        mend = f"let the writers arrive at an mbarrier behind {line}, and wait for its phase before line {{0}}"
        mend += "" if has_fence else f"; add `{_FENCE}` before they arrive"
    else:
        places = f"after {line} and before line {{0}}" if barrier.is_split else f"after {line}, before line {{0}}"
        mend = f"add `{barrier.text}` {places}" if has_fence else f"add `{_FENCE}` and then `{barrier.text}` {places}"
        second = (StepEdit(read, barrier.text),) if barrier.is_split else ()
        fenced = StepEdit(write, f"{_FENCE}\n{barrier.text}", "after")
        both = (FixCandidate("add a proxy fence and a barrier", (fenced, *second), safe=False),)
        alone = (FixCandidate("add a barrier", (StepEdit(behind, barrier.text, "after"), *second), safe=False),)
    return Finding(
        primary=read,
        message=f"reads {name} through the async proxy; other threads write it at line {{1}}, and nothing orders them",
        labels=(
            (write, "generic write, by every thread"),
            *(((behind, "orders the proxies, not the threads"),) if has_fence else ()),
        ),
        help=mend,
        properties={"space": "shared::cta"},
        group_key=write,
        fixes=(*(alone if has_fence else ()), *both),
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
        group_key=between[0] if between else since,
        fixes=tuple(
            FixCandidate(f"add `{_FENCE}`", (change,))
            for change in (
                *(StepEdit(step, _FENCE) for step, _ in between),
                StepEdit(write, _FENCE, "after"),
                StepEdit(read, _FENCE),
            )
        ),
    )


RULE = Rule("PTX401", "missing-proxy-fence", ("Async Proxy", "membar / fence"), check, asynchronous=True)
