"""Matrices in shared memory with contiguous rows: element addresses under a swizzle, `ldmatrix` and `stmatrix`.

    tile = k.shared(bf16, 64 * 64, align=1024)
    rows = k.rows(tile, 64, swizzle=128)            # 64 elements in a row, in the layout of a tensor map with that
    swizzle
    a = rows.ldmatrix(0, 16)                        # rows 0 to 15, 32 bytes from column 16 on: four registers
    rows.stmatrix(16, 0, a)
    rows.at(k.laneid, 3).load()

`ldmatrix` and `stmatrix` move matrices of eight rows of 16 bytes, of which each thread of a warp holds 4 bytes: thread
`4 * row + word`. Two or four matrices form a block: rows 0 to 7 and 8 to 15, then the next 16 bytes of both. With
`transposed`, each 16-bit element is in the thread and the position that it has in the transposed matrix.

Source: PTX ISA, "Warp-level matrix load instruction: ldmatrix", "Warp-level matrix store instruction: stmatrix",
"Swizzling Modes".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, cast

from ptxkit.build.addresses import Shared
from ptxkit.build.errors import BuildTypeError, BuildValueError
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.recorder import PrologueContext
from ptxkit.build.registers import Register
from ptxkit.build.special_registers import read_special
from ptxkit.build.tensormap import SWIZZLE_PERIODS
from ptxkit.kernel_model.scalar_types import ScalarT, b8, b16, b32, u32

MATRIX_ROW_BYTES = 16
"""The size of a row of one matrix in bytes. One thread provides the address of each row."""
_SWIZZLE_MASKS = {0: 0, 32: 0x10, 64: 0x30, 128: 0x70}
"""The bits of an offset that a swizzle changes, by its width in bytes. They are combined with the bits three positions
higher.
"""


class Rows(Generic[ScalarT]):
    """A matrix in shared memory.

    `columns` is the number of elements from one row to the next. `swizzle` is the width of its swizzle in bytes, or 0.
    """

    def __init__(self, flow: InstructionBuilder, place: Shared[ScalarT], columns: int, swizzle: int) -> None:
        if not isinstance(place, Shared):
            raise BuildTypeError(f"the matrix is in the CTA's shared memory, not {place!r}")
        if swizzle not in SWIZZLE_PERIODS:
            raise BuildValueError(f"a swizzle spans {', '.join(map(str, SWIZZLE_PERIODS))} bytes, not {swizzle!r}")
        self._flow = flow
        self.place = place
        self.pitch = columns * place.type.size()
        """The number of bytes from one row to the next."""
        self.swizzle = swizzle
        self._lane_offsets: dict[bool, Register[u32]] = {}
        needed = SWIZZLE_PERIODS[swizzle] if swizzle else MATRIX_ROW_BYTES
        if self.pitch % MATRIX_ROW_BYTES or (swizzle and self.pitch != swizzle):
            wanted = f"{swizzle} bytes, as the swizzle" if swizzle else f"a multiple of {MATRIX_ROW_BYTES} bytes"
            raise BuildValueError(f"a row has {wanted}, and not {self.pitch}")
        if place.alignment < needed:
            raise BuildTypeError(
                f"the rows are aligned to {needed} bytes, and not {place!r}; declare the array with align={needed}, or "
                f"use .aligned({needed}) if the address is aligned"
            )

    def at(self, row: int | Register[u32], column: int | Register[u32] = 0) -> Shared[ScalarT]:
        """Returns the address of the element in that row and column."""
        return self._element_address(row, column, None)

    def ldmatrix(
        self,
        row: int | Register[u32],
        column: int | Register[u32],
        count: int = 4,
        *,
        transposed: bool = False,
        across: bool = False,
    ) -> tuple[Register[b32], ...]:
        """Loads one, two or four 8 x 16-byte matrices from a row and column on: `ldmatrix`. Returns a register for
        each.

        The column must be a multiple of 16 bytes. With `across`, the second matrix is to the right of the first instead
        of below it. All threads of the warp must execute it.
        """
        name = f"ldmatrix_sync_aligned_m8n8_x{_check_count(count)}{'_trans' if transposed else ''}_b16"
        address = self._element_address(row, column, self._lane_offset(across=across)).cast(b16)
        found = self._flow.instruction(name, (address,))
        several = found if isinstance(found, tuple) else (found,)
        return tuple(Register(self._flow, b32, cast("Register[Any]", each).name) for each in several)

    def stmatrix(
        self,
        row: int | Register[u32],
        column: int | Register[u32],
        registers: Sequence[Register[Any]],
        *,
        transposed: bool = False,
        across: bool = False,
    ) -> None:
        """Stores one, two or four matrices to the locations that `ldmatrix` would load: `stmatrix`, which needs
        sm_90.
        """
        name = f"stmatrix_sync_aligned_m8n8_x{_check_count(len(registers))}{'_trans' if transposed else ''}_b16"
        address = self._element_address(row, column, self._lane_offset(across=across)).cast(b16)
        self._flow.instruction(name, (address, tuple(registers)))

    # ----------------------------------------------------------------------------------------- internals

    def _lane_offset(self, *, across: bool) -> Register[u32]:
        """Returns the offset in bytes of the row whose address this thread provides. It is computed once, in the
        prologue.

        Threads 8 i to 8 i + 7 provide the addresses of the rows of matrix i.
        """
        if across not in self._lane_offsets:
            with PrologueContext(self._flow.recorder):
                lane = read_special(self._flow, "%laneid")
                second, third = lane >> 3 & 1, lane >> 4
                down, right = (third, second) if across else (second, third)
                self._lane_offsets[across] = ((lane & 7) + down * 8) * self.pitch + right * MATRIX_ROW_BYTES
        return self._lane_offsets[across]

    def _element_address(
        self, row: int | Register[u32], column: int | Register[u32], more: Register[u32] | None
    ) -> Shared[ScalarT]:
        """Returns the address of an element. The swizzle permutes the 16-byte units of a row by the row's number."""
        size = self.place.type.size()
        constant = _constant_offset(row, self.pitch) + _constant_offset(column, size)
        parts = [each * factor for each, factor in ((row, self.pitch), (column, size)) if isinstance(each, Register)]
        offset = more
        for part in parts:
            offset = part if offset is None else offset + part
        start = self.place.cast(b8)
        if offset is None:
            return start[constant ^ (constant >> 3 & _SWIZZLE_MASKS[self.swizzle])].cast(self.place.type)
        if self.swizzle:
            offset = offset + constant
            return start[offset ^ (offset >> 3 & _SWIZZLE_MASKS[self.swizzle])].cast(self.place.type)
        return start[offset][constant].cast(self.place.type)


def rows(k: InstructionBuilder, place: Shared[ScalarT], columns: int, *, swizzle: int = 0) -> Rows[ScalarT]:
    """Returns a matrix in shared memory with `columns` elements from one row to the next, for `ldmatrix` and
    `stmatrix`.

    `swizzle` is the width of its swizzle in bytes, which must then be the size of a row: see
    `ptxkit.build.shared_matrix`.
    """
    return Rows(k, place, columns, swizzle)


def _constant_offset(index: int | Register[u32], factor: int) -> int:
    return 0 if isinstance(index, Register) else index * factor


def _check_count(count: int) -> int:
    if count not in (1, 2, 4):
        raise BuildValueError(f"one, two or four matrices are moved at once, not {count!r}")
    return count
