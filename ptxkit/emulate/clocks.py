"""What orders accesses, watched: barriers, mbarriers, fences, release and acquire, and asynchronous operations.

Source: PTX ISA, "Memory Consistency Model": "Causality Order", "Release and Acquire Patterns", "Asynchronous
Operations".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulate.collectives import WARPGROUP
from ptxkit.emulate.faults import Fault
from ptxkit.emulate.flying_bytes import coming, touched
from ptxkit.emulate.grid_reads import GridReads
from ptxkit.emulate.knowledge import (
    DONE,
    FENCED_GLOBAL,
    FENCED_SHARED,
    IMPLIED,
    RELEASED,
    Knowledge,
    join,
    level_of,
)
from ptxkit.emulate.map_fences import MapFences
from ptxkit.emulate.messages import Messages
from ptxkit.emulate.operations import BULK, CP_ASYNC, FREE, TCGEN05, WGMMA, Arrival, Operation
from ptxkit.emulate.phase_clocks import ACQUIRES
from ptxkit.emulate.polls import Polls
from ptxkit.emulate.proxies import Proxies
from ptxkit.emulate.races import ASPECTS, Event
from ptxkit.emulate.shadow import FIRST_READ, LAST_READ, WRITE, Shadow
from ptxkit.emulate.tensor.tensor_memory import of_cta
from ptxkit.emulate.tensor_order import TensorOrder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxkit.emulate.barriers import Phase
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.groups import Group
    from ptxkit.emulate.machine import Cluster
    from ptxkit.emulate.mbarriers import Mbarrier
    from ptxkit.emulate.memory import Pool


class Clocks(Proxies):
    """Holds each access against those before it, and against the asynchronous operations that are in flight."""

    watches = True

    def __init__(self, *, strict: bool = False) -> None:
        super().__init__(strict=strict)
        self._maps = MapFences(self)
        self.tensor = TensorOrder(self)
        self._grid = GridReads(self)
        self._polls = Polls()
        self._messages = Messages()

    # ----------------------------------------------------------------------------------------------- accesses

    def accessed(  # noqa: PLR0913, PLR0917 (all that an access is)
        self,
        group: Group,
        kind: str,
        pool: Pool,
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
        machine.asynchrony.flight.accessed(group, kind, pool, places, size)
        known = self.knowledge(group.cta)
        index = group.lanes.index
        times = known.own[index]  # before a release ends the present time: the access is a part of what it tells
        strong = 0 if order == "weak" else 1 + level_of(scope)
        if self.strict and kind == "read" and pool.name == "global" and not strong:
            self._grid.read(group, pool, places, size)
        shadow = self._shadow(pool)
        if strong:
            self._messages.speak(known, index, shadow, pool, places, kind, order, level_of(scope))
            if self.strict and kind != "write" and pool.name == "global":
                self._polls.read(group, pool, places, level_of(scope), acquires=order in ACQUIRES)
        if pool is group.cta.cluster.pool and group.cta.cluster.size > 1:
            self._reach(group, known, kind, places, size)
        units, rows = shadow.units(places, size)
        agents = index + known.base
        site = self._site((group.activation.code, group.pc, group.cta, strong, "generic", -1))
        place = (group.activation.code, group.pc, group.cta)
        event = Event(place, index, kind, pool, units, rows, strong, places, size, value)
        self._check(event, WRITE, known)
        hands_over = pool is group.cta.cluster.pool and group.cta.cluster.size > 1
        if hands_over:
            self._check_handover(event, WRITE, known)
        if kind == "read":
            shadow.note_read(units, agents[rows], times[rows], site, strong=strong > 0)
            return
        self._check(event, LAST_READ, known)
        self._check(event, FIRST_READ, known)
        if self.strict:
            self._check_store(event, known)
            if hands_over:
                self._check_handover(event, LAST_READ, known)
        lost = shadow.note_write(units, agents[rows], times[rows], site)
        if strong:
            self._messages.entered(shadow, pool, places)
        elif lost.any():
            self._check_together(event, lost)

    def grid_waits(self, group: Group) -> None:
        """Threads wait for the grids that this one depends on."""
        self._grid.waits(group)

    def fenced(self, group: Group, order: str, scope: str) -> None:  # noqa: ARG002 (each is taken for one of both ways)
        """Threads execute a fence."""
        self.knowledge(group.cta).fence(group.lanes.index, level_of(scope))
        self._polls.fence(group, level_of(scope))

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
            cta.together.share()

    def passes_barrier(self, group: Group, phase: Phase) -> None:
        """Threads go on behind a barrier."""
        group.cta.together.met[group.lanes.index] = True
        if phase.known is not None:
            self.knowledge(group.cta).learn(group.lanes.index, phase.known)

    def warp_synchronises(self, group: Group, masks: Any) -> None:
        """Lanes of a warp that one mask names wait for each other, and know all that the others did.

        Tiles of a warp meet at one instruction, each by a mask of its own.
        """
        known, index = self.knowledge(group.cta), group.lanes.index
        for warp in numpy.unique(index >> 5):
            own = index >> 5 == warp
            for mask in numpy.unique(masks[own]).tolist():
                named = numpy.array([warp * 32 + lane for lane in range(32) if mask >> lane & 1], numpy.int64)
                named = named[named < known.cta.threads]
                known.learn(index[own & (masks == mask)], known.tell(named))

    def cluster_arrives(self, group: Group, phase: Any, order: str) -> None:
        """Threads come to the barrier of their cluster. order: release, or relaxed, which tells what a fence did."""
        known, index = self.knowledge(group.cta), group.lanes.index
        self._tell_into(phase.known, known, index, order)

    def passes_cluster_barrier(self, group: Group, phase: Any) -> None:
        """Threads go on behind the barrier of their cluster."""
        known = self.knowledge(group.cta)
        group.cta.together.met[group.lanes.index] = True
        known.has_met = True
        known.learn(group.lanes.index, phase.known)

    # ----------------------------------------------------------------------------------------------- clusters

    def _reach(self, group: Group, known: Knowledge, kind: str, places: Any, size: int) -> None:
        """Accesses to the memory of other CTAs: these must be known to have begun, and must not have ended."""
        cluster = group.cta.cluster
        ranks = places // cluster.stride
        for rank in numpy.unique(ranks[ranks != group.cta.rank]).tolist():
            other = cluster.ctas[rank]
            index = group.lanes.index[ranks == rank]
            words = {"space": "shared", "start": int(places[ranks == rank][0]) % cluster.stride, "size": size}
            if not other.alive.any():
                message = f"a {kind} of the shared memory of CTA {other.ctaid}, which has ended"
                self._note(Fault("PTX612", message, index, **words), group)
            elif not known.has_heard(index, self.knowledge(other)):
                message = f"a {kind} of the shared memory of CTA {other.ctaid}, which may not have begun"
                self._note(Fault("PTX611", message, index, **words), group)

    def _note(self, fault: Fault, group: Group) -> None:
        fault.place, fault.cta = (group.activation.code, group.pc), group.cta
        assert self.machine is not None
        self.machine.note(fault)

    def cta_ends(self, cta: Cta) -> None:
        """All threads of a CTA have ended: what others did to its shared memory must be known to them."""
        cta.together.end()
        cluster = cta.cluster
        if cluster.size == 1 or cluster.pool.shadow is None:
            return
        shadow, stride = self._shadow(cluster.pool), cluster.stride
        units = numpy.arange(cta.rank * stride // shadow.unit, (cta.rank + 1) * stride // shadow.unit)
        everything = self.knowledge(cta).everything()
        for kind in (WRITE, FIRST_READ, LAST_READ):
            agents, times = shadow.last(kind, units)
            used = numpy.flatnonzero(agents)
            owners = numpy.searchsorted(self._bases, agents[used], side="right") - 1
            for number in numpy.unique(owners):
                other = self._owners[number]
                if other.cta is cta:
                    continue
                at = used[owners == number]
                threads = agents[at] - other.base
                held = everything.get(other)
                late = at if held is None else at[held[DONE, threads] < times[at]]
                if len(late):
                    self._ends_too_early(cta, shadow, kind, int(units[late[0]]), int(agents[late[0]]) - other.base)
                    return

    def cluster_ends(self, cluster: Cluster) -> None:
        """All CTAs of a cluster have ended: they have given back the Tensor Memory that they took."""
        assert self.tensor is not None
        for cta in cluster.ctas:
            memory, peer = of_cta(cta), of_cta(cluster.ctas[cta.rank ^ 1]) if cluster.size > cta.rank ^ 1 else None
            for first, count in memory.taken.items():
                half = first in memory.paired and peer is not None and not peer.taken
                self.tensor.is_lost(cta, first, count, half=half)
        for cta in cluster.ctas:
            self.tensor.ends(cta)

    def _ends_too_early(self, cta: Cta, shadow: Shadow, kind: int, unit: int, thread: int) -> None:
        code, pc, by, _, _, issuer = self._places[int(shadow.sites[kind][unit])]
        verb = "writes" if kind == WRITE else "reads"
        start = unit * shadow.unit % cta.cluster.stride
        fault = Fault(
            "PTX612",
            f"{verb} the shared memory of CTA {cta.ctaid}, which ends without knowing that this is done",
            numpy.array([thread if issuer < 0 else issuer]),
            space="shared",
            start=start,
            size=shadow.unit,
        )
        fault.place, fault.cta = (code, pc), by
        assert self.machine is not None
        self.machine.note(fault)

    def waited(self, group: Group, kind: str, limits: Any, *, reads_only: bool) -> None:
        """Threads have waited for their groups of a kind whose numbers are below the limit of each thread."""
        super().waited(group, kind, limits, reads_only=reads_only)
        if kind == WGMMA:
            self._learn_of_teams(group)
        if self.strict and kind in (BULK, WGMMA):
            self.knowledge(group.cta).fence_proxy(group.lanes.index, [IMPLIED])
            self.knowledge(group.cta).wait(group.lanes.index)
        if not reads_only:
            known, index = self.knowledge(group.cta), group.lanes.index
            if kind == CP_ASYNC:
                known.copy_waits.waited(index, limits[index], known.own[index])
            before = group.cta.complete.get(kind)
            group.cta.complete[kind] = numpy.maximum(limits, 0 if before is None else before)

    def _learn_of_teams(self, group: Group) -> None:
        """Threads know what the multiplications of their warpgroups have read, whichever warp's part it was."""
        known, index = self.knowledge(group.cta), group.lanes.index
        for team in numpy.unique(index // WARPGROUP).tolist():
            known.learn(index[index // WARPGROUP == team], known.told_by(known.engine((WGMMA, team))))

    # ----------------------------------------------------------------------------------------- asynchronous

    def proxy_fenced(
        self,
        group: Group,
        proxy: str,
        space: str | None,
        direction: str,
        scope: str | None,
        address: Any = None,
    ) -> None:
        """Threads execute a fence between the generic proxy and another.

        It acquires or releases, too, so that what stands between two of them may be relaxed.
        """
        if direction == "acquire" and scope is not None:
            self.fenced(group, direction, scope)
        if proxy == "tensormap":
            self._maps.fence(group, direction, address)
        if proxy == "async":
            shared, beyond = space is None or space.startswith("shared"), space is None or space == "global"
            aspects = [FENCED_SHARED] * shared + [FENCED_GLOBAL] * beyond
            if beyond:
                self._polls.fence_proxy(group)
            known = self.knowledge(group.cta)
            if direction == "release" and known.aspects > RELEASED:
                known.fence_proxy(group.lanes.index, [RELEASED])
            elif direction == "acquire" and known.aspects > RELEASED:
                known.acquire_proxy(group.lanes.index, aspects)
            else:
                known.fence_proxy(group.lanes.index, aspects)
        if direction == "release" and scope is not None:
            self.fenced(group, direction, scope)

    def uses_map(self, group: Group, thread: int, pool: Pool, place: int) -> None:
        """A thread copies by the tensor map at a place of a pool."""
        if pool.shadow is not None:
            self._maps.use(group, thread, pool, place)

    def issued(self, operation: Operation) -> None:
        """An asynchronous operation begins: behind what its threads did before, as they know it."""
        threads = numpy.unique(operation.threads)
        if not len(threads):
            return
        known = self.knowledge(operation.cta)
        self._polls.issued(operation)
        rows = numpy.ones(len(operation.threads), bool)
        for side, kind in (("source", "read"), ("target", "write")):
            for event in self._events(operation, side, kind, rows):
                self._check(event, WRITE, known)
                if kind == "write":
                    self._check(event, LAST_READ, known)
                    self._check(event, FIRST_READ, known)
                if operation.proxy == "async":
                    self._check_proxy(event, known)
                if self.strict and operation.cta.cluster.size > 1 and event.pool is operation.cta.cluster.pool:
                    for before in (WRITE, LAST_READ) if kind == "write" else (WRITE,):
                        self._check_handover(event, before, known)
        operation.known = known.tell(threads)

    def arrives_later(self, arrival: Arrival) -> None:
        """Threads will arrive at an mbarrier when their copies so far are complete."""
        arrival.known = self.knowledge(arrival.cta).tell(arrival.threads)

    def has_read(self, operation: Operation, rows: Any, through: Mbarrier | None) -> None:
        """Rows of an operation have read their sources, and somebody will know."""
        self._enter(operation, "source", "read", rows, through)

    def completed(self, operation: Operation, rows: Any, through: Mbarrier | None) -> None:
        """Rows of an operation are complete, and somebody will know."""
        self._enter(operation, "target", "write", rows, through)

    def _enter(self, operation: Operation, side: str, kind: str, rows: Any, through: Mbarrier | None) -> None:
        """What an operation did counts as its threads' doing when they wait for it, else as that of an engine."""
        if operation.known is None:
            return
        known = self.knowledge(operation.cta)
        done = operation.known[known][DONE] if operation.completion == FREE else known.own
        engines = self._engines(known, operation, through)
        if engines is not None:
            done = self._engines_times(known, operation, rows, engines)
            if operation.completion in (CP_ASYNC, TCGEN05):  # told of by arrivals
                known.copying.update(engines.tolist())
            if operation.tensor is not None and through is not None:
                operation.tensor.completed(int(engines[0]))
        issuer = -1 if engines is None or not len(operation.threads) else int(operation.threads[0])
        proxy = "tensor" if operation.completion == TCGEN05 else operation.proxy
        place = (operation.code, operation.pc, operation.cta)
        site = self._site((*place, strength(operation), f"{proxy} {operation.completion}", issuer))
        for event in self._events(operation, side, kind, rows):
            threads = event.index[event.rows]
            shadow = self._shadow(event.pool)
            note = shadow.note_read if kind == "read" else shadow.note_write
            times = done[threads]
            if engines is not None:
                threads = engines[threads // WARPGROUP if len(engines) > 1 else numpy.zeros_like(threads)]
            note(event.units, threads + known.base, times, site)

    @staticmethod
    def _engines_times(known: Knowledge, operation: Operation, rows: Any, engines: Any) -> Any:
        """By thread, the new time of its engine at which what it issued is complete."""
        done = numpy.zeros(known.threads, numpy.int64)
        if operation.completion != CP_ASYNC:
            known.own[engines] += 1
            done[: known.cta.threads] = known.own[engines[known.cta.everyone // WARPGROUP if len(engines) > 1 else 0]]
            return done
        assert operation.groups is not None
        engine, issuers = int(engines[0]), operation.threads[rows]
        done[issuers] = known.own[engine] + 1 + numpy.arange(len(issuers))  # each thread may wait for its own
        known.own[engine] += len(issuers)
        known.copy_waits.completed(engine, done[issuers], issuers, operation.groups[rows])
        return done

    @staticmethod
    def _engines(known: Knowledge, operation: Operation, through: Mbarrier | None) -> Any:
        """What carries an operation out: one for all, one for each warpgroup of the CTA, or None for its threads."""
        if operation.completion == WGMMA:
            return numpy.array([known.engine((WGMMA, team)) for team in range(-(-known.cta.threads // WARPGROUP))])
        return None if through is None else numpy.array([known.engine(through)])

    def _events(self, operation: Operation, side: str, kind: str, rows: Any) -> Iterator[Event]:
        """What an operation reads or writes, as accesses of the threads that issued it."""
        place = (operation.code, operation.pc, operation.cta)
        strong = strength(operation)
        for transfer in operation.transfers:
            pool = transfer.pool(side)
            if pool is None or pool.name not in ASPECTS or not rows.any():
                continue
            shadow = self._shadow(pool)
            units, threads = touched(transfer, side, rows, operation.threads, shadow)
            if len(units):
                places, size = units * shadow.unit, shadow.unit
                everyone = numpy.arange(len(units))
                value = coming(transfer, rows, shadow) if kind == "write" else None
                yield Event(place, threads, kind, pool, units, everyone, strong, places, size, value, operation.proxy)


def strength(operation: Operation) -> int:
    """How far an operation is strong, as `Event.strong` has it."""
    return 1 + level_of(None) if operation.is_combining else 0
