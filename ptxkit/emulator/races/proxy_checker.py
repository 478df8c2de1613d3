"""Accesses through the generic and the async proxy to the same bytes: where a fence between them is required.

A read through the async proxy of bytes written through the generic proxy is an error without a fence. The strict policy
requires a fence wherever bytes change between the proxies; between CTAs, in the CTA of the later operation.

Source: PTX ISA, "Async Proxy", "Causality Order", "membar, fence".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.emulator.races.mbarrier_clocks import MbarrierClocks
from ptxkit.emulator.races.race_detector import FENCED_CLOCK_OF_SPACE, MemoryAccess
from ptxkit.emulator.races.shadow_memory import FIRST_READ, LAST_READ, WRITE
from ptxkit.emulator.races.vector_clocks import (
    AFTER_WAIT,
    FENCED_HERE_SHARED,
    FENCED_SHARED,
    IMPLICITLY_FENCED,
    IN_SCOPE,
    CtaClocks,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_VERBS = ("writes", "reads", "reads")
_MISSING_FENCE = "`fence.proxy.async` behind the one and before the hand-over, or before the other"


_MISSING_LOCAL_FENCE = "`fence.proxy.async` in this CTA, behind what hands over"


class ProxyChecker(MbarrierClocks):
    """Checks accesses against earlier ones through another proxy that are ordered before them."""

    def _check_proxy(self, event: MemoryAccess, known: CtaClocks) -> None:
        """Check accesses of an operation after those through the generic proxy."""
        if event.kind == "read":
            self._check_fence(event, known, WRITE, "generic", "PTX401")
        elif self.strict:
            for kind in (WRITE, LAST_READ, FIRST_READ):
                self._check_fence(event, known, kind, "generic", "PTX402")
        if self.strict and event.pool.name == "shared" and known.cta.cluster.size > 1:
            for kind in (WRITE, LAST_READ, FIRST_READ) if event.kind == "write" else (WRITE,):
                self._check_remote_crossing(event, known, kind)

    def _check_remote_crossing(self, event: MemoryAccess, known: CtaClocks, kind: int) -> None:
        """Check accesses after operations of another CTA: this CTA needs a fence, or a wait that may act as one."""
        shadow = self._shadow(event.pool)
        agents, times = shadow.last_accesses(kind, event.units)
        for other, at in self._group_by_owner(agents):
            if other is known:
                continue
            index, threads = event.index[event.rows[at]], agents[at] - other.base
            late = known.happens_before(index, other, threads, times[at], IN_SCOPE)  # otherwise it is not even ordered
            for aspect in (FENCED_HERE_SHARED, AFTER_WAIT):
                late &= ~known.happens_before(index, other, threads, times[at], aspect)
            for missing in at[late]:
                code, pc, cta, _, through, issuer = self._site_keys[int(shadow.sites[kind][event.units][missing])]
                if through.partition(" ")[0] == "async":
                    verb = f"{event.kind}s through the async proxy"
                    words = (
                        verb,
                        f"{_VERBS[kind]} through it for another CTA",
                        "{}: no fence is between",
                        _MISSING_LOCAL_FENCE,
                    )
                    thread = int(agents[missing]) - other.base if issuer < 0 else issuer
                    self._add_violation(
                        "PTX404", event, int(event.rows[missing]), kind, (code, pc, cta), thread, words, "warning"
                    )
                    return

    def _check_store(self, event: MemoryAccess, known: CtaClocks) -> None:
        """Check stores after operations whose completion is not a proxy fence."""
        for kind in (LAST_READ, FIRST_READ):
            self._check_fence(event, known, kind, "tensor", "PTX405")

    def _check_fence(self, event: MemoryAccess, known: CtaClocks, kind: int, proxy: str, rule: str) -> None:
        """Check that accesses through a proxy are fenced towards another, for threads that know of their completion."""
        aspect = FENCED_CLOCK_OF_SPACE.get(event.pool.name)
        if aspect is None:
            return
        shadow = self._shadow(event.pool)
        agents, times = shadow.last_accesses(kind, event.units)
        sites = shadow.sites[kind][event.units]
        for other, at in self._group_by_owner(agents):
            index, threads = event.index[event.rows[at]], agents[at] - other.base
            done = known.happens_before(index, other, threads, times[at])
            fenced = known.happens_before(index, other, threads, times[at], aspect)
            unfenced = done & ~fenced
            if known.clock_kinds > IMPLICITLY_FENCED and rule == "PTX402" and unfenced.any():
                unfenced &= ~known.happens_before(index, other, threads, times[at], IMPLICITLY_FENCED)
            severity = "error"
            if not unfenced.any() and self.strict and other is not known and known.clock_kinds > FENCED_HERE_SHARED:
                near = aspect + FENCED_HERE_SHARED - FENCED_SHARED
                unfenced = done & ~known.happens_before(index, other, threads, times[at], near)
                severity = "warning"
            for missing in at[unfenced]:
                code, pc, cta, was_strong, through, issuer = self._site_keys[int(sites[missing])]
                if through.partition(" ")[0] == proxy:
                    which = "PTX404" if rule == "PTX401" and other is not known else rule
                    which = "PTX407" if rule == "PTX402" and was_strong and event.strength else which
                    here, there = ("the generic", "the async") if proxy == "tensor" else ("the async", "the generic")
                    verb = f"{event.kind}s through {here} proxy"
                    words = (verb, f"{_VERBS[kind]} through {there} one", "{}: no fence is between", _MISSING_FENCE)
                    thread = int(agents[missing]) - other.base if issuer < 0 else issuer
                    row = int(event.rows[missing])
                    self._add_violation(which, event, row, kind, (code, pc, cta), thread, words, severity)
                    return

    def _group_by_owner(self, agents: Any) -> Iterator[tuple[CtaClocks, Any]]:
        """Yield the positions of agents by CTA."""
        there = numpy.flatnonzero(agents)
        owners = numpy.searchsorted(self._owner_bases, agents[there], side="right") - 1
        for number in numpy.unique(owners):
            yield self._clock_owners[number], there[owners == number]
