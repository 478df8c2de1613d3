"""Copies and reductions of ranges of bytes, in the async proxy.

Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async.bulk", "cp.reduce.async.bulk",
"cp.async.bulk.prefetch".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy

from ptxkit.emulate.actions.atomics import combining
from ptxkit.emulate.faults import Fault
from ptxkit.emulate.groups import Group
from ptxkit.emulate.lanes import Lanes
from ptxkit.emulate.mbarriers import Mbarrier
from ptxkit.emulate.memory import Pool
from ptxkit.emulate.objects import at, check_homes, copies, places_of
from ptxkit.emulate.operations import BULK, SIGNALLED, Operation
from ptxkit.emulate.registry import Function, action
from ptxkit.emulate.transfers import NOWHERE, PIECE, Transfer, by_elements, contiguous
from ptxkit.emulate.widths import width_of

Make = Callable[[Pool, int, Pool, int, int], Transfer]


@action
def bulk_copy(*, source: str, target: str) -> Function:
    """Copies a range for each thread, and tells an mbarrier; to several CTAs where a mask names them."""

    def copy(group: Group, to: Any, from_: Any, size: Any, bar: Any, mask: Any = None) -> None:
        for one in each_thread(group):
            _issue(group, one, (source, from_), (target, to), size, contiguous, bar, mask)

    return copy


@action
def bulk_copy_within(*, source: str, target: str) -> Function:
    """The same without as many bytes at the ends of the source."""

    def copy(group: Group, to: Any, from_: Any, size: Any, bar: Any, left: Any = None, right: Any = None) -> None:
        for one in each_thread(group):
            cut = partial(_inner, _number(left, one), _number(right, one))
            _issue(group, one, (source, from_), (target, to), size, cut, bar)

    return copy


@action
def bulk_store() -> Function:
    """Copies a range for each thread to global memory. bytes_mask: which bytes of each 16 are written."""

    def copy(group: Group, to: Any, from_: Any, size: Any, bytes_mask: Any = None) -> None:
        for one in each_thread(group):
            make = contiguous if bytes_mask is None else partial(contiguous, mask=_bits(bytes_mask, one))
            _issue(group, one, ("shared::cta", from_), ("global", to), size, make)

    return copy


@action
def bulk_reduce(*, source: str, target: str, type: str, operation: str, noftz: bool = False) -> Function:  # noqa: A002
    """Combines a range for each thread with what is there, element by element."""
    element = width_of(type) // 8
    function = combining(type, operation, type == "f32" and not noftz and target == "global")

    def make(pool: Pool, start: int, aim: Pool, place: int, count: int) -> Transfer:
        return by_elements(pool, start, aim, place, count, element, lambda old, new: function(old, new, None))

    def reduce(group: Group, to: Any, from_: Any, size: Any, bar: Any = None) -> None:
        for one in each_thread(group):
            _issue(group, one, (source, from_), (target, to), size, make, bar)

    return reduce


@action
def bulk_prefetch() -> Function:
    """Names a range that may be wanted soon: it must be there."""

    def prefetch(group: Group, from_: Any, size: Any) -> None:
        for one in each_thread(group):
            range_of(group, one, "global", from_, _size(size, one, group))

    return prefetch


def each_thread(group: Group) -> Any:
    """The positions of the executing threads."""
    return range(group.lanes.count)


def _number(value: Any, position: int) -> int:
    return 0 if value is None else int(value[position] if getattr(value, "ndim", 0) else value)


def _bits(value: Any, position: int) -> Any:
    number = _number(value, position)
    return numpy.array([number >> at & 1 for at in range(PIECE)], bool)


def _size(value: Any, position: int, group: Group) -> int:
    size = _number(value, position)
    if size % PIECE:
        message = f"a copy of {size} bytes: it must be a multiple of {PIECE}"
        raise Fault("PTX206", message, group.lanes.index[position : position + 1])
    return size


def _inner(left: int, right: int, pool: Pool, start: int, aim: Pool, place: int, count: int) -> Transfer:
    """A copy byte by byte, without the ends of the source."""
    transfer = contiguous(pool, start, aim, place, count)
    places = (transfer.sources.ravel()[:, None] * transfer.unit + numpy.arange(transfer.unit)).reshape(-1, PIECE)
    aims = (transfer.targets.ravel()[:, None] * transfer.unit + numpy.arange(transfer.unit)).reshape(-1, PIECE)
    flat = places.ravel()
    flat[:left] = NOWHERE
    if right:
        flat[-right:] = NOWHERE
    return Transfer(1, transfer.source, places, transfer.target, aims)


def range_of(group: Group, position: int, space: str, address: Any, size: int) -> tuple[Pool, int]:
    """The pool and the place of a range that begins at a thread's address. Raises Fault where it is not there."""
    memory, cta = group.cta.machine.memory, group.cta
    index = group.lanes.index[position : position + 1]
    start = address[position : position + 1]
    pool, place = memory.locate(cta, space, start, PIECE, index) if size else (cta.cluster.pool, start.view("i8"))
    if size > PIECE:
        memory.locate(cta, space, start + numpy.uint64(size - PIECE), PIECE, index)
        for arena in memory.arenas.values():
            if arena.pool is pool:
                first, last = arena.at(int(start[0])), arena.at(int(start[0]) + size - 1)
                if first is not last and first is not None:
                    message = f"{size} bytes at 0x{int(start[0]):x} go beyond {first.name}, which has {first.size}"
                    raise Fault("PTX207", message, index, space=pool.name, start=int(start[0]), size=size)
    return pool, int(place[0])


