"""Tensor Memory of a CTA: 128 lanes of 512 columns of 32 bits, allocated and deallocated by columns.

The lane is in the upper half of an address and the column in its lower half. Reads and writes take effect immediately;
`ptxkit/emulator/races/tensor_memory_order.py` checks whether a program waits as required.

Manual: Tensor Memory; Tensor Memory Addressing; Tensor Memory Allocation; Data Movement Shape.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ptxkit.diagnostics.catalogue import ptx7xx
from ptxkit.emulator.core.findings import ExecutionFault
from ptxkit.syntax.constants import WARP_SIZE

LANES, COLUMNS = 128, 512
_UNINIT_PATTERN = np.uint32(0xFFFB_FFFB)
"""The contents of uninitialized columns."""

IndexArray = NDArray[np.int64]


class CtaTensorMemory:
    """The Tensor Memory of a CTA. `allocations` has the number of columns of each allocation by its first column."""

    def __init__(self) -> None:
        self.allocations: dict[int, int] = {}
        self._is_allocated = np.zeros(COLUMNS, bool)
        self._was_allocated = np.zeros(COLUMNS, bool)
        self._pending_allocations: dict[int, int] = {}
        self.has_relinquished = False
        self.paired_allocations: set[int] = set()
        """The first columns of the allocations of a pair of CTAs."""

    @cached_property
    def words(self) -> NDArray[np.uint32]:
        """The contents by lane and column."""
        return np.full((LANES, COLUMNS), _UNINIT_PATTERN)

    def allocate(self, count: int, warp: int = 0) -> int:
        """Allocates columns, and returns the address. Raises ExecutionFault if none are left."""
        before = self._pending_allocations.get(warp, COLUMNS)
        if count > before:
            raise ExecutionFault(ptx7xx.LARGER_LATER_ALLOCATION(count=count, before=before))
        self._pending_allocations[warp] = count
        if self.has_relinquished:
            raise ExecutionFault(ptx7xx.ALLOCATION_AFTER_RELINQUISH())
        if not 32 <= count <= COLUMNS:
            raise ExecutionFault(ptx7xx.INVALID_COLUMN_COUNT(count=count, limit=COLUMNS))
        for first in range(0, COLUMNS - count + 1, 32):
            if not self._is_allocated[first : first + count].any():
                self._is_allocated[first : first + count] = self._was_allocated[first : first + count] = True
                self.allocations[first] = count
                return first
        held = int(self._is_allocated.sum())
        raise ExecutionFault(ptx7xx.COLUMNS_NEVER_FREE(count=count, held=held))

    def deallocate(self, address: int, count: int) -> None:
        """Deallocates columns. Raises ExecutionFault if they were not allocated together."""
        found = self.allocations.get(address)
        if found != count:
            what = "nothing" if found is None else f"{found} columns"
            raise ExecutionFault(
                ptx7xx.DEALLOCATION_DIFFERS(count=count, address=address, allocated=what),
            )
        del self.allocations[address]
        self.paired_allocations.discard(address)
        self._is_allocated[address : address + count] = False
        self.words[:, address : address + count] = _UNINIT_PATTERN

    def check(self, columns: IndexArray) -> None:
        """Raises ExecutionFault if columns are not allocated."""
        outside = columns[(columns < 0) | (columns >= COLUMNS)]
        if outside.size:
            raise ExecutionFault(ptx7xx.NO_SUCH_COLUMN(column=int(outside[0]), columns=COLUMNS))
        free = columns[~self._is_allocated[columns]]
        if free.size and self._was_allocated[free[0]]:
            raise ExecutionFault(
                ptx7xx.COLUMN_USED_AFTER_DEALLOCATION(column=int(free[0])),
            )
        if free.size:
            raise ExecutionFault(ptx7xx.COLUMN_NOT_ALLOCATED(column=int(free[0])))


def split_address(address: int) -> tuple[int, int]:
    """Returns the lane and the column of an address."""
    return address >> 16 & 0xFFFF, address & 0xFFFF


def register_layout(shape: str, times: int) -> tuple[IndexArray, IndexArray]:
    """Returns the lanes and columns of the registers of a warp, from an address on, of the shape (registers, 32).

    With `16x32bx2`, the upper half of the warp uses the second address, from its own column 0 on.
    """
    thread = np.arange(WARP_SIZE)
    match shape:
        case "32x32b":
            first = [(thread, np.zeros(WARP_SIZE, np.int64))]
            step = 1
        case "16x32bx2":
            first = [(thread % 16, np.zeros(WARP_SIZE, np.int64))]
            step = 1
        case "16x64b":
            first = [(thread // 4 + thread % 2 * 8, thread // 2 % 2)]
            step = 2
        case "16x128b":
            first = [(thread // 4 + half, thread % 4) for half in (0, 8)]
            step = 4
        case "16x256b":
            first = [(thread // 4 + half, thread % 4 * 2 + one) for half in (0, 8) for one in range(2)]
            step = 8
        case _:
            raise ValueError(f"there is no shape {shape}")
    pairs = [(lane, column + at * step) for at in range(times) for lane, column in first]
    return np.stack([lane for lane, _ in pairs]), np.stack([column for _, column in pairs])
