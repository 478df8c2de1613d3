"""Loads and stores.

Source: PTX ISA, "Data Movement and Conversion Instructions: ld", "st", "ldu", "ld.global.nc".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulate.groups import Group
from ptxkit.emulate.lanes import Index, Lanes
from ptxkit.emulate.memory import Pool, SeveralPools
from ptxkit.emulate.registry import Bits, Function, action
from ptxkit.emulate.widths import width_of

_LARGEST = 8


@action
def load(
    *,
    type: str,  # noqa: A002
    space: str,
    count: int = 1,
    order: str | None = "weak",
    scope: str | None = None,
) -> Function:
    """Reads a value, or `count` of them that follow each other, at each thread's address."""
    width = width_of(type)
    order = order or "weak"
    size, total = width // 8, width // 8 * count

    def read(group: Group, address: Any, *_: object) -> Any:
        try:
            pool, places = group.cta.machine.memory.locate(group.cta, space, address, total, group.lanes.index)
        except SeveralPools:
            return _in_parts(group, address, read)
        watch = group.cta.machine.order
        if watch.watches:
            watch.accessed(group, "read", pool, places, total, order, scope)
        if count == 1:
            return fetched(pool, places, size)
        return tuple(fetched(pool, places + at * size, size) for at in range(count))

    return read


@action
def store(
    *,
    type: str,  # noqa: A002
    space: str,
    count: int = 1,
    order: str | None = "weak",
    scope: str | None = None,
) -> Function:
    """Writes a value, or `count` of them that follow each other, at each thread's address."""
    width = width_of(type)
    order = order or "weak"
    size, total = width // 8, width // 8 * count

    def write(group: Group, address: Any, value: Any, *_: object) -> None:
        try:
            pool, places = group.cta.machine.memory.locate(group.cta, space, address, total, group.lanes.index)
        except SeveralPools:
            _in_parts(group, address, write, value)
            return
        watch = group.cta.machine.order
        if watch.watches:
            watch.accessed(group, "write", pool, places, total, order, scope, value)
        if not isinstance(value, tuple):
            put(pool, places, size, value)
            return
        for at, each in enumerate(value):
            if each is not None:
                put(pool, places + at * size, size, each)

    return write


def fetched(pool: Pool, places: Any, size: int) -> Bits:
    """The values at places of a pool."""
    if size > _LARGEST:
        halves = pool.view(_LARGEST)
        at = places >> 3
        return numpy.stack([halves.take(at), halves.take(at + 1)], axis=1)
    found: Bits = pool.view(size).take(places >> (size.bit_length() - 1))
    return found


def put(pool: Pool, places: Any, size: int, value: Any) -> None:
    """Write values at places of a pool; of several at one place the last thread's stays."""
    if size > _LARGEST:
        halves = pool.view(_LARGEST)
        at = places >> 3
        halves[at], halves[at + 1] = value[:, 0], value[:, 1]
        return
    pool.view(size)[places >> (size.bit_length() - 1)] = value


def _in_parts(group: Group, address: Any, access: Function, value: Any = None) -> Any:
    """Make an access by generic addresses of several windows, one window after another."""
    lanes = group.lanes
    found: Any = None
    try:
        for chosen in group.cta.machine.memory.split(address):
            part: Index = lanes.index[chosen]
            group.lanes = Lanes(part, group.cta.threads)
            if value is not None:
                access(group, address[chosen], _taken(value, chosen))
                continue
            got = access(group, address[chosen])
            if found is None:
                found = _like(got, lanes.count)
            _fill(found, chosen, got)
    finally:
        group.lanes = lanes
    return found


def _taken(value: Any, chosen: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(None if each is None else each[chosen] for each in value)
    return value[chosen]


def _like(got: Any, count: int) -> Any:
    if isinstance(got, tuple):
        return tuple(_like(each, count) for each in got)
    return numpy.zeros((count, *got.shape[1:]), got.dtype)


def _fill(found: Any, chosen: Any, got: Any) -> None:
    if isinstance(got, tuple):
        for whole, part in zip(found, got, strict=True):
            whole[chosen] = part
    else:
        found[chosen] = got
