"""Tensor Memory of a CTA: 128 lanes of 512 columns of 32 bits, taken and given back by columns.

An address has the lane in its upper half and the column in its lower one. What is read and written here happens at
once; whether a program waits as it must is for `ptxkit/emulator/races/tensor_memory_order.py` to say.
Manual: Tensor Memory; Tensor Memory Addressing; Tensor Memory Allocation; Data Movement Shape.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

LANES, COLUMNS = 128, 512
WARP_SIZE = 32
_UNINIT_PATTERN = np.uint32(0xFFFB_FFFB)
"""What columns hold that nobody wrote."""

IndexArray = NDArray[np.int64]


class TensorMemoryError(Exception):
    """Columns are used that the CTA does not have. code: of the rule."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class CtaTensorMemory:
    """words: (lanes, columns). taken: first column -> how many, of each allocation."""

    def __init__(self) -> None:
        self.words: NDArray[np.uint32] = np.full((LANES, COLUMNS), _UNINIT_PATTERN)
        self.allocations: dict[int, int] = {}
        self._is_allocated = np.zeros(COLUMNS, bool)
        self._was_allocated = np.zeros(COLUMNS, bool)
        self._pending_allocations: dict[int, int] = {}
        self.has_relinquished = False
        self.paired_allocations: set[int] = set()
        """Where allocations of a pair of CTAs begin."""

    def allocate(self, count: int, warp: int = 0) -> int:
        """Allocate columns; return the address. Raises TensorMemoryError where there are none left."""
        before = self._pending_allocations.get(warp, COLUMNS)
        if count > before:
            raise TensorMemoryError("PTX701", f"{count} columns behind {before}: a later allocation must not be larger")
        self._pending_allocations[warp] = count
        if self.has_relinquished:
            raise TensorMemoryError("PTX701", "the CTA has given up its right to allocate Tensor Memory")
        if not 32 <= count <= COLUMNS:
            raise TensorMemoryError("PTX701", f"{count} columns of Tensor Memory: 32 to {COLUMNS} can be taken")
        for first in range(0, COLUMNS - count + 1, 32):
            if not self._is_allocated[first : first + count].any():
                self._is_allocated[first : first + count] = self._was_allocated[first : first + count] = True
                self.allocations[first] = count
                return first
        held = int(self._is_allocated.sum())
        raise TensorMemoryError(
            "PTX701", f"{count} columns of Tensor Memory are never free: the CTA itself holds {held}"
        )

    def deallocate(self, address: int, count: int) -> None:
        """Deallocate columns. Raises TensorMemoryError where they were not allocated so."""
        found = self.allocations.get(address)
        if found != count:
            what = "nothing" if found is None else f"{found} columns"
            raise TensorMemoryError(
                "PTX701", f"{count} columns from 0x{address:x} on are given back, where {what} was taken"
            )
        del self.allocations[address]
        self.paired_allocations.discard(address)
        self._is_allocated[address : address + count] = False
        self.words[:, address : address + count] = _UNINIT_PATTERN

    def check(self, columns: IndexArray) -> None:
        """Raise TensorMemoryError where columns are not allocated."""
        outside = columns[(columns < 0) | (columns >= COLUMNS)]
        if outside.size:
            raise TensorMemoryError("PTX701", f"column {int(outside[0])} of Tensor Memory: there are {COLUMNS}")
        free = columns[~self._is_allocated[columns]]
        if free.size and self._was_allocated[free[0]]:
            raise TensorMemoryError("PTX708", f"column {int(free[0])} of Tensor Memory is used after it was given back")
        if free.size:
            raise TensorMemoryError(
                "PTX701", f"column {int(free[0])} of Tensor Memory is used, which nobody has allocated"
            )


_MEMORIES: WeakKeyDictionary[Any, CtaTensorMemory] = WeakKeyDictionary()


def tensor_memory_of(cta: Any) -> CtaTensorMemory:
    """The Tensor Memory of a CTA."""
    found = _MEMORIES.get(cta)
    if found is None:
        found = _MEMORIES[cta] = CtaTensorMemory()
    return found


def split_address(address: int) -> tuple[int, int]:
    """Lane and column of an address."""
    return address >> 16 & 0xFFFF, address & 0xFFFF


def register_layout(shape: str, times: int) -> tuple[IndexArray, IndexArray]:
    """Where the registers of a warp lie, from an address on: lanes and columns, (registers, 32).

    Of `16x32bx2` the upper half of the warp is for the second address, from its own column 0 on.
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
