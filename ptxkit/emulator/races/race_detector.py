"""Detection of races: two threads access the same bytes, at least one of them writes, and nothing orders the two.

Bytes that an operation has read or written may be overwritten after a relaxed arrival: by the text of the ISA, such an
arrival orders nothing, but the operation is complete when its thread arrives. The strict policy follows the text.

Two strong accesses whose scopes include both threads are no race: threads synchronize through them. Where such a read
observes such a write, that write (but not earlier accesses of its thread) is ordered before all that the read is
ordered before. A write of the value that another thread has written is no race either. Bytes that are written through
the generic proxy and read through the async proxy also need a proxy fence.

Source: PTX ISA, "Memory Consistency Model": "Conflict and Data-Races", "Causality Order", "Morally Strong Operations",
"Async Proxy".
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

from ptxkit.emulator.core.findings import Violation, Witness
from ptxkit.emulator.races.memory_observer import MemoryObserver
from ptxkit.emulator.races.shadow_memory import FIRST_READ, LAST_READ, WRITE, ShadowMemory
from ptxkit.emulator.races.vector_clocks import (
    COMPLETED,
    FENCED_GLOBAL,
    FENCED_SHARED,
    CtaClocks,
    clock_kind_count,
    required_scope_level,
)
from ptxkit.emulator.sync.async_operation import WGMMA
from ptxkit.isa import table
from ptxkit.isa.effects import ProxyFence

if TYPE_CHECKING:
    from ptxkit.emulator.engine.cta import Cta
    from ptxkit.emulator.engine.executable import DecodedFunction
    from ptxkit.emulator.state.memory import ByteBuffer

FENCED_CLOCK_OF_SPACE = {"shared": FENCED_SHARED, "global": FENCED_GLOBAL}
_ACCESS_KINDS = ("write", "read", "read")
_MISSING_ORDERING = {
    "PTX621": (
        "nothing orders the two",
        "a barrier, or a release by one thread and an acquire by the other, between the two",
    ),
    "PTX622": (
        "the scope of one of them does not hold both threads",
        "a scope that holds all who use it: `.cluster`, or `.gpu`",
    ),
    "PTX302": (
        "nothing tells this thread that it is complete",
        "a wait by the thread that issued it, and a barrier behind that",
    ),
    "PTX303": (
        "nothing tells this thread that it is complete",
        "a wait by the thread that issued it, and a barrier behind that",
    ),
    "PTX314": (
        "nothing tells this thread that the multiplication has read it",
        "`wgmma.wait_group`, and a hand-over behind it",
    ),
    "PTX506": (
        "the mbarrier that hands it over does not order the two",
        "`.release.cluster` on the arrival and `.acquire.cluster` on the wait",
    ),
    "PTX407": (
        "atomics through different proxies are not atomic to each other",
        "a barrier, or one proxy for all updates",
    ),
}
"""For each rule, why an access is wrong and what is missing."""

_STRICT_ONLY_RULES = frozenset({"PTX402", "PTX405", "PTX407"})
"""Rules that only the strict policy checks: their findings are warnings."""

AccessSite: TypeAlias = "tuple[DecodedFunction, int, Cta, int, str, int]"
"""The site of an access, how far it is strong, its proxy, and the issuing thread where an engine performed it.

