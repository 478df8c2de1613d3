"""Copies of some bytes for each thread, from global to shared memory, with groups of their own.

Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async", "cp.async.commit_group", "cp.async.wait_group /
cp.async.wait_all", "Parallel Synchronization and Communication Instructions: cp.async.mbarrier.arrive".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulate.faults import Fault
from ptxkit.emulate.groups import Blocked, Group
from ptxkit.emulate.lanes import Index
from ptxkit.emulate.mbarriers import Misuse
from ptxkit.emulate.objects import checked, one_by_one
from ptxkit.emulate.operations import CP_ASYNC, Operation
from ptxkit.emulate.registry import Function, action
from ptxkit.emulate.transfers import NOWHERE, Transfer


@action
def copy_async(*, space: str) -> Function:
    """Copies `size` bytes for each thread; of the source, `given` are read where there are fewer, or none."""

    def copy(group: Group, target: Any, source: Any, size: Any, given: Any = None, ignored: Any = None) -> None:
        cta, index = group.cta, group.lanes.index
        memory, bytes_ = cta.machine.memory, int(numpy.ravel(size)[0])
        to_pool, to = memory.locate(cta, space, target, bytes_, index)
        lengths = _lengths(group, bytes_, given, ignored)
        if (lengths == bytes_).all():
            pool, places = memory.locate(cta, "global", source, bytes_, index)
            unit = min(bytes_, 8)
            offsets = numpy.arange(bytes_ // unit)
            sources = places[:, None] // unit + offsets
            transfer = Transfer(unit, pool, sources, to_pool, to[:, None] // unit + offsets)
        else:
            transfer = _partial(group, source, to_pool, to, bytes_, lengths)
        flying = cta.machine.asynchrony
        groups = flying.closed(cta, CP_ASYNC)[index]
        flying.issue(Operation(group, CP_ASYNC, (transfer,), index, proxy="generic", groups=groups))

    return copy


def _lengths(group: Group, size: int, given: Any, ignored: Any) -> Any:
    count = group.lanes.count
    lengths = numpy.full(count, size) if given is None else numpy.broadcast_to(given, (count,)).astype(numpy.int64)
    if (lengths > size).any():
        wrong = lengths > size
        message = f"the copy of {size} bytes is told to read {int(lengths[wrong][0])}"
        raise Fault("PTX206", message, group.lanes.index[wrong])
    return lengths if ignored is None else numpy.where(ignored, 0, lengths)


def _partial(group: Group, source: Any, to_pool: Any, to: Any, size: int, lengths: Any) -> Transfer:
    """Where some threads read less: the rest of their bytes are zeros, and their sources may not exist."""
    cta, index = group.cta, group.lanes.index
    memory = cta.machine.memory
    reads = lengths > 0
    offsets = numpy.arange(size)
    sources = numpy.full((len(index), size), NOWHERE, numpy.int64)
    pool = None
    if reads.any():
        odd = reads & ((source & numpy.uint64(size - 1)) != 0)
        if odd.any():
            first = int(source[odd][0])
            message = f"0x{first:x} is no address of {size} bytes: it must be a multiple of {size}"
            raise Fault("PTX205", message, index[odd], space="global", start=first, size=size)
        some: Index = index[reads]
        last = source[reads] + (lengths[reads] - 1).astype(numpy.uint64)
        memory.locate(cta, "global", last, 1, some)
        pool, places = memory.locate(cta, "global", source[reads], 1, some)
        sources[reads] = numpy.where(offsets < lengths[reads][:, None], places[:, None] + offsets, NOWHERE)
    return Transfer(1, pool, sources, to_pool, to[:, None] + offsets)


@action
def commit_group(*, kind: str) -> Function:
    """Closes the threads' groups of a kind."""
    return lambda group: group.cta.machine.asynchrony.commit(group, kind)


@action
def wait_group(*, kind: str, reads_only: bool = False, commits: bool = False) -> Function:
    """Waits for all groups of a kind but the last so many."""

    def wait(group: Group, pending: Any) -> Blocked | None:
        flying = group.cta.machine.asynchrony
        if commits:
            flying.commit(group, kind)
        awaited = flying.wait(group, kind, int(numpy.ravel(pending)[0]), reads_only=reads_only)
        return None if awaited is None else Blocked(awaited)

    return wait


@action
def arrive_after_copies(*, space: str, counted: bool) -> Function:
    """Arrives at an mbarrier when the threads' copies so far are complete. counted: among the arrivals it needs."""

    def arrive(group: Group, address: Any) -> None:
        flying = group.cta.machine.asynchrony
        for barrier, chosen in one_by_one(group, space, address):
            index = group.lanes.index[chosen]
            if not counted:
                try:
                    barrier.track(len(index))
                except Misuse as misuse:
                    raise checked(group, misuse, index) from misuse
            flying.arrive_later(group, index, barrier)

    return arrive
