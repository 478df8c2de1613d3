"""Tensor Memory of a CTA: 128 lanes of 512 columns of 32 bits, taken and given back by columns.

An address has the lane in its upper half and the column in its lower one. What is read and written here happens at
once; whether a program waits as it must is for `ptxkit/emulate/tensor_order.py` to say.
Manual: Tensor Memory; Tensor Memory Addressing; Tensor Memory Allocation; Data Movement Shape.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

LANES, COLUMNS = 128, 512
WARP = 32
_NOTHING = np.uint32(0xFFFB_FFFB)
"""What columns hold that nobody wrote."""

Index = NDArray[np.int64]


class Misuse(Exception):  # noqa: N818 (what a program does wrong, for an action to say where)
    """Columns are used that the CTA does not have. code: of the rule."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class TensorMemory:
    """words: (lanes, columns). taken: first column -> how many, of each allocation."""

    def __init__(self) -> None:
        self.words: NDArray[np.uint32] = np.full((LANES, COLUMNS), _NOTHING)
        self.taken: dict[int, int] = {}
        self._is_taken = np.zeros(COLUMNS, bool)
        self._was_taken = np.zeros(COLUMNS, bool)
        self._wanted: dict[int, int] = {}
        self.is_closed = False
        self.paired: set[int] = set()
        """Where allocations of a pair of CTAs begin."""

    def allocate(self, count: int, warp: int = 0) -> int:
        """Take columns; the address. Raises Misuse where there are none, or none may be taken any more."""
        before = self._wanted.get(warp, COLUMNS)
        if count > before:
            raise Misuse("PTX701", f"{count} columns behind {before}: a later allocation must not be larger")
        self._wanted[warp] = count
        if self.is_closed:
            raise Misuse("PTX701", "the CTA has given up its right to allocate Tensor Memory")
        if not 32 <= count <= COLUMNS:
            raise Misuse("PTX701", f"{count} columns of Tensor Memory: 32 to {COLUMNS} can be taken")
        for first in range(0, COLUMNS - count + 1, 32):
            if not self._is_taken[first : first + count].any():
                self._is_taken[first : first + count] = self._was_taken[first : first + count] = True
                self.taken[first] = count
                return first
        held = int(self._is_taken.sum())
        raise Misuse("PTX701", f"{count} columns of Tensor Memory are never free: the CTA itself holds {held}")

    def deallocate(self, address: int, count: int) -> None:
        """Give columns back. Raises Misuse where they were not taken so."""
        found = self.taken.get(address)
        if found != count:
            what = "nothing" if found is None else f"{found} columns"
            raise Misuse("PTX701", f"{count} columns from 0x{address:x} on are given back, where {what} was taken")
        del self.taken[address]
        self.paired.discard(address)
        self._is_taken[address : address + count] = False
        self.words[:, address : address + count] = _NOTHING

    def check(self, columns: Index) -> None:
        """Raise Misuse where columns are not taken."""
        outside = columns[(columns < 0) | (columns >= COLUMNS)]
        if outside.size:
            raise Misuse("PTX701", f"column {int(outside[0])} of Tensor Memory: there are {COLUMNS}")
        free = columns[~self._is_taken[columns]]
        if free.size and self._was_taken[free[0]]:
            raise Misuse("PTX708", f"column {int(free[0])} of Tensor Memory is used after it was given back")
        if free.size:
            raise Misuse("PTX701", f"column {int(free[0])} of Tensor Memory is used, which nobody has allocated")


_MEMORIES: WeakKeyDictionary[Any, TensorMemory] = WeakKeyDictionary()


def of_cta(cta: Any) -> TensorMemory:
    """The Tensor Memory of a CTA."""
    found = _MEMORIES.get(cta)
    if found is None:
        found = _MEMORIES[cta] = TensorMemory()
    return found


def split(address: int) -> tuple[int, int]:
    """Lane and column of an address."""
    return address >> 16 & 0xFFFF, address & 0xFFFF


def fragment(shape: str, times: int) -> tuple[Index, Index]:
    """Where the registers of a warp lie, from an address on: lanes and columns, (registers, 32).

    Of `16x32bx2` the upper half of the warp is for the second address, from its own column 0 on.
    """
    thread = np.arange(WARP)
    match shape:
        case "32x32b":
            first = [(thread, np.zeros(WARP, np.int64))]
            step = 1
        case "16x32bx2":
            first = [(thread % 16, np.zeros(WARP, np.int64))]
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
