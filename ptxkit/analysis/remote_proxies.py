"""Where bytes of shared memory pass from one CTA of a cluster to another, and through the async proxy there.

Accesses of one proxy are ordered by synchronisation where they are of one CTA; between two CTAs a proxy fence belongs
to it. Where a thread learns that a bulk copy or an asynchronous multiplication is complete, there is such a fence, too.
Any fence of other threads of a CTA counts; where one is executed by no thread that is looked at, nothing is said.

Source: PTX ISA, "Async Proxy", "Causality Order", "membar / fence".
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TypeAlias

from ptxkit.analysis.kernel import Kernel, World
from ptxkit.analysis.pairs import Pair, Touch, pairs_of
from ptxkit.analysis.program import Step
from ptxkit.analysis.thread import Thread
from ptxkit.analysis.touches import covers_shared, is_async_read, is_async_write, is_generic_write
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import Access, MbarrierWait, ProxyFence, WaitGroup
from ptxkit.records import dataclass

#: Pairs of accesses by two CTAs that are looked at, at most.
MAX_LOOKED_AT = 4_000
_BEHIND = 1 << 62
_IMPLICIT = ("bulk", "wgmma")


@dataclass(frozen=True, slots=True)
class Passage:
    """Two accesses of the same bytes by two CTAs, one surely ordered behind the other, the later one asynchronous.

    kind: `generic` where the first is a store and the later one reads, `async` where both are asynchronous and one of
    them writes. given, taken: whether a proxy fence may stand in the CTA of the first, and in that of the later one.
    """

    before: Touch
    after: Touch
    kind: str
    given: bool
    taken: bool


def passages_of(kernel: Kernel, world: World) -> Iterator[Passage]:
    """The passages from a CTA to the others of its cluster, one for each two instructions."""
    for pair in pairs_of(kernel, world):
        if _hides_fences(kernel, pair):
            continue
        found: set[tuple[Step, Step]] = set()
        left = MAX_LOOKED_AT
        for before, after in pair.shared(_is_asynchronous):
            kind = _kind(before.event, after.event)
            steps = (before.event.step, after.event.step)
            if kind is None or steps in found:
                continue
            left -= 1
            spans = _spans(pair, before, after)
            if spans is not None:
                found.add(steps)
                yield Passage(before, after, kind, _given(pair, before, spans[0]), _taken(pair, after, spans[1], kind))
            if left < 0:
                break


def _hides_fences(kernel: Kernel, pair: Pair) -> bool:
    """Whether a proxy fence is executed by none of the threads that are looked at: it may stand anywhere."""
    steps = {step for step in kernel.program.acting if any(isinstance(e, ProxyFence) for e in step.effects)}
    for world in (pair.giver, pair.taker):
        steps -= {event.step for thread in world.threads.values() for _, event in thread.positions(ProxyFence)}
    return bool(steps)


def _is_asynchronous(event: Event) -> bool:
    return is_async_read(event) or is_async_write(event)


def _kind(before: Event, after: Event) -> str | None:
    effect = before.effect
    if is_async_read(after) and is_generic_write(before) and isinstance(effect, Access) and effect.completion is None:
        return "generic"
    is_write = is_async_write(before) or is_async_write(after)
    return "async" if is_write and _is_asynchronous(before) and _is_asynchronous(after) else None


_Positions: TypeAlias = dict[Thread, int]
"""By thread of a CTA, where it is when one of two CTAs hands over, or takes over."""


def _spans(pair: Pair, before: Touch, after: Touch) -> tuple[_Positions, _Positions] | None:
    """Up to where threads of the one CTA may fence for the other, and from where on threads of that one may; None where
    the two accesses are not surely ordered."""
    if pair.has_met(before, after):
        return pair.around(before)
    for handover in pair.handovers:
        if pair.joins(before, handover, after):
            given = dict.fromkeys(pair.giver.threads.values(), _BEHIND) | {
                handover.arrival.thread: handover.arrival.position
            }
            taken = dict.fromkeys(pair.taker.threads.values(), -1) | {handover.wait.thread: handover.wait.position}
            return given, taken
    return None


def _given(pair: Pair, before: Touch, until: _Positions) -> bool:
    """Whether a fence may stand between an access and what hands over."""
    own = before.thread
    return any(_is_fenced(pair.giver, t, before.position if t is own else -1, at, t is own) for t, at in until.items())


def _taken(pair: Pair, after: Touch, since: _Positions, kind: str) -> bool:
    """Whether a fence may stand between what takes over and an access. Of what was stored, a copy that any thread waits
    for may have replaced it."""
    own = after.thread
    return any(
        _is_fenced(pair.taker, t, at, after.position if t is own else _BEHIND, t is own or kind == "generic")
        for t, at in since.items()
    )


def _is_fenced(world: World, thread: Thread, since: int, until: int, waits: bool) -> bool:
    """Whether a thread fences between two positions. waits: what it waits for may do so, too."""
    told = frozenset(copy.event.barrier for other in world.threads.values() for copy in other.copies)
    kinds = (ProxyFence, WaitGroup, MbarrierWait) if waits else (ProxyFence,)
    return any(since < at < until and _fences(event, told) for at, event in thread.positions(*kinds))


def _fences(event: Event, told: Set[object]) -> bool:
    if isinstance(event.effect, WaitGroup):
        return event.effect.group in _IMPLICIT
    if isinstance(event.effect, MbarrierWait):
        return event.address in told or not isinstance(event.address, int)
    return covers_shared(event, None)
