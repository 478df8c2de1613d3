"""Detection of races: two threads access the same bytes, at least one of them writes, and the accesses are unordered.

Bytes that an operation has accessed may be overwritten after a relaxed arrival: by the text of the ISA, such an arrival
orders nothing, but the operation is complete when its thread arrives. The strict policy follows the text.

Two strong accesses whose scopes include both threads do not race: threads synchronize through them. If such a read
observes such a write, that write (but not earlier accesses of its thread) is ordered before all that the read is
ordered before. A write of the value that another thread has written does not race either. Bytes that are written
through the generic proxy and read through the async proxy also need a proxy fence.

Source: PTX ISA, "Memory Consistency Model": "Conflict and Data-races", "Causality Order", "Morally Strong Operations",
"Async Proxy".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics import DiagnosticCode
from ptxkit.diagnostics.catalogue import ptx3xx, ptx4xx, ptx5xx, ptx6xx
from ptxkit.emulator.core.lane_set import WARPGROUP_SIZE
from ptxkit.emulator.races.access_findings import report_unordered
from ptxkit.emulator.races.access_history import AccessHistory, AccessSite, strength_of
from ptxkit.emulator.races.memory_access import MemoryAccess
from ptxkit.emulator.races.release_patterns import ReleasePatterns
from ptxkit.emulator.races.shadow_memory import FIRST_READ, LAST_READ, WRITE
from ptxkit.emulator.races.vector_clocks import COMPLETED, CtaClocks, required_scope_level
from ptxkit.emulator.sync.async_operation import CP_ASYNC, TCGEN05, UNSIGNALED, WGMMA, AsyncOperation
from ptxkit.emulator.threads.machine_observer import AccessEvent, MachineObserver

if TYPE_CHECKING:
    from ptxkit.emulator.sync.mbarrier import Mbarrier


def _violated_rule(now: str, before: int, completion: str) -> DiagnosticCode:
    """Returns the rule that an access violates which is not ordered after another.

    `completion` is the mechanism that signals the completion of the other access, if that is of an operation.
    """
    if not completion:
        return ptx6xx.SHARED_MEMORY_RACE
    if before == WRITE:
        return ptx3xx.READ_BEFORE_WAIT if now == "read" else ptx3xx.SOURCE_REUSED_IN_FLIGHT
    return ptx3xx.OPERANDS_REUSED if completion == WGMMA else ptx3xx.SOURCE_REUSED_IN_FLIGHT


class RaceDetector(MachineObserver):
    """Checks each access against the clocks of the last accesses to the same bytes, and records it.

    The observers of releases by strong writes and the checks of proxies must precede it.
    """

    def __init__(self, history: AccessHistory, releases: ReleasePatterns) -> None:
        self._history, self._releases = history, releases

    # ---------------------------------------------------------------------------------------- accesses of threads

    def on_access(self, event: AccessEvent) -> None:
        """Checks an access and records it."""
        history = self._history
        access = history.access_of(event)
        cluster, shadow = event.group.cta.cluster, access.shadow
        site = history.site_number(access.location, access.strength)
        self._check_last_accesses(access, WRITE)
        is_release = cluster.size > 1 and event.buffer is cluster.shared_buffer
        if is_release:
            self._check_cross_cta_order(access, WRITE)
        agents = access.threads + access.clocks.base
        if event.kind == "read":
            shadow.record_read(access.units, agents, access.times, site, strong=access.strength > 0)
            return
        self._check_last_accesses(access, LAST_READ)
        self._check_last_accesses(access, FIRST_READ)
        if is_release and history.strict:
            self._check_cross_cta_order(access, LAST_READ)
        lost = shadow.record_write(access.units, agents, access.times, site)
        if access.strength:
            self._releases.record_write(access)
        elif lost.any():
            self._check_same_instruction_writes(access, lost)

    # ------------------------------------------------------------------------------ accesses of asynchronous operations

    def on_issue(self, operation: AsyncOperation) -> None:
        """Checks the accesses of an operation that starts."""
        if not len(operation.threads):
            return
        cluster, strict = operation.cta.cluster, self._history.strict
        for access in self._history.issued_accesses(operation):
            self._check_last_accesses(access, WRITE)
            if access.kind == "write":
                self._check_last_accesses(access, LAST_READ)
                self._check_last_accesses(access, FIRST_READ)
            if strict and cluster.size > 1 and access.buffer is cluster.shared_buffer:
                for before in (WRITE, LAST_READ) if access.kind == "write" else (WRITE,):
                    self._check_cross_cta_order(access, before)

    def on_source_read(self, operation: AsyncOperation, rows: Any, through: Mbarrier | None) -> None:
        """Records the reads of rows of an operation."""
        self._record_accesses(operation, "source", "read", rows, through)

    def on_completion(self, operation: AsyncOperation, rows: Any, through: Mbarrier | None) -> None:
        """Records the writes of rows of an operation."""
        self._record_accesses(operation, "target", "write", rows, through)

    def _record_accesses(
        self, operation: AsyncOperation, side: str, kind: str, rows: Any, through: Mbarrier | None
    ) -> None:
        """Attributes the accesses of an operation to its threads if they wait for it, else to an engine."""
        if operation.issue_clock is None:
            return
        known = self._history.clocks_of(operation.cta)
        done = operation.issue_clock[known][COMPLETED] if operation.completion == UNSIGNALED else known.own_times
        engines = self._engines_of(known, operation, through)
        if engines is not None:
            done = self._advance_engine_times(known, operation, rows, engines)
            if operation.completion in (CP_ASYNC, TCGEN05):  # signaled by arrivals
                known.copy_engines.update(engines.tolist())
            if operation.tensor_use is not None and through is not None:
                operation.tensor_use.record_commit(int(engines[0]))
        issuer = -1 if engines is None or not len(operation.threads) else int(operation.threads[0])
        proxy = "tensor" if operation.completion == TCGEN05 else operation.proxy
        place = (operation.function, operation.pc, operation.cta)
        site = self._history.site_number(place, strength_of(operation), proxy, operation.completion, issuer)
        for access in self._history.accesses_of(operation, side, kind, rows, with_values=False):
            threads = access.threads
            record = access.shadow.record_read if kind == "read" else access.shadow.record_write
            times = done[threads]
            if engines is not None:
                threads = engines[threads // WARPGROUP_SIZE if len(engines) > 1 else numpy.zeros_like(threads)]
            record(access.units, threads + known.base, times, site)

    @staticmethod
    def _advance_engine_times(known: CtaClocks, operation: AsyncOperation, rows: Any, engines: Any) -> Any:
        """Returns, by thread, the new time of its engine at which the operations that it issued are complete."""
        done = numpy.zeros(known.threads, numpy.int64)
        if operation.completion != CP_ASYNC:
            known.own_times[engines] += 1
            done[: known.cta.threads] = known.own_times[
                engines[known.cta.all_threads // WARPGROUP_SIZE if len(engines) > 1 else 0]
            ]
            return done
        assert operation.groups is not None
        engine, issuers = int(engines[0]), operation.threads[rows]
        done[issuers] = known.own_times[engine] + 1 + numpy.arange(len(issuers))  # each may wait for its own
        known.own_times[engine] += len(issuers)
        known.copy_waits.record_completion(engine, done[issuers], issuers, operation.groups[rows])
        return done

    @staticmethod
    def _engines_of(known: CtaClocks, operation: AsyncOperation, through: Mbarrier | None) -> Any:
        """Returns the engines of an operation: one for all, one per warpgroup of the CTA, or None for its threads."""
        if operation.completion == WGMMA:
            return numpy.array(
                [known.engine_for((WGMMA, team)) for team in range(-(-known.cta.threads // WARPGROUP_SIZE))]
            )
        return None if through is None else numpy.array([known.engine_for(through)])

    # -------------------------------------------------------------------------------------------------- checking

    def _check_last_accesses(self, access: MemoryAccess, kind: int) -> None:
        """Checks that the last accesses of a kind are known to the current threads; for reads, also earlier ones."""
        shadow = access.shadow
        agents, times = shadow.last_accesses(kind, access.units)
        wrong = self._find_unordered(access, agents, times)
        if wrong.any():
            self._report_first_unordered(access, kind, wrong, agents, times, shadow.sites[kind][access.units])
        between = shadow.reads_between(access.units) if kind == LAST_READ else None
        if between is not None:
            at, agents, times, sites = between
            some = access.select(at)
            wrong = self._find_unordered(some, agents, times)
            if wrong.any():
                self._report_first_unordered(some, kind, wrong, agents, times, sites)

    def _find_unordered(self, access: MemoryAccess, agents: Any, times: Any) -> Any:
        """Returns, for each unit of an access, whether it is unordered with an agent's access at a time."""
        index, known = access.threads, access.clocks
        own = agents - known.base
        inside = (own >= 0) & (own < known.threads)
        if inside.all():
            return ~known.happens_before(index, known, own, times)
        wrong = agents != 0
        if wrong.any():
            wrong[inside] = ~known.happens_before(index[inside], known, own[inside], times[inside])
            for other, at in self._history.group_by_owner(agents, numpy.flatnonzero(wrong & ~inside)):
                wrong[at] = ~known.happens_before(index[at], other, agents[at] - other.base, times[at])
        return wrong

    def _report_first_unordered(
        self, access: MemoryAccess, kind: int, wrong: Any, agents: Any, times: Any, sites: Any
    ) -> None:
        """Reports the first unordered access, unless it is harmless."""
        for at in numpy.flatnonzero(wrong):
            site = self._history.site(int(sites[at]))
            if access.is_strong_with(site.strength, site.cta):
                if not self._history.strict or access.proxy == site.proxy:
                    continue
                rule = ptx4xx.MIXED_REDUCTIONS
            elif kind == WRITE and site.strength and self._is_ordered_by_observation(access, int(at), site):
                continue
            else:
                narrow = site.strength and access.strength and not site.completion
                rule = ptx6xx.ATOMIC_SCOPE_TOO_NARROW if narrow else _violated_rule(access.kind, kind, site.completion)
            row = int(access.rows[at])
            if kind == WRITE and access.kind == "write" and access.writes_same_value(row):
                continue
            owner = self._history.clocks_of(site.cta)
            agent, time = int(agents[at]) - owner.base, int(times[at])
            if site.completion and self._is_complete_here(access, row, owner, agent, time):
                continue
            if (
                rule == ptx6xx.SHARED_MEMORY_RACE
                and kind == WRITE
                and site.cta is not access.location[2]
                and self._is_before_relaxed_arrival(access, owner, agent)
            ):
                rule = ptx5xx.MBARRIER_WITHOUT_ORDERING
            report_unordered(access, row, kind, site, agent if site.issuer < 0 else site.issuer, rule)
            return

    def _is_ordered_by_observation(self, access: MemoryAccess, at: int, write: AccessSite) -> bool:
        """Returns whether a thread read the last write, both morally strong, and that read is known to the access.

        Observation orders this write before the events that follow such a read in base causality order, and no other
        event of the writer. `at` is the position of the unit among those of the access.
        """
        shadow, units = access.shadow, access.units[at : at + 1]
        known, index = access.clocks, access.threads[at : at + 1]
        reads = [(*shadow.last_accesses(kind, units), shadow.sites[kind][units]) for kind in (FIRST_READ, LAST_READ)]
        between = shadow.reads_between(units)
        if between is not None:
            reads.append(between[1:])
        for agent, time, site in zip(*(numpy.concatenate(each) for each in zip(*reads, strict=True)), strict=True):
            if not agent:
                continue
            read = self._history.site(int(site))
            owner = self._history.clocks_of(read.cta)
            if (
                min(write.strength, read.strength) > required_scope_level(write.cta, read.cta)
                and known.happens_before(index, owner, numpy.array([agent - owner.base]), numpy.array([time]))[0]
            ):
                return True
        return False

    def _is_complete_here(self, access: MemoryAccess, row: int, owner: CtaClocks, engine: int, time: int) -> bool:
        """Returns whether an access that an engine completed at a time is known to be complete without an acquire.

        The issuer of a copy with an mbarrier may have waited for it, too, and threads may follow that wait. A relaxed
        arrival orders nothing by the text of the ISA, which the strict policy follows.
        """
        found = owner.copy_waits.issuer_and_wait(engine, time)
        if found is not None:
            thread, waited = (numpy.array([each]) for each in found)
            if access.clocks.happens_before(access.index[row : row + 1], owner, thread, waited)[0]:
                return True
        return (
            access.kind == "write"
            and not self._history.strict
            and self._is_before_relaxed_arrival(access, owner, engine, time)
        )

    @staticmethod
    def _is_before_relaxed_arrival(access: MemoryAccess, owner: CtaClocks, agent: int, time: int = 1) -> bool:
        """Returns whether a relaxed arrival followed an access of a thread or an operation at a time."""
        held = access.clocks.relaxed_vector.get(owner)
        return held is not None and bool(held[COMPLETED, agent] >= time)

    @staticmethod
    def _check_same_instruction_writes(access: MemoryAccess, lost: Any) -> None:
        """Checks for threads that write different values to the same bytes in one instruction."""
        for at in numpy.flatnonzero(lost):
            row = int(access.rows[at])
            winner, _ = access.shadow.last_accesses(WRITE, access.units[at : at + 1])
            thread = int(winner[0]) - access.clocks.base
            others = numpy.flatnonzero(access.index == thread)
            if len(others) and not access.writes_equal_values(row, int(others[0])):
                report_unordered(access, row, WRITE, AccessSite(*access.location, 0), thread)
                return

    def _check_cross_cta_order(self, access: MemoryAccess, kind: int) -> None:
        """Checks that accesses of another CTA are known by operations whose scopes include both CTAs."""
        shadow = access.shadow
        agents, times = shadow.last_accesses(kind, access.units)
        wrong = self._find_out_of_scope(access, agents, times)
        for at in numpy.flatnonzero(wrong):
            site = self._history.site(int(shadow.sites[kind][access.units][at]))
            if access.is_strong_with(site.strength, site.cta) or (site.completion and not self._history.strict):
                continue
            thread = self._history.thread_at(site, int(agents[at]))
            report_unordered(access, int(access.rows[at]), kind, site, thread, ptx5xx.MBARRIER_WITHOUT_ORDERING)
            return

    def _find_out_of_scope(self, access: MemoryAccess, agents: Any, times: Any) -> Any:
        """Returns which accesses of other CTAs are known only by operations whose scopes do not include them."""
        known, index = access.clocks, access.threads
        wrong = numpy.zeros(len(agents), bool)
        own = agents - known.base
        outside = numpy.flatnonzero((agents != 0) & ((own < 0) | (own >= known.threads)))
        for other, at in self._history.group_by_owner(agents, outside):
            wrong[at] = known.is_out_of_scope(index[at], other, agents[at] - other.base, times[at])
        return wrong
