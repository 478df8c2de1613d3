"""Determines whether an asynchronous copy may have replaced bytes that a thread wrote before they are read."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ptxkit.analysis.ir.interval_index import IntervalIndex
from ptxkit.analysis.limits import MAX_BOX_BYTES
from ptxkit.isa.effects import MbarrierWait

if TYPE_CHECKING:
    from ptxkit.analysis.context.thread_view import ThreadView


class AsyncOverwrites:
    """The asynchronous writes of a CTA, by thread and by the mbarriers on which they complete."""

    def __init__(self, threads: dict[int, ThreadView]) -> None:
        self._by_thread: dict[int, IntervalIndex[int]] = defaultdict(IntervalIndex)
        self._mbarriers: IntervalIndex[object] = IntervalIndex()
        for thread in threads.values():
            for position, event in thread.async_writes:
                assert isinstance(event.address, int)
                size = event.size if isinstance(event.size, int) and event.size else MAX_BOX_BYTES
                self._by_thread[thread.tid].add(event.address, event.address + size, position)
                self._mbarriers.add(event.address, event.address + size, event.barrier)

    def may_overwrite_between(self, thread: ThreadView, since: int, until: int, extent: tuple[int, int]) -> bool:
        """Returns whether the thread started such a write, or observed its completion, between two positions."""
        if any(since < position < until for position in self._by_thread[thread.tid].overlapping(*extent)):
            return True
        barriers = set(self._mbarriers.overlapping(*extent))
        return bool(barriers) and any(
            since < position < until and (event.address in barriers or not isinstance(event.address, int))
            for position, event in thread.positions(MbarrierWait)
        )
