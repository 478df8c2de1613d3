"""Hand-overs between two CTAs of a cluster by an mbarrier, where one side orders no more than its own CTA, or nothing.

An arrival counts whatever its scope; but it orders what was before it only for a wait where neither is relaxed, and
each names a scope that includes the other's thread. All else that may order the two CTAs counts as order: the barrier
of the cluster, another mbarrier with wider scopes, fences of such scopes, flags in memory.

That is so for memory that is only handed back, too. Libraries that are held to be right hand it back at scope `.cta`,
which arrivals and waits have where they name none; nothing that is relaxed is among what they do.

Source: PTX ISA, "Morally strong operations", "Causality Order", "mbarrier.arrive", "mbarrier.test_wait,
mbarrier.try_wait".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ptxkit.analysis.clusters import polls
from ptxkit.analysis.kernel import Kernel
from ptxkit.analysis.pairs import Handover, Pair, Touch, pairs_of
from ptxkit.analysis.places import Place, places_of
from ptxkit.analysis.program import Step
from ptxkit.analysis.trace import Event, Opaque
from ptxkit.isa.effects import Access, MbarrierArrive, MbarrierWait, MemoryFence, ProxyFence
from ptxkit.records import dataclass

#: Hand-overs that are tried for accesses of two CTAs, at most.
MAX_TRIED = 20_000
#: What keeps a hand-over from ordering anything, and what keeps it from ordering other CTAs.
_RELAXED, _NARROW = ("relaxed",), ("relaxed", "cta")


@dataclass(frozen=True, slots=True)
class Crossing:
    """Accesses of two CTAs to the same bytes, of which only a narrow hand-over tells that one is behind the other.

    is_data: the first is a store, the other a load or a store: contents cross. Else the memory is only handed back.
    is_open: it is handed back at scope `.cta`.
    """

    before: Touch
    handover: Handover
    after: Touch
    is_data: bool
    is_open: bool

    @property
    def is_sure(self) -> bool:
        """Whether an input surely leads there."""
        return all(touch.is_sure for touch in (self.before, self.handover.arrival, self.handover.wait, self.after))


def crossings_of(kernel: Kernel, number: int) -> Iterator[Crossing]:
    """The crossings from the CTA of a world into the others of its cluster; those of memory that is handed back at
    scope `.cta` under `strict` only."""
    world = kernel.worlds[number]
    if world.scenario.launch.cluster_size == 1 or not _may_be_narrow(kernel) or polls(kernel.program):
        return
    ways = [(_RELAXED, ("reuse",)), (_NARROW, ("data", "reuse") if kernel.policy == "strict" else ("data",))]
    for pair in pairs_of(kernel, world):
        found: set[tuple[Step, Step]] = set()
        for lacks, kinds in ways:
            narrow = [handover for handover in pair.handovers if _is_narrow(handover, lacks)]
            if narrow and not _may_be_told_otherwise(kernel, number, pair, lacks):
                yield from _crossings(pair, narrow, kinds, found, is_open=lacks is _NARROW)


def _crossings(
    pair: Pair, narrow: list[Handover], kinds: Collection[str], found: set[tuple[Step, Step]], *, is_open: bool
) -> Iterator[Crossing]:
    """What crosses by narrow hand-overs, once for two instructions. found: those that were found before."""
    left = MAX_TRIED
    for before, after in pair.shared():
        kind = _conflict(before.event, after.event)
        steps = (before.event.step, after.event.step)
        if kind not in kinds or steps in found or pair.meets(before, after):
            continue
        for handover in narrow:
            left -= 1
            if pair.joins(before, handover, after):
                found.add(steps)
                yield Crossing(before, handover, after, kind == "data", is_open and kind != "data")
                break
        if left < 0:
            return


def _may_be_narrow(kernel: Kernel) -> bool:
    effects = [effect for step in kernel.program.acting for effect in step.effects]
    if any(isinstance(e, MemoryFence) and e.scope != "cta" and e.only is None for e in effects):
        return False
    if any(isinstance(e, ProxyFence) and e.direction != "both" for e in effects):
        return False  # a pair of these orders what a relaxed hand-over counts
    gives = [_lack(e) for e in effects if isinstance(e, MbarrierArrive) and not e.asynchronous]
    takes = [_lack(e) for e in effects if isinstance(e, MbarrierWait)]
    return bool(gives) and bool(takes) and any(lack is not None for lack in (*gives, *takes))


def _may_be_told_otherwise(kernel: Kernel, number: int, pair: Pair, lacks: Collection[str]) -> bool:
    """Whether some mbarrier may order two CTAs for the whole cluster: one that is seen to, one that is waited for where
    a thread of another CTA arrives, or one that no walked thread is seen at."""
    if any(not _is_narrow(handover, lacks) for handover in pair.handovers):
        return True
    wide = [
        {step for step in kernel.program.acting for effect in step.effects if _is_wide(effect, kind, lacks)}
        for kind in (MbarrierArrive, MbarrierWait)
    ]
    if not all(wide):
        return False
    seen: set[Step] = set()
    told: dict[type, set[Place]] = {MbarrierArrive: set(), MbarrierWait: set()}
    cluster = kernel.cluster_of(number)
    for world in cluster:
        everyone = None if world.is_opaque else world.everyone(MbarrierArrive, MbarrierWait)
        for thread in everyone or ():
            for event in thread.trace.events:
                if isinstance(event, Opaque) or not _is_wide(event.effect, type(event.effect), lacks):
                    continue
                places = places_of(world.scenario.rank, event)
                if places is None:
                    return True
                seen.add(event.step)
                own = isinstance(event.effect, MbarrierWait)
                told[type(event.effect)].update(p for p in places if own or p[0] != world.scenario.rank)
        if everyone is None:
            return True
    is_known = len(cluster) == pair.giver.scenario.launch.cluster_size and wide[0] | wide[1] <= seen
    return not is_known or not told[MbarrierArrive].isdisjoint(told[MbarrierWait])


def _is_wide(effect: object, kind: type, lacks: Collection[str]) -> bool:
    """Whether an arrival, or a wait, orders other CTAs."""
    if not isinstance(effect, kind) or not isinstance(effect, MbarrierArrive | MbarrierWait):
        return False
    return _lack(effect) not in lacks and not getattr(effect, "asynchronous", False)


def _is_narrow(handover: Handover, lacks: Collection[str]) -> bool:
    """Whether the arrival or the wait orders its own CTA only, or nothing."""
    return any(lack_of(touch.event) in lacks for touch in (handover.arrival, handover.wait))


def _conflict(before: Event, after: Event) -> str | None:
    """`data` where contents written by a store are used, `reuse` where memory that was read is written again."""
    first, second = before.effect, after.effect
    assert isinstance(first, Access)
    assert isinstance(second, Access)
    if first.kind == "read":
        is_plain = (first.proxy, first.completion) == ("generic", None)
        return "reuse" if second.kind != "read" and is_plain else None
    is_plain = all((each.proxy, each.completion) == ("generic", None) for each in (first, second))
    return "data" if is_plain and "weak" in (first.order, second.order) else None


def lack_of(event: Event) -> str | None:
    """What keeps an arrival, or a wait, from ordering two CTAs: its scope is `cta`, or it is `relaxed`."""
    effect = event.effect
    assert isinstance(effect, MbarrierArrive | MbarrierWait)
    return _lack(effect)


def _lack(effect: MbarrierArrive | MbarrierWait) -> str | None:
    if effect.order == "relaxed":
        return "relaxed"
    return "cta" if effect.scope == "cta" else None
