"""Exchange of values between the lanes of a warp.

Source: PTX ISA, "Data Movement and Conversion Instructions: shfl.sync", "Parallel Synchronization and Communication
Instructions: vote.sync", "match.sync", "activemask", "redux.sync", "elect.sync".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulator.core import semantics_registry
from ptxkit.emulator.core.dtypes import is_signed
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.sync.warp_rendezvous import WarpOperands, gather_operands, masks_of_lanes, to_lane_matrix
from ptxkit.emulator.threads.thread_groups import BlockSignal, ThreadGroup
from ptxkit.isa.functions import kind
from ptxkit.syntax.constants import WARP_SIZE


def _gather_lanes(group: ThreadGroup, name: str, mask: Any, *values: Any) -> WarpOperands | BlockSignal:
    """Returns the values of the lanes in the mask, or without a mask, of the lanes that execute the instruction
    together.
    """
    index = group.lanes.index
    if mask is None:
        there = to_lane_matrix(group, numpy.ones(len(index), bool))
        lane = (index & 31).astype(numpy.uint32)
        return WarpOperands(index >> 5, lane, there, tuple(to_lane_matrix(group, each) for each in values))
    found = gather_operands(group, name, mask, values)
    if isinstance(found, WarpOperands) and not (mask == 0xFFFF_FFFF).all():
        # Lanes that are converged with them and not in the mask take no part.
        lanes = numpy.arange(WARP_SIZE, dtype=numpy.uint32)
        named = numpy.zeros_like(found.present)
        named[found.warp] = (mask[:, None] >> lanes & numpy.uint32(1)).astype(bool)
        return WarpOperands(found.warp, found.lane, found.present & named, found.values)
    return found


@effect_semantics
def shuffle(*, mode: str) -> Function:
    """Returns the value of another lane, and whether that lane is in range."""

    def exchange(group: ThreadGroup, a: Any, b: Any, c: Any, mask: Any = None) -> Any:
        found = _gather_lanes(group, f"shuffle.{mode}", mask, a)
        if isinstance(found, BlockSignal):
            return found
        lane = found.lane.astype(numpy.int64)
        by, clamp = (b & numpy.uint32(31)).astype(numpy.int64), (c & numpy.uint32(31)).astype(numpy.int64)
        segment = (c >> numpy.uint32(8) & numpy.uint32(31)).astype(numpy.int64)
        highest = (lane & segment) | (clamp & ~segment & 31)
        lowest = lane & segment
        if mode == "up":
            source = lane - by
            in_range = source >= highest
        elif mode == "down":
            source = lane + by
            in_range = source <= highest
        elif mode == "bfly":
            source = lane ^ by
            in_range = source <= highest
        else:
            source = lowest | (by & ~segment & 31)
            in_range = source <= highest
        source = numpy.where(in_range, source, lane)
        return found.values[0][found.warp, source], in_range

    return exchange


@effect_semantics
def vote(*, mode: str) -> Function:
    """Returns whether a predicate holds in all lanes, in any, or equally in all, or a mask of the lanes (`ballot`)."""

    def count(group: ThreadGroup, a: Any, mask: Any = None) -> Any:
        found = _gather_lanes(group, f"vote.{mode}", mask, a)
        if isinstance(found, BlockSignal):
            return found
        held, there = found.values[0] & found.present, found.present
        if mode == "ballot":
            return masks_of_lanes(held)[found.warp]
        every, some = (held | ~there).all(axis=1), held.any(axis=1)
        result = every if mode == "all" else some if mode == "any" else every | ~some
        return result[found.warp]

    return count


@effect_semantics
def match(*, mode: str) -> Function:
    """Returns the lanes with the same value, or all lanes if all have the same value, and whether they do."""

    def find(group: ThreadGroup, a: Any, mask: Any) -> Any:
        found = _gather_lanes(group, f"match.{mode}.{a.dtype.itemsize}", mask, a)
        if isinstance(found, BlockSignal):
            return found
        values, there = found.values[0], found.present
        own = values[found.warp, found.lane]
        same = (values[found.warp] == own[:, None]) & there[found.warp]
        equal = masks_of_lanes(same)
        if mode == "any":
            return equal
        all_equal = equal == masks_of_lanes(there)[found.warp]
        return numpy.where(all_equal, equal, numpy.uint32(0)), all_equal

    return find


@effect_semantics
def activemask() -> Function:
    """Returns the lanes that execute the instruction together."""

    def lanes(group: ThreadGroup) -> Any:
        index = group.lanes.index
        return masks_of_lanes(to_lane_matrix(group, numpy.ones(len(index), bool)))[index >> 5]

    return lanes


@effect_semantics
def redux(*, operation: str, type: str, absolute: bool = False, nan: bool = False) -> Function:  # noqa: A002
    """Reduce the values of all lanes to one."""
    functions: dict[str, Any] = {"and": numpy.bitwise_and, "or": numpy.bitwise_or, "xor": numpy.bitwise_xor}
    functions |= {"add": numpy.add, "min": numpy.minimum, "max": numpy.maximum}
    signed = is_signed(type)

    def reduce(group: ThreadGroup, a: Any, mask: Any) -> Any:
        found = _gather_lanes(group, f"redux.{operation}.{type}", mask, a)
        if isinstance(found, BlockSignal):
            return found
        if kind(type) == "f":
            return _reduce_floats(found, operation, absolute, nan)[found.warp]
        values = found.values[0].view(numpy.int32 if signed else numpy.uint32)
        # A participating lane of the warp represents those that do not take part, or they contribute nothing.
        some = found.present.argmax(axis=1)
        neutral = values[numpy.arange(len(values)), some][:, None] if operation in ("min", "max", "and", "or") else 0
        filled = numpy.where(found.present, values, neutral).astype(values.dtype)
        whole = functions[operation].reduce(filled, axis=1, dtype=values.dtype)
        return whole.view(numpy.uint32)[found.warp]

    return reduce


def _reduce_floats(found: WarpOperands, operation: str, absolute: bool, nan: bool) -> Any:
    """Returns the smallest or greatest floating-point value by pairwise reduction."""
    values = found.values[0]
    if absolute:
        values = values & numpy.uint32(0x7FFF_FFFF)
    words = {"nan": True} if nan else {}
    choose = semantics_registry.value_semantics_table()["fmin" if operation == "min" else "fmax"](type="f32", **words)
    some = found.present.argmax(axis=1)
    whole = values[numpy.arange(len(values)), some]
    for lane in range(WARP_SIZE):
        whole = numpy.where(found.present[:, lane], choose(whole, values[:, lane]), whole)
    return whole


@effect_semantics
def elect() -> Function:
    """Returns the elected lane, the lowest one in the mask, and whether it is the executing one."""

    def choose(group: ThreadGroup, mask: Any) -> Any:
        found = _gather_lanes(group, "elect", mask)
        if isinstance(found, BlockSignal):
            return found
        leader = found.present.argmax(axis=1).astype(numpy.uint32)[found.warp]
        return leader, leader == found.lane

    return choose
