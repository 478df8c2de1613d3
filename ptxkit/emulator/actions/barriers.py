"""Barriers of a CTA and of warps.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier", "bar.warp.sync".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.diagnostics.catalogue import ptx2xx, ptx6xx
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.limits import MAX_BARRIERS
from ptxkit.emulator.sync.named_barrier import BarrierPhase, NamedBarrier
from ptxkit.emulator.sync.warp_rendezvous import SingleWarpRequired, gather_operands
from ptxkit.emulator.threads.thread_groups import BlockSignal, ThreadGroup
from ptxkit.syntax.constants import WARP_SIZE


@effect_semantics
def barrier(*, action: str, aligned: bool = False, reduce: str | None = None) -> Function:
    """Arrives at a barrier of the CTA, and waits there unless the action is `arrive`; optionally reduces a
    predicate.
    """

    def meet(group: ThreadGroup, number: Any, threads: Any = None, value: Any = None) -> Any:
        if isinstance(group.wait_token, BarrierPhase) and group.wait_token.is_complete:
            phase = group.wait_token
        else:
            which, expected = _uniform_operands(group, number, threads)
            named = group.cta.barriers.get(which)
            if named is None:
                named = group.cta.barriers[which] = NamedBarrier(group.cta, which)
            phase = named.arrive(group, expected, value, aligned=aligned, waits=action != "arrive")
            if phase.is_complete and action != "arrive" and group.lanes.count < group.cta.threads:
                return BlockSignal(phase, is_satisfied=True)  # continues with those that have waited
        if action == "arrive":
            return None
        if not phase.is_complete:
            return BlockSignal(phase)
        group.cta.machine.observer.on_barrier_pass(group, phase)
        return None if reduce is None else _reduce_predicates(reduce, phase, group)

    return meet


def _uniform_operands(group: ThreadGroup, number: Any, threads: Any) -> tuple[int, int | None]:
    """Returns the barrier and the number of threads. A group with several of them continues warp by warp."""
    for each in (number, threads):
        if each is not None and (each != each[0]).any():
            if (group.lanes.index >> 5 != group.lanes.index[0] >> 5).any():
                raise SingleWarpRequired
            raise ExecutionFault(ptx6xx.WARP_NAMES_SEVERAL_BARRIERS(), group.lanes.index)
    which = int(number[0])
    if which >= MAX_BARRIERS:
        raise ExecutionFault(
            ptx2xx.NO_SUCH_BARRIER(number=which, last=MAX_BARRIERS - 1),
            group.lanes.index,
        )
    expected = None if threads is None else int(threads[0])
    if expected is not None and (expected % WARP_SIZE or not expected):
        message = ptx2xx.INVALID_BARRIER_THREAD_COUNT(threads=expected, multiple=WARP_SIZE)
        raise ExecutionFault(message, group.lanes.index)
    return which, expected


def _reduce_predicates(reduce: str, phase: BarrierPhase, group: ThreadGroup) -> Any:
    count = group.lanes.count
    if reduce == "popc":
        return numpy.full(count, phase.predicates.bit_count(), numpy.uint32)
    return numpy.full(count, phase.predicates == phase.arrived if reduce == "and" else phase.predicates != 0)


@effect_semantics
def warp_barrier() -> Function:
    """Makes the lanes of a mask wait for each other."""

    def meet(group: ThreadGroup, mask: Any) -> Any:
        found = gather_operands(group, "barrier", mask, ())
        if isinstance(found, BlockSignal):
            return found
        group.cta.machine.observer.on_warp_sync(group, mask)
        return None

    return meet


@effect_semantics
def cluster_barrier(*, action: str, order: str | None = None) -> Function:
    """Arrives at the barrier of the cluster, or waits there."""

    def meet(group: ThreadGroup) -> Any:
        barrier = group.cta.cluster.barrier
        if action == "arrive":
            barrier.arrive(group, order or "release")
            return None
        phase = barrier.wait(group)
        return None if phase is None else BlockSignal(phase)

    return meet
