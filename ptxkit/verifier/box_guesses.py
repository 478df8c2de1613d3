"""Guesses the bytes of the boxes of tensor maps, given what mbarriers expect of several maps together.

Copies by two maps often complete on one mbarrier, which expects the bytes of both. The places of the boxes in shared
memory show how the maps share these bytes: a tile usually ends where the next one begins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from ptxkit.analysis.context.box_rooms import find_rooms_of_copies
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.contract.linear_parameters import LinearParameters
from ptxkit.analysis.contract.tensor_maps import find_map_uses
from ptxkit.model.launch_contract import BoxBytes, Requirement

MapPlace: TypeAlias = tuple[str, int]
"""The parameter of a map, and the byte in it."""

_Rooms: TypeAlias = Mapping[MapPlace, int]
_BoxCounts: TypeAlias = list[tuple[MapPlace, int]]
_Sharing: TypeAlias = Callable[[_BoxCounts, int, _Rooms], dict[MapPlace, int]]

_MIN_MULTIPLE = 16
"""The bytes of a row of a box are a multiple of this number. Source: CUDA Driver API, "cuTensorMapEncodeTiled"."""


def guess_boxes(
    kernel: KernelFacts, requirements: Iterable[Requirement], known: Mapping[MapPlace, int]
) -> list[dict[MapPlace, int]]:
    """Returns alternatives for the bytes of the boxes of a kernel's maps, the most likely first.

    known: those that are known. A map that is in no alternative has a box of any size.
    """
    rooms = _rooms_of_maps(kernel)
    known = {place: size for place, size in known.items() if size <= rooms.get(place, size)}
    equations = sorted((each for each in requirements if isinstance(each, BoxBytes)), key=lambda each: len(each.boxes))
    found: list[dict[MapPlace, int]] = []
    for share in (_share_by_room, _share_equally):
        boxes = _solve(equations, rooms, known, share)
        boxes.update((place, room) for place, room in rooms.items() if place not in boxes)
        if boxes and boxes not in found:
            found.append(boxes)
    return found


def _rooms_of_maps(kernel: KernelFacts) -> dict[MapPlace, int]:
    """Returns the maximum number of bytes of a box of each map, as far as something limits it."""
    uses = list(find_map_uses(kernel.program, LinearParameters(kernel.program)))
    found: dict[MapPlace, int] = {}
    for facts in kernel.scenarios if uses else ():
        rooms = find_rooms_of_copies(facts.groups, facts.program)
        for step, use in uses:
            room = rooms.get(step)
            if room is not None and not use.is_pointer:
                place = use.parameter.symbol, use.parameter.offset
                found[place] = min(room, found.get(place, room))
    return found


def _solve(
    equations: Iterable[BoxBytes], rooms: _Rooms, known: Mapping[MapPlace, int], share: _Sharing
) -> dict[MapPlace, int]:
    boxes = dict(known)
    for each in equations:
        counts = [((place.symbol, place.offset), count) for place, count in each.boxes]
        left = each.size - sum(count * boxes.get(place, 0) for place, count in counts)
        unknown = [(place, count) for place, count in counts if place not in boxes]
        if unknown and left > 0:
            boxes.update(share(unknown, left, rooms))
    return boxes


def _share_by_room(counts: _BoxCounts, total: int, rooms: _Rooms) -> dict[MapPlace, int]:
    """Gives each map the room of its boxes, and the one with the most room what is left."""
    ordered = sorted(counts, key=lambda item: rooms.get(item[0]) or total)
    found: dict[MapPlace, int] = {}
    for place, count in ordered[:-1]:
        found[place] = min(rooms.get(place, total // (2 * count)), total // count)
        total -= count * found[place]
    place, count = ordered[-1]
    return {**found, place: total // count} if _is_box(total, count) else {}


def _share_equally(counts: _BoxCounts, total: int, _rooms: _Rooms) -> dict[MapPlace, int]:
    """Gives all boxes the same number of bytes."""
    boxes = sum(count for _, count in counts)
    return {place: total // boxes for place, _ in counts} if _is_box(total, boxes) else {}


def _is_box(total: int, count: int) -> bool:
    return total > 0 and not total % (count * _MIN_MULTIPLE)
