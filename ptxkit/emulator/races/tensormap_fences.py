"""Tensor maps that the program changes: each change must be released and acquired for the tensormap proxy.

Source: PTX ISA, "membar / fence" (`fence.proxy.tensormap`), "tensormap.cp_fenceproxy", "Tensor-map".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics.catalogue import ptx4xx
from ptxkit.emulator.core.findings import Violation
from ptxkit.emulator.races.access_history import AccessHistory
from ptxkit.emulator.races.shadow_memory import WRITE
from ptxkit.emulator.races.vector_clocks import COMPLETED, ClockVector, CtaClocks, join_into
from ptxkit.emulator.races.witnesses import access_witness
from ptxkit.emulator.threads.machine_observer import MachineObserver
from ptxkit.fast_dataclasses import dataclass
from ptxkit.tensormap_limits import MAP_ALIGNMENT, MAP_BYTES

if TYPE_CHECKING:
    from ptxkit.emulator.races.shadow_memory import ShadowMemory
    from ptxkit.emulator.state.memory import ByteBuffer
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


@dataclass(frozen=True, slots=True)
class TensormapAcquire:
    """An acquire of a map's state for the tensormap proxy, at a time for each thread.

    `writes` are the writers of the state, and their times.
    """

    clocks: CtaClocks
    index: Any
    times: Any
    writes: Any


class TensormapFences(MachineObserver):
    """The releases, and the acquired states of maps."""

    def __init__(self, history: AccessHistory) -> None:
        self._history = history
        self._releases: ClockVector = {}
        self._acquires: dict[tuple[ByteBuffer, int], list[TensormapAcquire]] = {}

    def fence(self, group: ThreadGroup, direction: str, address: Any) -> None:
        """Records a fence: an acquire covers one map, a release covers all earlier accesses of the threads."""
        known, index = self._history.clocks_of(group.cta), group.lanes.index
        if direction != "acquire":
            join_into(self._releases, known.release_clock(index))
        elif address is not None:
            pool, places = group.cta.machine.memory.locate(group.cta, "generic", address, MAP_ALIGNMENT, index)
            self._acquire(known, index, pool, places)

    def on_tensor_map_use(self, group: ThreadGroup, thread: int, buffer: ByteBuffer, byte_offset: int) -> None:
        """Reports a copy by a thread with a map whose present state the tensormap proxy may not know."""
        pool, place = buffer, byte_offset
        if pool.shadow is None:
            return
        unit = self._first_stale_unit(self._history.clocks_of(group.cta), thread, pool, place)
        if unit is None:
            return
        machine, shadow = group.cta.machine, pool.shadow
        agent = int(shadow.last_accesses(WRITE, numpy.array([unit]))[0][0])
        site = self._history.site(int(shadow.sites[WRITE][unit]))
        here = access_witness(group.activation.function, group.pc, group.cta, thread, pool, place, MAP_BYTES)
        other = agent - self._history.clocks_of_agent(agent).base
        there = access_witness(*site.location, min(other, site.cta.threads - 1), pool, unit * shadow.unit, shadow.unit)
        message = ptx4xx.TENSOR_MAP_CHANGE_NOT_FENCED(thread=there.thread)
        offset = group.activation.function.offsets[group.pc]
        machine.report.add(Violation(message, here.line, offset, (here, there)), site.offset)

    def _acquire(self, known: CtaClocks, index: Any, pool: ByteBuffer, places: Any) -> None:
        """Records that threads acquire the maps at some offsets."""
        for place in numpy.unique(places):
            some = index[places == place]
            writes = self._last_writes(pool, int(place))
            if self._is_released(known, some, writes):
                made = TensormapAcquire(known, some, known.own_times[some].copy(), writes)
                self._acquires.setdefault((pool, int(place)), []).append(made)

    def _first_stale_unit(self, known: CtaClocks, thread: int, pool: ByteBuffer, place: int) -> int | None:
        """Returns a unit of the map that the tensormap proxy may not know yet, or None."""
        writes = self._last_writes(pool, place)
        written = numpy.flatnonzero(writes[0])
        if not len(written):
            return None
        for each in self._acquires.get((pool, place), ()):
            if not numpy.array_equal(each.writes, writes):
                continue
            me = numpy.full(len(each.index), thread)
            if known.happens_before(me, each.clocks, each.index, each.times).any():
                return None
        return int(self._units(pool.shadow, place)[written[0]])

    @staticmethod
    def _units(shadow: ShadowMemory, place: int) -> Any:
        return numpy.arange(place // shadow.unit, (place + MAP_BYTES) // shadow.unit)

    def _last_writes(self, pool: ByteBuffer, place: int) -> Any:
        """Returns the last writers of the map and their times, by unit."""
        if pool.shadow is None:
            return numpy.zeros((2, 1), numpy.int64)
        return numpy.stack(pool.shadow.last_accesses(WRITE, self._units(pool.shadow, place)))

    def _is_released(self, known: CtaClocks, index: Any, writes: Any) -> bool:
        """Returns whether all writes are released, and the threads are ordered after the releases."""
        for agent, time in numpy.unique(writes[:, writes[0] != 0], axis=1).T.tolist():
            owner = self._history.clocks_of_agent(agent)
            held = self._releases.get(owner)
            if held is None or held[COMPLETED, agent - owner.base] < time:
                return False
            count = len(index)
            if not known.happens_before(
                index, owner, numpy.full(count, agent - owner.base), numpy.full(count, time)
            ).any():
                return False
        return True
