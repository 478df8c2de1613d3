"""What tensor copies may touch beyond their first bytes, where nobody knows the boxes of their maps.

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

from ptxkit.analysis.budget import Budget
from ptxkit.analysis.causality import Causality, Path
from ptxkit.analysis.conflicts import MAX_CONFLICT_LOOKUPS
from ptxkit.analysis.endings import endings_of
from ptxkit.analysis.program import Program, Step
from ptxkit.analysis.terms import Held, Lanes
from ptxkit.analysis.touches import LEAST_ACCESS, extent_of, extents_of
from ptxkit.analysis.trace import Event, GroupEvent, GroupTrace, Opaque
from ptxkit.isa.effects import Access, Effect
from ptxkit.records import dataclass

if TYPE_CHECKING:
    from ptxkit.analysis.kernel import World

#: Executions of one instruction that are looked at, the first and the last.
FIRST_ROUNDS, LAST_ROUNDS = 4, 2
#: Pairs of a copy and of what a path does that are looked at, at most.
MAX_LOOKS = 4_000
#: How far what the threads between touch may lie from what the first and the last one do.
MARGIN = 1 << 14


@dataclass(frozen=True, slots=True)
class Question:
    """A tensor copy, and an access of another warp to bytes that its box may have, with nothing that orders the two."""

    copy: Step
    access: Step


@dataclass(frozen=True, slots=True)
class _Copy:
    """A tensor copy of a path. end: the position behind which its thread may tell that it is over. low, high: what it
    may touch beyond the smallest box."""

    path: Path
    position: int
    end: int
    event: Event | GroupEvent
    low: int
    high: int


def questions(world: World) -> Iterator[Question]:
    """The accesses that conflict with tensor copies if the boxes of these are large enough; each pair once."""
    places = _places(world.groups)
    reaches = {place: place + _reach(place, places, world.program) for place in places}
    if all(high <= place + LEAST_ACCESS for place, high in reaches.items()):
        return
    causality = Causality(world, Budget(lookups=min(MAX_CONFLICT_LOOKUPS, world.budget.lookups)))
    copies = [copy for group in world.groups for copy in _copies(group, reaches, causality)]
    low, high = min(copy.low for copy in copies), max(copy.high for copy in copies)
    asked: set[Question] = set()
    left = MAX_LOOKS
    for group in world.groups:
        for position, event in _looked_at(group):
            if not _is_plain(event):
                continue
            for path, first, last in _spans(group, event, causality) if _may_touch(event, low, high) else ():
                for copy in copies:
                    question = Question(copy.event.step, event.step)
                    if question in asked or first >= copy.high or last <= copy.low or path.warp == copy.path.warp:
                        continue
                    if _reads(copy.event) and _reads(event):
                        continue
                    left -= 1
                    if left < 0:
                        return
                    if not _are_ordered(causality, copy, path, position):
                        asked.add(question)
                        yield question


def _are_ordered(causality: Causality, copy: _Copy, path: Path, position: int) -> bool:
    """Whether a copy and what another path does at a position may be ordered, either way."""
    barrier = copy.event.barrier if isinstance(copy.event, Event) else copy.event.fields[3]
    told = None if isinstance(barrier, Lanes) or _reads(copy.event) else barrier
    after = causality.horizon(copy.path, copy.end, path, told) <= position
    return after or causality.may_precede(path, position, copy.path, copy.position)


def _copies(group: GroupTrace, reaches: Mapping[int, int], causality: Causality) -> Iterator[_Copy]:
    """The tensor copies of a group whose boxes may be larger than the smallest."""
    endings: Mapping[int, int] | None = None
    for position, event in _looked_at(group):
        place = _address(event)
        if not isinstance(place, int) or not _is_unknown(event) or reaches[place] <= place + LEAST_ACCESS:
            continue
        endings = endings_of(group) if endings is None else endings
        taking = next((i for i in range(len(group.tids)) if extent_of(event, i) is not None), 0)
        path, end = causality.path_of(group.tids[taking]), endings.get(position, position)
        yield _Copy(path, position, end, event, place + LEAST_ACCESS, reaches[place])


def _looked_at(group: GroupTrace) -> Iterator[tuple[int, Event | GroupEvent]]:
    """The accesses of a group with their positions: the first and last executions of each instruction."""
    last = {event.step: event.visit for event in group.events}
    for position, event in enumerate(group.events):
        if isinstance(event, Opaque) or not isinstance(event.effect, Access):
            continue
        if event.visit < FIRST_ROUNDS or event.visit > last[event.step] - LAST_ROUNDS:
            yield position, event


def _is_plain(event: Event | GroupEvent) -> bool:
    """Whether an access is a weak one through the generic proxy, over at once."""
    effect = event.effect
    if not isinstance(effect, Access):
        return False
    return (effect.proxy, effect.completion, effect.order) == ("generic", None, "weak")


def _reads(event: Event | GroupEvent) -> bool:
    return isinstance(event.effect, Access) and event.effect.kind == "read"


def _may_touch(event: Event | GroupEvent, low: int, high: int) -> bool:
    """Whether bytes of a range may be touched, as far as the first and the last thread tell."""
    held = _address(event)
    ends = (held.at(0), held.at(held.count - 1)) if isinstance(held, Lanes) else (held,)
    return any(isinstance(place, int) and low - MARGIN <= place < high + MARGIN for place in ends)


def _spans(group: GroupTrace, event: Event | GroupEvent, causality: Causality) -> Iterator[tuple[Path, int, int]]:
    """What the threads of each path touch: from the lowest byte to behind the highest."""
    found: dict[Path, tuple[int, int]] = {}
    for tid, touched in zip(group.tids, extents_of(event, len(group.tids)), strict=True):
        if touched is not None:
            path = causality.path_of(tid)
            low, high = found.get(path, touched)
            found[path] = min(low, touched[0]), max(high, touched[1])
    for path, (low, high) in found.items():
        yield path, low, high


def _is_unknown(event: Event | GroupEvent) -> bool:
    """Whether an event is the access to shared memory of a tensor copy whose box nobody knows."""
    effect = event.effect
    if not isinstance(effect, Access) or effect.via != "address" or not effect.space.startswith("shared"):
        return False
    return event.step.box is None and any(_reads_map(each) for each in event.step.effects)


def _reads_map(effect: Effect) -> bool:
    return isinstance(effect, Access) and effect.proxy == "tensormap"


def _address(event: Event | GroupEvent) -> Held | None:
    return event.address if isinstance(event, Event) else event.fields[0]


def _places(groups: Iterable[GroupTrace]) -> Mapping[int, set[Hashable]]:
    """Where tensor copies with unknown boxes go in shared memory, or come from, with the map and kind of each."""
    found: dict[int, set[Hashable]] = defaultdict(set)
    for group in groups:
        events = [event for event in group.events if not isinstance(event, Opaque)]
        maps = {(e.step, e.visit): _address(e) for e in events if _reads_map(e.effect)}
        for event in events:
            place = _address(event)
            if isinstance(place, int) and _is_unknown(event):
                kind = event.step.match.canonical if event.step.match is not None else ""
                found[place].add((kind, maps.get((event.step, event.visit))))
    return found


def _reach(place: int, places: Mapping[int, set[Hashable]], program: Program) -> int:
    """How many bytes from a place on a box may have; 0 where nothing bounds them."""
    variable = program.variable_at(place)
    if variable is None:
        return 0
    ordered = sorted(places)
    behind = bisect_right(ordered, place)
    bounds = [ordered[behind] - place] if behind < len(ordered) else []
    for box in places[place]:
        own = [each for each in ordered if box in places[each]]
        bounds += [later - earlier for earlier, later in pairwise(own)]
    if variable.size is not None:
        bounds.append(variable.address + variable.size - place)
    return min(bounds, default=0)
