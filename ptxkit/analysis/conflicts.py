"""Accesses of two threads to the same bytes of shared memory, one of them a write, that nothing orders.

Lanes of one warp run together or not, as the GPU likes: what orders them is a barrier of the warp, or of more threads.
Collective instructions, at which they meet as well, are taken for order, and so is all that may be.

Source: PTX ISA, "Conflict and Data-Races", "Causality Order".
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ptxkit.analysis.budget import Budget
from ptxkit.analysis.causality import Causality, Path
from ptxkit.analysis.endings import endings_of
from ptxkit.analysis.program import Step
from ptxkit.analysis.ranges import RangeIndex
from ptxkit.analysis.separation import Separation, Touching, touchings
from ptxkit.analysis.terms import Lanes
from ptxkit.analysis.touches import extent_of
from ptxkit.analysis.trace import Event, GroupEvent, GroupTrace, Opaque
from ptxkit.isa.effects import Access
from ptxkit.records import dataclass, field

if TYPE_CHECKING:
    from ptxkit.analysis.kernel import World

#: Executions of one instruction that are looked at, the first and the last: a ring of so many slots comes round.
FIRST_ROUNDS, LAST_ROUNDS = 6, 2
#: The first executions that are looked at where there are too many accesses for more, the most that will do.
FEWER_ROUNDS = (3, 1)
#: The first executions that are looked at, at most, where many instructions fill what is read.
MAX_ROUNDS = 64
#: Accesses by threads that are looked at, at most, of each kind; and lookups among them.
MAX_TOUCHES, MAX_CONFLICT_LOOKUPS = 8_000, 100_000
#: Accesses by groups that the look at all of them is worth: the look at pairs of threads ends at MAX_TOUCHES.
MAX_ACCESSES = 1_500


@dataclass(frozen=True, slots=True)
class Touch:
    """An access of a thread to bytes of shared memory. position: of `seen` in the events of its path's group.

    over: of the wait behind which its thread knows that an asynchronous access is over, where it is one that a wait for
    a group ends.
    """

    path: Path
    tid: int
    position: int
    seen: Event | GroupEvent
    index: int
    over: int | None = None

    @property
    def end(self) -> int:
        """From where on the thread may tell others that the access is over."""
        return self.position if self.over is None else self.over

    @property
    def event(self) -> Event:
        """The access as the thread saw it."""
        own = self.seen.of(self.index) if isinstance(self.seen, GroupEvent) else self.seen
        assert own is not None, "only who takes part in an access touches anything"
        return own

    @property
    def is_sure(self) -> bool:
        """Whether some input surely leads there."""
        guessed = self.path.group.guessed
        return guessed is None or self.position < guessed


@dataclass(frozen=True, slots=True)
class Conflict:
    """A write, and a read of the same bytes by another thread, with nothing that may order them; or an asynchronous
    write of the thread's own group, and a store in place of the read.

    returns: the read is of what was there before, and the write belongs to a later round. late: the two instructions
    are ordered, but the first of them starts what its thread waits for only later.
    """

    write: Touch
    read: Touch
    returns: bool
    late: bool = False

    @property
    def is_inside(self) -> bool:
        """Whether both threads are lanes of one warp."""
        return self.write.path.warp == self.read.path.warp


@dataclass(slots=True)
class _Place:
    """All that threads do to one range of bytes: by path and position, each of one thread of the path.

    others: of a further thread that reads it there.
    """

    writes: dict[Path, dict[int, Touch]] = field(default_factory=lambda: defaultdict(dict))
    reads: dict[Path, dict[int, Touch]] = field(default_factory=lambda: defaultdict(dict))
    others: dict[Path, dict[int, Touch]] = field(default_factory=lambda: defaultdict(dict))

    def is_read(self, touch: Touch) -> None:
        """Notes a read."""
        first = self.reads[touch.path].setdefault(touch.position, touch)
        if first is not touch:
            self.others[touch.path].setdefault(touch.position, touch)


class Conflicts:
    """The conflicts of one world, between threads of different warps, and between lanes that take one path."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._budget = Budget(lookups=min(MAX_CONFLICT_LOOKUPS, world.budget.lookups))
        self._seen: set[tuple[Path, tuple[int, ...], Path, tuple[int, ...]]] = set()
        self._found: set[tuple[Step, Step, bool, bool, bool, bool]] = set()
        self._endings: dict[int, Mapping[int, int]] = {}
        self._paths: dict[int, list[Path]] = {}
        self._looked: dict[tuple[int, str, int], list[tuple[int, Event | GroupEvent]]] = {}

    @cached_property
    def _causality(self) -> Causality:
        return Causality(self._world, self._budget)

    def __iter__(self) -> Iterator[Conflict]:
        for writing, reading in (("write", "read"), ("copy", "store")):
            if not self._are_apart(writing, reading):
                yield from self._pairs(writing, reading)

    def _are_apart(self, writing: str, reading: str) -> bool:
        """Whether a look at whole groups shows that there are no conflicts of accesses of one kind with those of
        another. It sees at least the executions that `_touches` gives."""
        groups = self._world.groups
        writes = [(group, self._looked_at(group, writing, FIRST_ROUNDS)) for group in groups]
        fills = {event.step for _, seen in writes for _, event in seen if _is_fill(event)}
        reads = [(group, self._looked_at(group, reading, _rounds_for(len(fills)))) for group in groups]
        if not any(seen for _, seen in writes) or not any(seen for _, seen in reads):
            return True
        if sum(len(seen) for _, seen in (*writes, *reads)) > MAX_ACCESSES:
            return False
        left = self._budget.lookups
        found = self._separation.holds(self._touchings(writes), self._touchings(reads))
        self._budget.lookups = left
        return found

    @cached_property
    def _separation(self) -> Separation:
        causality = self._causality
        return Separation(self._world.groups, causality.path_of, causality.meetings, self._are_ordered)

    def _are_ordered(self, write: Touching, writer: Path, read: Touching, reader: Path) -> bool:
        """Whether a write on one path and a read on another one may be ordered, either way."""
        if self._causality.meet(writer, write.end, reader, read.position):
            return True
        barrier = write.event.barrier if isinstance(write.event, Event) else write.event.fields[3]
        horizon = self._causality.horizon(writer, write.end, reader, None if isinstance(barrier, Lanes) else barrier)
        return horizon <= read.position or self._causality.may_precede(reader, read.end, writer, write.position)

    def _touchings(self, seen: Sequence[tuple[GroupTrace, Sequence[tuple[int, Event | GroupEvent]]]]) -> list[Touching]:
        return [
            touching
            for group, accesses in seen
            for touching in touchings(group, ((at, e, self._end_of(group, at, e)) for at, e in accesses))
        ]

    def _pairs(self, writing: str, reading: str) -> Iterator[Conflict]:
        """The conflicts of accesses of one kind with those of another."""
        places: dict[tuple[int, int], _Place] = defaultdict(_Place)
        fills: set[Step] = set()
        for touched, touch in self._touches(writing):
            if _is_fill(touch.seen):
                fills.add(touch.seen.step)
            places[touched].writes[touch.path].setdefault(touch.position, touch)
        if not places:
            return
        self._seen.clear()
        for touched, touch in self._touches(reading, len(fills)):
            places[touched].is_read(touch)
        index: RangeIndex[_Place] = RangeIndex()
        for touched, place in places.items():
            if place.reads:
                index.add(*touched, place)
        for touched, place in places.items():
            for near in index.overlapping(*touched) if place.writes else ():
                yield from self._among(place, near)
                if self._budget.is_over:
                    return

    def _touches(self, kind: str, fills: int = 0) -> Iterator[tuple[tuple[int, int], Touch]]:
        """The accesses of all threads that write or store, or of some that read or copy, and the bytes of each.

        fills: how many instructions fill memory asynchronously. Where a loop that does so is unrolled, each of them is
        of a round of its own, and the loop that reads is looked at for as many rounds.
        """
        left, rounds = MAX_TOUCHES, self._rounds(kind, _rounds_for(fills))
        for group in self._world.groups:
            tids, paths, chosen = group.tids, self._paths_of(group), self._chosen(group, kind)
            for position, event in self._looked_at(group, kind, rounds):
                for index in chosen[isinstance(event, Event)]:
                    touched = extent_of(event, index)
                    if touched is not None:
                        over = self._end_of(group, position, event)
                        yield touched, Touch(paths[index], tids[index], position, event, index, over)
                        left -= 1
                if left <= 0:
                    return

    def _paths_of(self, group: GroupTrace) -> list[Path]:
        found = self._paths.get(id(group))
        if found is None:
            found = self._paths[id(group)] = [self._causality.path_of(tid) for tid in group.tids]
        return found

    def _looked_at(self, group: GroupTrace, kind: str, rounds: int) -> list[tuple[int, Event | GroupEvent]]:
        key = id(group), kind, rounds
        found = self._looked.get(key)
        if found is None:
            found = self._looked[key] = list(_looked_at(group, kind, rounds))
        return found

    def _chosen(self, group: GroupTrace, kind: str) -> tuple[Sequence[int], Sequence[int]]:
        """The threads of a group that are looked at, as indices: where they differ, and where all do the same."""
        return _edges(group.tids) if kind == "read" else range(len(group.tids)), _firsts(self._paths_of(group))

    def _rounds(self, kind: str, wanted: int) -> int:
        """How many first executions of an instruction to look at, so that all of them are, and the last ones."""
        chosen = [(group, [len(each) for each in self._chosen(group, kind)]) for group in self._world.groups]
        for rounds in (wanted, *FEWER_ROUNDS):
            touches = sum(
                threads[isinstance(event, Event)]
                for group, threads in chosen
                for _, event in self._looked_at(group, kind, rounds)
            )
            if touches <= MAX_TOUCHES:
                return rounds
        return wanted

    def _end_of(self, group: GroupTrace, position: int, event: Event | GroupEvent) -> int | None:
        """The position of the wait that tells the threads of a group of the end of what they start at another."""
        if not isinstance(event.effect, Access) or event.effect.completion is None:
            return None
        endings = self._endings.get(group.tids[0])
        if endings is None:
            endings = self._endings[group.tids[0]] = endings_of(group)
        return endings.get(position)

    def _among(self, written: _Place, read: _Place) -> Iterator[Conflict]:
        """The conflicts between the writes of one place and the reads of one that shares bytes with it."""
        for writer, writes in written.writes.items():
            for reader, reads in read.reads.items():
                if self._budget.is_over:
                    return
                self._budget.lookups -= 1
                if writer.warp == reader.warp and writer.group is reader.group:
                    yield from self._inside(writes, reads, read.others.get(reader, {}))
                    continue
                key = (writer, tuple(writes), reader, tuple(reads))
                if key not in self._seen:
                    self._seen.add(key)
                    yield from self._between(list(writes.values()), list(reads.values()))

    def _inside(
        self, writes: dict[int, Touch], reads: dict[int, Touch], others: dict[int, Touch]
    ) -> Iterator[Conflict]:
        """The conflicts between lanes that take one path: with the reads next to each write, before it and behind."""
        positions = list(reads)
        for at, write in writes.items():
            behind = bisect_left(positions, at)
            for near in positions[max(behind - 1, 0) : behind + 1]:
                read = next((r for r in (reads[near], others.get(near)) if r is not None and r.tid != write.tid), None)
                if read is None:
                    continue
                self._budget.lookups -= 1
                if not (self._meets(read, write) if near < at else self._meets(write, read)):
                    yield from self._new(Conflict(write, read, near < at))

    def _meets(self, earlier: Touch, later: Touch) -> bool:
        """Whether anything that the lanes of a path do between two accesses, or at the later one, may order them."""
        group = earlier.path.group
        until = later.position
        while until + 1 < len(group.events) and group.events[until + 1].step is later.event.step:
            until += 1
        return self._causality.meetings(group).between(earlier.position, until)

    def _new(self, conflict: Conflict) -> Iterator[Conflict]:
        write, read = conflict.write, conflict.read
        is_sure = write.is_sure and read.is_sure
        key = (write.event.step, read.event.step, conflict.returns, conflict.late, is_sure, conflict.is_inside)
        if key not in self._found:
            self._found.add(key)
            yield conflict

    def _between(self, writes: list[Touch], reads: list[Touch]) -> Iterator[Conflict]:
        """The conflicts between the writes of one thread and the reads of another."""
        writer, reader = writes[0].path, reads[0].path
        positions = [read.position for read in reads]
        horizons = [self._causality.horizon(writer, w.end, reader, w.event.barrier) for w in writes]
        for number, write in enumerate(writes):
            until = bisect_left(positions, horizons[number])
            for read in reversed(reads[:until]):
                if _is_joint(write, read):
                    continue
                self._budget.lookups -= 1
                if self._may_precede(read, write):
                    break
                refills = any(horizon <= read.position for horizon in horizons[:number])
                returns, late = self._returns(write, read, refills), self._is_late(write, read)
                yield from self._new(Conflict(write, read, returns, late))

    def _is_late(self, write: Touch, read: Touch) -> bool:
        """Whether one of two instructions may be ordered before the other, though what it starts may not be over."""
        causality = self._causality
        if write.over is not None:
            learnt = causality.horizon(write.path, write.position, read.path, write.event.barrier)
            if learnt <= read.position:
                return True
        return read.over is not None and causality.may_precede(read.path, read.position, write.path, write.position)

    def _may_precede(self, read: Touch, write: Touch) -> bool:
        """Whether a read may be over before a write. What a warpgroup reads together, each of its warps tells of."""
        if self._causality.may_precede(read.path, read.end, write.path, write.position):
            return True
        if not isinstance(read.event.effect, Access) or read.event.effect.completion != "wgmma":
            return False
        for path in self._causality.paths:
            if path.warp != read.path.warp and path.warp // 4 == read.path.warp // 4:
                at = self._causality.places(path.group).get((read.event.step, read.event.visit))
                if at is not None and self._causality.may_precede(path, at, write.path, write.position):
                    return True
        return False

    def _returns(self, write: Touch, read: Touch, refills: bool) -> bool:
        """Whether the write belongs to a later round than the read.

        A thread that does both tells by its own order; else there was an earlier write, which the read is of.
        """
        own = self._causality.places(write.path.group).get((read.event.step, read.event.visit))
        if own is not None:
            return own < write.position
        own = self._causality.places(read.path.group).get((write.event.step, write.event.visit))
        return refills if own is None else own > read.position


