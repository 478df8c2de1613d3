"""Asynchronous stores and reductions in the generic proxy, which are independent for each thread.

Source: PTX ISA, "Data Movement and Conversion Instructions: st.async", "Parallel Synchronization and Communication
Instructions: red.async".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulator.actions.atomics import combine_function
from ptxkit.emulator.core.dtypes import WIDE, width_of
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.engine.mbarrier_lookup import check_data_ctas, iter_mbarriers
from ptxkit.emulator.state.byte_transfers import ByteTransfer, Combine
from ptxkit.emulator.sync.async_operation import BY_MBARRIER, UNSIGNALED, AsyncOperation
from ptxkit.emulator.threads.thread_groups import ThreadGroup


@effect_semantics
def store_async(*, type: str, space: str, count: int = 1) -> Function:  # noqa: A002
    """Writes a value, or `count` of them, at each thread's address, and signals an mbarrier if one is given."""
    width = width_of(type)

    def store(group: ThreadGroup, address: Any, value: Any, bar: Any = None) -> None:
        parts = value if isinstance(value, tuple) else (value,)
        columns = [
            numpy.broadcast_to(each, (group.lanes.count, 2) if width == WIDE else (group.lanes.count,))
            for each in parts
        ]
        data = columns[0] if width == WIDE else numpy.stack(columns, axis=1)
        _issue(group, space, address, data, width // 8 * count, bar, None)

    return store


@effect_semantics
def reduce_async(*, type: str, space: str, operation: str) -> Function:  # noqa: A002
    """Combines a value with the contents of each thread's address, and signals an mbarrier if one is given."""
    width, function = width_of(type), combine_function(type, operation, False)

    def reduce(group: ThreadGroup, address: Any, value: Any, bar: Any = None) -> None:
        data = numpy.broadcast_to(value, (group.lanes.count,))[:, None]
        _issue(group, space, address, data, width // 8, bar, lambda old, new: function(old, new, None))

    return reduce


def _issue(
    group: ThreadGroup, space: str, address: Any, data: Any, size: int, bar: Any, combine: Combine | None
) -> None:
    cta, index = group.cta, group.lanes.index
    pool, places = cta.machine.memory.locate(cta, space, address, size, index)
    unit = data.dtype.itemsize
    targets = places[:, None] // unit + numpy.arange(data.shape[1])
    flying = cta.machine.async_engine
    if bar is None:
        transfer = ByteTransfer(unit, None, None, pool, targets, data, combine)
        flying.issue(AsyncOperation(group, UNSIGNALED, (transfer,), index, proxy="generic"))
        return
    for barrier, chosen in iter_mbarriers(group, space, bar):
        homes = places[chosen] // cta.cluster.stride
        check_data_ctas(barrier, homes, index[chosen], not_in=None if combine is None else cta.rank)
        transfer = ByteTransfer(unit, None, None, pool, targets[chosen], data[chosen], combine)
        signals = ((barrier, size * transfer.rows),)
        flying.issue(AsyncOperation(group, BY_MBARRIER, (transfer,), index[chosen], proxy="generic", signals=signals))
