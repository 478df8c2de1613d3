"""Compares the accesses of a schedule with those that are not ordered before them.

Source: PTX ISA, "Conflict and Data-races", "Causality order", "Async proxy".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

from ptxkit.analysis.dataflow.column_ranges import ColumnRanges
from ptxkit.analysis.intervals.interval_accesses import StateAccess
from ptxkit.analysis.intervals.unfenced_writes import is_async_read
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.phase_order.access_batches import AccessBatch, AccessBatches
from ptxkit.analysis.phase_order.order_state import ALL, NOTHING, THREAD, WARP, EventOrder, ScheduleState
from ptxkit.analysis.phase_order.ordering_effects import OrderingEffects
from ptxkit.analysis.phase_order.overlaps import Overlaps
from ptxkit.analysis.phase_order.segments import LocatedAccess, Segment, UnknownOrderError
from ptxkit.analysis.phase_order.tensor_accesses import is_of_tensor_memory, is_pipelined, is_warp_collective


class AccessComparison:
    """The accesses of one kernel that a schedule does not order.

    pairs: those that may use the same bytes, for each of both steps. unfenced: the writes of the generic proxy that no
    fence follows, for each step that may read them by the async proxy. tensor_pairs: as `pairs`, of Tensor Memory.
    tensor_unfenced: the accesses to it after which a thread executes no fence, for each step that needs one. columns:
    those that loads and stores access.
    """

    def __init__(
        self, overlaps: Overlaps, effects: OrderingEffects, columns: ColumnRanges, *, has_tensor_fences: bool
    ) -> None:
        self._overlaps, self._effects, self._columns = overlaps, effects, columns
        self._batches = AccessBatches(has_tensor_fences=has_tensor_fences)
        self._conflicts: dict[tuple[AccessBatch, AccessBatch], Sequence[tuple[StateAccess, StateAccess]]] = {}
        self._of_segment: dict[Segment, Sequence[AccessBatch]] = {}
        self._compared: set[Hashable] = set()
        self.pairs: dict[Step, set[tuple[StateAccess, StateAccess]]] = defaultdict(set)
        self.unfenced: dict[Step, set[Step]] = defaultdict(set)
        self.tensor_pairs: dict[Step, set[tuple[StateAccess, StateAccess]]] = defaultdict(set)
        self.tensor_unfenced: dict[Step, set[Step]] = defaultdict(set)

    def clear(self) -> None:
        """Forgets all comparisons, since the threads are divided into other groups."""
        self._compared.clear()
        self._of_segment.clear()  # whose accesses are compared with each other where it is not known
        for found in (self.pairs, self.unfenced, self.tensor_pairs, self.tensor_unfenced):
            found.clear()

    def add(self, state: ScheduleState, group: int, located: Sequence[LocatedAccess], segment: Segment | None) -> None:
        """Compares accesses of a group with what is not ordered before them, and with each other; then they occur.

        segment: that which has the accesses; None if they are those of an ordering step.
        """
        batches = self._batches_of(located, segment)
        earlier = list(state.batches())
        for batch in batches:
            for other, owner, order in earlier:
                levels = order.levels[group], order.fenced[group]
                key = batch, other, levels, owner == group
                if key not in self._compared:
                    self._compared.add(key)
                    for access, before in self._conflicts_of(batch, other):
                        self._compare(access, batch.threads, before, other.threads, levels, is_own=owner == group)
        count = len(self._effects.groups)
        for batch in batches:
            own = NOTHING if batch.group is not None else THREAD
            levels_of_groups = tuple(own if each == group else NOTHING for each in range(count))
            order = EventOrder(levels_of_groups, (NOTHING,) * count, batch.threads, self._completed_by(batch, located))
            state.occur(("access", batch, group), order)

    def _batches_of(self, located: Sequence[LocatedAccess], segment: Segment | None) -> Sequence[AccessBatch]:
        if segment is not None and segment in self._of_segment:
            return self._of_segment[segment]
        located = [each for each in located if self._overlaps.partners(each[1])]
        self._compare_within(located, segment)
        found = list(self._batches.of((access, mask) for _, access, mask in located))
        if segment is not None:
            self._of_segment[segment] = found
        return found

    def _conflicts_of(self, batch: AccessBatch, other: AccessBatch) -> Sequence[tuple[StateAccess, StateAccess]]:
        found = self._conflicts.get((batch, other))
        if found is None:
            before = frozenset(other.accesses)
            found = [(each, one) for each in batch.accesses for one in self._overlaps.partners(each) & before]
            self._conflicts[batch, other] = found
        return found

    def _completed_by(self, batch: AccessBatch, located: Sequence[LocatedAccess]) -> object:
        """Returns the mechanism or the mbarrier that completes accesses."""
        if batch.group != "mbarrier":
            return batch.group
        places: set[object] = set()
        for at, access, mask in located:
            if access in batch.accesses:
                places.update(self._effects.signaled_by(at, access, mask))
        if len(places) != 1:
            raise UnknownOrderError("copies of one step complete on several mbarriers")
        return places.pop()

    def _compare(
        self,
        access: StateAccess,
        mask: int,
        other: StateAccess,
        others: int,
        levels: tuple[int, int],
        *,
        is_own: bool,
    ) -> None:
        """Compares an access with an earlier one."""

        is_collective = is_warp_collective(access) and is_warp_collective(other)
        is_apart = is_own and is_collective and self._columns.are_apart(access.step, other.step)

        def may_meet(level: int) -> bool:
            needed = level if is_own or level == WARP else NOTHING
            if is_apart or (is_collective and not is_own):
                needed = max(needed, WARP)  # each lane compares the instructions of its warp
            return level != ALL and self._overlaps.may_meet(access, mask, other, others, needed)

        level, fenced = levels
        if is_own and level == THREAD and any(_is_executed_by_warps(each) for each in (access, other)):
            level = WARP  # such an instruction accesses memory when all lanes have come to it, and before any continues
        if may_meet(level):
            self._add(access, other)
        if is_async_read(access) and other.writes and other.effect.proxy == "generic" and may_meet(fenced):
            self.unfenced[access.step].add(other.step)
        if self._batches.needs_tensor_fence(access, other):
            # Loads and stores are complete when their warp has waited for them.
            needed = fenced if is_pipelined(other) else max(fenced, WARP)
            if may_meet(needed):
                self.tensor_unfenced[access.step].add(other.step)

    def _compare_within(self, located: Sequence[LocatedAccess], segment: Segment | None) -> None:
        """Compares the accesses of a segment, or of an ordering step, with each other."""
        present = {each[1]: each for each in located}
        for each in located:
            for other in present.keys() & self._overlaps.partners(each[1]):
                self._compare_in_segment(each, present[other], segment)

    def _compare_in_segment(self, first: LocatedAccess, second: LocatedAccess, segment: Segment | None) -> None:
        one, other = first[1], second[1]
        if segment is not None:
            for earlier, later in ((first, second), (second, first)):
                is_unfenced = earlier[1].writes and earlier[1].effect.proxy == "generic" and is_async_read(later[1])
                if is_unfenced and segment.is_after(later, earlier) and self._shares(later, earlier, NOTHING):
                    self.unfenced[later[1].step].add(earlier[1].step)
        follows = segment is not None and (
            (one.group is not None and segment.is_after(second, first))
            or (other.group is not None and segment.is_after(first, second))
        )
        level = WARP if any(_is_executed_by_warps(each) for each in (one, other)) else THREAD
        if is_warp_collective(one) and is_warp_collective(other) and self._columns.are_apart(one.step, other.step):
            follows = False
        if self._shares(first, second, NOTHING if follows else level):
            self._add(one, other)

    def _shares(self, one: LocatedAccess, other: LocatedAccess, level: int) -> bool:
        return self._overlaps.may_meet(one[1], one[2], other[1], other[2], level)

    def _add(self, one: StateAccess, other: StateAccess) -> None:
        pairs = self.tensor_pairs if is_of_tensor_memory(one) else self.pairs
        pairs[one.step].add((one, other))
        pairs[other.step].add((other, one))


def _is_executed_by_warps(access: StateAccess) -> bool:
    """Returns whether the lanes of a warp access memory together; that is no synchronization of them."""
    match = access.step.match
    return match is not None and match.is_aligned and not access.is_strict
