"""Stores and reductions that happen later, each thread's by itself, in the generic proxy.

Source: PTX ISA, "Data Movement and Conversion Instructions: st.async", "Parallel Synchronization and Communication
Instructions: red.async".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulate.actions.atomics import combining
from ptxkit.emulate.groups import Group
from ptxkit.emulate.objects import check_homes, one_by_one
from ptxkit.emulate.operations import FREE, SIGNALLED, Operation
from ptxkit.emulate.registry import Function, action
from ptxkit.emulate.transfers import Combine, Transfer
from ptxkit.emulate.widths import WIDE, width_of


@action
def store_async(*, type: str, space: str, count: int = 1) -> Function:  # noqa: A002
    """Writes a value, or `count` of them, at each thread's address; an mbarrier is told, or nobody."""
    width = width_of(type)

    def store(group: Group, address: Any, value: Any, bar: Any = None) -> None:
        parts = value if isinstance(value, tuple) else (value,)
        columns = [
            numpy.broadcast_to(each, (group.lanes.count, 2) if width == WIDE else (group.lanes.count,))
            for each in parts
        ]
        data = columns[0] if width == WIDE else numpy.stack(columns, axis=1)
        _issue(group, space, address, data, width // 8 * count, bar, None)

    return store


@action
def reduce_async(*, type: str, space: str, operation: str) -> Function:  # noqa: A002
    """Combines a value with what is at each thread's address; an mbarrier is told, or nobody."""
    width, function = width_of(type), combining(type, operation, False)

    def reduce(group: Group, address: Any, value: Any, bar: Any = None) -> None:
        data = numpy.broadcast_to(value, (group.lanes.count,))[:, None]
        _issue(group, space, address, data, width // 8, bar, lambda old, new: function(old, new, None))

    return reduce


def _issue(group: Group, space: str, address: Any, data: Any, size: int, bar: Any, combine: Combine | None) -> None:
    cta, index = group.cta, group.lanes.index
    pool, places = cta.machine.memory.locate(cta, space, address, size, index)
    unit = data.dtype.itemsize
    targets = places[:, None] // unit + numpy.arange(data.shape[1])
    flying = cta.machine.asynchrony
    if bar is None:
        transfer = Transfer(unit, None, None, pool, targets, data, combine)
        flying.issue(Operation(group, FREE, (transfer,), index, proxy="generic"))
        return
    for barrier, chosen in one_by_one(group, space, bar):
        homes = places[chosen] // cta.cluster.stride
        check_homes(barrier, homes, index[chosen], not_in=None if combine is None else cta.rank)
        transfer = Transfer(unit, None, None, pool, targets[chosen], data[chosen], combine)
        signals = ((barrier, size * transfer.rows),)
        flying.issue(Operation(group, SIGNALLED, (transfer,), index[chosen], proxy="generic", signals=signals))
