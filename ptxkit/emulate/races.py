"""Accesses held against those before them: two threads use the same bytes, one of them writes, nothing orders the two.

What an operation has read or brought, and an arrival told that was relaxed, may be written again: by the letter such an
arrival orders nothing, but the operation is over when its thread arrives. The strict policy goes by the letter.

What is strong on both sides, by scopes that hold both threads, is no race: it is what threads speak to each other by.
Where such a read sees such a write, that write (but not what its thread did before it) is ordered before all that the
read is. A write that puts what another has put there makes no difference, and is none either. What was written through
the generic proxy and is read through the async proxy must be fenced towards that, too.

Source: PTX ISA, "Memory Consistency Model": "Conflict and Data-Races", "Causality Order", "Morally Strong Operations",
"Async Proxy".
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy

from ptxkit.emulate.faults import Finding, Witness
from ptxkit.emulate.knowledge import DONE, FENCED_GLOBAL, FENCED_SHARED, Knowledge, aspects_of, distance
from ptxkit.emulate.operations import WGMMA
from ptxkit.emulate.order import Order
from ptxkit.emulate.shadow import FIRST_READ, LAST_READ, WRITE, Shadow
from ptxkit.isa import table
from ptxkit.isa.effects import ProxyFence

if TYPE_CHECKING:
    from ptxkit.emulate.cta import Cta
    from ptxkit.emulate.memory import Pool
    from ptxkit.emulate.program import Code

ASPECTS = {"shared": FENCED_SHARED, "global": FENCED_GLOBAL}
_KINDS = ("write", "read", "read")
_LACKS = {
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
"""By rule, why an access is wrong, and what is missing."""

_MILDER = frozenset({"PTX402", "PTX405", "PTX407"})
"""Rules that only the strict policy has: what they find is a warning."""

Site: TypeAlias = "tuple[Code, int, Cta, int, str, int]"
"""Where an access is made, how far it is strong, through which proxy, and by which thread where an engine made it.

The proxy is `tensor` where the completion of an operation is no fence between proxies; behind it, for an operation,
what tells of its completion."""


def _rule_of(now: str, before: int, completion: str) -> str:
    """The rule that an access breaks which nothing orders behind another. completion: where that is an operation's."""
    if not completion:
        return "PTX621"
    if before == WRITE:
        return "PTX302" if now == "read" else "PTX303"
    return "PTX314" if completion == WGMMA else "PTX303"


@lru_cache(maxsize=4096)
def is_one_way(opcode: str) -> bool:
    """Whether an instruction is a fence that orders the generic and the async proxy in one direction."""
    effects = (each for match in table().candidates(opcode) for each in match.effects)
    return any(isinstance(e, ProxyFence) and e.proxy == "async" and e.direction != "both" for e in effects)


