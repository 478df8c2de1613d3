"""What threads tell one another through shared memory, with a barrier of the whole CTA between the store and the load.

Warps learn in this way which role they play, and what of. Groups of threads are walked one after the other, so that a
later walk finds what earlier ones stored. Whether nobody else stores there is known only when all groups were walked:
`contradicted` says which loads were given what may not be there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ptxkit.analysis.program import Step
from ptxkit.analysis.terms import Held, Lanes, Value, mask
from ptxkit.analysis.touches import MOST_BYTES, extents_of
from ptxkit.analysis.trace import Event, GroupEvent, GroupTrace, Opaque
from ptxkit.isa.effects import Access, Barrier
from ptxkit.records import dataclass, field

if TYPE_CHECKING:
    from ptxkit.analysis.walker import Walker

#: Bytes of the widest element that is stored at once.
_WIDEST = 8
#: Readings times stores that are compared in one CTA, at most.
_MOST = 500_000


def is_of_all(effect: Barrier, threads: Held | None, launched: int) -> bool:
    """Whether all threads of a CTA meet at a barrier and wait there."""
    return effect.level == "cta" and effect.action == "sync" and threads in (None, launched)


@dataclass(frozen=True, slots=True, eq=False)
class Notice:
    """A value that a group stored at an address of shared memory, the same for all its threads.

    size: bytes. value: None where it is not followed. meetings: the numbers of the barriers of the whole CTA that the
    group had met, of which `met` had come by then. sure: no guess came before.
    """

    step: Step
    start: int
    size: int
    value: Value | None
    meetings: Sequence[Held]
    met: int
    sure: bool

    def within(self, start: int, size: int) -> Value | None:
        """The part of it that a load of some bytes gives."""
        if isinstance(self.value, int):
            return self.value >> 8 * (start - self.start) & mask(8 * size)
        return self.value if (start, size) == (self.start, self.size) else None


@dataclass(frozen=True, slots=True)
class Reading:
    """A load that was given a notice; `met` as above, of the group that loads."""

    step: Step
    start: int
    size: int
    notice: Notice
    met: int


@dataclass(frozen=True, slots=True)
class _Store:
    """A store as a group executed it. ranges: the bytes that it touches; None where nobody knows. late: it is done
    asynchronously, at some time."""

    group: int
    position: int
    step: Step
    met: int
    ranges: tuple[tuple[int, int], ...] | None
    late: bool

    def touches(self, low: int, high: int) -> bool:
        return self.ranges is None or any(start < high and low < end for start, end in self.ranges)


@dataclass(slots=True)
class Notices:
    """The notices of one exploration. distrusted: loads that are given none."""

    distrusted: frozenset[Step] = frozenset()
    told: dict[int, list[Notice]] = field(default_factory=lambda: defaultdict(list))
    readings: dict[Reading, tuple[Held, ...]] = field(default_factory=dict)

    def tell(self, walker: Walker, start: int, size: int, value: Value | None) -> None:
        """The group stores a value."""
        sure = walker.trace.guessed is None
        self.told[start].append(Notice(walker.step, start, size, value, walker.meetings, len(walker.meetings), sure))

    def heard(self, walker: Walker, start: int, size: int) -> Value | None:
        """What the group loads, if it was told before the last barrier of the whole CTA; None where nobody knows."""
        if walker.step in self.distrusted:
            return None
        met = len(walker.meetings)
        told = [notice for notice in self._at(start, size) if notice.met < met]
        if not told:
            return None
        notice = max(reversed(told), key=lambda each: each.met)
        value = notice.within(start, size)
        if value is None or notice.meetings[: notice.met] != walker.meetings[: notice.met]:
            return None
        if not notice.sure:
            walker.note_guess()
        self.readings.setdefault(Reading(walker.step, start, size, notice, met), tuple(walker.meetings))
        return value

    def _at(self, start: int, size: int) -> Iterator[Notice]:
        """The notices that hold all of some bytes."""
        for first in range(start + size - _WIDEST, start + 1):
            for notice in self.told.get(first, ()):
                if start + size <= first + notice.size:
                    yield notice

    def contradicted(self, groups: Sequence[GroupTrace], launched: int) -> set[Step]:
        """The loads that were given what need not be there, after all that the groups of the CTA did.

        launched: the threads of the CTA.
        """
        if not self.readings:
            return set()
        low = min(reading.start for reading in self.readings)
        high = max(reading.start + reading.size for reading in self.readings)
        stores: list[_Store] = []
        met: list[list[Held]] = []
        for number, group in enumerate(groups):
            met.append([])
            stores.extend(_stores(number, group, launched, met[-1], (low, high)))
        if len(self.readings) * len(stores) > _MOST:
            return {reading.step for reading in self.readings}
        cut = [len(numbers) for numbers, group in zip(met, groups, strict=True) if group.ended != "exit"]
        return {
            reading.step
            for reading, meetings in self.readings.items()
            if any(reading.met >= end for end in cut)
            or any(not _agree(numbers, meetings) for numbers in met)
            or self._is_contradicted(reading, [s for s in stores if s.touches(reading.start, _end(reading))])
        }

    def _is_contradicted(self, reading: Reading, stores: list[_Store]) -> bool:
        notice = reading.notice
        last = {s.group: s.position for s in stores if s.step is notice.step and s.met == notice.met}
        for store in stores:
            if store.late and store.met <= reading.met:
                return True
            if notice.met < store.met <= reading.met:
                return True
            if store.met == notice.met and store.position > last.get(store.group, -1):
                return True
        same = (n for n in self._at(reading.start, reading.size) if (n.step, n.met) == (notice.step, notice.met))
        value = notice.within(reading.start, reading.size)
        return any(each.within(reading.start, reading.size) != value for each in same)


def _end(reading: Reading) -> int:
    return reading.start + reading.size


def _agree(one: Sequence[Held], other: Sequence[Held]) -> bool:
    """Whether two groups met at the same barriers, as far as both went."""
    return all(left == right for left, right in zip(one, other, strict=False))


def _stores(
    number: int, group: GroupTrace, launched: int, met: list[Held], within: tuple[int, int]
) -> Iterator[_Store]:
    """What a group stores to some bytes of shared memory. met: is filled with the numbers of the barriers that it
    meets."""
    for position, event in enumerate(group.events):
        if isinstance(event, Opaque):
            yield _Store(number, position, event.step, len(met), None, late=True)
            continue
        effect = event.effect
        if isinstance(effect, Barrier):
            size, amount = (event.size, event.amount) if isinstance(event, Event) else event.fields[1:3]
            if is_of_all(effect, size, launched):
                met.append(0 if amount is None else amount)
        elif isinstance(effect, Access) and effect.kind != "read" and effect.space.startswith(("shared", "generic")):
            if _is_elsewhere(event, within):
                continue
            ranges = _ranges(event, len(group.tids), elsewhere=effect.space == "generic")
            store = _Store(number, position, event.step, len(met), ranges, effect.completion is not None)
            if store.touches(*within):
                yield store


def _is_elsewhere(event: Event | GroupEvent, within: tuple[int, int]) -> bool:
    """Whether the addresses of an access alone show that it touches none of some bytes: most do."""
    if isinstance(event, Event):
        return False
    address, size = event.fields[:2]
    if not isinstance(address, Lanes) or not isinstance(size, int) or size <= 0 or not address.are_numbers:
        return False
    low, high = within
    values: list[int] = address.values  # type: ignore[assignment]
    return min(values) >= high or max(values) + min(size, MOST_BYTES) <= low


def _ranges(event: Event | GroupEvent, count: int, *, elsewhere: bool) -> tuple[tuple[int, int], ...] | None:
    """The bytes that an access of a group touches; None where nobody knows. elsewhere: unknown addresses are outside
    shared memory, as everywhere in the analyses."""
    address = event.address if isinstance(event, Event) else event.fields[0]
    is_known = address.are_numbers if isinstance(address, Lanes) else isinstance(address, int)
    if not elsewhere and not is_known:
        return None
    found = extents_of(event, count if isinstance(event, GroupEvent) else 1)
    return tuple(dict.fromkeys(each for each in found if each is not None))
