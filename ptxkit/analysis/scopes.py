"""Hand-overs between two CTAs of a cluster by an mbarrier, where one side orders no more than its own CTA, or nothing.

An arrival counts whatever its scope; but it orders what was before it only for a wait where neither is relaxed, and
each names a scope that includes the other's thread. All else that may order the two CTAs counts as order: the barrier
of the cluster, another mbarrier with wider scopes, fences of such scopes, flags in memory.

Source: PTX ISA, "Morally strong operations", "Causality Order", "mbarrier.arrive", "mbarrier.test_wait,
mbarrier.try_wait".
"""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.clusters import polls
from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.pairs import Handover, Pair, Touch, pairs_of
from ptxkit.analysis.program import Step
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import Access, MbarrierArrive, MbarrierWait, MemoryFence, ProxyFence
from ptxkit.records import dataclass

#: Hand-overs that are tried for accesses of two CTAs, at most.
MAX_TRIED = 20_000


@dataclass(frozen=True, slots=True)
class Crossing:
    """Accesses of two CTAs to the same bytes, of which only a narrow hand-over tells that one is behind the other.

    is_data: the first is a store, the other a load or a store: contents cross. Else the memory is only handed back.
    """

    before: Touch
    handover: Handover
    after: Touch
    is_data: bool

    @property
    def is_sure(self) -> bool:
        """Whether an input surely leads there."""
        return all(touch.is_sure for touch in (self.before, self.handover.arrival, self.handover.wait, self.after))


def crossings_of(kernel: Kernel, world: World) -> Iterator[Crossing]:
    """The crossings from a CTA into the others of its cluster; those of memory handed back under `strict` only."""
    if world.scenario.launch.cluster_size == 1 or not _may_be_narrow(kernel) or polls(kernel.program):
        return
    for pair in pairs_of(kernel, world):
        narrow = [handover for handover in pair.handovers if _is_narrow(handover)]
        if narrow and not _may_be_told_otherwise(kernel, pair):
            yield from _crossings(pair, narrow, reused=kernel.policy == "strict")


def _crossings(pair: Pair, narrow: list[Handover], *, reused: bool) -> Iterator[Crossing]:
    """What crosses by narrow hand-overs, once for two instructions. reused: memory that is handed back, too."""
    found: set[tuple[Step, Step]] = set()
    left = MAX_TRIED
    for before, after in pair.shared():
        kind = _conflict(before.event, after.event)
        steps = (before.event.step, after.event.step)
        if kind is None or steps in found or (kind != "data" and not reused) or pair.meets(before, after):
            continue
        for handover in narrow:
            left -= 1
            if pair.joins(before, handover, after):
                found.add(steps)
                yield Crossing(before, handover, after, kind == "data")
                break
        if left < 0:
            return


def _may_be_narrow(kernel: Kernel) -> bool:
    effects = [effect for step in kernel.program.steps if step.match is not None for effect in step.match.effects]
    if any(isinstance(e, MemoryFence) and e.scope != "cta" and e.only is None for e in effects):
        return False
    if any(isinstance(e, ProxyFence) and e.direction != "both" for e in effects):
        return False  # a pair of these orders what a relaxed hand-over counts
    gives = [_lack(e) for e in effects if isinstance(e, MbarrierArrive) and not e.asynchronous]
    takes = [_lack(e) for e in effects if isinstance(e, MbarrierWait)]
    return bool(gives) and bool(takes) and any(lack is not None for lack in (*gives, *takes))


def _may_be_told_otherwise(kernel: Kernel, pair: Pair) -> bool:
    """Whether some mbarrier may order two CTAs for the whole cluster: one that is seen to, one that no walked thread is
    seen at, or where there are further CTAs."""
    if any(not _is_narrow(handover) for handover in pair.handovers):
        return True
    wide = [
        {step for step in kernel.program.steps if step.match is not None and any(map(is_wide, step.match.effects))}
        for is_wide in (_is_wide_arrival, _is_wide_wait)
    ]
    if not all(wide):
        return False
    gives = {e.step for thread in pair.giver.threads.values() for _, e in thread.positions(MbarrierArrive)}
    takes = {e.step for thread in pair.taker.threads.values() for _, e in thread.positions(MbarrierWait)}
    return pair.giver.scenario.launch.cluster_size > 2 or not (wide[0] <= gives and wide[1] <= takes)


def _is_wide_arrival(effect: object) -> bool:
    return isinstance(effect, MbarrierArrive) and _lack(effect) is None and not effect.asynchronous


def _is_wide_wait(effect: object) -> bool:
    return isinstance(effect, MbarrierWait) and _lack(effect) is None


def _is_narrow(handover: Handover) -> bool:
    """Whether the arrival or the wait orders its own CTA only, or nothing."""
    return any(lack_of(touch.event) is not None for touch in (handover.arrival, handover.wait))


def _conflict(before: Event, after: Event) -> str | None:
    """`data` where contents written by a store are used, `reuse` where memory that was read is written again."""
    first, second = before.effect, after.effect
    assert isinstance(first, Access)
    assert isinstance(second, Access)
    if first.kind == "read":
        return "reuse" if second.kind != "read" else None
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