class Races(Order):
    """Keeps who used each unit of memory last, and judges accesses by what their threads know."""

    def __init__(self, *, strict: bool = False) -> None:
        super().__init__()
        self.strict = strict
        self._aspects = 0
        self._known: dict[Cta, Knowledge] = {}
        self._owners: list[Knowledge] = []
        self._bases: list[int] = []
        self._sites: dict[Site, int] = {}
        self._places: list[Site] = []

    def _shadow(self, pool: Pool) -> Shadow:
        if pool.shadow is None:
            pool.shadow = Shadow(pool)
        found: Shadow = pool.shadow
        return found

    def _site(self, key: Site) -> int:
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
            found = self._known[cta] = Knowledge(cta, base, self._count_of_aspects(cta))
            self._owners.append(found)
            self._bases.append(base)
        return found

    def place_of(self, site: int) -> tuple[Code, int, Cta]:
        """Where accesses of a site are made."""
        return self._places[site][:3]

    def owner_of(self, agent: int) -> Knowledge:
        """What the threads know of the CTA to which an agent belongs."""
        return self._owners[int(numpy.searchsorted(self._bases, agent, side="right")) - 1]

    def _count_of_aspects(self, cta: Cta) -> int:
        if not self._aspects:
            codes = cta.machine.program.codes
            parted = cta.cluster.size > 1 or any(is_one_way(each) for code in codes for each in code.opcodes)
            self._aspects = aspects_of(parted=parted, strict=self.strict)
        return self._aspects

    def thread_at(self, site: int, agent: int) -> int:
        """The thread that made the last access at a site, which entered it by a number."""
        _, _, cta, _, _, issuer = self._places[site]
        return agent - self.knowledge(cta).base if issuer < 0 else issuer

    def _check(self, event: Event, kind: int, known: Knowledge) -> None:
        """Whether the last accesses of a kind are known to those who access now; of reads those before it, too."""
        shadow = self._shadow(event.pool)
        agents, times = shadow.last(kind, event.units)
        wrong = self._unordered(event, known, agents, times)
        if wrong.any():
            self._judge(event, kind, wrong, agents, times, shadow.sites[kind][event.units])
        between = shadow.reads_between(event.units) if kind == LAST_READ else None
        if between is not None:
            at, agents, times, sites = between
            some = event.part(at)
            wrong = self._unordered(some, known, agents, times)
            if wrong.any():
                self._judge(some, kind, wrong, agents, times, sites)

    def _unordered(self, event: Event, known: Knowledge, agents: Any, times: Any) -> Any:
        """For each unit of an event, whether nothing orders it behind what an agent did at a time."""
        index = event.index[event.rows]
        own = agents - known.base
        inside = (own >= 0) & (own < known.threads)
        if inside.all():
            return ~known.knows(index, known, own, times)
        wrong = agents != 0
        if wrong.any():
            wrong[inside] = ~known.knows(index[inside], known, own[inside], times[inside])
            self._check_foreign(known, index, agents, times, wrong & ~inside, wrong)
        return wrong

    def _check_foreign(self, known: Knowledge, index: Any, agents: Any, times: Any, outside: Any, wrong: Any) -> None:
        at = numpy.flatnonzero(outside)
        owners = numpy.searchsorted(self._bases, agents[at], side="right") - 1
        for number in numpy.unique(owners):
            other = self._owners[number]
            chosen = at[owners == number]
            wrong[chosen] = ~known.knows(index[chosen], other, agents[chosen] - other.base, times[chosen])

    def _judge(self, event: Event, kind: int, wrong: Any, agents: Any, times: Any, sites: Any) -> None:
        """Report the first access that nothing orders, unless it is none that matters."""
        for at in numpy.flatnonzero(wrong):
            code, pc, cta, was_strong, proxy, issuer = self._places[int(sites[at])]
            if event.is_strong_with(was_strong, cta):
                if not self.strict or event.proxy == proxy.partition(" ")[0]:
                    continue
                rule = "PTX407"
            elif kind == WRITE and was_strong and self._was_observed(event, int(at), was_strong, cta):
                continue
            else:
                narrow = was_strong and event.strong and " " not in proxy
                rule = "PTX622" if narrow else _rule_of(event.kind, kind, proxy.partition(" ")[2])
            row = int(event.rows[at])
            if kind == WRITE and event.kind == "write" and event.is_silent(row):
                continue
            owner = self.knowledge(cta)
            thread = int(agents[at]) - owner.base
            if " " in proxy:
                time = int(times[at])
                if self._was_waited_for(event, row, owner, thread, time):
                    continue
                if event.kind == "write" and not self.strict and self._was_heard(event, owner, thread, time):
                    continue
            if (
                rule == "PTX621"
                and kind == WRITE
                and cta is not event.place[2]
                and self._was_heard(event, owner, thread)
            ):
                rule = "PTX506"
            self._report(event, row, kind, (code, pc, cta), thread if issuer < 0 else issuer, rule)
            return

    def _was_observed(self, event: Event, at: int, strong: int, writer: Cta) -> bool:
        """Whether a thread read the last write, each morally strong with the other, and that read is known here.

        Observation orders this write before what follows such a read in base causality order, and nothing else that the
        writer did. at: the position of the unit among those of the event. strong, writer: of the write.
        """
        shadow, units = self._shadow(event.pool), event.units[at : at + 1]
        known, index = self.knowledge(event.place[2]), event.index[event.rows[at : at + 1]]
        reads = [(*shadow.last(kind, units), shadow.sites[kind][units]) for kind in (FIRST_READ, LAST_READ)]
        between = shadow.reads_between(units)
        if between is not None:
            reads.append(between[1:])
        for agent, time, site in zip(*(numpy.concatenate(each) for each in zip(*reads, strict=True)), strict=True):
            if not agent:
                continue
            _, _, cta, reads_at, _, _ = self._places[int(site)]
            owner = self.knowledge(cta)
            morally_strong = min(strong, reads_at) > distance(writer, cta)
            if morally_strong and known.knows(index, owner, numpy.array([agent - owner.base]), numpy.array([time]))[0]:
                return True
        return False

    def _was_waited_for(self, event: Event, row: int, owner: Knowledge, engine: int, time: int) -> bool:
        """Whether the issuer of a copy of which an mbarrier tells has waited for it, too, and that is known here."""
        found = owner.copy_waits.of(engine, time)
        if found is None:
            return False
        thread, waited = (numpy.array([each]) for each in found)
        known = self.knowledge(event.place[2])
        return bool(known.knows(event.index[row : row + 1], owner, thread, waited)[0])

    def _was_heard(self, event: Event, owner: Knowledge, agent: int, time: int = 1) -> bool:
        """Whether an arrival that tells nothing came behind what a thread, or an operation, did at a time."""
        held = self.knowledge(event.place[2]).heard.get(owner)
        return held is not None and bool(held[DONE, agent] >= time)

    def _check_together(self, event: Event, lost: Any) -> None:
        """Two threads write the same bytes in one instruction: no matter, where they write the same."""
        for at in numpy.flatnonzero(lost):
            row = int(event.rows[at])
            winner, _ = self._shadow(event.pool).last(WRITE, event.units[at : at + 1])
            thread = int(winner[0]) - self.knowledge(event.place[2]).base
            others = numpy.flatnonzero(event.index == thread)
            if len(others) and not event.is_same(row, int(others[0])):
                self._report(event, row, WRITE, event.place, thread)
                return

    def _report(
        self, event: Event, row: int, kind: int, place: tuple[Code, int, Cta], other: int, rule: str = "PTX621"
    ) -> None:
        verb, rest = ("reads", "writes") if event.kind == "read" else ("writes", _KINDS[kind] + "s")
        too = ", too" if kind == WRITE and event.kind != "read" else ""
        why, missing = _LACKS[rule]
        self._found(rule, event, row, kind, place, other, (verb, rest, f"{too}{{}}: {why}", missing))

    def _found(  # noqa: PLR0913, PLR0917 (all that a finding is)
        self,
        rule: str,
        event: Event,
        row: int,
        kind: int,
        place: tuple[Code, int, Cta],
        other: int,
        words: tuple[str, str, str, str],
        severity: str = "error",
    ) -> None:
        machine = self.machine
        assert machine is not None
        thread, start = int(event.index[row]), int(event.places[row])
        here = self._witness(event, event.kind, event.place, thread, start)
        there = self._witness(event, _KINDS[kind], place, other, start)
        verb, does, rest, missing = words
        severity = "warning" if rule in _MILDER else severity
        where = f" at line {there.line}" if there.line else ""
        where += f" of CTA {there.cta}" if there.cta != here.cta else ""
        message = f"{verb} {event.size} bytes of {event.pool.name} memory that thread {there.thread} {does}"
        offset = event.place[0].offsets[event.place[1]]
        machine.report.add(
            Finding(rule, message + rest.format(where), here.line, offset, (here, there), missing, severity),
            place[0].offsets[place[1]],
        )

    def _witness(self, event: Event, kind: str, place: tuple[Code, int, Cta], thread: int, start: int) -> Witness:
        assert self.machine is not None
        code, pc, cta = place
        action = f"{kind}: {code.instructions[pc].opcode}"
        line = self.machine.line_of(code.offsets[pc])
        old = event.pool.data[start : start + event.size].tobytes().hex()
        return Witness(
            action, line, self.machine.thread_of(thread), cta.ctaid, event.pool.name, start, event.size, old=old
        )

    def _check_handover(self, event: Event, kind: int, known: Knowledge) -> None:
        """Whether what another CTA did is known by operations whose scopes take in both CTAs."""
        shadow = self._shadow(event.pool)
        agents, times = shadow.last(kind, event.units)
        wrong = self._check_scopes(known, event.index[event.rows], agents, times)
        for at in numpy.flatnonzero(wrong):
            code, pc, cta, was_strong, proxy, issuer = self._places[int(shadow.sites[kind][event.units][at])]
            if event.is_strong_with(was_strong, cta) or (" " in proxy and not self.strict):
                continue
            thread = int(agents[at]) - self.knowledge(cta).base if issuer < 0 else issuer
            self._report(event, int(event.rows[at]), kind, (code, pc, cta), thread, "PTX506")
            return

    def _check_scopes(self, known: Knowledge, index: Any, agents: Any, times: Any) -> Any:
        """Which accesses of other CTAs are known only by operations whose scopes do not reach them."""
        wrong = numpy.zeros(len(agents), bool)
        own = agents - known.base
        outside = numpy.flatnonzero((agents != 0) & ((own < 0) | (own >= known.threads)))
        owners = numpy.searchsorted(self._bases, agents[outside], side="right") - 1
        for number in numpy.unique(owners):
            other = self._owners[number]
            at = outside[owners == number]
            wrong[at] = known.lacks_scope(index[at], other, agents[at] - other.base, times[at])
        return wrong


