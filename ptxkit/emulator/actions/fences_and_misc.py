"""Fences, address windows, the stack, pauses, and hints, which have no effect on results.

Source: PTX ISA, "membar / fence", "isspacep", "Stack Manipulation Instructions", "Miscellaneous Instructions".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.diagnostics.catalogue import memory_words
from ptxkit.emulator.core.address_windows import RANK_SHIFT
from ptxkit.emulator.core.dtypes import resize
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.emulator.core.lane_set import with_lanes_written
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.threads.machine_observer import AccessEvent
from ptxkit.emulator.threads.thread_groups import STACK_POINTER_SLOT, ThreadGroup, YieldSignal


@effect_semantics
def fence(*, order: str, scope: str) -> Function:
    """Orders the thread's accesses before the fence and after it."""
    return lambda group: group.cta.machine.observer.on_fence(group, order, scope)


@effect_semantics
def proxy_fence(*, proxy: str, space: str | None = None, direction: str = "both", scope: str | None = None) -> Function:
    """Orders accesses through different proxies."""
    return lambda group, address=None: group.cta.machine.observer.on_proxy_fence(
        group, proxy, space, direction, scope, address
    )


@effect_semantics
def hint() -> Function:
    """Does nothing: the instruction concerns caches, counters or schedulers, and no program can observe its effect."""
    return lambda _group, *_operands: None


@effect_semantics
def grid_control(*, action: str) -> Function:
    """Waits for the prerequisite grids, which have exited on the machine, or allows dependent grids to start."""

    def control(group: ThreadGroup) -> None:
        if action == "wait":
            group.cta.machine.observer.on_grid_dependency_wait(group)

    return control


@effect_semantics
def policy() -> Function:
    """Returns a cache policy, which is opaque and has no effect on results."""
    return lambda group, *_operands: numpy.full(group.lanes.count, 1, numpy.uint64)


@effect_semantics
def pause() -> Function:
    """Yields to other threads."""
    return lambda _group, *_operands: YieldSignal()


@effect_semantics
def breakpoint_() -> Function:
    """Ends the run, because there is no debugger that would continue it."""

    def stop(group: ThreadGroup) -> None:
        raise ExecutionFault(memory_words.BREAKPOINT_EXECUTED(), group.lanes.index)

    return stop


@effect_semantics
def is_space(*, space: str) -> Function:
    """Returns whether a generic address is in a window, for shared memory in the part of the executing CTA."""

    def holds(group: ThreadGroup, address: Any) -> Any:
        cta = group.cta
        address = resize(address, 64)
        window = cta.machine.memory.windows.window_of(space)
        assert window is not None
        start, end = window.start, window.end
        if space == "shared::cta":
            start += cta.rank << RANK_SHIFT
            end = start + (1 << RANK_SHIFT)
        elif space == "shared::cluster":
            end = start + (cta.cluster.size << RANK_SHIFT)
        return (address >= numpy.uint64(start)) & (address < numpy.uint64(end))

    return holds


@effect_semantics
def fill_zero(*, space: str) -> Function:
    """Sets a range of bytes of shared memory to zero."""

    def fill(group: ThreadGroup, address: Any, size: Any) -> None:
        memory, index = group.cta.machine.memory, group.lanes.index
        for at in range(group.lanes.count):
            count = int(size[at])
            if not count:
                continue
            ends = address[at : at + 1] + numpy.array([0, count - 1], numpy.uint64)
            pool, places = memory.locate(group.cta, space, ends, 1, index[[at, at]])
            watch = group.cta.machine.observer
            if watch.is_checking and pool.is_common:
                watch.on_access(AccessEvent(group, "write", pool, places[:1], count))
            pool.data[int(places[0]) : int(places[0]) + count] = 0

    return fill


@effect_semantics
def stack_save(*, width: int) -> Function:
    """Returns the stack pointer."""

    def save(group: ThreadGroup) -> Any:
        where = group.lanes.selector
        held = group.registers[STACK_POINTER_SLOT]
        return resize(held if where is None else held[where], width)

    return save


@effect_semantics
def stack_restore() -> Function:
    """Sets the stack pointer."""

    def restore(group: ThreadGroup, pointer: Any) -> None:
        registers = group.registers
        registers[STACK_POINTER_SLOT] = with_lanes_written(
            registers[STACK_POINTER_SLOT], group.lanes.selector, resize(pointer, 64)
        )

    return restore


@effect_semantics
def stack_take(*, width: int) -> Function:
    """Allocates local memory on the stack, and returns its address in the local window."""

    def take(group: ThreadGroup, size: Any, alignment: Any = None) -> Any:
        registers, where = group.registers, group.lanes.selector
        held = registers[STACK_POINTER_SLOT]
        pointer = held if where is None else held[where]
        to = numpy.uint64(8 if alignment is None else int(alignment[0]))
        start = (pointer + to - numpy.uint64(1)) & ~(to - numpy.uint64(1))
        end = start + resize(size, 64)
        group.cta.reserve_local(int(end.max()))
        registers[STACK_POINTER_SLOT] = with_lanes_written(held, where, end)
        return resize(start, width)

    return take
