"""Sizes that a block may have besides those that are walked, where a kernel says at most how large it is.

What goes wrong in the largest block may be right in a smaller one, for which the kernel is meant. The counts that it
gives its barriers and mbarriers tell which sizes these may be: one arrival a thread, a warp or a warpgroup, and a warp
or a warpgroup more that makes none.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.analysis.sync.thread_classes import ThreadClass
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.isa.effects import Barrier, MbarrierInit

#: Threads of a warp and of a warpgroup.
_WARP, _WARPGROUP = 32, 128
#: Sizes that are tried at most, and threads of the largest block that any GPU takes.
MAX_SIZES, MAX_BLOCK_SIZE = 8, 1024


def alternative_launches(
    launch: LaunchConfig, actors: Iterable[ThreadClass], tried: Iterable[int]
) -> list[LaunchConfig]:
    """Launches of other sizes than those `tried` that the counts of barriers suggest, or that are a part of the
    largest block: whole warps, no more of them than the launch allows."""
    most = launch.threads if launch.is_limit else MAX_BLOCK_SIZE
    sizes = [size for count in _arrival_counts(actors) for size in _suggested_sizes(count)]
    sizes += [launch.threads >> shift for shift in range(1, MAX_BLOCK_SIZE.bit_length())]
    skipped = set(tried)
    found: list[LaunchConfig] = []
    for size in dict.fromkeys(sizes):
        _, y, z = launch.block
        if _WARP <= size <= most and not size % _WARP and not size % (y * z) and size not in skipped:
            found.append(LaunchConfig((size // (y * z), y, z), launch.cluster, is_exact=False))
    return found[:MAX_SIZES]


def _suggested_sizes(count: int) -> tuple[int, ...]:
    alone = (count, count * _WARP, count * _WARPGROUP)
    return (*alone, *(size + more for size in alone for more in (_WARP, _WARPGROUP)))


def _arrival_counts(actors: Iterable[ThreadClass]) -> list[int]:
    """The arrivals, or threads, that mbarriers and barriers are said to wait for."""
    found: dict[int, None] = {}
    for actor in actors:
        for event in actor.events:
            if isinstance(event.effect, MbarrierInit) and isinstance(event.amount, int):
                found[event.amount] = None
            elif isinstance(event.effect, Barrier) and event.effect.threads and isinstance(event.size, int):
                found[event.size] = None
    return list(found)
