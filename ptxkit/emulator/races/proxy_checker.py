"""Checks for missing fences between accesses to the same bytes through the generic and the async proxy.

A read through the async proxy of bytes written through the generic proxy is an error without a fence. The strict policy
requires a fence whenever bytes are accessed through both proxies; between CTAs, in the CTA of the later operation.

Source: PTX ISA, "Async Proxy", "Causality Order", "membar / fence".
"""

from __future__ import annotations

import numpy

from ptxkit.diagnostics import DiagnosticCode, Severity
from ptxkit.diagnostics.catalogue import ptx4xx
from ptxkit.emulator.races.access_findings import report_conflict
from ptxkit.emulator.races.access_history import FENCED_CLOCK_OF_SPACE, AccessHistory
from ptxkit.emulator.races.memory_access import MemoryAccess
from ptxkit.emulator.races.shadow_memory import FIRST_READ, LAST_READ, WRITE
from ptxkit.emulator.races.vector_clocks import (
    AFTER_WAIT,
    FENCED_HERE_SHARED,
    FENCED_SHARED,
    IMPLICITLY_FENCED,
    IN_SCOPE,
)
from ptxkit.emulator.sync.async_operation import AsyncOperation
from ptxkit.emulator.threads.machine_observer import AccessEvent, MachineObserver

_VERBS = ("writes", "reads", "reads")


class ProxyChecker(MachineObserver):
    """Checks asynchronous operations against earlier accesses through another proxy that are ordered before them."""

    def __init__(self, history: AccessHistory) -> None:
        self._history = history

    def on_issue(self, operation: AsyncOperation) -> None:
        """Checks the accesses of an operation of the async proxy that starts."""
        if operation.proxy == "async" and len(operation.threads):
            for access in self._history.issued_accesses(operation):
                self._check_access(access)

    def _check_access(self, access: MemoryAccess) -> None:
        """Checks accesses of an operation after those through the generic proxy."""
        if access.kind == "read":
            check_fence(self._history, access, WRITE, "generic", ptx4xx.MISSING_PROXY_FENCE)
        elif self._history.strict:
            for kind in (WRITE, LAST_READ, FIRST_READ):
                check_fence(self._history, access, kind, "generic", ptx4xx.REFILL_WITHOUT_PROXY_FENCE)
        if self._history.strict and access.buffer.name == "shared" and access.clocks.cta.cluster.size > 1:
            for kind in (WRITE, LAST_READ, FIRST_READ) if access.kind == "write" else (WRITE,):
                self._check_remote_crossing(access, kind)

    def _check_remote_crossing(self, access: MemoryAccess, kind: int) -> None:
        """Checks accesses after operations of another CTA: this CTA needs a fence, or a wait that may act as one."""
        known, sites = access.clocks, access.shadow.sites[kind][access.units]
        agents, times = access.shadow.last_accesses(kind, access.units)
        for other, at in self._history.group_by_owner(agents, numpy.flatnonzero(agents)):
            if other is known:
                continue
            index, threads = access.threads[at], agents[at] - other.base
            late = known.happens_before(index, other, threads, times[at], IN_SCOPE)  # else unordered
            for clock_kind in (FENCED_HERE_SHARED, AFTER_WAIT):
                late &= ~known.happens_before(index, other, threads, times[at], clock_kind)
            for missing in at[late]:
                site = self._history.site(int(sites[missing]))
                if site.proxy == "async":
                    content = ptx4xx.NO_FENCE_IN_THIS_CTA(access=f"{access.kind}s", earlier=_VERBS[kind])
                    thread, row = self._history.thread_at(site, int(agents[missing])), int(access.rows[missing])
                    report_conflict(content, access, row, kind, site, thread, Severity.WARNING)
                    return


class OperandStoreChecker(MachineObserver):
    """Checks stores after operations whose completion is not a proxy fence, which only the strict policy requires.

    It must receive an access before the race detector, which records it.
    """

    def __init__(self, history: AccessHistory) -> None:
        self._history = history

    def on_access(self, event: AccessEvent) -> None:
        """Checks a store."""
        if event.kind != "read":
            access = self._history.access_of(event)
            for kind in (LAST_READ, FIRST_READ):
                check_fence(self._history, access, kind, "tensor", ptx4xx.OPERAND_OVERWRITE_WITHOUT_FENCE)


def check_fence(history: AccessHistory, access: MemoryAccess, kind: int, proxy: str, rule: DiagnosticCode) -> None:
    """Checks that accesses through a proxy are fenced toward another, for threads that follow their completion."""
    clock_kind = FENCED_CLOCK_OF_SPACE.get(access.buffer.name)
    if clock_kind is None:
        return
    known, sites = access.clocks, access.shadow.sites[kind][access.units]
    agents, times = access.shadow.last_accesses(kind, access.units)
    for other, at in history.group_by_owner(agents, numpy.flatnonzero(agents)):
        index, threads = access.threads[at], agents[at] - other.base
        done = known.happens_before(index, other, threads, times[at])
        fenced = known.happens_before(index, other, threads, times[at], clock_kind)
        unfenced = done & ~fenced
        if known.clock_kinds > IMPLICITLY_FENCED and rule == ptx4xx.REFILL_WITHOUT_PROXY_FENCE and unfenced.any():
            unfenced &= ~known.happens_before(index, other, threads, times[at], IMPLICITLY_FENCED)
        severity = None
        if not unfenced.any() and history.strict and other is not known and known.clock_kinds > FENCED_HERE_SHARED:
            near = clock_kind + FENCED_HERE_SHARED - FENCED_SHARED
            unfenced = done & ~known.happens_before(index, other, threads, times[at], near)
            severity = Severity.WARNING
        for missing in at[unfenced]:
            site = history.site(int(sites[missing]))
            if site.proxy != proxy:
                continue
            if rule == ptx4xx.MISSING_PROXY_FENCE and other is not known:
                rule = ptx4xx.MISSING_REMOTE_PROXY_FENCE
            if rule == ptx4xx.REFILL_WITHOUT_PROXY_FENCE and site.strength and access.strength:
                rule = ptx4xx.MIXED_REDUCTIONS
            proxies = ("the generic", "the async") if proxy == "tensor" else ("the async", "the generic")
            content = ptx4xx.NO_PROXY_FENCE_BETWEEN(
                access=f"{access.kind}s", proxy=proxies[0], earlier=_VERBS[kind], earlier_proxy=proxies[1]
            )
            thread, row = history.thread_at(site, int(agents[missing])), int(access.rows[missing])
            report_conflict(content.under(rule), access, row, kind, site, thread, severity)
            return
