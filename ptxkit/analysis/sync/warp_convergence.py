"""Finds where lanes of one warp may be ordered: after the next event or instruction at which they converge.

The manual does not state whether lanes execute in lockstep. A barrier of the warp, or of more threads, orders them; the
analysis treats an instruction that they execute together like such a barrier.

Source: PTX ISA, "bar.warp.sync", "Program Order", "Causality Order".
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping

from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_AHEAD, MAX_CONVERGENCE_BARRIERS
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, ThreadTrace, TraceEvent, UnknownCall
from ptxkit.analysis.sync.sync_edges import warp_mask_of
from ptxkit.isa.effects import Access, Barrier, MbarrierWait, MemoryFence
from ptxkit.semantics.ordering import is_warp_barrier, is_warp_convergence


class ConvergencePoints:
    """The points at which the lanes of a group, or the lanes that take the path of one thread, converge.

    These are events that may order the lanes, and collective instructions, which leave no event where all lanes of a
    warp take one path. apart: the steps at which the lanes in question do not wait for each other. collectives: whether
    collective instructions count, which order no memory.
    """

    def __init__(
        self, group: GroupTrace | ThreadTrace, apart: Collection[Step] = (), *, collectives: bool = True
    ) -> None:
        self._group = group
        self._collectives = collectives
        self._events = [at for at, e in enumerate(group.events) if e.step not in apart and self._may_order(e)]
        self._barriers = [at for at in self._events if isinstance(getattr(group.events[at], "effect", None), Barrier)]
        steps = (step for step in group.covered_steps if step not in apart) if collectives else ()
        self._collective = sorted(_collective_positions(steps))

    def _may_order(self, event: TraceEvent | GroupEvent | UnknownCall) -> bool:
        if isinstance(event, UnknownCall) or self._collectives or not is_warp_convergence(event.effect):
            return _is_ordering_point(event)
        return False

    def count_before(self, position: int) -> int:
        """Returns how many events before a position may order lanes."""
        return bisect_left(self._events, position)

    def may_order_between(self, since: int, until: int) -> bool:
        """Returns whether events from one position up to another one may order lanes."""
        first = bisect_left(self._events, since)
        if first < len(self._events) and self._events[first] <= until:
            return True
        return self.converges_between(since, until)

    def converges_between(self, since: int, until: int) -> bool:
        """Returns whether there is a collective instruction between two positions, or at the later one."""
        return self._has_collective_between(self._group.events[since].step.start, self._group.events[until].step.start)

    def _has_collective_between(self, since: int, until: int) -> bool:
        """Returns whether there is a collective instruction between two places of the text.

        Where the later place precedes the earlier one in the text, the range includes the back edge of the loop.
        """
        known = self._collective
        if since < until:
            return bisect_left(known, since) < bisect_right(known, until)
        return bool(known) and (known[-1] >= since or known[0] <= until)

    def next_point(self, position: int) -> int | None:
        """Returns the first position from `position` on at which a lane of the same path may be ordered after it."""
        first = bisect_left(self._events, position)
        meeting = self._events[first] if first < len(self._events) else None
        ahead = min(position + MAX_AHEAD, len(self._group.events)) if self._collective else 0
        own = self._group.events[position].step
        if self._collectives and is_collective_step(own):
            return position
        for at in range(position + 1, ahead if meeting is None else min(ahead, meeting)):
            if self._has_collective_between(own.start, self._group.events[at].step.start):
                return at
        if meeting is None and ahead == position + MAX_AHEAD:
            return ahead
        return meeting

    def barriers_from(self, position: int) -> list[TraceEvent | GroupEvent | UnknownCall]:
        """Returns the next barriers from a position on."""
        first = bisect_left(self._barriers, position)
        return [self._group.events[at] for at in self._barriers[first : first + MAX_CONVERGENCE_BARRIERS]]


def barriers_of_some_lanes(group: GroupTrace) -> list[GroupEvent]:
    """Returns the barriers of warps at which the threads of a group differ."""
    events = (event for event in group.events if isinstance(event, GroupEvent) and is_warp_barrier(event.effect))
    return [event for event in events if not is_warp_convergence(event.effect)]


def steps_of_different_masks(barriers: Iterable[GroupEvent], lanes: Mapping[int, int]) -> frozenset[Step]:
    """Returns the steps of barriers that not all of some threads of a group execute with one mask, each time.

    Each thread waits for those that name the same mask. lanes: the threads, by their indices in the group.
    """
    apart: dict[Step, bool] = {}
    for event in barriers:
        masks = {
            None if (own := event.for_thread(index)) is None else warp_mask_of(own, tid) for index, tid in lanes.items()
        }
        apart[event.step] = apart.get(event.step, True) and None not in masks and len(masks) > 1
    return frozenset(step for step, is_apart in apart.items() if is_apart)


def _is_ordering_point(event: TraceEvent | GroupEvent | UnknownCall) -> bool:
    """Returns whether an event may order a lane after others: a barrier, a wait, or a strong access to memory."""
    if isinstance(event, UnknownCall):
        return True
    effect = event.effect
    if isinstance(effect, Access):
        return effect.order != "weak"
    return isinstance(effect, Barrier | MbarrierWait | MemoryFence)


def _collective_positions(steps: Iterable[Step]) -> Iterator[int]:
    """Yields the places of the collective steps among the given steps."""
    known: dict[int, bool] = {}  # by instruction match, which many steps share
    for step in steps:
        answer = known.get(id(step.match))
        if answer is None:
            answer = known[id(step.match)] = is_collective_step(step)
        if answer:
            yield step.start


def is_collective_step(step: Step) -> bool:
    """Returns whether the lanes of a warp execute a step collectively.

    Such a step leaves no event where all lanes take one path.
    """
    if step.match is None:
        return False
    meets = any(map(is_warp_barrier, step.match.effects))
    return meets or step.match.is_aligned
