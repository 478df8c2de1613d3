"""The events of one combination of executions of threads, and what is known of them before values are chosen.

Events are numbered: first the initial write of each location, then those of each thread in its order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from ptxkit.memory_model.events import EventKind, MbarrierUse, MemoryEvent, Placement
from ptxkit.memory_model.relations import Relation, members
from ptxkit.memory_model.rendezvous import Rendezvous, find_rendezvous

INITIAL = -1
"""The thread of the initial writes."""


class Skeleton:
    """The events of an execution without their values.

    events: by number. threads: the thread of each, or `INITIAL`. issues: the issue of each asynchronous event, or None.
    places: where each thread runs. locations: by number of their initial write.
    """

    def __init__(self, threads: Sequence[Sequence[MemoryEvent]], places: Sequence[Placement]) -> None:
        found = dict.fromkeys(
            event.location for events in threads for event in events if event.is_access and event.location
        )
        self.locations = list(found)
        self.places = places
        self.events = [MemoryEvent(EventKind.WRITE, "initial value", each, each) for each in self.locations]
        self.threads = [INITIAL] * len(self.events)
        self.issues: list[int | None] = [None] * len(self.events)
        self.starts: list[int] = []
        for number, events in enumerate(threads):
            start = len(self.events)
            self.starts.append(start)
            self.events += events
            self.threads += [number] * len(events)
            self.issues += [None if event.issue is None else start + event.issue for event in events]
        self.count = len(self.events)

    def where(self, test: Callable[[MemoryEvent], bool]) -> int:
        """Returns the events of threads with a property."""
        found = 0
        for at, event in enumerate(self.events):
            if self.threads[at] >= 0 and test(event):
                found |= 1 << at
        return found

    def pairs_where(self, same: Callable[[int, int], bool], events: int = -1) -> Relation:
        """Returns the pairs of different events, of a set, with a property."""
        kept = [at for at in range(self.count) if events >> at & 1]
        return Relation.of_pairs(
            self.count, ((one, other) for one in kept for other in kept if one != other and same(one, other))
        )

    @cached_property
    def initial(self) -> int:
        """The initial writes."""
        return (1 << len(self.locations)) - 1

    @cached_property
    def reads(self) -> int:
        """The reads."""
        return self.where(lambda event: event.kind is EventKind.READ)

    @cached_property
    def writes(self) -> int:
        """The writes, with the initial ones."""
        return self.initial | self.where(lambda event: event.kind is EventKind.WRITE)

    @cached_property
    def accesses(self) -> int:
        """The memory operations."""
        return self.reads | self.writes

    @cached_property
    def threads_events(self) -> int:
        """The events of threads."""
        return (1 << self.count) - 1 & ~self.initial

    @cached_property
    def synchronizations(self) -> int:
        """The uses of barriers and mbarrier objects, and the waits for groups."""
        return self.where(lambda event: event.kind is EventKind.SYNC)

    @cached_property
    def asynchronous(self) -> int:
        """The events of asynchronous instructions other than their issue."""
        return sum(1 << at for at, issue in enumerate(self.issues) if issue is not None)

    @cached_property
    def reads_of_location(self) -> list[tuple[int, list[int]]]:
        """Each read, with the writes to its location."""
        writes: dict[str, list[int]] = {}
        for at in members(self.writes):
            writes.setdefault(self.events[at].location, []).append(at)
        return [(at, writes[self.events[at].location]) for at in members(self.reads)]

    @cached_property
    def mbarrier_uses(self) -> list[tuple[int, MbarrierUse]]:
        """The operations on mbarrier objects, with their numbers."""
        return [(at, event.use) for at, event in enumerate(self.events) if isinstance(event.use, MbarrierUse)]

    @cached_property
    def rendezvous(self) -> tuple[Rendezvous, ...]:
        """The possible phases of barriers."""
        return find_rendezvous(self.events, self.threads, self.issues, self.places)

    @cached_property
    def program_order(self) -> Relation:
        """A total order of the operations of a thread, without those of asynchronous instructions but their issue."""
        threads, ordered = self.threads, ~self.asynchronous
        return self.pairs_where(
            lambda one, other: one < other and threads[one] == threads[other], self.threads_events & ordered
        )

    @cached_property
    def inner_order(self) -> Relation:
        """From the reads to the writes of one asynchronous instruction, and to the signal of its completion.

        "the loads and stores performed as part of a cp.async are ordered with respect to each other"; silent about the
        others; decided so because what is written was read.
        """
        issues = self.issues
        kinds = {EventKind.READ: 0, EventKind.WRITE: 1, EventKind.SYNC: 2}
        return self.pairs_where(
            lambda one, other: (
                issues[one] == issues[other] and kinds[self.events[one].kind] < kinds[self.events[other].kind]
            ),
            self.asynchronous,
        )

    @cached_property
    def group_waits(self) -> Relation:
        """From an asynchronous operation to the waits of the same thread for its group."""
        return self._completion_by(self.threads_events & ~self.asynchronous)

    @cached_property
    def signals(self) -> Relation:
        """From an asynchronous access to the operation on an mbarrier object that signals its completion."""
        signals = self.asynchronous & ~self.accesses
        return self.inner_order.between(self.accesses, signals) | self._completion_by(signals)

    def _completion_by(self, events: int) -> Relation:
        return Relation.of_pairs(
            self.count,
            (
                (self.starts[self.threads[at]] + each, at)
                for at in members(events)
                for each in self.events[at].completes
            ),
        )

    @cached_property
    def same_location(self) -> Relation:
        """Accesses of one memory location; those of parts of it are not supported."""
        return self.pairs_where(
            lambda one, other: self.events[one].location == self.events[other].location, self.accesses
        )

    @cached_property
    def same_address(self) -> Relation:
        """Accesses of one virtual address: these overlap, and aliases do not."""
        return self.pairs_where(
            lambda one, other: self.events[one].address == self.events[other].address, self.accesses
        )

    @cached_property
    def same_proxy(self) -> Relation:
        """Operations by one proxy; a fence counts as generic."""
        return self.pairs_where(lambda one, other: self.events[one].proxy == self.events[other].proxy)

    @cached_property
    def atomic_pairs(self) -> Relation:
        """From the read to the write of an atomic operation."""
        return self.pairs_where(
            lambda one, other: (
                other == one + 1
                and self.events[one].is_atomic
                and self.events[other].is_atomic
                and (self.events[one].kind, self.events[other].kind) == (EventKind.READ, EventKind.WRITE)
            ),
            self.accesses,
        )

    @cached_property
    def dependencies(self) -> Relation:
        """From a read to what depends on its value."""
        starts, threads = self.starts, self.threads
        return Relation.of_pairs(
            self.count,
            (
                (starts[threads[at]] + read, at)
                for at in members(self.threads_events)
                for read in self.events[at].depends
            ),
        )

    @cached_property
    def same_block(self) -> Relation:
        """Events of one thread block."""
        events = self.threads_events
        return self.pairs_where(lambda one, other: self.place(one).cta == self.place(other).cta, events)

    def place(self, at: int) -> Placement:
        """Returns where the thread of an event runs."""
        return self.places[self.threads[at]]
