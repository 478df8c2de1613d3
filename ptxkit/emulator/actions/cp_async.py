"""Copies of some bytes by each thread, from global to shared memory, with their own kind of groups.

Source: PTX ISA, "Data Movement and Conversion Instructions: cp.async", "cp.async.commit_group", "cp.async.wait_group /
cp.async.wait_all", "Parallel Synchronization and Communication Instructions: cp.async.mbarrier.arrive".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.diagnostics.catalogue import ptx2xx
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.core.lane_set import ThreadIndex
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.engine.mbarrier_lookup import iter_mbarriers
from ptxkit.emulator.state.byte_transfers import NO_OFFSET, ByteTransfer
from ptxkit.emulator.sync.async_operation import CP_ASYNC, AsyncOperation
from ptxkit.emulator.threads.thread_groups import BlockSignal, ThreadGroup


@effect_semantics
def copy_async(*, space: str) -> Function:
    """Copies `size` bytes for each thread, of which `given` are read from the source; the rest is filled with zeros."""

    def copy(group: ThreadGroup, target: Any, source: Any, size: Any, given: Any = None, ignored: Any = None) -> None:
        cta, index = group.cta, group.lanes.index
        memory, bytes_ = cta.machine.memory, int(numpy.ravel(size)[0])
        to_pool, to = memory.locate(cta, space, target, bytes_, index)
        lengths = _source_lengths(group, bytes_, given, ignored)
        if (lengths == bytes_).all():
            pool, places = memory.locate(cta, "global", source, bytes_, index)
            unit = min(bytes_, 8)
            offsets = numpy.arange(bytes_ // unit)
            sources = places[:, None] // unit + offsets
            transfer = ByteTransfer(unit, pool, sources, to_pool, to[:, None] // unit + offsets)
        else:
            transfer = _partial_transfer(group, source, to_pool, to, bytes_, lengths)
        flying = cta.machine.async_engine
        groups = flying.committed_groups(cta, CP_ASYNC)[index]
        flying.issue(AsyncOperation(group, CP_ASYNC, (transfer,), index, proxy="generic", groups=groups))

    return copy


def _source_lengths(group: ThreadGroup, size: int, given: Any, ignored: Any) -> Any:
    count = group.lanes.count
    lengths = numpy.full(count, size) if given is None else numpy.broadcast_to(given, (count,)).astype(numpy.int64)
    if (lengths > size).any():
        wrong = lengths > size
        message = ptx2xx.COPY_READS_TOO_MUCH(size=size, read=int(lengths[wrong][0]))
        raise ExecutionFault(message, group.lanes.index[wrong])
    return lengths if ignored is None else numpy.where(ignored, 0, lengths)


def _partial_transfer(group: ThreadGroup, source: Any, to_pool: Any, to: Any, size: int, lengths: Any) -> ByteTransfer:
    """Returns a copy of which some threads read fewer bytes: their other bytes are zeros, and need not exist in the
    source.
    """
    cta, index = group.cta, group.lanes.index
    memory = cta.machine.memory
    reads = lengths > 0
    offsets = numpy.arange(size)
    sources = numpy.full((len(index), size), NO_OFFSET, numpy.int64)
    pool = None
    if reads.any():
        odd = reads & ((source & numpy.uint64(size - 1)) != 0)
        if odd.any():
            first = int(source[odd][0])
            message = ptx2xx.ADDRESS_NOT_ALIGNED(address=first, size=size)
            raise ExecutionFault(message, index[odd], space="global", start=first, size=size)
        some: ThreadIndex = index[reads]
        last = source[reads] + (lengths[reads] - 1).astype(numpy.uint64)
        memory.locate(cta, "global", last, 1, some)
        pool, places = memory.locate(cta, "global", source[reads], 1, some)
        sources[reads] = numpy.where(offsets < lengths[reads][:, None], places[:, None] + offsets, NO_OFFSET)
    return ByteTransfer(1, pool, sources, to_pool, to[:, None] + offsets)


@effect_semantics
def commit_group(*, kind: str) -> Function:
    """Commits the threads' groups of a kind."""
    return lambda group: group.cta.machine.async_engine.commit(group, kind)


@effect_semantics
def wait_group(*, kind: str, reads_only: bool = False, commits: bool = False) -> Function:
    """Waits for all groups of a kind except the last ones, whose number is the operand."""

    def wait(group: ThreadGroup, pending: Any) -> BlockSignal | None:
        flying = group.cta.machine.async_engine
        if commits:
            flying.commit(group, kind)
        awaited = flying.wait(group, kind, int(numpy.ravel(pending)[0]), reads_only=reads_only)
        return None if awaited is None else BlockSignal(awaited)

    return wait


@effect_semantics
def arrive_after_copies(*, space: str, counted: bool) -> Function:
    """Arrives at an mbarrier when the threads' copies so far are complete.

    With `counted`, the arrival is one of those that the phase needs; otherwise it needs one more.
    """

    def arrive(group: ThreadGroup, address: Any) -> None:
        flying = group.cta.machine.async_engine
        for barrier, chosen in iter_mbarriers(group, space, address):
            index = group.lanes.index[chosen]
            if not counted:
                try:
                    barrier.add_pending(len(index))
                except ExecutionFault as fault:
                    fault.assign_threads(index)
                    raise
            flying.defer_arrive(group, index, barrier)

    return arrive
