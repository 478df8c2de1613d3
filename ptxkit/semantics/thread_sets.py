"""Sets of threads as the bits of an integer, thread 0 as the lowest, and their warps.

A set of warps has the bit of the first lane of each.
"""

from __future__ import annotations

from collections.abc import Iterable

from ptxkit.limits import MAX_CTA_THREADS
from ptxkit.syntax.constants import WARP_SIZE

_ALL_LANES = (1 << WARP_SIZE) - 1
_FIRST_LANES = ((1 << MAX_CTA_THREADS) - 1) // _ALL_LANES


def thread_set(threads: Iterable[int]) -> int:
    """Returns the set of some threads."""
    found = 0
    for thread in threads:
        found |= 1 << thread
    return found


def thread_range(first: int, count: int) -> int:
    """Returns the set of `count` threads, beginning with `first`."""
    return (1 << count) - 1 << first


def warps_of(threads: int) -> int:
    """Returns the warps of which at least one thread is in a set of threads of one CTA."""
    for distance in (16, 8, 4, 2, 1):
        threads |= threads >> distance  # the bit of a first lane never comes from another warp
    return threads & _FIRST_LANES


def lanes_of(warps: int) -> int:
    """Returns the threads of warps."""
    return warps * _ALL_LANES


def first_thread(threads: int) -> int:
    """Returns the lowest thread of a set that is not empty."""
    return (threads & -threads).bit_length() - 1
