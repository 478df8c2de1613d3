"""Finds conflicts with tensor copies that depend on the unknown sizes of their boxes.

A copy certainly accesses the smallest possible box. It may access more: up to the next address that a tensor copy
names or at which an mbarrier is, as far as two addresses of one map are apart, or to the end of the variable. If
unordered accesses of other threads are in this range, only the map decides whether they conflict.

Source: PTX ISA, "Tensor Size, Strides and Bounding Box", "cp.async.bulk.tensor".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ptxkit.analysis.context.box_rooms import address_of, find_box_rooms, has_unknown_box
from ptxkit.analysis.context.group_completion import find_completion_points
from ptxkit.analysis.context.happens_before import HappensBefore
from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.limits import MAX_BOX_PAIR_CHECKS, MAX_RACE_PAIR_CHECKS
from ptxkit.analysis.symexec.access_ranges import MIN_ACCESS_BYTES, access_range_of_lane, access_ranges_of_lanes
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, TraceEvent, UnknownCall
from ptxkit.analysis.values.symbolic_values import LaneValues
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access

if TYPE_CHECKING:
    from ptxkit.analysis.context.kernel_facts import ScenarioFacts

#: The numbers of first and of last executions of one instruction that are examined.
FIRST_EXECUTIONS, LAST_EXECUTIONS = 4, 2
#: The maximum distance of the addresses of the other threads from those of the first and the last thread.
RANGE_MARGIN = 1 << 14


@dataclass(frozen=True, slots=True)
class BoxSizeConflict:
    """A tensor copy, and an unordered access on another path to bytes that its box may contain."""

    copy: Step
    access: Step


@dataclass(frozen=True, slots=True)
class _TensorCopy:
    """A tensor copy of a path.

    end_position: the position after which its thread may release the completed copy. low, high: the bytes that it may
    access beyond the smallest box.
    """

    path: WarpPath
    position: int
    end_position: int
    event: TraceEvent | GroupEvent
    low: int
    high: int


def find_box_size_conflicts(facts: ScenarioFacts) -> list[BoxSizeConflict]:
    """Returns the accesses that conflict with tensor copies if the boxes of these are large enough; each pair once."""
    return list(_find_conflicts(facts))


def _find_conflicts(facts: ScenarioFacts) -> Iterator[BoxSizeConflict]:
    reaches = {place: place + room for place, room in find_box_rooms(facts.groups, facts.program).items()}
    if all(high <= place + MIN_ACCESS_BYTES for place, high in reaches.items()):
        return
    causality = HappensBefore(facts, AnalysisBudget(pair_checks=min(MAX_RACE_PAIR_CHECKS, facts.budget.pair_checks)))
    copies = [copy for group in facts.groups for copy in _tensor_copies(group, reaches, causality)]
    if not copies:
        return
    low, high = min(copy.low for copy in copies), max(copy.high for copy in copies)
    asked: set[BoxSizeConflict] = set()
    left = MAX_BOX_PAIR_CHECKS
    for group in facts.groups:
        for position, event in _sampled_accesses(group):
            if not _is_weak_generic(event):
                continue
            for path, first, last in _path_ranges(group, event, causality) if _may_access(event, low, high) else ():
                for copy in copies:
                    if first >= copy.high or last <= copy.low or path is copy.path:
                        continue
                    question = BoxSizeConflict(copy.event.step, event.step)
                    if question in asked or (_is_read(copy.event) and _is_read(event)):
                        continue
                    left -= 1
                    if left < 0:
                        return
                    if not _are_ordered(causality, copy, path, position):
                        asked.add(question)
                        yield question


def _are_ordered(causality: HappensBefore, copy: _TensorCopy, path: WarpPath, position: int) -> bool:
    """Returns whether a copy and the access of another path at a position may be ordered, in either direction."""
    barrier = copy.event.barrier if isinstance(copy.event, TraceEvent) else copy.event.fields[3]
    mbarrier = None if isinstance(barrier, LaneValues) or _is_read(copy.event) else barrier
    after = causality.first_ordered_position(copy.path, copy.end_position, path, mbarrier) <= position
    return after or causality.may_precede(path, position, copy.path, copy.position)


def _tensor_copies(group: GroupTrace, reaches: Mapping[int, int], causality: HappensBefore) -> Iterator[_TensorCopy]:
    """Yields the tensor copies of a group whose boxes may be larger than the smallest one."""
    endings: Mapping[int, int] | None = None
    for position, event in _sampled_accesses(group):
        place = address_of(event)
        if not isinstance(place, int) or not has_unknown_box(event) or reaches[place] <= place + MIN_ACCESS_BYTES:
            continue
        endings = find_completion_points(group) if endings is None else endings
        taking = next((i for i in range(len(group.tids)) if access_range_of_lane(event, i) is not None), 0)
        path, end = causality.path_of(group.tids[taking]), endings.get(position, position)
        yield _TensorCopy(path, position, end, event, place + MIN_ACCESS_BYTES, reaches[place])


def _sampled_accesses(group: GroupTrace) -> Iterator[tuple[int, TraceEvent | GroupEvent]]:
    """Yields the accesses of a group with their positions: the first and last executions of each instruction."""
    last = {event.step: event.visit for event in group.events}
    for position, event in enumerate(group.events):
        if isinstance(event, UnknownCall) or not isinstance(event.effect, Access):
            continue
        if event.visit < FIRST_EXECUTIONS or event.visit > last[event.step] - LAST_EXECUTIONS:
            yield position, event


def _is_weak_generic(event: TraceEvent | GroupEvent) -> bool:
    """Returns whether an access is weak, synchronous, and through the generic proxy."""
    effect = event.effect
    if not isinstance(effect, Access):
        return False
    return (effect.proxy, effect.completion, effect.order) == ("generic", None, "weak")


def _is_read(event: TraceEvent | GroupEvent) -> bool:
    return isinstance(event.effect, Access) and event.effect.kind == "read"


def _may_access(event: TraceEvent | GroupEvent, low: int, high: int) -> bool:
    """Returns whether bytes of a range may be accessed, judging by the first and the last thread."""
    held = address_of(event)
    ends = (held.at(0), held.at(held.count - 1)) if isinstance(held, LaneValues) else (held,)
    return any(isinstance(place, int) and low - RANGE_MARGIN <= place < high + RANGE_MARGIN for place in ends)


def _path_ranges(
    group: GroupTrace, event: TraceEvent | GroupEvent, causality: HappensBefore
) -> Iterator[tuple[WarpPath, int, int]]:
    """Yields the range that the threads of each path access: from the lowest byte to the end of the highest."""
    found: dict[WarpPath, tuple[int, int]] = {}
    for tid, touched in zip(group.tids, access_ranges_of_lanes(event, len(group.tids)), strict=True):
        if touched is not None:
            path = causality.path_of(tid)
            low, high = found.get(path, touched)
            found[path] = min(low, touched[0]), max(high, touched[1])
    for path, (low, high) in found.items():
        yield path, low, high
