"""Tensor Memory: allocation and deallocation of columns, and copies from and to registers and shared memory.

All operations take effect when they are issued. The observer of the order of Tensor Memory is notified of each use, and
of the events that make its completion observable.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy

from ptxkit.diagnostics import DiagnosticCode
from ptxkit.diagnostics.catalogue import ptx2xx, ptx7xx
from ptxkit.emulator.actions.load_store import store
from ptxkit.emulator.actions.wgmma import FULL_MASK, SharedReads
from ptxkit.emulator.core.findings import ExecutionFault, UnsupportedError
from ptxkit.emulator.core.lane_set import LaneSet
from ptxkit.emulator.core.numbers.float_codec import magnitudes
from ptxkit.emulator.core.numbers.float_compare import min_max
from ptxkit.emulator.core.numbers.formats import F32
from ptxkit.emulator.core.semantics_registry import Function, effect_semantics
from ptxkit.emulator.races.tensor_memory_order import LOAD, STORE, TensorMemoryUse, tensor_memory_order_of
from ptxkit.emulator.sync.async_operation import TCGEN05
from ptxkit.emulator.sync.warp_rendezvous import gather_operands
from ptxkit.emulator.tensor.padded_elements import decode_units, to_byte_codes
from ptxkit.emulator.tensor.tensor_memory import (
    COLUMNS,
    LANES,
    CtaTensorMemory,
    register_layout,
    split_address,
)
from ptxkit.emulator.tensor.tmem_regions import TmemRegion, split_regions
from ptxkit.emulator.threads.thread_groups import BlockSignal, ThreadGroup
from ptxkit.syntax.constants import WARP_SIZE

if TYPE_CHECKING:
    from ptxkit.emulator.threads.machine_state import CtaState


def ctas_of(group: ThreadGroup, ctas: str) -> list[CtaState]:
    """Returns the CTAs that an instruction concerns: the executing one, or the one of even rank and its peer."""
    cta, order = group.cta, tensor_memory_order_of(group)
    mixed = order is not None and order.record_cta_group(group)
    if ctas == "cta_group::1":
        return [cta]
    first = cta.rank & ~1
    if first + 2 > cta.cluster.size:
        if mixed:
            return [cta]  # this is reported already, and more violations may be found
        raise ExecutionFault(ptx2xx.NO_CTA_PAIR(), group.lanes.index)
    return list(cta.cluster.ctas[first : first + 2])


def operand_number(value: Any, position: int) -> int:
    """Returns an operand of one thread."""
    return int(numpy.ravel(value)[position if numpy.size(value) > 1 else 0])


def record_use(
    group: ThreadGroup, threads: Any, completion: str, touched: Iterable[TmemRegion]
) -> TensorMemoryUse | None:
    """Records the regions that threads use and how the completion is observed, if the order of such uses is checked."""
    order = tensor_memory_order_of(group)
    return None if order is None else order.record_use(group, threads, completion, touched)


def _warp_operands(
    group: ThreadGroup, name: str, values: tuple[Any, ...], code: DiagnosticCode = ptx7xx.TENSOR_LANES
) -> Any:
    """Returns the operands of all lanes of each warp together, as matrices (warps, 32)."""
    count = group.lanes.count
    given = tuple(numpy.broadcast_to(each, (count,)) for each in values)
    return gather_operands(group, name, numpy.full(count, FULL_MASK), given, code)


@effect_semantics
def tmem_allocate(*, space: str, ctas: str) -> Function:
    """Allocates columns for each warp, whose first lane writes their address to shared memory.

    For a pair, a warp of each CTA executes it and allocates the same columns, on the machine each for its own CTA.
    """
    write = store(type="u32", space=space)

    def allocate(group: ThreadGroup, address: Any, count: Any) -> Any:
        ctas_of(group, ctas)
        found = _warp_operands(group, "tcgen05.alloc", (address, count), ptx7xx.TENSOR_ALLOCATION)
        if isinstance(found, BlockSignal):
            return found
        lanes, memory, order = group.lanes, group.cta.tensor_memory, tensor_memory_order_of(group)
        for warp in numpy.unique(found.warp):
            position, wanted = int(numpy.flatnonzero(found.warp == warp)[0]), int(found.values[1][warp, 0])
            try:
                taken = memory.allocate(wanted, int(warp))
            except ExecutionFault as fault:
                fault.assign_threads(group.lanes.index[position : position + 1])
                raise
            if ctas == "cta_group::2":
                memory.paired_allocations.add(taken)
            group.lanes = LaneSet(lanes.index[position : position + 1], group.cta.threads)
            try:
                write(group, address[position : position + 1], numpy.array([taken], numpy.uint32))
            finally:
                group.lanes = lanes
            if order is not None:
                order.record_allocation(
                    group, lanes.index[found.warp == warp], _column_region(group.cta, taken, wanted)
                )
        return None

    return allocate


@effect_semantics
def tmem_deallocate(*, ctas: str) -> Function:
    """Deallocates columns of the warp's own CTA."""

    def deallocate(group: ThreadGroup, address: Any, count: Any) -> Any:
        ctas_of(group, ctas)
        found = _warp_operands(group, "tcgen05.dealloc", (address, count), ptx7xx.TENSOR_ALLOCATION)
        if isinstance(found, BlockSignal):
            return found
        order = tensor_memory_order_of(group)
        for warp in numpy.unique(found.warp):
            first, given = (int(each[warp, 0]) for each in found.values)
            if order is not None:
                order.record_deallocation(
                    group, group.lanes.index[found.warp == warp], _column_region(group.cta, first, given)
                )
            try:
                group.cta.tensor_memory.deallocate(first, given)
            except ExecutionFault as fault:
                position = int(numpy.flatnonzero(found.warp == warp)[0])
                fault.assign_threads(group.lanes.index[position : position + 1])
                raise
        return None

    return deallocate


