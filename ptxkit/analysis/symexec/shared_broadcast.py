"""Values that threads broadcast through shared memory, with a barrier of the whole CTA between the store and the load.

Warps receive their role and its parameters in this manner. Groups of threads are executed one after the other, so that
a later execution finds what earlier ones stored. Whether another thread stores to the same bytes is known only when all
groups were executed: `SharedBroadcasts.invalidated_loads` returns the loads whose forwarded value is not guaranteed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.limits import MAX_ACCESS_BYTES, MAX_STORE_BYTES, MAX_STORE_CHECKS
from ptxkit.analysis.symexec.access_ranges import access_ranges_of_lanes
from ptxkit.analysis.symexec.trace import GroupEvent, GroupTrace, TraceEvent, UnknownCall
from ptxkit.analysis.values.symbolic_values import GroupValue, LaneValues, Value
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.isa.effects import Access, Barrier, Effect
from ptxkit.semantics.value_ops import bit_mask

if TYPE_CHECKING:
    from ptxkit.analysis.symexec.group_state import GroupState


def is_full_cta_barrier(effect: Barrier, threads: GroupValue | None, launched: int) -> bool:
    """Returns whether all threads of a CTA take part in a barrier and wait there."""
    return effect.level == "cta" and effect.action == "sync" and threads in (None, launched)


@dataclass(frozen=True, slots=True, eq=False)
class BroadcastStore:
    """A value that a group stored at an address of shared memory, the same for all its threads.

    size: the number of bytes. value: None where it is not tracked. cta_barriers: the numbers of the barriers of the
    whole CTA that the group passed, of which `barriers_passed` precede the store. is_certain: no guess preceded the
    store.
    """

    step: Step
    start: int
    size: int
    value: Value | None
    cta_barriers: Sequence[GroupValue]
    barriers_passed: int
    is_certain: bool

    def extract(self, start: int, size: int) -> Value | None:
        """Returns the part of the value that a load of some bytes reads."""
        if isinstance(self.value, int):
            return self.value >> 8 * (start - self.start) & bit_mask(8 * size)
        return self.value if (start, size) == (self.start, self.size) else None


@dataclass(frozen=True, slots=True)
class ForwardedLoad:
    """A load to which a broadcast store was forwarded.

    barriers_passed: the number of barriers that the loading group had passed.
    """

    step: Step
    start: int
    size: int
    store: BroadcastStore
    barriers_passed: int


@dataclass(frozen=True, slots=True)
class _ExecutedStore:
    """A store as a group executed it.

    ranges: the bytes that it writes; None where unknown. is_async: whether it completes asynchronously.
    """

    group: int
    position: int
    step: Step
    barriers_passed: int
    ranges: tuple[tuple[int, int], ...] | None
    is_async: bool

    def overlaps(self, low: int, high: int) -> bool:
        return self.ranges is None or any(start < high and low < end for start, end in self.ranges)


@dataclass(slots=True)
class SharedBroadcasts:
    """The broadcast stores of one exploration.

    excluded_loads: the loads to which no value is forwarded, by the number of barriers from which on this is so.
    """

    excluded_loads: Mapping[Step, int] = field(default_factory=dict)
    stores: dict[int, list[BroadcastStore]] = field(default_factory=lambda: defaultdict(list))
    forwarded_loads: dict[ForwardedLoad, tuple[GroupValue, ...]] = field(default_factory=dict)

    def store(self, state: GroupState, start: int, size: int, value: Value | None) -> None:
        """Records that the group stores a value."""
        sure = state.trace.first_guess is None
        self.stores[start].append(
            BroadcastStore(state.step, start, size, value, state.cta_barriers, len(state.cta_barriers), sure)
        )

    def load(self, state: GroupState, start: int, size: int) -> Value | None:
        """Returns the value that the group loads, if it was stored before the last barrier of the whole CTA.

        The result is None where the value is unknown.
        """
        met = len(state.cta_barriers)
        if met >= self.excluded_loads.get(state.step, met + 1):
            return None
        earlier = [notice for notice in self._stores_covering(start, size) if notice.barriers_passed < met]
        if not earlier:
            return None
        notice = max(reversed(earlier), key=lambda each: each.barriers_passed)
        value = notice.extract(start, size)
        if (
            value is None
            or notice.cta_barriers[: notice.barriers_passed] != state.cta_barriers[: notice.barriers_passed]
        ):
            return None
        if not notice.is_certain:
            state.note_guess()
        self.forwarded_loads.setdefault(ForwardedLoad(state.step, start, size, notice, met), tuple(state.cta_barriers))
        return value

    def _stores_covering(self, start: int, size: int) -> Iterator[BroadcastStore]:
        """Yields the broadcast stores that cover all bytes of a range."""
        for first in range(start + size - MAX_STORE_BYTES, start + 1):
            for notice in self.stores.get(first, ()):
                if start + size <= first + notice.size:
                    yield notice

    def invalidated_loads(self, groups: Sequence[GroupTrace], launched: int) -> dict[Step, int]:
        """Returns the loads whose forwarded value is not guaranteed, given the accesses of all groups of the CTA.

        For each one, the result has the number of barriers from which on this is so; it is 0 where the load was
        excluded from some number on before. launched: the number of threads of the CTA.
        """
        if not self.forwarded_loads:
            return {}
        low = min(reading.start for reading in self.forwarded_loads)
        high = max(reading.start + reading.size for reading in self.forwarded_loads)
        stores: list[_ExecutedStore] = []
        met: list[list[GroupValue]] = []
        for number, group in enumerate(groups):
            met.append([])
            stores.extend(_executed_stores(number, group, launched, met[-1], (low, high)))
        if len(self.forwarded_loads) * len(stores) > MAX_STORE_CHECKS:
            return {reading.step: 0 for reading in self.forwarded_loads}
        cut = [len(numbers) for numbers, group in zip(met, groups, strict=True) if group.end_reason != "exit"]
        found: dict[Step, int] = {}
        for reading, meetings in self.forwarded_loads.items():
            if (
                any(reading.barriers_passed >= end for end in cut)
                or any(not _passed_same_barriers(numbers, meetings) for numbers in met)
                or self._is_invalidated(
                    reading, [s for s in stores if s.overlaps(reading.start, _end_of_load(reading))]
                )
            ):
                since = 0 if reading.step in self.excluded_loads else reading.barriers_passed
                found[reading.step] = min(found.get(reading.step, since), since)
        return found

    def _is_invalidated(self, reading: ForwardedLoad, stores: list[_ExecutedStore]) -> bool:
        notice = reading.store
        last = {
            s.group: s.position for s in stores if s.step is notice.step and s.barriers_passed == notice.barriers_passed
        }
        for store in stores:
            if store.is_async and store.barriers_passed <= reading.barriers_passed:
                return True
            if notice.barriers_passed < store.barriers_passed <= reading.barriers_passed:
                return True
            if store.barriers_passed == notice.barriers_passed and store.position > last.get(store.group, -1):
                return True
        same = (
            n
            for n in self._stores_covering(reading.start, reading.size)
            if (n.step, n.barriers_passed) == (notice.step, notice.barriers_passed)
        )
        value = notice.extract(reading.start, reading.size)
        return any(each.extract(reading.start, reading.size) != value for each in same)


def _end_of_load(reading: ForwardedLoad) -> int:
    return reading.start + reading.size


def _passed_same_barriers(one: Sequence[GroupValue], other: Sequence[GroupValue]) -> bool:
    """Returns whether two groups passed the same barriers, up to the end of the shorter sequence."""
    return all(left == right for left, right in zip(one, other, strict=False))


def _executed_stores(
    number: int, group: GroupTrace, launched: int, met: list[GroupValue], within: tuple[int, int]
) -> Iterator[_ExecutedStore]:
    """Yields the stores of a group to some bytes of shared memory.

    met: receives the numbers of the barriers at which the group arrives.
    """
    for position, event in enumerate(group.events):
        if isinstance(event, UnknownCall):
            yield _ExecutedStore(number, position, event.step, len(met), None, is_async=True)
            continue
        effect = event.effect
        if isinstance(effect, Barrier):
            size, amount = (event.size, event.amount) if isinstance(event, TraceEvent) else event.fields[1:3]
            if is_full_cta_barrier(effect, size, launched):
                met.append(0 if amount is None else amount)
        elif isinstance(effect, Access) and effect.kind != "read" and effect.space.startswith(("shared", "generic")):
            if _is_disjoint(event, within):
                continue
            ranges = _accessed_ranges(event, len(group.tids), elsewhere=effect.space == "generic")
            store = _ExecutedStore(number, position, event.step, len(met), ranges, effect.completion is not None)
            if store.overlaps(*within):
                yield store


def _is_disjoint(event: TraceEvent | GroupEvent, within: tuple[int, int]) -> bool:
    """Returns whether the addresses of an access suffice to show that it does not overlap a range, as most do."""
    if isinstance(event, TraceEvent):
        return False
    address, size = event.fields[:2]
    if not isinstance(address, LaneValues) or not isinstance(size, int) or size <= 0 or not address.are_numbers:
        return False
    low, high = within
    values: list[int] = address.values  # type: ignore[assignment]
    return min(values) >= high or max(values) + min(size, MAX_ACCESS_BYTES) <= low


def _accessed_ranges(
    event: TraceEvent | GroupEvent, count: int, *, elsewhere: bool
) -> tuple[tuple[int, int], ...] | None:
    """Returns the bytes that an access of a group uses; None where they are unknown.

    elsewhere: whether unknown addresses are assumed to be outside shared memory, as in all analyses.
    """
    address = event.address if isinstance(event, TraceEvent) else event.fields[0]
    is_known = address.are_numbers if isinstance(address, LaneValues) else isinstance(address, int)
    if not elsewhere and not is_known:
        return None
    found = access_ranges_of_lanes(event, count if isinstance(event, GroupEvent) else 1)
    return tuple(dict.fromkeys(each for each in found if each is not None))


def loads_from_remote_stores(program: Program) -> dict[Step, int]:
    """Returns the loads from shared memory that other CTAs may write, with 0: all loads if there are such stores."""
    is_stored = any(_is_remote_store(effect) for step in program.effectful_steps for effect in step.effects)
    return {step: 0 for code in program.functions for step in code.steps if is_stored and step.match is not None}


def _is_remote_store(effect: Effect) -> bool:
    return (
        isinstance(effect, Access)
        and effect.kind != "read"
        and effect.space == "shared::cluster"
        and effect.proxy == "generic"
    )