The proxy is `tensor` where the completion of an operation is not a proxy fence; for an operation, it is followed by
what signals its completion."""


def _violated_rule(now: str, before: int, completion: str) -> str:
    """Return the rule that an access breaks which is not ordered after another. completion: if that is an
    operation's.
    """
    if not completion:
        return "PTX621"
    if before == WRITE:
        return "PTX302" if now == "read" else "PTX303"
    return "PTX314" if completion == WGMMA else "PTX303"


@lru_cache(maxsize=4096)
def is_one_way(opcode: str) -> bool:
    """Return whether an instruction is a fence that orders the generic and the async proxy in one direction."""
    effects = (each for match in table().candidates(opcode) for each in match.effects)
    return any(isinstance(e, ProxyFence) and e.proxy == "async" and e.direction != "both" for e in effects)


class RaceDetector(MemoryObserver):
    """Keeps the last accesses of each unit of memory, and checks new ones by what their threads know."""

    def __init__(self, *, strict: bool = False) -> None:
        super().__init__()
        self.strict = strict
        self._clock_kinds = 0
        self._clocks_of_cta: dict[Cta, CtaClocks] = {}
        self._clock_owners: list[CtaClocks] = []
        self._owner_bases: list[int] = []
        self._sites: dict[AccessSite, int] = {}
        self._site_keys: list[AccessSite] = []

    def _shadow(self, pool: ByteBuffer) -> ShadowMemory:
        if pool.shadow is None:
            pool.shadow = ShadowMemory(pool)
        found: ShadowMemory = pool.shadow
        return found

    def _site_number(self, key: AccessSite) -> int:
        found = self._sites.get(key)
        if found is None:
            found = self._sites[key] = len(self._site_keys)
            self._site_keys.append(key)
        return found

    def clocks_of(self, cta: Cta) -> CtaClocks:
        """Return what the threads of a CTA know."""
        found = self._clocks_of_cta.get(cta)
        if found is None:
            base = 1 if not self._clock_owners else self._owner_bases[-1] + self._clock_owners[-1].threads
            found = self._clocks_of_cta[cta] = CtaClocks(cta, base, self._count_clock_kinds(cta))
            self._clock_owners.append(found)
            self._owner_bases.append(base)
        return found

    def location_of(self, site: int) -> tuple[DecodedFunction, int, Cta]:
        """Return the location of a site."""
        return self._site_keys[site][:3]

    def clocks_of_agent(self, agent: int) -> CtaClocks:
        """Return the clocks of the CTA to which an agent belongs."""
        return self._clock_owners[int(numpy.searchsorted(self._owner_bases, agent, side="right")) - 1]

    def _count_clock_kinds(self, cta: Cta) -> int:
        if not self._clock_kinds:
            codes = cta.machine.program.decoded_functions
            parted = cta.cluster.size > 1 or any(is_one_way(each) for code in codes for each in code.opcodes)
            self._clock_kinds = clock_kind_count(parted=parted, strict=self.strict)
        return self._clock_kinds

    def thread_at(self, site: int, agent: int) -> int:
        """Return the thread that made the last access at a site, which was recorded as an agent."""
        _, _, cta, _, _, issuer = self._site_keys[site]
        return agent - self.clocks_of(cta).base if issuer < 0 else issuer

    def _check_last_accesses(self, event: MemoryAccess, kind: int, known: CtaClocks) -> None:
        """Check that the last accesses of a kind are known to the current threads; for reads, also earlier ones."""
        shadow = self._shadow(event.pool)
        agents, times = shadow.last_accesses(kind, event.units)
        wrong = self._find_unordered(event, known, agents, times)
        if wrong.any():
            self._report_first_unordered(event, kind, wrong, agents, times, shadow.sites[kind][event.units])
        between = shadow.reads_between(event.units) if kind == LAST_READ else None
        if between is not None:
            at, agents, times, sites = between
            some = event.select(at)
            wrong = self._find_unordered(some, known, agents, times)
            if wrong.any():
                self._report_first_unordered(some, kind, wrong, agents, times, sites)

    def _find_unordered(self, event: MemoryAccess, known: CtaClocks, agents: Any, times: Any) -> Any:
        """Return, for each unit of an event, whether it is unordered with what an agent did at a time."""
        index = event.index[event.rows]
        own = agents - known.base
        inside = (own >= 0) & (own < known.threads)
        if inside.all():
            return ~known.happens_before(index, known, own, times)
        wrong = agents != 0
        if wrong.any():
            wrong[inside] = ~known.happens_before(index[inside], known, own[inside], times[inside])
            self._check_other_cta(known, index, agents, times, wrong & ~inside, wrong)
        return wrong

    def _check_other_cta(self, known: CtaClocks, index: Any, agents: Any, times: Any, outside: Any, wrong: Any) -> None:
        at = numpy.flatnonzero(outside)
        owners = numpy.searchsorted(self._owner_bases, agents[at], side="right") - 1
        for number in numpy.unique(owners):
            other = self._clock_owners[number]
            chosen = at[owners == number]
            wrong[chosen] = ~known.happens_before(index[chosen], other, agents[chosen] - other.base, times[chosen])

    def _report_first_unordered(
        self, event: MemoryAccess, kind: int, wrong: Any, agents: Any, times: Any, sites: Any
    ) -> None:
        """Report the first unordered access, unless it is harmless."""
        for at in numpy.flatnonzero(wrong):
            code, pc, cta, was_strong, proxy, issuer = self._site_keys[int(sites[at])]
            if event.is_strong_with(was_strong, cta):
                if not self.strict or event.proxy == proxy.partition(" ")[0]:
                    continue
                rule = "PTX407"
            elif kind == WRITE and was_strong and self._is_ordered_by_observation(event, int(at), was_strong, cta):
                continue
            else:
                narrow = was_strong and event.strength and " " not in proxy
                rule = "PTX622" if narrow else _violated_rule(event.kind, kind, proxy.partition(" ")[2])
            row = int(event.rows[at])
            if kind == WRITE and event.kind == "write" and event.writes_same_value(row):
                continue
            owner = self.clocks_of(cta)
            thread = int(agents[at]) - owner.base
            if " " in proxy:
                time = int(times[at])
                if self._is_ordered_by_copy_wait(event, row, owner, thread, time):
                    continue
                if (
                    event.kind == "write"
                    and not self.strict
                    and self._is_before_relaxed_arrival(event, owner, thread, time)
                ):
                    continue
            if (
                rule == "PTX621"
                and kind == WRITE
                and cta is not event.location[2]
                and self._is_before_relaxed_arrival(event, owner, thread)
            ):
                rule = "PTX506"
            self._report(event, row, kind, (code, pc, cta), thread if issuer < 0 else issuer, rule)
            return

    def _is_ordered_by_observation(self, event: MemoryAccess, at: int, strong: int, writer: Cta) -> bool:
        """Return whether a thread read the last write, both morally strong, and that read is known here.

        Observation orders this write before what follows such a read in base causality order, and nothing else that the
        writer did. at: the position of the unit among those of the event. strong, writer: properties of the write.
        """
        shadow, units = self._shadow(event.pool), event.units[at : at + 1]
        known, index = self.clocks_of(event.location[2]), event.index[event.rows[at : at + 1]]
        reads = [(*shadow.last_accesses(kind, units), shadow.sites[kind][units]) for kind in (FIRST_READ, LAST_READ)]
        between = shadow.reads_between(units)
        if between is not None:
            reads.append(between[1:])
        for agent, time, site in zip(*(numpy.concatenate(each) for each in zip(*reads, strict=True)), strict=True):
            if not agent:
                continue
            _, _, cta, reads_at, _, _ = self._site_keys[int(site)]
            owner = self.clocks_of(cta)
            morally_strong = min(strong, reads_at) > required_scope_level(writer, cta)
            if (
                morally_strong
                and known.happens_before(index, owner, numpy.array([agent - owner.base]), numpy.array([time]))[0]
            ):
                return True
        return False

    def _is_ordered_by_copy_wait(self, event: MemoryAccess, row: int, owner: CtaClocks, engine: int, time: int) -> bool:
        """Return whether the issuer of a copy with an mbarrier has also waited for it, and that wait is known here."""
        found = owner.copy_waits.issuer_and_wait(engine, time)
        if found is None:
            return False
        thread, waited = (numpy.array([each]) for each in found)
        known = self.clocks_of(event.location[2])
        return bool(known.happens_before(event.index[row : row + 1], owner, thread, waited)[0])

    def _is_before_relaxed_arrival(self, event: MemoryAccess, owner: CtaClocks, agent: int, time: int = 1) -> bool:
        """Return whether a relaxed arrival followed what a thread or an operation did at a time."""
        held = self.clocks_of(event.location[2]).relaxed_vector.get(owner)
        return held is not None and bool(held[COMPLETED, agent] >= time)

    def _check_same_instruction_writes(self, event: MemoryAccess, lost: Any) -> None:
        """Check for threads that write different values to the same bytes in one instruction."""
        for at in numpy.flatnonzero(lost):
            row = int(event.rows[at])
            winner, _ = self._shadow(event.pool).last_accesses(WRITE, event.units[at : at + 1])
            thread = int(winner[0]) - self.clocks_of(event.location[2]).base
            others = numpy.flatnonzero(event.index == thread)
            if len(others) and not event.writes_equal_values(row, int(others[0])):
                self._report(event, row, WRITE, event.location, thread)
                return

    def _report(
        self,
        event: MemoryAccess,
        row: int,
        kind: int,
        place: tuple[DecodedFunction, int, Cta],
        other: int,
        rule: str = "PTX621",
    ) -> None:
        verb, rest = ("reads", "writes") if event.kind == "read" else ("writes", _ACCESS_KINDS[kind] + "s")
        too = ", too" if kind == WRITE and event.kind != "read" else ""
        why, missing = _MISSING_ORDERING[rule]
        self._add_violation(rule, event, row, kind, place, other, (verb, rest, f"{too}{{}}: {why}", missing))

    def _add_violation(  # noqa: PLR0913, PLR0917 (all properties of a finding)
        self,
        rule: str,
        event: MemoryAccess,
        row: int,
        kind: int,
        place: tuple[DecodedFunction, int, Cta],
        other: int,
        words: tuple[str, str, str, str],
        severity: str = "error",
    ) -> None:
        machine = self.machine
        assert machine is not None
        thread, start = int(event.index[row]), int(event.byte_offsets[row])
        here = self._witness(event, event.kind, event.location, thread, start)
        there = self._witness(event, _ACCESS_KINDS[kind], place, other, start)
        verb, does, rest, missing = words
        severity = "warning" if rule in _STRICT_ONLY_RULES else severity
        where = f" at line {there.line}" if there.line else ""
        where += f" of CTA {there.cta}" if there.cta != here.cta else ""
        message = f"{verb} {event.size} bytes of {event.pool.name} memory that thread {there.thread} {does}"
        offset = event.location[0].offsets[event.location[1]]
        machine.report.add(
            Violation(rule, message + rest.format(where), here.line, offset, (here, there), missing, severity),
            place[0].offsets[place[1]],
        )

    def _witness(
        self, event: MemoryAccess, kind: str, place: tuple[DecodedFunction, int, Cta], thread: int, start: int
    ) -> Witness:
        assert self.machine is not None
        code, pc, cta = place
        action = f"{kind}: {code.instructions[pc].opcode}"
        line = self.machine.line_of(code.offsets[pc])
        old = event.pool.data[start : start + event.size].tobytes().hex()
        return Witness(
            action, line, self.machine.thread_of(thread), cta.ctaid, event.pool.name, start, event.size, old=old
        )

    def _check_cross_cta_order(self, event: MemoryAccess, kind: int, known: CtaClocks) -> None:
        """Check that accesses of another CTA are known by operations whose scopes include both CTAs."""
        shadow = self._shadow(event.pool)
        agents, times = shadow.last_accesses(kind, event.units)
        wrong = self._check_scopes(known, event.index[event.rows], agents, times)
        for at in numpy.flatnonzero(wrong):
            code, pc, cta, was_strong, proxy, issuer = self._site_keys[int(shadow.sites[kind][event.units][at])]
            if event.is_strong_with(was_strong, cta) or (" " in proxy and not self.strict):
                continue
            thread = int(agents[at]) - self.clocks_of(cta).base if issuer < 0 else issuer
            self._report(event, int(event.rows[at]), kind, (code, pc, cta), thread, "PTX506")
            return

    def _check_scopes(self, known: CtaClocks, index: Any, agents: Any, times: Any) -> Any:
        """Return which accesses of other CTAs are known only by operations whose scopes do not include them."""
        wrong = numpy.zeros(len(agents), bool)
        own = agents - known.base
        outside = numpy.flatnonzero((agents != 0) & ((own < 0) | (own >= known.threads)))
        owners = numpy.searchsorted(self._owner_bases, agents[outside], side="right") - 1
        for number in numpy.unique(owners):
            other = self._clock_owners[number]
            at = outside[owners == number]
            wrong[at] = known.is_out_of_scope(index[at], other, agents[at] - other.base, times[at])
        return wrong


class MemoryAccess:
    """One access. place: the code, the step and the CTA; index: the threads; rows: the thread's position by unit.

    strong: 0 for a weak access, else one more than the level of its scope.
    """

    __slots__ = (
        "byte_offsets",
        "index",
        "kind",
        "location",
        "pool",
        "proxy",
        "rows",
        "size",
        "strength",
        "units",
        "value",
    )

    def __init__(  # noqa: PLR0913, PLR0917 (all that an access is)
        self,
        place: tuple[DecodedFunction, int, Cta],
        index: Any,
        kind: str,
        pool: ByteBuffer,
        units: Any,
        rows: Any,
        strong: int,
        places: Any,
        size: int,
        value: Any,
        proxy: str = "generic",
    ) -> None:
        self.proxy = proxy
        self.location, self.index, self.kind, self.pool = place, index, kind, pool
        self.units, self.rows, self.strength = units, rows, strong
        self.byte_offsets, self.size, self.value = places, size, value

    def select(self, at: Any) -> MemoryAccess:
        """Return the access restricted to some of its units, by their positions."""
        units, rows = self.units[at], self.rows[at]
        return MemoryAccess(
            *(
                self.location,
                self.index,
                self.kind,
                self.pool,
                units,
                rows,
                self.strength,
                self.byte_offsets,
                self.size,
            ),
            self.value,
            self.proxy,
        )

    def is_strong_with(self, other: int, cta: Cta) -> bool:
        """Return whether it is morally strong with an access of a CTA."""
        return min(self.strength, other) > required_scope_level(self.location[2], cta)

    def _written_bytes(self, row: int) -> bytes | None:
        """Return what a thread writes; None where that is not known."""
        if self.value is None:
            return None
        parts = self.value if isinstance(self.value, tuple) else (self.value,)
        if any(part is None for part in parts):
            return None
        return b"".join(numpy.ascontiguousarray(part[row]).tobytes() for part in parts)

    def writes_same_value(self, row: int) -> bool:
        """Return whether a thread writes the value that memory already holds."""
        start = int(self.byte_offsets[row])
        return self._written_bytes(row) == bytes(self.pool.data[start : start + self.size])

    def writes_equal_values(self, row: int, other: int) -> bool:
        """Return whether two threads write the same value to the same location."""
        return int(self.byte_offsets[row]) == int(self.byte_offsets[other]) and self._written_bytes(
            row
        ) == self._written_bytes(other)
