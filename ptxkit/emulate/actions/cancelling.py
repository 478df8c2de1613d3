"""Work of clusters that have not started, taken over by those that run.

The answer of a request has in its first word whether a cluster was cancelled, and in the others where its first CTA is.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: clusterlaunchcontrol.try_cancel",
"clusterlaunchcontrol.query_cancel".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulate.actions.bulk import each_thread, issue_signalled, object_of, range_of
from ptxkit.emulate.faults import Fault
from ptxkit.emulate.groups import Group
from ptxkit.emulate.objects import at, copies
from ptxkit.emulate.registry import Function, action
from ptxkit.emulate.transfers import PIECE, Transfer

_AXES = "xyz"
_HALF = 32


@action
def try_cancel(*, space: str, multicast: bool = False) -> Function:
    """Asks for the work of a cluster; the answer comes into shared memory, of all CTAs of a cluster if asked so."""

    def ask(group: Group, address: Any, bar: Any) -> None:
        cluster = group.cta.cluster
        for one in each_thread(group):
            thread = int(group.lanes.index[one])
            if group.cta.refused[thread]:
                message = "asks for another cluster, and this thread has seen that a request was refused"
                raise Fault("PTX614", message, group.lanes.index[one : one + 1])
            pool, place = range_of(group, one, space, address, PIECE)
            barrier = object_of(group, one, space, bar)
            found = group.cta.machine.cancel()
            x, y, z = found or (0, 0, 0)
            answer = numpy.array([[int(found is not None) | x << _HALF, y | z << _HALF]], numpy.uint64)
            ranks = (1 << cluster.size) - 1 if multicast else 1 << group.cta.rank
            transfers, signals = [], []
            index = group.lanes.index[one : one + 1]
            for to, of in zip(copies(group, place, ranks), copies(group, barrier.place, ranks), strict=True):
                targets = numpy.array([[to // 8, to // 8 + 1]])
                transfers.append(Transfer(8, None, None, pool, targets, answer))
                signals.append((at(group, of, index), PIECE))
            issue_signalled(group, one, transfers, signals)

    return ask


@action
def is_cancelled() -> Function:
    """Whether an answer says that a cluster was cancelled."""

    def ask(group: Group, answer: Any) -> Any:
        found = (answer[:, 0] & numpy.uint64(1)) != 0
        group.cta.refused[group.lanes.index] |= ~found
        return found

    return ask


@action
def first_cta(*, axis: str | None = None) -> Function:
    """Where the first CTA of a cancelled cluster is, along an axis, or as (x, y, z, 0).

    A refusal says no CTA. A thread that has asked `is_canceled` may decode it, as CUTLASS's schedulers do, as long as
    nothing comes of what it gets: that is as unknown as a register that nobody wrote.
    """

    def decode(group: Group, answer: Any) -> Any:
        refused = (answer[:, 0] & numpy.uint64(1)) == 0
        unaware = refused & ~group.cta.refused[group.lanes.index]
        if unaware.any():
            message = "the answer is a refusal, and this thread has not asked: it says no CTA"
            raise Fault("PTX614", message, group.lanes.index[unaware])
        low = numpy.ascontiguousarray(answer).view(numpy.uint32)
        low = numpy.where(refused[:, None], group.cta.zeros(32)[0], low)
        found = (*(low[:, 1 + at].copy() for at in range(3)), numpy.zeros(len(low), numpy.uint32))
        return found if axis is None else found[_AXES.index(axis)]

    return decode