def _is_fill(event: Event | GroupEvent) -> bool:
    """Whether an access is asynchronous, and an mbarrier tells of its end."""
    return isinstance(event.effect, Access) and event.effect.completion == "mbarrier"


def _rounds_for(fills: int) -> int:
    """How many first executions of an instruction to look at, where so many instructions fill what is read."""
    return max(FIRST_ROUNDS, min(fills, MAX_ROUNDS))


def _looked_at(group: GroupTrace, kind: str, rounds: int) -> Iterator[tuple[int, Event | GroupEvent]]:
    """The accesses of one kind, with positions: the first and last executions of each instruction."""
    last = {event.step: event.visit for event in group.events}
    for position, event in enumerate(group.events):
        if isinstance(event, Opaque) or not _is_touch(event, kind):
            continue
        if event.visit < rounds or event.visit > last[event.step] - LAST_ROUNDS:
            yield position, event


def _edges(tids: tuple[int, ...]) -> list[int]:
    """The first two and the last two threads of each warp, as indices."""
    by_warp: dict[int, list[int]] = defaultdict(list)
    for index, tid in enumerate(tids):
        by_warp[tid // 32].append(index)
    return sorted({index for found in by_warp.values() for index in (*found[:2], *found[-2:])})


def _firsts(paths: list[Path]) -> list[int]:
    """The first thread of each path, as indices: where all threads touch the same bytes, one of a path will do."""
    return list({path: index for index, path in reversed(list(enumerate(paths)))}.values())


def _is_joint(write: Touch, read: Touch) -> bool:
    """Whether the read is one operation of a whole warpgroup, which the writer takes part in: it knows of its end."""
    effect = read.event.effect
    return isinstance(effect, Access) and effect.completion == "wgmma" and write.path.warp // 4 == read.path.warp // 4


def _is_touch(event: Event | GroupEvent, kind: str) -> bool:
    """Whether an access is weak, or a part of what is not atomic to such: an update that is weak reads as well.

    A `copy` is a write of the thread's own cp.async groups, a `store` a write that is done at once.
    """
    effect = event.effect
    if not isinstance(effect, Access):
        return False
    if kind in ("copy", "store"):
        completion = "cp.async" if kind == "copy" else None
        return (effect.kind, effect.proxy, effect.completion, effect.order) == ("write", "generic", completion, "weak")
    if kind == "read":
        return effect.kind != "write" and effect.order == "weak"
    return effect.kind == "update" or (effect.kind == "write" and effect.order == "weak")