def _column_region(cta: CtaState, first: int, count: int) -> TmemRegion:
    """Returns the region of columns in all lanes."""
    return TmemRegion(cta, (1 << LANES) - 1, first, first + count, writes=True)


@effect_semantics
def tmem_relinquish(*, ctas: str) -> Function:
    """Records that the CTA allocates no more columns."""

    def relinquish(group: ThreadGroup) -> None:
        ctas_of(group, ctas)
        group.cta.tensor_memory.has_relinquished = True

    return relinquish


# ---------------------------------------------------------------------------------------------------- registers


class _RegisterWindow:
    """The location of the registers of warps in Tensor Memory.

    With `packed`, a register is formed of the lower halves of two columns.
    """

    def __init__(self, shape: str, times: int, packed: bool) -> None:
        self.lanes, self.columns = register_layout(shape, times)
        self.packed, self.is_split = packed, shape == "16x32bx2"

    def locate(self, group: ThreadGroup, found: Any, offset: Any) -> tuple[CtaTensorMemory, Any, Any]:
        """Returns the memory, and the lanes and columns for each thread, (registers, threads).

        An address without a lane that is not the warp's is reported, and stands for the warp's own lanes, as devices
        take it. Raises ExecutionFault if other lanes are not those of the thread's warp.
        """
        memory, thread = group.cta.tensor_memory, found.lane.astype(numpy.int64)
        address = found.values[0][found.warp, 0].astype(numpy.int64)
        first, quarter = address >> 16, found.warp % 4 * WARP_SIZE
        is_laneless = bool((first == 0).all())
        if is_laneless and group.activation.function.offsets[group.pc] in group.cta.machine.laneless:
            first = quarter
        lanes = self.lanes[:, thread] + first
        wrong = ((lanes < quarter) | (lanes >= quarter + WARP_SIZE)).any(axis=0)
        if wrong.any():
            at = int(numpy.flatnonzero(wrong)[0])
            content = ptx7xx.LANES_OF_OTHER_WARP(
                warp=int(found.warp[at]),
                first=int(quarter[at]),
                last=int(quarter[at]) + 31,
                lane=int(lanes[:, at].max()),
            )
            fault = ExecutionFault(content, group.lanes.index[at : at + 1])
            if not is_laneless:
                raise fault
            group.report(fault)
            lanes = self.lanes[:, thread] + quarter
        columns = self.columns[:, thread] * (2 if self.packed else 1) + (address & 0xFFFF)
        if self.is_split:
            columns = columns + numpy.where(thread >= WARP_SIZE // 2, operand_number(offset, 0), 0)
        try:
            memory.check(columns)
            memory.check(columns + self.packed)
        except ExecutionFault as fault:
            fault.assign_threads(group.lanes.index[:1])
            raise
        return memory, lanes, columns

    def record_use(self, group: ThreadGroup, found: Any, lanes: Any, columns: Any, completion: str) -> None:
        """Records the regions that each warp uses, if the order of such uses is checked."""
        if tensor_memory_order_of(group) is None:
            return
        across = numpy.concatenate([columns, columns + 1]) if self.packed else columns
        for warp in numpy.unique(found.warp):
            own = found.warp == warp
            parts = split_regions(group.cta, lanes[:, own], across[:, own], writes=completion == STORE)
            record_use(group, group.lanes.index[own], completion, parts)


@effect_semantics
def tmem_wait(*, kind: str) -> Function:
    """Waits for the loads, or the stores, of each warp."""

    def wait(group: ThreadGroup) -> Any:
        found = _warp_operands(group, f"tcgen05.wait::{kind}", ())
        if isinstance(found, BlockSignal):
            return found
        order = tensor_memory_order_of(group)
        if order is not None:
            order.record_wait(group, LOAD if kind == "ld" else STORE)
        return None

    return wait


@effect_semantics
def tmem_fence(*, side: str) -> Function:
    """Orders uses of Tensor Memory around a synchronization, which is before or after the fence (`side`)."""

    def fence(group: ThreadGroup) -> None:
        order = tensor_memory_order_of(group)
        if order is not None and side == "after":
            order.record_fence(group)

    return fence


@effect_semantics
def tmem_load(*, shape: str, count: str, pack: bool = False) -> Function:
    """Loads lanes of each warp into registers."""
    window = _RegisterWindow(shape, int(count[1:]), pack)

    def load(group: ThreadGroup, address: Any, offset: Any = None) -> Any:
        found = _warp_operands(group, "tcgen05.ld", (address,))
        if isinstance(found, BlockSignal):
            return found
        memory, lanes, columns = window.locate(group, found, offset)
        window.record_use(group, found, lanes, columns, LOAD)
        words = memory.words[lanes, columns]
        if pack:
            words = words & numpy.uint32(0xFFFF) | memory.words[lanes, columns + 1] << numpy.uint32(16)
        return tuple(words)

    return load


@effect_semantics
def tmem_load_extreme(
    *,
    shape: str,
    count: str,
    type: str,  # noqa: A002
    operation: str,
    abs: bool = False,  # noqa: A002
    nan: bool = False,
) -> Function:
    """Loads as `tmem_load` does, and also returns the least or greatest value that each thread reads.

    A NaN among the values is ignored unless `nan` is set.
    """
    load, greatest = tmem_load(shape=shape, count=count), operation == "max"
    choose = min_max(F32, greatest=greatest, nan=nan) if type == "f32" else None
    whole = numpy.dtype(numpy.int32 if type == "s32" else numpy.uint32)

    def load_both(group: ThreadGroup, address: Any, offset: Any = None) -> Any:
        words = load(group, address, offset)
        if isinstance(words, BlockSignal):
            return words
        if choose is not None:
            return words, reduce(choose, (magnitudes(F32, each) for each in words) if abs else words)
        numbers = numpy.stack(words).view(whole)
        return words, (numbers.max(axis=0) if greatest else numbers.min(axis=0)).view(numpy.uint32)

    return load_both


@effect_semantics
def tmem_store(*, shape: str, count: str, unpack: bool = False) -> Function:
    """Stores registers to lanes of each warp."""
    window = _RegisterWindow(shape, int(count[1:]), unpack)

    def put(group: ThreadGroup, address: Any, values: Any, offset: Any = None) -> Any:
        found = _warp_operands(group, "tcgen05.st", (address, *values))
        if isinstance(found, BlockSignal):
            return found
        memory, lanes, columns = window.locate(group, found, offset)
        window.record_use(group, found, lanes, columns, STORE)
        words = numpy.stack([each[found.warp, found.lane] for each in found.values[1:]])
        if unpack:
            memory.words[lanes, columns] = words & numpy.uint32(0xFFFF)
            memory.words[lanes, columns + 1] = words >> numpy.uint32(16)
        else:
            memory.words[lanes, columns] = words
        return None

    return put


# ------------------------------------------------------------------------------------------------ shared memory

_MULTICAST_LANES = {"warpx2::02_13": ((0, 64), (32, 96)), "warpx2::01_23": ((0, 32), (64, 96))}
"""The first lanes of the copies of the first and of the last 32 rows."""


@effect_semantics
def tmem_copy(*, shape: str, ctas: str, multicast: str | None = None, source: str | None = None) -> Function:
    """Copies rows of a matrix of shared memory to lanes, for each thread; for a pair, in each CTA.

    `source` states that elements have 6 or 4 bits, packed and padded, and become a byte each.
    """
    if shape == "4x256b":
        raise UnsupportedError("the machine copies 32 lanes or more")
    rows, width = (int(part.rstrip("b")) for part in shape.split("x"))
    packed = 0 if source is None else int(source[1])  # b6x16_p32, b4x16_p64

    def copy(group: ThreadGroup, to: Any, descriptor: Any) -> None:
        for position in range(group.lanes.count):
            thread = group.lanes.index[position : position + 1]
            reads = SharedReads(group, thread // WARP_SIZE)
            _, column = split_address(operand_number(to, position))
            touched: list[TmemRegion] = []
            for cta in ctas_of(group, ctas):
                words = reads.read_matrix(
                    [operand_number(descriptor, position)], rows, width // 32, 32, False, cta.rank
                )[0]
                if packed:
                    octets = decode_units(numpy.ascontiguousarray(words).view(numpy.uint8), packed, turned=False)
                    words = to_byte_codes(octets, packed).view(numpy.uint32)
                touched += split_regions(cta, numpy.arange(LANES), column + numpy.arange(width // 32), writes=True)
                try:
                    cta.tensor_memory.check(column + numpy.arange(width // 32))
                except ExecutionFault as fault:
                    fault.assign_threads(group.lanes.index[position : position + 1])
                    raise
                _write_rows(cta.tensor_memory.words[:, column : min(column + width // 32, COLUMNS)], words, multicast)
            reads.issue(TCGEN05, thread, record_use(group, thread, TCGEN05, touched))

    return copy


def _write_rows(target: Any, words: Any, multicast: str | None) -> None:
    """Writes rows to lanes, or to several groups of them."""
    if multicast is None:
        target[: len(words)] = words
    elif multicast == "warpx4":
        target[:] = numpy.tile(words, (LANES // len(words), 1))
    else:
        for half, starts in enumerate(_MULTICAST_LANES[multicast]):
            for start in starts:
                target[start : start + WARP_SIZE] = words[half * WARP_SIZE : (half + 1) * WARP_SIZE]
