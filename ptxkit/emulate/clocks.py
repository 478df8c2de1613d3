"""What orders accesses, watched: two threads use the same bytes, one of them writes, and nothing orders the two.

What is strong on both sides is no race: it is what threads speak to each other by. A write that puts what another has
put there makes no difference, and is none either.

Source: PTX ISA, "Memory Consistency Model": "Conflict and Data-Races", "Causality Order", "Release and Acquire
Patterns", "Morally Strong Operations".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.faults import Finding, Witness
from ptxkit.emulate.knowledge import Knowledge, Vector, join
from ptxkit.emulate.order import Order
from ptxkit.emulate.shadow import FIRST_READ, LAST_READ, WRITE, Shadow

if TYPE_CHECKING:
    from ptxkit.emulate.barriers import Phase
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.groups import Group
    from ptxkit.emulate.mbarriers import Mbarrier
    from ptxkit.emulate.memory import Pool
    from ptxkit.emulate.operations import Arrival, Operation
    from ptxkit.emulate.program import Code

_RELEASES = frozenset({"release", "acq_rel", "sc"})
_ACQUIRES = frozenset({"acquire", "acq_rel", "sc"})
_KINDS = ("write", "read", "read")


class Clocks(Order):
    """Holds each access against those before it, and against the asynchronous operations that are in flight."""

    watches = True

    def __init__(self) -> None:
        super().__init__()
        self._known: dict[Cta, Knowledge] = {}
        self._owners: list[Knowledge] = []
        self._bases: list[int] = []
        self._sites: dict[tuple[Code, int, Cta, bool], int] = {}
        self._places: list[tuple[Code, int, Cta, bool]] = []
        self._told: dict[tuple[Pool, int], Vector] = {}

    # ----------------------------------------------------------------------------------------------- accesses

    def accessed(  # noqa: PLR0913, PLR0917 (all that an access is)
        self,
        group: Group,
        kind: str,
        pool: Pool,
        places: Any,
        size: int,
        order: str,
        scope: str | None,  # noqa: ARG002 (all scopes are taken for wide enough)
        value: Any = None,
    ) -> None:
        """Threads read, write or update `size` bytes at places of a pool, writing `value` where that is known."""
        machine = self.machine
        if machine is None or pool.name in ("local", "const", "param"):
            return
        machine.asynchrony.flight.accessed(group, kind, pool, places, size)
        known = self.knowledge(group.cta)
        index = group.lanes.index
        strong = order != "weak"
        if strong and kind != "write":
            self._take(known, index, pool, places, order)
        shadow = self._shadow(pool)
        units, rows = shadow.units(places, size)
        agents = index + known.base
        site = self._site(group, strong)
        if kind != "read" and (self._told or order in _RELEASES or known.has_fenced):
            self._give(known, index, pool, places, order, is_write=True)
        times = known.own[index]
        event = _Event(group, kind, pool, shadow, units, rows, strong, places, size, value)
        self._check(event, WRITE, known)
        if kind == "read":
            shadow.note_read(units, agents[rows], times[rows], site)
            return
        self._check(event, LAST_READ, known)
        self._check(event, FIRST_READ, known)
        lost = shadow.note_write(units, agents[rows], times[rows], site)
        if not strong and lost.any():
            self._check_together(event, lost)

    def _shadow(self, pool: Pool) -> Shadow:
        if pool.shadow is None:
            pool.shadow = Shadow(pool)
        found: Shadow = pool.shadow
        return found

    def _site(self, group: Group, strong: bool) -> int:
        key = (group.activation.code, group.pc, group.cta, strong)
        found = self._sites.get(key)
        if found is None:
            found = self._sites[key] = len(self._places)
            self._places.append(key)
        return found

    def knowledge(self, cta: Cta) -> Knowledge:
        """What the threads of a CTA know."""
        found = self._known.get(cta)
        if found is None:
            base = 1 if not self._owners else self._bases[-1] + self._owners[-1].threads
            found = self._known[cta] = Knowledge(cta, base)
            self._owners.append(found)
            self._bases.append(base)
        return found

    def _check(self, event: _Event, kind: int, known: Knowledge) -> None:
        """Whether the last accesses of a kind are known to those who access now."""
        agents, times = event.shadow.last(kind, event.units)
        index = event.group.lanes.index[event.rows]
        own = agents - known.base
        inside = (own >= 0) & (own < known.threads)
        if inside.all():
            wrong = ~known.knows(index, known, own, times)
        else:
            wrong = agents != 0
            if wrong.any():
                wrong[inside] = ~known.knows(index[inside], known, own[inside], times[inside])
                self._check_foreign(known, index, agents, times, wrong & ~inside, wrong)
        if wrong.any():
            self._judge(event, kind, wrong, agents)

    def _check_foreign(self, known: Knowledge, index: Any, agents: Any, times: Any, outside: Any, wrong: Any) -> None:
        at = numpy.flatnonzero(outside)
        owners = numpy.searchsorted(self._bases, agents[at], side="right") - 1
        for number in numpy.unique(owners):
            other = self._owners[number]
            chosen = at[owners == number]
            wrong[chosen] = ~known.knows(index[chosen], other, agents[chosen] - other.base, times[chosen])

    def _judge(self, event: _Event, kind: int, wrong: Any, agents: Any) -> None:
        """Report the first access that nothing orders, unless it is none that matters."""
        sites = event.shadow.sites[kind][event.units]
        for at in numpy.flatnonzero(wrong):
            code, pc, cta, was_strong = self._places[int(sites[at])]
            if was_strong and event.strong:
                continue
            row = int(event.rows[at])
            if kind == WRITE and event.kind == "write" and event.is_silent(row):
                continue
            owner = self.knowledge(cta)
            self._report(event, row, kind, (code, pc, cta), int(agents[at]) - owner.base)
            return

    def _check_together(self, event: _Event, lost: Any) -> None:
        """Two threads write the same bytes in one instruction: no matter, where they write the same."""
        for at in numpy.flatnonzero(lost):
            row = int(event.rows[at])
            winner, _ = event.shadow.last(WRITE, event.units[at : at + 1])
            owner = self.knowledge(event.group.cta)
            thread = int(winner[0]) - owner.base
            others = numpy.flatnonzero(event.group.lanes.index == thread)
            if len(others) and not event.is_same(row, int(others[0])):
                place = (event.group.activation.code, event.group.pc, event.group.cta)
                self._report(event, row, WRITE, place, thread)
                return

    def _report(self, event: _Event, row: int, kind: int, place: tuple[Code, int, Cta], other: int) -> None:
        machine, group = self.machine, event.group
        assert machine is not None
        thread = int(group.lanes.index[row])
        start = int(event.places[row])
        here = self._witness(event, event.kind, (group.activation.code, group.pc, group.cta), thread, start)
        there = self._witness(event, _KINDS[kind], place, other, start)
        if event.kind == "read":
            message = f"reads {event.size} bytes of {event.pool.name} memory that thread {there.thread} writes"
        elif kind == WRITE:
            message = f"writes {event.size} bytes of {event.pool.name} memory that thread {there.thread} writes, too"
        else:
            message = f"writes {event.size} bytes of {event.pool.name} memory that thread {there.thread} reads"
        where = f" at line {there.line}" if there.line else ""
        far = f" of CTA {there.cta}" if there.cta != here.cta else ""
        offset = group.activation.code.offsets[group.pc]
        missing = "a barrier, or a release by one thread and an acquire by the other, between the two"
        machine.report.add(
            Finding(
                "PTX621", f"{message}{where}{far}: nothing orders the two", here.line, offset, (here, there), missing
            ),
            place[0].offsets[place[1]],
        )

    def _witness(self, event: _Event, kind: str, place: tuple[Code, int, Cta], thread: int, start: int) -> Witness:
        assert self.machine is not None
        code, pc, cta = place
        action = f"{kind}: {code.instructions[pc].opcode}"
        line = self.machine.line_of(code.offsets[pc])
        old = event.pool.data[start : start + event.size].tobytes().hex()
        return Witness(
            action, line, self.machine.thread_of(thread), cta.ctaid, event.pool.name, start, event.size, old=old
        )

    # ------------------------------------------------------------------------------------- strong accesses

    def _take(self, known: Knowledge, index: Any, pool: Pool, places: Any, order: str) -> None:
        """Strong reads: what was told at these places is known at once, or from the next fence on."""
        if not self._told:
            return
        for thread, place in zip(index.tolist(), places.tolist(), strict=True):
            told = self._told.get((pool, place))
            if told is None:
                continue
            if order in _ACQUIRES:
                known.learn(numpy.array([thread]), told)
            else:
                join(known.seen.setdefault(thread, {}), told)

    def _give(self, known: Knowledge, index: Any, pool: Pool, places: Any, order: str, *, is_write: bool) -> None:
        """Writes tell all that their threads did, or what they did before their last fence."""
        if order == "weak" or not is_write:
            return
        for thread, place in zip(index.tolist(), places.tolist(), strict=True):
            if order in _RELEASES:
                told: Vector | None = known.tell(numpy.array([thread]))
            else:
                told = known.fenced(thread)
            if told is not None:
                join(self._told.setdefault((pool, place), {}), told)

    def fenced(self, group: Group, order: str, scope: str) -> None:  # noqa: ARG002 (scopes: see the rule of its own)
        """Threads execute a fence."""
        self.knowledge(group.cta).fence(group.lanes.index)

    # ----------------------------------------------------------------------------------------------- barriers

    def barrier_arrives(self, group: Group, phase: Phase) -> None:
        """Threads have come to a barrier of their CTA."""
        told = self.knowledge(group.cta).tell(group.lanes.index)
        phase.known = told if phase.known is None else join(phase.known, told)

    def barrier_opens(self, cta: Cta, phase: Phase) -> None:
        """A barrier of a CTA lets its threads go."""
        if phase.all_wait and not (cta.alive & ~phase.arrived).any():
            self.knowledge(cta).learn_all(phase.known)
            phase.known = None

    def passes_barrier(self, group: Group, phase: Phase) -> None:
        """Threads go on behind a barrier."""
        if phase.known is not None:
            self.knowledge(group.cta).learn(group.lanes.index, phase.known)

    def warp_synchronises(self, group: Group, masks: Any) -> None:
        """Lanes of a warp wait for each other, and know all that the others did."""
        known, index = self.knowledge(group.cta), group.lanes.index
        for warp in numpy.unique(index >> 5):
            some = index[index >> 5 == warp]
            mask = int(masks[numpy.flatnonzero(index >> 5 == warp)[0]])
            named = numpy.array([warp * 32 + lane for lane in range(32) if mask >> lane & 1], numpy.int64)
            named = named[named < known.threads]
            known.learn(some, known.tell(named))

    def cluster_arrives(self, group: Group, phase: Any, order: str) -> None:
        """Threads come to the barrier of their cluster. order: release, or relaxed, which tells what a fence did."""
        known, index = self.knowledge(group.cta), group.lanes.index
        self._tell_into(phase.known, known, index, order)

    def passes_cluster_barrier(self, group: Group, phase: Any) -> None:
        """Threads go on behind the barrier of their cluster."""
        self.knowledge(group.cta).learn(group.lanes.index, phase.known)

    @staticmethod
    def _tell_into(vector: Vector, known: Knowledge, index: Any, order: str) -> None:
        if order in _RELEASES:
            join(vector, known.tell(index))
            return
        for thread in index.tolist():
            told = known.fenced(thread)
            if told is not None:
                join(vector, told)

    # ---------------------------------------------------------------------------------------------- mbarriers

    def arrives(self, group: Group, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:  # noqa: ARG002
        """Threads (`index`) are about to arrive at an mbarrier."""
        self._tell_into(self._clock(barrier).coming, self.knowledge(group.cta), index, order)

    def mbarrier_completes(self, barrier: Mbarrier) -> None:
        """The current phase of an mbarrier is complete."""
        clock = self._clock(barrier)
        join(clock.done, clock.coming)
        clock.coming = {}

    def observes(self, group: Group, index: Any, barrier: Mbarrier, order: str, scope: str) -> None:  # noqa: ARG002
        """Threads (`index`) have seen that the phase before the current one is complete."""
        known, done = self.knowledge(group.cta), self._clock(barrier).done
        if order in _ACQUIRES:
            known.learn(index, done)
            return
        for thread in index.tolist():
            join(known.seen.setdefault(thread, {}), done)

    def signals(self, operation: Operation | Arrival, barrier: Mbarrier) -> None:
        """A complete operation tells an mbarrier what was known when it began."""
        if getattr(operation, "known", None) is not None:
            join(self._clock(barrier).coming, operation.known)  # type: ignore[union-attr]
        else:
            known = self.knowledge(operation.cta)
            thread = getattr(operation, "thread", None)
            if thread is not None:
                join(self._clock(barrier).coming, known.tell(numpy.array([thread])))

    @staticmethod
    def _clock(barrier: Mbarrier) -> _PhaseClock:
        if barrier.clock is None:
            barrier.clock = _PhaseClock()
        found: _PhaseClock = barrier.clock
        return found

    # ----------------------------------------------------------------------------------------- asynchronous

    def issued(self, operation: Operation) -> None:
        """An asynchronous operation begins: behind what its threads did before, as they know it."""
        threads = numpy.unique(operation.threads)
        if len(threads):
            operation.known = self.knowledge(operation.cta).tell(threads)


class _PhaseClock:
    """What those who arrive at an mbarrier tell, in the current phase and in those that are complete."""

    def __init__(self) -> None:
        self.coming: Vector = {}
        self.done: Vector = {}


class _Event:
    """One access by the threads of a group. rows: the thread's position for each unit."""

    __slots__ = ("group", "kind", "places", "pool", "rows", "shadow", "size", "strong", "units", "value")

    def __init__(  # noqa: PLR0913, PLR0917 (all that an access is)
        self,
        group: Group,
        kind: str,
        pool: Pool,
        shadow: Shadow,
        units: Any,
        rows: Any,
        strong: bool,
        places: Any,
        size: int,
        value: Any,
    ) -> None:
        self.group, self.kind, self.pool, self.shadow = group, kind, pool, shadow
        self.units, self.rows, self.strong = units, rows, strong
        self.places, self.size, self.value = places, size, value

    def _octets(self, row: int) -> bytes | None:
        """What a thread writes; None where that is not known."""
        if self.value is None:
            return None
        parts = self.value if isinstance(self.value, tuple) else (self.value,)
        if any(part is None for part in parts):
            return None
        return b"".join(numpy.ascontiguousarray(part[row]).tobytes() for part in parts)

    def is_silent(self, row: int) -> bool:
        """Whether a thread writes what is there already."""
        start = int(self.places[row])
        return self._octets(row) == self.pool.data[start : start + self.size].tobytes()

    def is_same(self, row: int, other: int) -> bool:
        """Whether two threads write the same to the same place."""
        return int(self.places[row]) == int(self.places[other]) and self._octets(row) == self._octets(other)