def object_of(group: Group, position: int, space: str, address: Any) -> Mbarrier:
    """The mbarrier object at a thread's address."""
    lanes = group.lanes
    group.lanes = Lanes(lanes.index[position : position + 1], group.cta.threads)
    try:
        return at(group, int(places_of(group, space, address[position : position + 1])[0]))
    finally:
        group.lanes = lanes


def _issue(  # noqa: PLR0913, PLR0917 (the operands of one instruction)
    group: Group,
    position: int,
    source: tuple[str, Any],
    target: tuple[str, Any],
    size: Any,
    make: Make,
    bar: Any = None,
    mask: Any = None,
) -> None:
    """Issue the operation of one thread, for its bulk group where there is no mbarrier."""
    count = _size(size, position, group)
    pool, start = range_of(group, position, *source, count)
    aim, place = range_of(group, position, *target, count)
    if bar is None:
        issue_grouped(group, position, [make(pool, start, aim, place, count)])
        return
    barrier = object_of(group, position, target[0], bar)
    if mask is None:
        own = group.cta.rank if pool is group.cta.cluster.pool else None
        rank = place // group.cta.cluster.stride
        check_homes(barrier, rank, group.lanes.index[position : position + 1], not_in=own)
        issue_signalled(group, position, [make(pool, start, aim, place, count)], [(barrier, count)])
        return
    ranks, index = _number(mask, position), group.lanes.index[position : position + 1]
    places, objects = copies(group, place, ranks), copies(group, barrier.place, ranks)
    transfers = [make(pool, start, aim, each, count) for each in places]
    issue_signalled(group, position, transfers, [(at(group, each, index), count) for each in objects])


def issue_grouped(group: Group, position: int, transfers: list[Transfer]) -> None:
    """Issue an operation for the thread's bulk group."""
    flying, thread = group.cta.machine.asynchrony, group.lanes.index[position]
    number = flying.closed(group.cta, BULK)[thread]
    flying.issue(Operation(group, BULK, transfers, thread, groups=number))


def issue_signalled(
    group: Group, position: int, transfers: list[Transfer], signals: list[tuple[Mbarrier, int]], *, proxy: str = "async"
) -> None:
    """Issue an operation that tells mbarriers of its bytes."""
    flying, thread = group.cta.machine.asynchrony, group.lanes.index[position]
    flying.issue(Operation(group, SIGNALLED, transfers, thread, proxy=proxy, signals=signals))
