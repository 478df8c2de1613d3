"""The synchronization of threads by barriers, fences and waits for groups.

Source: PTX ISA, "Memory Consistency Model": "Causality Order", "Release and Acquire Patterns", "Asynchronous
Operations".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.core.lane_set import WARPGROUP_SIZE
from ptxkit.emulator.races.access_history import AccessHistory
from ptxkit.emulator.races.tensormap_fences import TensormapFences
from ptxkit.emulator.races.vector_clocks import FENCED_GLOBAL, FENCED_SHARED, IMPLICITLY_FENCED, RELEASED, join_into
from ptxkit.emulator.sync.async_operation import CP_ASYNC, WGMMA, AsyncOperation, DeferredArrival
from ptxkit.emulator.threads.machine_observer import MachineObserver
from ptxkit.semantics.ordering import IMPLICIT_FENCE_GROUPS, RELEASE_ORDERS, covers_space, scope_level

if TYPE_CHECKING:
    from ptxkit.emulator.sync.named_barrier import BarrierPhase
    from ptxkit.emulator.threads.machine_state import CtaState
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


class OrderingClocks(MachineObserver):
    """Updates the clocks of threads at barriers, fences and waits, and stores the clocks when operations start."""

    def __init__(self, history: AccessHistory, tensormap_fences: TensormapFences) -> None:
        self._history, self._tensormap_fences = history, tensormap_fences

    # ------------------------------------------------------------------------------------------------- fences

    def on_fence(self, group: ThreadGroup, order: str, scope: str) -> None:
        """Threads execute a fence."""
        self._history.clocks_of(group.cta).fence(group.lanes.index, scope_level(scope))

    def on_proxy_fence(
        self, group: ThreadGroup, proxy: str, space: str | None, direction: str, scope: str | None, address: Any = None
    ) -> None:
        """Threads execute a fence between the generic proxy and another.

        It also acquires or releases, so that the synchronization between two such fences may be relaxed.
        """
        if direction == "acquire" and scope is not None:
            self.on_fence(group, direction, scope)
        if proxy == "tensormap":
            self._tensormap_fences.fence(group, direction, address)
        if proxy == "async":
            covered = () if space is None else (space,)
            by_space = (("shared", FENCED_SHARED), ("global", FENCED_GLOBAL))
            aspects = [kind for each, kind in by_space if covers_space(covered, each)]
            known = self._history.clocks_of(group.cta)
            if direction == "release" and known.clock_kinds > RELEASED:
                known.fence_proxy(group.lanes.index, [RELEASED])
            elif direction == "acquire" and known.clock_kinds > RELEASED:
                known.acquire_proxy(group.lanes.index, aspects)
            else:
                known.fence_proxy(group.lanes.index, aspects)
        if direction == "release" and scope is not None:
            self.on_fence(group, direction, scope)

    # ----------------------------------------------------------------------------------------------- barriers

    def on_barrier_arrive(self, group: ThreadGroup, phase: BarrierPhase) -> None:
        """Threads have arrived at a barrier of their CTA."""
        released = self._history.clocks_of(group.cta).release_clock(group.lanes.index)
        phase.release_clock = released if phase.release_clock is None else join_into(phase.release_clock, released)

    def on_barrier_complete(self, cta: CtaState, phase: BarrierPhase) -> None:
        """A barrier of a CTA has completed and releases its threads."""
        if phase.all_arrivals_wait and phase.includes_all_threads:
            self._history.clocks_of(cta).acquire_clock_by_all(phase.release_clock)
            phase.release_clock = None

    def on_barrier_pass(self, group: ThreadGroup, phase: BarrierPhase) -> None:
        """Threads continue after a barrier."""
        if phase.release_clock is not None:
            self._history.clocks_of(group.cta).acquire_clock(group.lanes.index, phase.release_clock)

    def on_warp_sync(self, group: ThreadGroup, masks: Any) -> None:
        """Lanes of a warp in one mask wait for each other, and then know all accesses of each other.

        Tiles of a warp synchronize at one instruction, each with its own mask.
        """
        known, index = self._history.clocks_of(group.cta), group.lanes.index
        for warp in numpy.unique(index >> 5):
            own = index >> 5 == warp
            for mask in numpy.unique(masks[own]).tolist():
                named = numpy.array([warp * 32 + lane for lane in range(32) if mask >> lane & 1], numpy.int64)
                named = named[named < known.cta.threads]
                known.acquire_clock(index[own & (masks == mask)], known.release_clock(named))

    def on_cluster_arrive(self, group: ThreadGroup, phase: Any, order: str) -> None:
        """Threads arrive at the barrier of their cluster; a relaxed arrival releases what fences have released."""
        known, index = self._history.clocks_of(group.cta), group.lanes.index
        if order in RELEASE_ORDERS:
            join_into(phase.release_clock, known.release_clock(index))
            return
        for thread in index.tolist():
            for released in known.fence_releases(thread).values():
                join_into(phase.release_clock, released)

    def on_cluster_barrier_pass(self, group: ThreadGroup, phase: Any) -> None:
        """Threads continue after the barrier of their cluster."""
        known = self._history.clocks_of(group.cta)
        known.has_cluster_started = True
        known.acquire_clock(group.lanes.index, phase.release_clock)

    # --------------------------------------------------------------------------------- asynchronous operations

    def on_issue(self, operation: AsyncOperation) -> None:
        """An asynchronous operation starts: it is ordered after all that its threads know."""
        threads = numpy.unique(operation.threads)
        if len(threads):
            operation.issue_clock = self._history.clocks_of(operation.cta).release_clock(threads)

    def on_deferred_arrive(self, arrival: DeferredArrival) -> None:
        """Threads will arrive at an mbarrier when their copies so far are complete."""
        arrival.issue_clock = self._history.clocks_of(arrival.cta).release_clock(arrival.threads)

    def on_group_wait(self, group: ThreadGroup, kind: str, limits: Any, reads_only: bool) -> None:
        """Threads have waited for their groups of a kind whose numbers are below the limit of each thread."""
        known, index = self._history.clocks_of(group.cta), group.lanes.index
        if kind == WGMMA:  # the parts of all warps of a warpgroup are complete
            for team in numpy.unique(index // WARPGROUP_SIZE).tolist():
                engine = known.engine_for((WGMMA, team))
                known.acquire_clock(index[index // WARPGROUP_SIZE == team], known.engine_clock(engine))
        if self._history.strict and kind in IMPLICIT_FENCE_GROUPS:
            known.fence_proxy(index, [IMPLICITLY_FENCED])
            known.note_wait(index)
        if not reads_only:
            if kind == CP_ASYNC:
                known.copy_waits.record_wait(index, limits[index], known.own_times[index])
            before = group.cta.completed_groups.get(kind)
            group.cta.completed_groups[kind] = numpy.maximum(limits, 0 if before is None else before)
