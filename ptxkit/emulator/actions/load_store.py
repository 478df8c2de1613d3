"""Loads and stores.

Source: PTX ISA, "Data Movement and Conversion Instructions: ld", "st", "ldu", "ld.global.nc".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulator.core.dtypes import width_of
from ptxkit.emulator.core.lane_set import LaneSet, ThreadIndex
from ptxkit.emulator.core.semantics_registry import Bits, Function, effect_semantics
from ptxkit.emulator.state.memory import ByteBuffer, MultipleBuffersError
from ptxkit.emulator.threads.machine_observer import AccessEvent
from ptxkit.emulator.threads.paused_access import pause_before_access
from ptxkit.emulator.threads.thread_groups import ThreadGroup

_LARGEST_UNIT = 8


@effect_semantics
def load(
    *,
    type: str,  # noqa: A002
    space: str,
    count: int = 1,
    order: str | None = "weak",
    scope: str | None = None,
) -> Function:
    """Reads a value, or `count` consecutive ones, at each thread's address."""
    width = width_of(type)
    order = order or "weak"
    size, total = width // 8, width // 8 * count

    def read(group: ThreadGroup, address: Any, *_: object) -> Any:
        try:
            pool, places = group.cta.machine.memory.locate(group.cta, space, address, total, group.lanes.index)
        except MultipleBuffersError:
            return _split_by_window(group, address, read)
        pause_before_access(group, pool, places, writes=False)
        watch = group.cta.machine.observer
        if watch.is_checking and pool.is_common:
            watch.on_access(AccessEvent(group, "read", pool, places, total, order, scope))
        if count == 1:
            return load_lanes(pool, places, size)
        return tuple(load_lanes(pool, places + at * size, size) for at in range(count))

    return read


@effect_semantics
def store(
    *,
    type: str,  # noqa: A002
    space: str,
    count: int = 1,
    order: str | None = "weak",
    scope: str | None = None,
) -> Function:
    """Writes a value, or `count` consecutive ones, at each thread's address."""
    width = width_of(type)
    order = order or "weak"
    size, total = width // 8, width // 8 * count

    def write(group: ThreadGroup, address: Any, value: Any, *_: object) -> None:
        try:
            pool, places = group.cta.machine.memory.locate(group.cta, space, address, total, group.lanes.index)
        except MultipleBuffersError:
            _split_by_window(group, address, write, value)
            return
        pause_before_access(group, pool, places, writes=True)
        watch = group.cta.machine.observer
        if watch.is_checking and pool.is_common:
            watch.on_access(AccessEvent(group, "write", pool, places, total, order, scope, value))
        if not isinstance(value, tuple):
            store_lanes(pool, places, size, value)
            return
        for at, each in enumerate(value):
            if each is not None:
                store_lanes(pool, places + at * size, size, each)

    return write


def load_lanes(pool: ByteBuffer, places: Any, size: int) -> Bits:
    """Returns the values at offsets of a buffer."""
    if size > _LARGEST_UNIT:
        halves = pool.view(_LARGEST_UNIT)
        at = places >> 3
        return numpy.stack([halves.take(at), halves.take(at + 1)], axis=1)
    found: Bits = pool.view(size).take(places >> (size.bit_length() - 1))
    return found


def store_lanes(pool: ByteBuffer, places: Any, size: int, value: Any) -> None:
    """Writes values at offsets of a buffer; if several have the same offset, that of the last thread remains."""
    if size > _LARGEST_UNIT:
        halves = pool.view(_LARGEST_UNIT)
        at = places >> 3
        halves[at], halves[at + 1] = value[:, 0], value[:, 1]
        return
    pool.view(size)[places >> (size.bit_length() - 1)] = value


def _split_by_window(group: ThreadGroup, address: Any, access: Function, value: Any = None) -> Any:
    """Accesses memory at generic addresses of several windows, one window after another."""
    lanes = group.lanes
    found: Any = None
    try:
        for chosen in group.cta.machine.memory.split_by_window(address):
            part: ThreadIndex = lanes.index[chosen]
            group.lanes = LaneSet(part, group.cta.threads)
            if value is not None:
                access(group, address[chosen], _select_lanes(value, chosen))
                continue
            got = access(group, address[chosen])
            if found is None:
                found = _empty_result(got, lanes.count)
            _merge_lanes(found, chosen, got)
    finally:
        group.lanes = lanes
    return found


def _select_lanes(value: Any, chosen: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(None if each is None else each[chosen] for each in value)
    return value[chosen]


def _empty_result(got: Any, count: int) -> Any:
    if isinstance(got, tuple):
        return tuple(_empty_result(each, count) for each in got)
    return numpy.zeros((count, *got.shape[1:]), got.dtype)


def _merge_lanes(found: Any, chosen: Any, got: Any) -> None:
    if isinstance(got, tuple):
        for whole, part in zip(found, got, strict=True):
            whole[chosen] = part
    else:
        found[chosen] = got