class Event:
    """One access: place: the code, the step and the CTA; index: the threads; rows: the thread's position by unit.

    strong: 0 for a weak access, else one more than the level of its scope.
    """

    __slots__ = ("index", "kind", "place", "places", "pool", "proxy", "rows", "size", "strong", "units", "value")

    def __init__(  # noqa: PLR0913, PLR0917 (all that an access is)
        self,
        place: tuple[Code, int, Cta],
        index: Any,
        kind: str,
        pool: Pool,
        units: Any,
        rows: Any,
        strong: int,
        places: Any,
        size: int,
        value: Any,
        proxy: str = "generic",
    ) -> None:
        self.proxy = proxy
        self.place, self.index, self.kind, self.pool = place, index, kind, pool
        self.units, self.rows, self.strong = units, rows, strong
        self.places, self.size, self.value = places, size, value

    def part(self, at: Any) -> Event:
        """The same access, of some of its units by their positions."""
        units, rows = self.units[at], self.rows[at]
        return Event(
            *(self.place, self.index, self.kind, self.pool, units, rows, self.strong, self.places, self.size),
            self.value,
            self.proxy,
        )

    def is_strong_with(self, other: int, cta: Cta) -> bool:
        """Whether it is morally strong with an access of a CTA."""
        return min(self.strong, other) > distance(self.place[2], cta)

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
        return self._octets(row) == bytes(self.pool.data[start : start + self.size])

    def is_same(self, row: int, other: int) -> bool:
        """Whether two threads write the same to the same place."""
        return int(self.places[row]) == int(self.places[other]) and self._octets(row) == self._octets(other)
