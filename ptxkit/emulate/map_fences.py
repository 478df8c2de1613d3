"""Tensor maps that the program changes: each change must be released and acquired for the tensormap proxy.

Source: PTX ISA, "membar, fence" (`fence.proxy.tensormap`), "tensormap.cp_fenceproxy", "Tensor-map".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.faults import Finding
from ptxkit.emulate.knowledge import DONE, Knowledge, Vector, join
from ptxkit.emulate.shadow import WRITE
from ptxkit.emulate.tensor_maps import ALIGNMENT, BYTES
from ptxkit.records import dataclass

if TYPE_CHECKING:
    from ptxkit.emulate.groups import Group
    from ptxkit.emulate.memory import Pool
    from ptxkit.emulate.races import Races
    from ptxkit.emulate.shadow import Shadow


@dataclass(frozen=True, slots=True)
class Acquired:
    """Threads made the state of a map known to the tensormap proxy, each at a time of its own. writes: who wrote it."""

    known: Knowledge
    index: Any
    times: Any
    writes: Any


class MapFences:
    """What was released, and which states of which maps were acquired."""

    def __init__(self, races: Races) -> None:
        self._races = races
        self._released: Vector = {}
        self._acquired: dict[tuple[Pool, int], list[Acquired]] = {}

    def fence(self, group: Group, direction: str, address: Any) -> None:
        """Threads execute a fence: of one map where it acquires, of all that they did where it releases."""
        known, index = self._races.knowledge(group.cta), group.lanes.index
        if direction != "acquire":
            join(self._released, known.tell(index))
        elif address is not None:
            pool, places = group.cta.machine.memory.locate(group.cta, "generic", address, ALIGNMENT, index)
            self._acquire(known, index, pool, places)

    def use(self, group: Group, thread: int, pool: Pool, place: int) -> None:
        """A thread copies by a map: report where the tensormap proxy may not know its present state."""
        unit = self._stale(self._races.knowledge(group.cta), thread, pool, place)
        if unit is None:
            return
        machine, shadow = group.cta.machine, pool.shadow
        flight = machine.asynchrony.flight
        agent = int(shadow.last(WRITE, numpy.array([unit]))[0][0])
        code, pc, cta = self._races.place_of(int(shadow.sites[WRITE][unit]))
        here = flight.witness(group.activation.code, group.pc, group.cta, thread, pool, place, BYTES)
        other = agent - self._races.owner_of(agent).base
        there = flight.witness(code, pc, cta, min(other, cta.threads - 1), pool, unit * shadow.unit, shadow.unit)
        message = f"copies by a tensor map that thread {there.thread} changes at line {there.line}: "
        message += "the tensormap proxy may still know the map as it was"
        missing = (
            "`fence.proxy.tensormap::generic.release` behind the change, and `.acquire` of the map before the copy"
        )
        offset = group.activation.code.offsets[group.pc]
        machine.report.add(Finding("PTX403", message, here.line, offset, (here, there), missing), code.offsets[pc])

    def _acquire(self, known: Knowledge, index: Any, pool: Pool, places: Any) -> None:
        """Threads acquire the maps at places."""
        for place in numpy.unique(places):
            some = index[places == place]
            writes = self._writes(pool, int(place))
            if self._is_released(known, some, writes):
                made = Acquired(known, some, known.own[some].copy(), writes)
                self._acquired.setdefault((pool, int(place)), []).append(made)

    def _stale(self, known: Knowledge, thread: int, pool: Pool, place: int) -> int | None:
        """A unit of the map that the tensormap proxy may not know yet; None where all is well."""
        writes = self._writes(pool, place)
        written = numpy.flatnonzero(writes[0])
        if not len(written):
            return None
        for each in self._acquired.get((pool, place), ()):
            if not numpy.array_equal(each.writes, writes):
                continue
            me = numpy.full(len(each.index), thread)
            if known.knows(me, each.known, each.index, each.times).any():
                return None
        return int(self._units(pool.shadow, place)[written[0]])

    @staticmethod
    def _units(shadow: Shadow, place: int) -> Any:
        return numpy.arange(place // shadow.unit, (place + BYTES) // shadow.unit)

    def _writes(self, pool: Pool, place: int) -> Any:
        """The threads that wrote the map last, and when, by unit."""
        if pool.shadow is None:
            return numpy.zeros((2, 1), numpy.int64)
        return numpy.stack(pool.shadow.last(WRITE, self._units(pool.shadow, place)))

    def _is_released(self, known: Knowledge, index: Any, writes: Any) -> bool:
        """Whether all that was written is released, and the threads know of that."""
        for agent, time in numpy.unique(writes[:, writes[0] != 0], axis=1).T.tolist():
            owner = self._races.owner_of(agent)
            held = self._released.get(owner)
            if held is None or held[DONE, agent - owner.base] < time:
                return False
            count = len(index)
            if not known.knows(index, owner, numpy.full(count, agent - owner.base), numpy.full(count, time)).any():
                return False
        return True
