"""Finds how many bytes the boxes of tensor copies may have, judging by what else is in shared memory.

A copy accesses at most the bytes up to the next address that a tensor copy names or at which an mbarrier is, as far as
two addresses of one map are apart, or to the end of the variable.

Source: PTX ISA, "Tensor Size, Strides and Bounding Box", "cp.async.bulk.tensor".
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, TraceEvent, UnknownCall
from ptxkit.analysis.values.symbolic_values import GroupValue, LaneValues, value_of_lane
from ptxkit.isa.effects import Access, Effect, MbarrierInit


def find_box_rooms(groups: Sequence[GroupTrace], program: Program) -> dict[int, int]:
    """Returns, by the address of each tensor copy with an unknown box, the maximum number of its bytes.

    It is 0 where nothing limits it.
    """
    places = _copies_by_address(groups)
    mbarriers = sorted(_mbarriers(groups)) if places else []
    return {place: _max_box_bytes(place, places, mbarriers, program) for place in places}


def find_rooms_of_copies(groups: Sequence[GroupTrace], program: Program) -> dict[Step, int]:
    """Returns the maximum number of bytes of the box of each tensor copy that something limits."""
    rooms = find_box_rooms(groups, program)
    found: dict[Step, int] = {}
    for group in groups:
        for event in group.events:
            if not isinstance(event, UnknownCall) and has_unknown_box(event):
                for _, place in _places(event, group):
                    room = rooms.get(place, 0)
                    if room:
                        found[event.step] = min(room, found.get(event.step, room))
    return found


def has_unknown_box(event: TraceEvent | GroupEvent) -> bool:
    """Returns whether an event is the access to shared memory of a tensor copy whose box is unknown."""
    effect = event.effect
    if not isinstance(effect, Access) or effect.via != "address" or not effect.space.startswith("shared"):
        return False
    return event.step.box_bytes is None and any(_is_tensor_map_read(each) for each in event.step.effects)


def _is_tensor_map_read(effect: Effect) -> bool:
    return isinstance(effect, Access) and effect.proxy == "tensormap"


def address_of(event: TraceEvent | GroupEvent) -> GroupValue | None:
    """Returns the address of an event."""
    return event.address if isinstance(event, TraceEvent) else event.fields[0]


def _copies_by_address(groups: Iterable[GroupTrace]) -> Mapping[int, set[Hashable]]:
    """Returns, by address in shared memory, the map and kind of each tensor copy with an unknown box."""
    found: dict[int, set[Hashable]] = defaultdict(set)
    for group in groups:
        events = [event for event in group.events if not isinstance(event, UnknownCall)]
        maps = {(e.step, e.visit): address_of(e) for e in events if _is_tensor_map_read(e.effect)}
        for event in events:
            if has_unknown_box(event):
                kind = event.step.match.canonical if event.step.match is not None else ""
                used = maps.get((event.step, event.visit))
                for lane, place in _places(event, group):
                    found[place].add((kind, None if used is None else value_of_lane(used, lane)))
    return found


def _places(event: TraceEvent | GroupEvent, group: GroupTrace) -> Iterator[tuple[int, int]]:
    """Yields (index of the thread in the group, address) for each known address of an event; an address that all
    threads have is yielded once.
    """
    held = address_of(event)
    if isinstance(held, int):
        yield 0, held
    elif isinstance(held, LaneValues):
        taking = event.participants if isinstance(event, GroupEvent) else None
        for lane in range(len(group.tids)):
            place = held.at(lane) if taking is None or taking[lane] else None
            if isinstance(place, int):
                yield lane, place


def _mbarriers(groups: Iterable[GroupTrace]) -> Iterator[int]:
    """Yields the addresses at which threads initialize mbarriers."""
    for group in groups:
        for event in group.events:
            if not isinstance(event, UnknownCall) and isinstance(event.effect, MbarrierInit):
                place = address_of(event)
                if isinstance(place, int):
                    yield place


def _max_box_bytes(place: int, places: Mapping[int, set[Hashable]], mbarriers: Sequence[int], program: Program) -> int:
    """Returns the maximum number of bytes from an address on that a box may contain; 0 where it is not bounded."""
    variable = program.variable_at(place)
    if variable is None:
        return 0
    ordered = sorted(places)
    bounds = [at[first] - place for at in (ordered, mbarriers) if (first := bisect_right(at, place)) < len(at)]
    for box in places[place]:
        own = [each for each in ordered if box in places[each]]
        bounds += [later - earlier for earlier, later in pairwise(own)]
    if not variable.is_open:
        bounds.append(variable.address + variable.size - place)
    return min(bounds, default=0)
