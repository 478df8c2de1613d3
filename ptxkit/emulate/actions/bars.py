"""Barriers of a CTA and of warps.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: bar, barrier", "bar.warp.sync".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulate.barriers import NamedBarrier, Phase
from ptxkit.emulate.faults import Fault
from ptxkit.emulate.groups import Blocked, Group
from ptxkit.emulate.meetings import OneWarp, gather
from ptxkit.emulate.registry import Function, action

_BARRIERS = 16
_WARP = 32


@action
def barrier(*, action: str, aligned: bool = False, reduce: str | None = None) -> Function:
    """Arrives at a barrier of the CTA, and waits there unless the action is `arrive`; may reduce a predicate."""

    def meet(group: Group, number: Any, threads: Any = None, value: Any = None) -> Any:
        if isinstance(group.token, Phase) and group.token.is_open:
            phase = group.token
        else:
            which, expected = _decided(group, number, threads)
            named = group.cta.barriers.get(which)
            if named is None:
                named = group.cta.barriers[which] = NamedBarrier(group.cta, which)
            phase = named.arrive(group, expected, value, aligned=aligned, waits=action != "arrive")
            if phase.is_open and action != "arrive" and group.lanes.count < group.cta.threads:
                return Blocked(phase, is_over=True)  # not before those who have waited, but with them
        if action == "arrive":
            return None
        if not phase.is_open:
            return Blocked(phase)
        group.cta.machine.order.passes_barrier(group, phase)
        return None if reduce is None else _reduced(reduce, phase, group)

    return meet


def _decided(group: Group, number: Any, threads: Any) -> tuple[int, int | None]:
    """The barrier and the number of threads; a group with several goes on warp by warp."""
    for each in (number, threads):
        if each is not None and (each != each[0]).any():
            if (group.lanes.index >> 5 != group.lanes.index[0] >> 5).any():
                raise OneWarp
            raise Fault("PTX603", "threads of one warp name different barriers", group.lanes.index)
    which = int(number[0])
    if which >= _BARRIERS:
        raise Fault("PTX206", f"there is no barrier {which}: they are 0 to {_BARRIERS - 1}", group.lanes.index)
    expected = None if threads is None else int(threads[0])
    if expected is not None and (expected % _WARP or not expected):
        message = f"{expected} is no number of threads for a barrier: it must be a multiple of {_WARP}"
        raise Fault("PTX206", message, group.lanes.index)
    return which, expected


def _reduced(reduce: str, phase: Phase, group: Group) -> Any:
    values = phase.values[phase.arrived]
    count = group.lanes.count
    if reduce == "popc":
        return numpy.full(count, numpy.count_nonzero(values), numpy.uint32)
    return numpy.full(count, bool(values.all() if reduce == "and" else values.any()))


@action
def warp_barrier() -> Function:
    """The lanes that a mask names wait for each other."""

    def meet(group: Group, mask: Any) -> Any:
        found = gather(group, "barrier", mask, ())
        if isinstance(found, Blocked):
            return found
        group.cta.machine.order.warp_synchronises(group, mask)
        return None

    return meet


@action
def cluster_barrier(*, action: str, order: str | None = None) -> Function:
    """Arrives at the barrier of the cluster, or waits there."""

    def meet(group: Group) -> Any:
        barrier = group.cta.cluster.barrier
        if action == "arrive":
            barrier.arrive(group, order or "release")
            return None
        phase = barrier.wait(group)
        return None if phase is None else Blocked(phase)

    return meet
