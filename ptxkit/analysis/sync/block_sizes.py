"""Chooses additional block sizes to explore where a kernel declares only the maximum size of its blocks.

A kernel that is wrong for the largest block may be correct for the smaller block for which it is intended. The counts
of its barriers and mbarriers suggest such sizes: one arrival for each thread, warp or warpgroup, and optionally a
further warp or warpgroup that does not arrive.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.analysis.limits import MAX_SIZES
from ptxkit.analysis.sync.thread_classes import ThreadClass
from ptxkit.analysis.values.scenario import LaunchConfig
from ptxkit.isa.effects import Barrier, MbarrierInit
from ptxkit.limits import MAX_CTA_THREADS
from ptxkit.syntax.constants import WARP_SIZE

#: The number of threads of a warp and of a warpgroup.
_WARPGROUP = 128


def alternative_launches(
    launch: LaunchConfig, actors: Iterable[ThreadClass], tried: Iterable[int]
) -> list[LaunchConfig]:
    """Returns launches of sizes other than those `tried`: sizes that counts suggest, or fractions of the largest.

    Each size is a number of whole warps within the limit of the launch.
    """
    most = launch.threads if launch.is_limit else MAX_CTA_THREADS
    sizes = [size for count in _arrival_counts(actors) for size in _suggested_sizes(count)]
    sizes += [launch.threads >> shift for shift in range(1, MAX_CTA_THREADS.bit_length())]
    skipped = set(tried)
    found: list[LaunchConfig] = []
    for size in dict.fromkeys(sizes):
        _, y, z = launch.block
        if WARP_SIZE <= size <= most and not size % WARP_SIZE and not size % (y * z) and size not in skipped:
            found.append(LaunchConfig((size // (y * z), y, z), launch.cluster, is_exact=False))
    return found[:MAX_SIZES]


def _suggested_sizes(count: int) -> tuple[int, ...]:
    full_sizes = (count, count * WARP_SIZE, count * _WARPGROUP)
    return (*full_sizes, *(size + more for size in full_sizes for more in (WARP_SIZE, _WARPGROUP)))


def _arrival_counts(actors: Iterable[ThreadClass]) -> list[int]:
    """Returns the declared counts of mbarriers (arrivals) and barriers (threads)."""
    found: dict[int, None] = {}
    for actor in actors:
        for event in actor.events:
            if isinstance(event.effect, MbarrierInit) and isinstance(event.amount, int):
                found[event.amount] = None
            elif isinstance(event.effect, Barrier) and event.effect.threads and isinstance(event.size, int):
                found[event.size] = None
    return list(found)
