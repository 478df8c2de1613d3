"""Cluster launch control: a running cluster acquires the work of one that has not started.

The first word of the response states whether a cluster was canceled, and the others are the index of its first CTA.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: clusterlaunchcontrol.try_cancel",
"clusterlaunchcontrol.query_cancel".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.diagnostics.catalogue import ptx6xx
from ptxkit.emulator.actions.cp_async_bulk import issue_signaled, locate_range, mbarrier_of, thread_positions
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.engine.mbarrier_lookup import mbarrier_at, multicast_offsets
from ptxkit.emulator.state.byte_transfers import PIECE_BYTES, ByteTransfer
from ptxkit.emulator.threads.thread_groups import ThreadGroup

_AXES = "xyz"
_HALF = 32


@effect_semantics
def try_cancel(*, space: str, multicast: bool = False) -> Function:
    """Requests the work of a cluster. The response is written to shared memory, with `multicast` to that of all
    CTAs.
    """

    def ask(group: ThreadGroup, address: Any, bar: Any) -> None:
        cluster = group.cta.cluster
        for one in thread_positions(group):
            thread = int(group.lanes.index[one])
            if group.cta.cancel_refused[thread]:
                message = ptx6xx.REQUEST_AFTER_REFUSAL()
                raise ExecutionFault(message, group.lanes.index[one : one + 1])
            pool, place = locate_range(group, one, space, address, PIECE_BYTES)
            barrier = mbarrier_of(group, one, space, bar)
            found = group.cta.machine.cancel_cluster()
            x, y, z = found or (0, 0, 0)
            answer = numpy.array([[int(found is not None) | x << _HALF, y | z << _HALF]], numpy.uint64)
            ranks = (1 << cluster.size) - 1 if multicast else 1 << group.cta.rank
            transfers, signals = [], []
            index = group.lanes.index[one : one + 1]
            for to, of in zip(
                multicast_offsets(group, place, ranks),
                multicast_offsets(group, barrier.buffer_offset, ranks),
                strict=True,
            ):
                targets = numpy.array([[to // 8, to // 8 + 1]])
                transfers.append(ByteTransfer(8, None, None, pool, targets, answer))
                signals.append((mbarrier_at(group, of, index), PIECE_BYTES))
            issue_signaled(group, one, transfers, signals)

    return ask


@effect_semantics
def is_canceled() -> Function:
    """Returns whether a response states that a cluster was canceled."""

    def ask(group: ThreadGroup, answer: Any) -> Any:
        found = (answer[:, 0] & numpy.uint64(1)) != 0
        group.cta.cancel_refused[group.lanes.index] |= ~found
        return found

    return ask


@effect_semantics
def first_cta(*, axis: str | None = None) -> Function:
    """Returns the index of the first CTA of a canceled cluster along an axis, or as (x, y, z, 0).

    A refusal has no such index. A thread that has queried `is_canceled` may decode a refusal, as CUTLASS's schedulers
    do, as long as nothing depends on the result, which is treated like an uninitialized register.
    """

    def decode(group: ThreadGroup, answer: Any) -> Any:
        refused = (answer[:, 0] & numpy.uint64(1)) == 0
        unaware = refused & ~group.cta.cancel_refused[group.lanes.index]
        if unaware.any():
            message = ptx6xx.QUERY_OF_REFUSAL()
            raise ExecutionFault(message, group.lanes.index[unaware])
        low = numpy.ascontiguousarray(answer).view(numpy.uint32)
        low = numpy.where(refused[:, None], group.cta.initial_register(32)[0], low)
        found = (*(low[:, 1 + at].copy() for at in range(3)), numpy.zeros(len(low), numpy.uint32))
        return found if axis is None else found[_AXES.index(axis)]

    return decode
