"""What acts on the machine itself: fences, windows, the stack, pauses; and hints, which change nothing.

Source: PTX ISA, "membar, fence", "isspacep", "Stack Manipulation Instructions", "Miscellaneous Instructions".
"""

from __future__ import annotations

from typing import Any

import numpy

from ptxkit.emulate.faults import Fault
from ptxkit.emulate.groups import STACK_POINTER, Group, Pause
from ptxkit.emulate.lanes import written
from ptxkit.emulate.registry import Function, action
from ptxkit.emulate.widths import resized
from ptxkit.emulate.windows import RANK_SHIFT


@action
def fence(*, order: str, scope: str) -> Function:
    """Orders the thread's accesses before it and behind it."""
    return lambda group: group.cta.machine.order.fenced(group, order, scope)


@action
def proxy_fence(*, proxy: str, space: str | None = None, direction: str = "both", scope: str | None = None) -> Function:
    """Orders accesses through different proxies."""
    return lambda group, address=None: group.cta.machine.order.proxy_fenced(
        group, proxy, space, direction, scope, address
    )


@action
def hint() -> Function:
    """Says something to caches, counters or schedulers, and changes nothing that a program could see."""
    return lambda _group, *_operands: None


@action
def grid_control(*, action: str) -> Function:
    """Waits for the grids that this one depends on, which have ended here; or lets dependent ones start."""

    def control(group: Group) -> None:
        if action == "wait":
            group.cta.machine.order.grid_waits(group)

    return control


@action
def policy() -> Function:
    """A cache policy: opaque, and without effect on what is computed."""
    return lambda group, *_operands: numpy.full(group.lanes.count, 1, numpy.uint64)


@action
def pause() -> Function:
    """Lets others go on first."""
    return lambda _group, *_operands: Pause()


@action
def breakpoint_() -> Function:
    """Ends the run: no debugger is there to go on from here."""

    def stop(group: Group) -> None:
        raise Fault("brkpt", "the kernel executed `brkpt`, and no debugger is there", group.lanes.index)

    return stop


@action
def is_space(*, space: str) -> Function:
    """Whether a generic address lies in a window; of the CTA's own shared memory, in its part of that."""

    def holds(group: Group, address: Any) -> Any:
        cta = group.cta
        address = resized(address, 64)
        window = cta.machine.memory.windows.of(space)
        assert window is not None
        start, end = window.start, window.end
        if space == "shared::cta":
            start += cta.rank << RANK_SHIFT
            end = start + (1 << RANK_SHIFT)
        elif space == "shared::cluster":
            end = start + (cta.cluster.size << RANK_SHIFT)
        return (address >= numpy.uint64(start)) & (address < numpy.uint64(end))

    return holds


@action
def fill_zero(*, space: str) -> Function:
    """Sets a range of bytes of shared memory to zero."""

    def fill(group: Group, address: Any, size: Any) -> None:
        memory, index = group.cta.machine.memory, group.lanes.index
        for at in range(group.lanes.count):
            count = int(size[at])
            if not count:
                continue
            ends = address[at : at + 1] + numpy.array([0, count - 1], numpy.uint64)
            pool, places = memory.locate(group.cta, space, ends, 1, index[[at, at]])
            watch = group.cta.machine.order
            if watch.watches:
                watch.accessed(group, "write", pool, places[:1], count, "weak", None)
            pool.data[int(places[0]) : int(places[0]) + count] = 0

    return fill


@action
def stack_save(*, width: int) -> Function:
    """The stack pointer."""

    def save(group: Group) -> Any:
        where = group.lanes.where
        held = group.registers[STACK_POINTER]
        return resized(held if where is None else held[where], width)

    return save


@action
def stack_restore() -> Function:
    """Sets the stack pointer back."""

    def restore(group: Group, pointer: Any) -> None:
        registers = group.registers
        registers[STACK_POINTER] = written(registers[STACK_POINTER], group.lanes.where, resized(pointer, 64))

    return restore


@action
def stack_take(*, width: int) -> Function:
    """Takes local memory from the stack; its address in the local window."""

    def take(group: Group, size: Any, alignment: Any = None) -> Any:
        registers, where = group.registers, group.lanes.where
        held = registers[STACK_POINTER]
        pointer = held if where is None else held[where]
        to = numpy.uint64(8 if alignment is None else int(alignment[0]))
        start = (pointer + to - numpy.uint64(1)) & ~(to - numpy.uint64(1))
        end = start + resized(size, 64)
        group.cta.need_local(int(end.max()))
        registers[STACK_POINTER] = written(held, where, end)
        return resized(start, width)

    return take
