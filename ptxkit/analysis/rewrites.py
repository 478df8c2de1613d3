"""Whether bytes that a thread wrote may have been replaced by an asynchronous copy before something else reads them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ptxkit.analysis.ranges import RangeIndex
from ptxkit.isa.effects import MbarrierWait

if TYPE_CHECKING:
    from ptxkit.analysis.thread import Thread

#: A tensor copy of unknown box may have rewritten this much from its address on.
LARGEST_BOX = 64 << 10


class Rewrites:
    """The asynchronous writes of a CTA: by thread, and by the mbarriers that tell of them."""

    def __init__(self, threads: dict[int, Thread]) -> None:
        self._own: dict[int, RangeIndex[int]] = defaultdict(RangeIndex)
        self._told: RangeIndex[object] = RangeIndex()
        for thread in threads.values():
            for position, event in thread.async_writes:
                assert isinstance(event.address, int)
                size = event.size if isinstance(event.size, int) and event.size else LARGEST_BOX
                self._own[thread.tid].add(event.address, event.address + size, position)
                self._told.add(event.address, event.address + size, event.barrier)

    def between(self, thread: Thread, since: int, until: int, extent: tuple[int, int]) -> bool:
        """Whether the thread itself started such a write between two of its positions, or learnt that one was done."""
        if any(since < position < until for position in self._own[thread.tid].overlapping(*extent)):
            return True
        barriers = set(self._told.overlapping(*extent))
        return bool(barriers) and any(
            since < position < until and (event.address in barriers or not isinstance(event.address, int))
            for position, event in thread.positions(MbarrierWait)
        )
