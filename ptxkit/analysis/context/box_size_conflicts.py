"""What tensor copies may touch beyond their first bytes, where the boxes of their maps are unknown.

A copy surely touches the smallest box there is. It may touch more: up to the next place that a tensor copy names, as
far as two places of one map are apart, or to the end of the variable. Accesses of other threads in there, which nothing
orders, are a question that only the map answers.

Source: PTX ISA, "Tensor Size, Strides and Bounding Box", "cp.async.bulk.tensor".
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from ptxkit.analysis.context.group_completion import find_completion_points
from ptxkit.analysis.context.happens_before import HappensBefore
from ptxkit.analysis.context.warp_paths import WarpPath
from ptxkit.analysis.ir.budget import AnalysisBudget
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.limits import MAX_BOX_PAIR_CHECKS, MAX_RACE_PAIR_CHECKS
from ptxkit.analysis.symexec.access_ranges import MIN_ACCESS_BYTES, access_range_of_lane, access_ranges_of_lanes
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, TraceEvent, UnknownCall
from ptxkit.analysis.values.symbolic_values import GroupValue, LaneValues
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.effects import Access, Effect

if TYPE_CHECKING:
    from ptxkit.analysis.context.kernel_facts import ScenarioFacts

#: Executions of one instruction that are looked at, the first and the last.
FIRST_EXECUTIONS, LAST_EXECUTIONS = 4, 2
#: How far what the threads between touch may lie from what the first and the last one do.
RANGE_MARGIN = 1 << 14


@dataclass(frozen=True, slots=True)
class BoxSizeConflict:
    """A tensor copy, and an access of another warp to bytes that its box may have, with nothing that orders the two."""

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


def find_box_size_conflicts(facts: ScenarioFacts) -> Iterator[BoxSizeConflict]:
    """The accesses that conflict with tensor copies if the boxes of these are large enough; each pair once."""
    places = _copies_by_address(facts.groups)
    reaches = {place: place + _max_box_bytes(place, places, facts.program) for place in places}
    if all(high <= place + MIN_ACCESS_BYTES for place, high in reaches.items()):
        return
    causality = HappensBefore(facts, AnalysisBudget(pair_checks=min(MAX_RACE_PAIR_CHECKS, facts.budget.pair_checks)))
    copies = [copy for group in facts.groups for copy in _tensor_copies(group, reaches, causality)]
    low, high = min(copy.low for copy in copies), max(copy.high for copy in copies)
    asked: set[BoxSizeConflict] = set()
    left = MAX_BOX_PAIR_CHECKS
    for group in facts.groups:
        for position, event in _sampled_accesses(group):
            if not _is_weak_generic(event):
                continue
            for path, first, last in _path_ranges(group, event, causality) if _may_access(event, low, high) else ():
                for copy in copies:
                    question = BoxSizeConflict(copy.event.step, event.step)
                    if question in asked or first >= copy.high or last <= copy.low or path.warp == copy.path.warp:
                        continue
                    if _is_read(copy.event) and _is_read(event):
                        continue
                    left -= 1
                    if left < 0:
                        return
                    if not _are_ordered(causality, copy, path, position):
                        asked.add(question)
                        yield question


def _are_ordered(causality: HappensBefore, copy: _TensorCopy, path: WarpPath, position: int) -> bool:
    """Whether a copy and what another path does at a position may be ordered, either way."""
    barrier = copy.event.barrier if isinstance(copy.event, TraceEvent) else copy.event.fields[3]
    mbarrier = None if isinstance(barrier, LaneValues) or _is_read(copy.event) else barrier
    after = causality.first_ordered_position(copy.path, copy.end_position, path, mbarrier) <= position
    return after or causality.may_precede(path, position, copy.path, copy.position)


def _tensor_copies(group: GroupTrace, reaches: Mapping[int, int], causality: HappensBefore) -> Iterator[_TensorCopy]:
    """The tensor copies of a group whose boxes may be larger than the smallest."""
    endings: Mapping[int, int] | None = None
    for position, event in _sampled_accesses(group):
        place = _address_of(event)
        if not isinstance(place, int) or not _has_unknown_box(event) or reaches[place] <= place + MIN_ACCESS_BYTES:
            continue
        endings = find_completion_points(group) if endings is None else endings
        taking = next((i for i in range(len(group.tids)) if access_range_of_lane(event, i) is not None), 0)
        path, end = causality.path_of(group.tids[taking]), endings.get(position, position)
        yield _TensorCopy(path, position, end, event, place + MIN_ACCESS_BYTES, reaches[place])


def _sampled_accesses(group: GroupTrace) -> Iterator[tuple[int, TraceEvent | GroupEvent]]:
    """The accesses of a group with their positions: the first and last executions of each instruction."""
    last = {event.step: event.visit for event in group.events}
    for position, event in enumerate(group.events):
        if isinstance(event, UnknownCall) or not isinstance(event.effect, Access):
            continue
        if event.visit < FIRST_EXECUTIONS or event.visit > last[event.step] - LAST_EXECUTIONS:
            yield position, event


def _is_weak_generic(event: TraceEvent | GroupEvent) -> bool:
    """Whether an access is a weak one through the generic proxy, over at once."""
    effect = event.effect
    if not isinstance(effect, Access):
        return False
    return (effect.proxy, effect.completion, effect.order) == ("generic", None, "weak")


def _is_read(event: TraceEvent | GroupEvent) -> bool:
    return isinstance(event.effect, Access) and event.effect.kind == "read"


def _may_access(event: TraceEvent | GroupEvent, low: int, high: int) -> bool:
    """Whether bytes of a range may be touched, as far as the first and the last thread show."""
    held = _address_of(event)
    ends = (held.at(0), held.at(held.count - 1)) if isinstance(held, LaneValues) else (held,)
    return any(isinstance(place, int) and low - RANGE_MARGIN <= place < high + RANGE_MARGIN for place in ends)


def _path_ranges(
    group: GroupTrace, event: TraceEvent | GroupEvent, causality: HappensBefore
) -> Iterator[tuple[WarpPath, int, int]]:
    """What the threads of each path touch: from the lowest byte to the end of the highest."""
    found: dict[WarpPath, tuple[int, int]] = {}
    for tid, touched in zip(group.tids, access_ranges_of_lanes(event, len(group.tids)), strict=True):
        if touched is not None:
            path = causality.path_of(tid)
            low, high = found.get(path, touched)
            found[path] = min(low, touched[0]), max(high, touched[1])
    for path, (low, high) in found.items():
        yield path, low, high


def _has_unknown_box(event: TraceEvent | GroupEvent) -> bool:
    """Whether an event is the access to shared memory of a tensor copy whose box is unknown."""
    effect = event.effect
    if not isinstance(effect, Access) or effect.via != "address" or not effect.space.startswith("shared"):
        return False
    return event.step.box_bytes is None and any(_is_tensor_map_read(each) for each in event.step.effects)


def _is_tensor_map_read(effect: Effect) -> bool:
    return isinstance(effect, Access) and effect.proxy == "tensormap"


def _address_of(event: TraceEvent | GroupEvent) -> GroupValue | None:
    return event.address if isinstance(event, TraceEvent) else event.fields[0]


def _copies_by_address(groups: Iterable[GroupTrace]) -> Mapping[int, set[Hashable]]:
    """Where tensor copies with unknown boxes go in shared memory, or come from, with the map and kind of each."""
    found: dict[int, set[Hashable]] = defaultdict(set)
    for group in groups:
        events = [event for event in group.events if not isinstance(event, UnknownCall)]
        maps = {(e.step, e.visit): _address_of(e) for e in events if _is_tensor_map_read(e.effect)}
        for event in events:
            place = _address_of(event)
            if isinstance(place, int) and _has_unknown_box(event):
                kind = event.step.match.canonical if event.step.match is not None else ""
                found[place].add((kind, maps.get((event.step, event.visit))))
    return found


def _max_box_bytes(place: int, places: Mapping[int, set[Hashable]], program: Program) -> int:
    """How many bytes from a place on a box may have; 0 where nothing bounds them."""
    variable = program.variable_at(place)
    if variable is None:
        return 0
    ordered = sorted(places)
    following = bisect_right(ordered, place)
    bounds = [ordered[following] - place] if following < len(ordered) else []
    for box in places[place]:
        own = [each for each in ordered if box in places[each]]
        bounds += [later - earlier for earlier, later in pairwise(own)]
    if not variable.is_open:
        bounds.append(variable.address + variable.size - place)
    return min(bounds, default=0)
