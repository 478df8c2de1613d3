"""Atomic operations.

Threads that access the same location update it one after another, in the order of their numbers.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: atom", "red".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from ptxkit.emulator.actions.load_store import load_lanes, store_lanes
from ptxkit.emulator.core import integer_ops, semantics_registry
from ptxkit.emulator.core.dtypes import WIDE, is_signed, width_of
from ptxkit.emulator.core.lane_set import LaneSet
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.state.memory import MultipleBuffersError
from ptxkit.emulator.threads.machine_observer import AccessEvent
from ptxkit.emulator.threads.paused_access import pause_before_access
from ptxkit.emulator.threads.thread_groups import ThreadGroup
from ptxkit.isa.functions import kind
from ptxkit.semantics.value_ops import WRAPPING


@effect_semantics
def atomic(
    *,
    type: str,  # noqa: A002
    space: str,
    operation: str,
    count: int = 1,
    order: str = "relaxed",
    scope: str = "gpu",
    noftz: bool = True,
) -> Function:
    """Updates a value in memory, or `count` consecutive ones, and returns the old values.

    With `noftz`, subnormal numbers of f32 in global memory are kept.
    """
    width = width_of(type)
    size, total = width // 8, width // 8 * count
    plain, flushing = (combine_function(type, operation, ftz) for ftz in (False, type == "f32" and not noftz))

    def change(group: ThreadGroup, address: Any, value: Any, other: Any = None) -> Any:
        memory = group.cta.machine.memory
        # A vector is aligned as a whole, but each of its elements is updated atomically by itself.
        try:
            pool, places = memory.locate(group.cta, space, address, total, group.lanes.index)
        except MultipleBuffersError:
            return _split_by_window(group, address, value, other, change)
        pause_before_access(group, pool, places, writes=True)
        watch = group.cta.machine.observer
        if watch.is_checking and pool.is_common:
            watch.on_access(AccessEvent(group, "update", pool, places, total, order, scope))
        combine = flushing if pool.name == "global" else plain
        if count == 1:
            return _update_locations(pool, places, size, combine, value, other)
        values = value if isinstance(value, tuple) else (value,) * count
        return tuple(
            _update_locations(pool, places + at * size, size, combine, values[at], None) for at in range(count)
        )

    return change


def _update_locations(pool: Any, places: Any, size: int, combine: Function, value: Any, other: Any) -> Any:
    """Updates one value for each thread, and returns the old values."""
    if value is None:
        value = numpy.zeros(len(places), f"u{size}")
    first = int(places[0])
    is_one_place = len(places) == 1
    if not is_one_place and (places == first).all() and combine is _ADD:
        before = load_lanes(pool, places[:1], size)[0]
        sums = numpy.cumsum(value, dtype=value.dtype)
        store_lanes(pool, places[:1], size, before + sums[-1:])
        found: Any = before + (sums - value)
        return found
    found = numpy.zeros_like(value)
    for turn in _conflict_free_rounds(places):
        where = places[turn]
        old = load_lanes(pool, where, size)
        new = combine(old, value[turn], None if other is None else other[turn])
        store_lanes(pool, where, size, new)
        found[turn] = old
    return found


def _conflict_free_rounds(places: Any) -> Iterator[Any]:
    """Yields positions in rounds, such that no location occurs twice in a round; earlier threads are in earlier
    rounds.
    """
    if len(places) == 1:
        yield slice(None)
        return
    order = numpy.argsort(places, kind="stable")
    held = places[order]
    starts = numpy.concatenate([[True], held[1:] != held[:-1]])
    if starts.all():
        yield slice(None)
        return
    position = numpy.arange(len(places))
    turn = position - numpy.maximum.accumulate(numpy.where(starts, position, 0))
    for number in range(int(turn.max()) + 1):
        yield order[turn == number]


def combine_function(type_: str, operation: str, ftz: bool) -> Function:
    """Returns the function that computes the new value from the old one, the operand, and the second operand."""
    if operation == "cas":
        return _compare_and_swap
    if operation == "exch":
        return lambda _old, value, _other: value
    if kind(type_) == "f":
        return _float_combine(type_, operation, ftz)
    signed = is_signed(type_)
    functions: dict[str, Function] = {
        **WRAPPING,
        "min": integer_ops.minimum(signed),
        "max": integer_ops.maximum(signed),
        "inc": lambda old, limit: numpy.where(old >= limit, old.dtype.type(0), old + old.dtype.type(1)),
        "dec": lambda old, limit: numpy.where((old == 0) | (old > limit), limit, old - old.dtype.type(1)),
    }
    return _IgnoreThird(functions[operation]) if operation != "add" else _ADD


class _IgnoreThird:
    """Adapts a function of two values to be called with three."""

    def __init__(self, function: Function) -> None:
        self.function = function

    def __call__(self, old: Any, value: Any, _other: Any) -> Any:
        return self.function(old, value)


_ADD = _IgnoreThird(WRAPPING["add"])


def _compare_and_swap(old: Any, expected: Any, wanted: Any) -> Any:
    equal = old == expected
    return numpy.where(equal.all(axis=1)[:, None] if old.ndim == WIDE // 64 else equal, wanted, old)


def _float_combine(type_: str, operation: str, ftz: bool) -> Function:
    names = {"add": "fadd", "min": "fmin", "max": "fmax"}
    words = {"ftz": True} if ftz else {}
    return _IgnoreThird(semantics_registry.value_semantics_table()[names[operation]](type=type_, **words))


def _split_by_window(group: ThreadGroup, address: Any, value: Any, other: Any, change: Function) -> Any:
    """Updates memory at generic addresses of several windows, one window after another."""
    lanes = group.lanes
    single = not isinstance(value, tuple)
    parts = (value,) if single else value
    found = [numpy.zeros((lanes.count, *each.shape[1:]), each.dtype) for each in parts]
    try:
        for chosen in group.cta.machine.memory.split_by_window(address):
            group.lanes = LaneSet(lanes.index[chosen], group.cta.threads)
            taken = value[chosen] if single else tuple(each[chosen] for each in value)
            got = change(group, address[chosen], taken, None if other is None else other[chosen])
            for whole, part in zip(found, (got,) if single else got, strict=True):
                whole[chosen] = part
    finally:
        group.lanes = lanes
    return found[0] if single else tuple(found)
