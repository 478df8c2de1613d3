"""Tracking of what orders accesses: barriers, mbarriers, fences, release and acquire, asynchronous operations.

Source: PTX ISA, "Memory Consistency Model": "Causality Order", "Release and Acquire Patterns", "Asynchronous
Operations".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.engine.collective_checks import WARPGROUP_SIZE
from ptxkit.emulator.races.grid_dependency_reads import GridDependencyReads
from ptxkit.emulator.races.inflight_units import incoming_values, touched_units
from ptxkit.emulator.races.mbarrier_clocks import ACQUIRE_ORDERS
from ptxkit.emulator.races.polled_flags import PolledFlags
from ptxkit.emulator.races.proxy_checker import ProxyChecker
from ptxkit.emulator.races.race_detector import FENCED_CLOCK_OF_SPACE, MemoryAccess
from ptxkit.emulator.races.release_patterns import ReleasePatterns
from ptxkit.emulator.races.shadow_memory import FIRST_READ, LAST_READ, WRITE, ShadowMemory
from ptxkit.emulator.races.tensor_memory_order import TensorMemoryOrder
from ptxkit.emulator.races.tensormap_fences import TensormapFences
from ptxkit.emulator.races.vector_clocks import (
    COMPLETED,
    FENCED_GLOBAL,
    FENCED_SHARED,
    IMPLICITLY_FENCED,
    RELEASED,
    CtaClocks,
    join_into,
    scope_level,
)
from ptxkit.emulator.sync.async_operation import (
    BULK,
    CP_ASYNC,
    TCGEN05,
    UNSIGNALLED,
    WGMMA,
    AsyncOperation,
    DeferredArrival,
)
from ptxkit.emulator.tensor.tensor_memory import tensor_memory_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.engine.machine import Cluster
    from ptxkit.emulator.state.memory import ByteBuffer
    from ptxkit.emulator.sync.mbarrier import Mbarrier
    from ptxkit.emulator.sync.named_barrier import BarrierPhase
    from ptxkit.emulator.threads.thread_groups import ThreadGroup


class HappensBeforeMonitor(ProxyChecker):
    """Compares each access with earlier accesses and with the asynchronous operations in flight."""

    is_checking = True

    def __init__(self, *, strict: bool = False) -> None:
        super().__init__(strict=strict)
        self._tensormap_fences = TensormapFences(self)
        self.tensor_memory_order = TensorMemoryOrder(self)
        self._grid_reads = GridDependencyReads(self)
        self._polls = PolledFlags()
        self._releases = ReleasePatterns()

    # ----------------------------------------------------------------------------------------------- accesses

    def on_access(  # noqa: PLR0913, PLR0917 (all properties of an access)
        self,
        group: ThreadGroup,
        kind: str,
        pool: ByteBuffer,
        places: Any,
        size: int,
        order: str,
        scope: str | None,
        value: Any = None,
    ) -> None:
        """Threads read, write or update `size` bytes at places of a pool, writing `value` where that is known."""
        machine = self.machine
        if machine is None or pool.name in ("local", "const", "param"):
            return
        machine.async_engine.inflight.check_access(group, kind, pool, places, size)
        known = self.clocks_of(group.cta)
        index = group.lanes.index
        times = known.own_times[index]  # before a release ends the present time: it releases the access, too
        strong = 0 if order == "weak" else 1 + scope_level(scope)
        if self.strict and kind == "read" and pool.name == "global" and not strong:
            self._grid_reads.record_read(group, pool, places, size)
        shadow = self._shadow(pool)
        if strong:
            self._releases.record_access(known, index, shadow, pool, places, kind, order, scope_level(scope))
            if self.strict and kind != "write" and pool.name == "global":
                self._polls.record_read(group, pool, places, scope_level(scope), acquires=order in ACQUIRE_ORDERS)
        if pool is group.cta.cluster.shared_buffer and group.cta.cluster.size > 1:
            self._check_remote_lifetime(group, known, kind, places, size)
        units, rows = shadow.units_of(places, size)
        agents = index + known.base
        site = self._site_number((group.activation.function, group.pc, group.cta, strong, "generic", -1))
        place = (group.activation.function, group.pc, group.cta)
        event = MemoryAccess(place, index, kind, pool, units, rows, strong, places, size, value)
        self._check_last_accesses(event, WRITE, known)
        hands_over = pool is group.cta.cluster.shared_buffer and group.cta.cluster.size > 1
        if hands_over:
            self._check_cross_cta_order(event, WRITE, known)
        if kind == "read":
            shadow.record_read(units, agents[rows], times[rows], site, strong=strong > 0)
            return
        self._check_last_accesses(event, LAST_READ, known)
        self._check_last_accesses(event, FIRST_READ, known)
        if self.strict:
            self._check_store(event, known)
            if hands_over:
                self._check_cross_cta_order(event, LAST_READ, known)
        lost = shadow.record_write(units, agents[rows], times[rows], site)
        if strong:
            self._releases.record_write(shadow, pool, places)
        elif lost.any():
            self._check_same_instruction_writes(event, lost)

    def on_grid_dependency_wait(self, group: ThreadGroup) -> None:
        """Threads wait for the grids that this one depends on."""
        self._grid_reads.record_wait(group)

    def on_fence(self, group: ThreadGroup, order: str, scope: str) -> None:  # noqa: ARG002 (each is both)
        """Threads execute a fence."""
        self.clocks_of(group.cta).fence(group.lanes.index, scope_level(scope))
        self._polls.record_fence(group, scope_level(scope))

    # ----------------------------------------------------------------------------------------------- barriers

    def on_barrier_arrive(self, group: ThreadGroup, phase: BarrierPhase) -> None:
        """Threads have arrived at a barrier of their CTA."""
        told = self.clocks_of(group.cta).release_clock(group.lanes.index)
        phase.release_clock = told if phase.release_clock is None else join_into(phase.release_clock, told)

    def on_barrier_complete(self, cta: Cta, phase: BarrierPhase) -> None:
        """A barrier of a CTA has completed and releases its threads."""
        if phase.all_arrivals_wait and not (cta.alive & ~phase.has_arrived).any():
            self.clocks_of(cta).acquire_clock_by_all(phase.release_clock)
            phase.release_clock = None
            cta.collectives.check_register_total()

    def on_barrier_pass(self, group: ThreadGroup, phase: BarrierPhase) -> None:
        """Threads continue after a barrier."""
        group.cta.collectives.has_synchronized[group.lanes.index] = True
        if phase.release_clock is not None:
            self.clocks_of(group.cta).acquire_clock(group.lanes.index, phase.release_clock)

    def on_warp_sync(self, group: ThreadGroup, masks: Any) -> None:
        """Lanes of a warp that one mask names wait for each other, and know all accesses of each other.

        Tiles of a warp synchronize at one instruction, each with its own mask.
        """
        known, index = self.clocks_of(group.cta), group.lanes.index
        for warp in numpy.unique(index >> 5):
            own = index >> 5 == warp
            for mask in numpy.unique(masks[own]).tolist():
                named = numpy.array([warp * 32 + lane for lane in range(32) if mask >> lane & 1], numpy.int64)
                named = named[named < known.cta.threads]
                known.acquire_clock(index[own & (masks == mask)], known.release_clock(named))

    def on_cluster_arrive(self, group: ThreadGroup, phase: Any, order: str) -> None:
        """Threads arrive at the barrier of their cluster. order: release, or relaxed, which releases what a fence
        covered.
        """
        known, index = self.clocks_of(group.cta), group.lanes.index
        self._release_into(phase.release_clock, known, index, order)

    def on_cluster_barrier_pass(self, group: ThreadGroup, phase: Any) -> None:
        """Threads continue after the barrier of their cluster."""
        known = self.clocks_of(group.cta)
        group.cta.collectives.has_synchronized[group.lanes.index] = True
        known.has_cluster_started = True
        known.acquire_clock(group.lanes.index, phase.release_clock)

    # ----------------------------------------------------------------------------------------------- clusters

    def _check_remote_lifetime(self, group: ThreadGroup, known: CtaClocks, kind: str, places: Any, size: int) -> None:
        """Check accesses to memory of other CTAs: these must be known to have started, and must not have exited."""
        cluster = group.cta.cluster
        ranks = places // cluster.stride
        for rank in numpy.unique(ranks[ranks != group.cta.rank]).tolist():
            other = cluster.ctas[rank]
            index = group.lanes.index[ranks == rank]
            words = {"space": "shared", "start": int(places[ranks == rank][0]) % cluster.stride, "size": size}
            if not other.alive.any():
                message = f"a {kind} of the shared memory of CTA {other.ctaid}, which has ended"
                self._report_fault(ExecutionFault("PTX612", message, index, **words), group)
            elif not known.has_started_before(index, self.clocks_of(other)):
                message = f"a {kind} of the shared memory of CTA {other.ctaid}, which may not have begun"
                self._report_fault(ExecutionFault("PTX611", message, index, **words), group)

    def _report_fault(self, fault: ExecutionFault, group: ThreadGroup) -> None:
        fault.location, fault.cta = (group.activation.function, group.pc), group.cta
        assert self.machine is not None
        self.machine.report_fault(fault)

    def on_cta_exit(self, cta: Cta) -> None:
        """All threads of a CTA have exited: accesses of others to its shared memory must be known to them."""
        cta.collectives.check_at_exit()
        cluster = cta.cluster
        if cluster.size == 1 or cluster.shared_buffer.shadow is None:
            return
        shadow, stride = self._shadow(cluster.shared_buffer), cluster.stride
        units = numpy.arange(cta.rank * stride // shadow.unit, (cta.rank + 1) * stride // shadow.unit)
        everything = self.clocks_of(cta).full_clock()
        for kind in (WRITE, FIRST_READ, LAST_READ):
            agents, times = shadow.last_accesses(kind, units)
            used = numpy.flatnonzero(agents)
            owners = numpy.searchsorted(self._owner_bases, agents[used], side="right") - 1
            for number in numpy.unique(owners):
                other = self._clock_owners[number]
                if other.cta is cta:
                    continue
                at = used[owners == number]
                threads = agents[at] - other.base
                held = everything.get(other)
                late = at if held is None else at[held[COMPLETED, threads] < times[at]]
                if len(late):
                    self._report_early_exit(cta, shadow, kind, int(units[late[0]]), int(agents[late[0]]) - other.base)
                    return

    def on_cluster_exit(self, cluster: Cluster) -> None:
        """All CTAs of a cluster have exited: they must have deallocated their Tensor Memory."""
        assert self.tensor_memory_order is not None
        for cta in cluster.ctas:
            memory, peer = (
                tensor_memory_of(cta),
                tensor_memory_of(cluster.ctas[cta.rank ^ 1]) if cluster.size > cta.rank ^ 1 else None,
            )
            for first, count in memory.allocations.items():
                half = first in memory.paired_allocations and peer is not None and not peer.allocations
                self.tensor_memory_order.report_leak(cta, first, count, half=half)
        for cta in cluster.ctas:
            self.tensor_memory_order.drop_cta(cta)

    def _report_early_exit(self, cta: Cta, shadow: ShadowMemory, kind: int, unit: int, thread: int) -> None:
        code, pc, by, _, _, issuer = self._site_keys[int(shadow.sites[kind][unit])]
        verb = "writes" if kind == WRITE else "reads"
        start = unit * shadow.unit % cta.cluster.stride
        fault = ExecutionFault(
            "PTX612",
            f"{verb} the shared memory of CTA {cta.ctaid}, which ends without knowing that this is done",
            numpy.array([thread if issuer < 0 else issuer]),
            space="shared",
            start=start,
            size=shadow.unit,
        )
        fault.location, fault.cta = (code, pc), by
        assert self.machine is not None
        self.machine.report_fault(fault)

    def on_group_wait(self, group: ThreadGroup, kind: str, limits: Any, *, reads_only: bool) -> None:
        """Threads have waited for their groups of a kind whose numbers are below the limit of each thread."""
        super().on_group_wait(group, kind, limits, reads_only=reads_only)
        if kind == WGMMA:
            self._acquire_warpgroup_clocks(group)
        if self.strict and kind in (BULK, WGMMA):
            self.clocks_of(group.cta).fence_proxy(group.lanes.index, [IMPLICITLY_FENCED])
            self.clocks_of(group.cta).note_wait(group.lanes.index)
        if not reads_only:
            known, index = self.clocks_of(group.cta), group.lanes.index
            if kind == CP_ASYNC:
                known.copy_waits.record_wait(index, limits[index], known.own_times[index])
            before = group.cta.completed_groups.get(kind)
            group.cta.completed_groups[kind] = numpy.maximum(limits, 0 if before is None else before)

    def _acquire_warpgroup_clocks(self, group: ThreadGroup) -> None:
        """Let threads know what the wgmma operations of their warpgroups have read, for the parts of all warps."""
        known, index = self.clocks_of(group.cta), group.lanes.index
        for team in numpy.unique(index // WARPGROUP_SIZE).tolist():
            known.acquire_clock(
                index[index // WARPGROUP_SIZE == team], known.engine_clock(known.engine_for((WGMMA, team)))
            )

    # ----------------------------------------------------------------------------------------- asynchronous

    def on_proxy_fence(
        self,
        group: ThreadGroup,
        proxy: str,
        space: str | None,
        direction: str,
        scope: str | None,
        address: Any = None,
    ) -> None:
        """Threads execute a fence between the generic proxy and another.

        It also acquires or releases, so that the synchronization between two of them may be relaxed.
        """
        if direction == "acquire" and scope is not None:
            self.on_fence(group, direction, scope)
        if proxy == "tensormap":
            self._tensormap_fences.fence(group, direction, address)
        if proxy == "async":
            shared, beyond = space is None or space.startswith("shared"), space is None or space == "global"
            aspects = [FENCED_SHARED] * shared + [FENCED_GLOBAL] * beyond
            if beyond:
                self._polls.record_proxy_fence(group)
            known = self.clocks_of(group.cta)
            if direction == "release" and known.clock_kinds > RELEASED:
                known.fence_proxy(group.lanes.index, [RELEASED])
            elif direction == "acquire" and known.clock_kinds > RELEASED:
                known.acquire_proxy(group.lanes.index, aspects)
            else:
                known.fence_proxy(group.lanes.index, aspects)
        if direction == "release" and scope is not None:
            self.on_fence(group, direction, scope)

    def on_tensor_map_use(self, group: ThreadGroup, thread: int, pool: ByteBuffer, place: int) -> None:
        """A thread copies by the tensor map at a place of a pool."""
        if pool.shadow is not None:
            self._tensormap_fences.check_use(group, thread, pool, place)

    def on_issue(self, operation: AsyncOperation) -> None:
        """An asynchronous operation starts: it is ordered after all that its threads know."""
        threads = numpy.unique(operation.threads)
        if not len(threads):
            return
        known = self.clocks_of(operation.cta)
        self._polls.check_issue(operation)
        rows = numpy.ones(len(operation.threads), bool)
        for side, kind in (("source", "read"), ("target", "write")):
            for event in self._accesses_of(operation, side, kind, rows):
                self._check_last_accesses(event, WRITE, known)
                if kind == "write":
                    self._check_last_accesses(event, LAST_READ, known)
                    self._check_last_accesses(event, FIRST_READ, known)
                if operation.proxy == "async":
                    self._check_proxy(event, known)
                if self.strict and operation.cta.cluster.size > 1 and event.pool is operation.cta.cluster.shared_buffer:
                    for before in (WRITE, LAST_READ) if kind == "write" else (WRITE,):
                        self._check_cross_cta_order(event, before, known)
        operation.issue_clock = known.release_clock(threads)

    def on_deferred_arrive(self, arrival: DeferredArrival) -> None:
        """Threads will arrive at an mbarrier when their copies so far are complete."""
        arrival.issue_clock = self.clocks_of(arrival.cta).release_clock(arrival.threads)

    def on_source_read(self, operation: AsyncOperation, rows: Any, through: Mbarrier | None) -> None:
        """Rows of an operation have read their sources, and this will be signalled."""
        self._record_accesses(operation, "source", "read", rows, through)

    def on_completion(self, operation: AsyncOperation, rows: Any, through: Mbarrier | None) -> None:
        """Rows of an operation are complete, and their completion will be signalled."""
        self._record_accesses(operation, "target", "write", rows, through)

    def _record_accesses(
        self, operation: AsyncOperation, side: str, kind: str, rows: Any, through: Mbarrier | None
    ) -> None:
        """Attribute the accesses of an operation to its threads if they wait for it, else to an engine."""
        if operation.issue_clock is None:
            return
        known = self.clocks_of(operation.cta)
        done = operation.issue_clock[known][COMPLETED] if operation.completion == UNSIGNALLED else known.own_times
        engines = self._engines_of(known, operation, through)
        if engines is not None:
            done = self._advance_engine_times(known, operation, rows, engines)
            if operation.completion in (CP_ASYNC, TCGEN05):  # signalled by arrivals
                known.copy_engines.update(engines.tolist())
            if operation.tensor_use is not None and through is not None:
                operation.tensor_use.record_commit(int(engines[0]))
        issuer = -1 if engines is None or not len(operation.threads) else int(operation.threads[0])
        proxy = "tensor" if operation.completion == TCGEN05 else operation.proxy
        place = (operation.function, operation.pc, operation.cta)
        site = self._site_number((*place, strength_of(operation), f"{proxy} {operation.completion}", issuer))
        for event in self._accesses_of(operation, side, kind, rows):
            threads = event.index[event.rows]
            shadow = self._shadow(event.pool)
            note = shadow.record_read if kind == "read" else shadow.record_write
            times = done[threads]
            if engines is not None:
                threads = engines[threads // WARPGROUP_SIZE if len(engines) > 1 else numpy.zeros_like(threads)]
            note(event.units, threads + known.base, times, site)

    @staticmethod
    def _advance_engine_times(known: CtaClocks, operation: AsyncOperation, rows: Any, engines: Any) -> Any:
        """Return, by thread, the new time of its engine at which the operations that it issued are complete."""
        done = numpy.zeros(known.threads, numpy.int64)
        if operation.completion != CP_ASYNC:
            known.own_times[engines] += 1
            done[: known.cta.threads] = known.own_times[
                engines[known.cta.all_threads // WARPGROUP_SIZE if len(engines) > 1 else 0]
            ]
            return done
        assert operation.groups is not None
        engine, issuers = int(engines[0]), operation.threads[rows]
        done[issuers] = known.own_times[engine] + 1 + numpy.arange(len(issuers))  # each thread may wait for its own
        known.own_times[engine] += len(issuers)
        known.copy_waits.record_completion(engine, done[issuers], issuers, operation.groups[rows])
        return done

    @staticmethod
    def _engines_of(known: CtaClocks, operation: AsyncOperation, through: Mbarrier | None) -> Any:
        """Return the engines of an operation: one for all, one per warpgroup of the CTA, or None for its threads."""
        if operation.completion == WGMMA:
            return numpy.array(
                [known.engine_for((WGMMA, team)) for team in range(-(-known.cta.threads // WARPGROUP_SIZE))]
            )
        return None if through is None else numpy.array([known.engine_for(through)])

    def _accesses_of(self, operation: AsyncOperation, side: str, kind: str, rows: Any) -> Iterator[MemoryAccess]:
        """Yield what an operation reads or writes, as accesses of the threads that issued it."""
        place = (operation.function, operation.pc, operation.cta)
        strong = strength_of(operation)
        for transfer in operation.transfers:
            pool = transfer.buffer(side)
            if pool is None or pool.name not in FENCED_CLOCK_OF_SPACE or not rows.any():
                continue
            shadow = self._shadow(pool)
            units, threads = touched_units(transfer, side, rows, operation.threads, shadow)
            if len(units):
                places, size = units * shadow.unit, shadow.unit
                everyone = numpy.arange(len(units))
                value = incoming_values(transfer, rows, shadow) if kind == "write" else None
                yield MemoryAccess(
                    place, threads, kind, pool, units, everyone, strong, places, size, value, operation.proxy
                )


def strength_of(operation: AsyncOperation) -> int:
    """Return how far an operation is strong, as in `MemoryAccess.strong`."""
    return 1 + scope_level(None) if operation.is_combining else 0
