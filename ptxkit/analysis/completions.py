"""How one learns that a transfer is done: the mechanism with its object, and the waits that saw it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from ptxkit.analysis.kernel import World
from ptxkit.analysis.names import objects_at
from ptxkit.analysis.phases import committed_by, local, waits_on
from ptxkit.analysis.plain import AT_ONCE
from ptxkit.analysis.program import Program, Step
from ptxkit.analysis.routes import Route
from ptxkit.analysis.sightings import Sighting
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import AsyncRegisters, WaitGroup
from ptxkit.transfers import Completion, Wait

#: The mechanisms by the table's words for them.
MECHANISMS = {
    "cp.async": "group",
    "bulk": "bulk group",
    "wgmma": "wgmma group",
    "mbarrier": "mbarrier",
    "tcgen05": "commit",
    "tcgen05.ld": "wait::ld",
    "tcgen05.st": "wait::st",
    "nothing": "nothing",
}
#: Waits named for one transfer.
MAX_WAITS = 16


class Completions:
    """The completions of one kernel's transfers. line: of a step."""

    def __init__(self, program: Program, worlds: Sequence[World], line: Callable[[Step], int]) -> None:
        self._program = program
        self._worlds = worlds
        self._line = line

    def of(self, step: Step, route: Route, seen: Sequence[Sighting]) -> tuple[Completion, tuple[Wait, ...]]:
        """The completion of one transfer, from its executions."""
        mechanism = MECHANISMS.get(route.completion, route.completion)
        if route.near is None and mechanism.startswith("wait::"):
            return Completion(mechanism), self._waits(self._register_waits(step))
        if route.completion == AT_ONCE:
            return Completion(AT_ONCE), ()
        if route.completion == "mbarrier":
            return self._mbarrier(mechanism, seen)
        if route.completion == "tcgen05":
            return self._commit(mechanism, seen)
        tracked = [each for each in seen if each.copy.tracked is not None]
        if tracked and not any(each.copy.done is not None for each in seen):
            return self._tracked(tracked)
        commits = self._lines(each.thread.trace.events[each.copy.committed] for each in seen if each.copy.committed)
        return Completion(mechanism, None, commits), self._waits(_group_waits(seen))

    def _mbarrier(self, mechanism: str, seen: Sequence[Sighting]) -> tuple[Completion, tuple[Wait, ...]]:
        places = {local(each.copy.event.barrier) for each in seen}
        steps = [
            (step, None, False)
            for each in seen
            for step in waits_on(each.world, each.thread, each.copy.position, each.copy.event.barrier)
        ]
        return Completion(mechanism, self._objects(places)), self._waits(steps)

    def _tracked(self, seen: Sequence[Sighting]) -> tuple[Completion, tuple[Wait, ...]]:
        """By `cp.async.mbarrier.arrive`."""
        steps: list[tuple[Step, int | None, bool]] = []
        places: set[int | None] = set()
        arrivals: list[Event] = []
        for each in seen:
            event = each.thread.trace.events[each.copy.tracked or 0]
            if isinstance(event, Event):
                places.add(local(event.address))
                arrivals.append(event)
                waits = waits_on(each.world, each.thread, (each.copy.tracked or 0), event.address)
                steps.extend((step, None, False) for step in waits)
        return Completion("mbarrier", self._objects(places), self._lines(arrivals)), self._waits(steps)

    def _commit(self, mechanism: str, seen: Sequence[Sighting]) -> tuple[Completion, tuple[Wait, ...]]:
        """By an arrival that the tensor core makes later, when what the thread issued before is done."""
        steps: list[tuple[Step, int | None, bool]] = []
        places: set[int | None] = set()
        commits: list[Event] = []
        for each in seen:
            found = committed_by(each.thread, each.copy)
            if found is not None:
                at, event = found
                places.add(local(event.address))
                commits.append(event)
                steps.extend((step, None, False) for step in waits_on(each.world, each.thread, at, event.address))
        return Completion(mechanism, self._objects(places), self._lines(commits)), self._waits(steps)

    def _register_waits(self, step: Step) -> Iterator[tuple[Step, int | None, bool]]:
        for world in self._worlds:
            for thread in world.threads.values():
                for at, event in thread.positions(AsyncRegisters):
                    if event.step is step and isinstance(event.effect, AsyncRegisters):
                        yield from _next_wait(thread, at, event.effect.group)

    def _objects(self, places: set[int | None]) -> str | None:
        known = {place for place in places if place is not None}
        return objects_at(self._program, known) if known and None not in places else None

    def _lines(self, events: Iterable[object]) -> tuple[int, ...]:
        return tuple(sorted({self._line(event.step) for event in events if isinstance(event, Event)}))

    def _waits(self, found: Iterable[tuple[Step, int | None, bool]]) -> tuple[Wait, ...]:
        waits = {
            Wait(self._line(step), pending, reads_only): None for step, pending, reads_only in dict.fromkeys(found)
        }
        return tuple(sorted(waits, key=lambda wait: (wait.line, wait.pending or 0)))[:MAX_WAITS]


def _group_waits(seen: Iterable[Sighting]) -> Iterator[tuple[Step, int | None, bool]]:
    """The first wait that frees the source, and the first after which all is done."""
    for each in seen:
        for position in dict.fromkeys((each.copy.read, each.copy.done)):
            event = each.thread.trace.events[position] if position is not None else None
            if isinstance(event, Event) and isinstance(event.effect, WaitGroup):
                pending = event.amount if isinstance(event.amount, int) else None
                yield event.step, pending, event.effect.read_only


def _next_wait(thread: Thread, position: int, group: str) -> Iterator[tuple[Step, int | None, bool]]:
    for at, event in thread.positions(WaitGroup):
        if at > position and isinstance(event.effect, WaitGroup) and event.effect.group == group:
            yield event.step, None, False
            return
