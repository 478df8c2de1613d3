"""Sizes that a block may have besides those that are walked, where a kernel says at most how large it is.

What goes wrong in the largest block may be right in a smaller one, for which the kernel is meant. The counts that it
gives its barriers and mbarriers tell which sizes these may be: one arrival a thread, a warp or a warpgroup, and a warp
or a warpgroup more that makes none.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.analysis.actors import Actor
from ptxkit.analysis.scenario import Launch
from ptxkit.isa.effects import Barrier, MbarrierInit

#: Threads of a warp and of a warpgroup.
_WARP, _WARPGROUP = 32, 128
#: Sizes that are tried at most, and threads of the largest block that any GPU takes.
MAX_SIZES, LARGEST = 8, 1024


def launches(launch: Launch, actors: Iterable[Actor], tried: Iterable[int]) -> list[Launch]:
    """Launches of other sizes than those `tried` that the counts of barriers suggest, or that are a part of the
    largest block: whole warps, no more of them than the launch allows."""
    most = launch.threads if launch.is_limit else LARGEST
    sizes = [size for count in _counts(actors) for size in _suggested(count)]
    sizes += [launch.threads >> shift for shift in range(1, LARGEST.bit_length())]
    skipped = set(tried)
    found: list[Launch] = []
    for size in dict.fromkeys(sizes):
        _, y, z = launch.block
        if _WARP <= size <= most and not size % _WARP and not size % (y * z) and size not in skipped:
            found.append(Launch((size // (y * z), y, z), launch.cluster, is_exact=False))
    return found[:MAX_SIZES]


def _suggested(count: int) -> tuple[int, ...]:
    alone = (count, count * _WARP, count * _WARPGROUP)
    return (*alone, *(size + more for size in alone for more in (_WARP, _WARPGROUP)))


def _counts(actors: Iterable[Actor]) -> list[int]:
    """The arrivals, or threads, that mbarriers and barriers are said to wait for."""
    found: dict[int, None] = {}
    for actor in actors:
        for event in actor.events:
            if isinstance(event.effect, MbarrierInit) and isinstance(event.amount, int):
                found[event.amount] = None
            elif isinstance(event.effect, Barrier) and event.effect.threads and isinstance(event.size, int):
                found[event.size] = None
    return list(found)
