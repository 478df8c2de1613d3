"""Matrices in shared memory, row by row: their elements' addresses under a swizzle, `ldmatrix` and `stmatrix`.

    tile = k.shared(bf16, 64 * 64, align=1024)
    rows = k.rows(tile, 64, swizzle=128)            # 64 elements a row, as a tensor map with that swizzle brings them
    a = rows.ldmatrix(0, 16)                        # rows 0 to 15, 32 bytes from column 16 on: four registers
    rows.stmatrix(16, 0, a)
    rows.at(k.laneid, 3).load()

`ldmatrix` and `stmatrix` move matrices of eight rows of 16 bytes; each thread of a warp has 4 bytes of each: thread
`4 * row + word`. Two or four of them lie together in a block: rows 0 to 7 and 8 to 15, then the next 16 bytes.
`transposed` gives each 16-bit element to the thread, and the place, that its transpose would have.

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
"""Bytes of a row of one matrix: what one thread gives the address of."""
_SWIZZLE_MASKS = {0: 0, 32: 0x10, 64: 0x30, 128: 0x70}
"""The bits of an offset that a swizzle changes, by the bytes that it spans; those three higher change them."""


class Rows(Generic[ScalarT]):
    """A matrix in shared memory.

    It has `columns` elements from one row to the next. `swizzle` is the number of bytes that its swizzle spans, or 0.
    """

    def __init__(self, flow: InstructionBuilder, place: Shared[ScalarT], columns: int, swizzle: int) -> None:
        if not isinstance(place, Shared):
            raise BuildTypeError(f"the matrix is in the CTA's shared memory, not {place!r}")
        if swizzle not in SWIZZLE_PERIODS:
            raise BuildValueError(f"a swizzle spans {', '.join(map(str, SWIZZLE_PERIODS))} bytes, not {swizzle!r}")
        self._flow = flow
        self.place = place
        self.pitch = columns * place.type.size()
        """Bytes from one row to the next."""
        self.swizzle = swizzle
        self._lane_offsets: dict[bool, Register[u32]] = {}
        needed = SWIZZLE_PERIODS[swizzle] if swizzle else MATRIX_ROW_BYTES
        if self.pitch % MATRIX_ROW_BYTES or (swizzle and self.pitch != swizzle):
            wanted = f"{swizzle} bytes, as the swizzle" if swizzle else f"a multiple of {MATRIX_ROW_BYTES} bytes"
            raise BuildValueError(f"a row has {wanted}, and not {self.pitch}")
        if place.alignment < needed:
            raise BuildTypeError(
                f"the rows are aligned to {needed} bytes, and not {place!r}; declare the array with align={needed}, or "
                f"say .aligned({needed}) where you know better"
            )

    def at(self, row: int | Register[u32], column: int | Register[u32] = 0) -> Shared[ScalarT]:
        """The element in that row and column."""
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
        """Loads one, two or four matrices from a row and a column on (a multiple of 16 bytes): `ldmatrix`.

        With `across`, the second one is to the right of the first, and not below. All threads of the warp come here.
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
        """Stores one, two or four matrices, where `ldmatrix` would find them: `stmatrix`, which needs sm_90."""
        name = f"stmatrix_sync_aligned_m8n8_x{_check_count(len(registers))}{'_trans' if transposed else ''}_b16"
        address = self._element_address(row, column, self._lane_offset(across=across)).cast(b16)
        self._flow.instruction(name, (address, tuple(registers)))

    # ------------------------------------------------------------------------------------------ workings

    def _lane_offset(self, *, across: bool) -> Register[u32]:
        """Where the line lies that a thread names, in bytes from the first: computed once, in the prologue.

        Threads 8 i to 8 i + 7 name the lines of matrix i.
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
        """The element's place; the swizzle moves the 16 bytes that it is in by its row."""
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
    """A matrix in shared memory with `columns` elements from one row to the next, for `ldmatrix` and `stmatrix`.

    `swizzle` is the number of bytes that it spans, which are then those of a row: see `ptxkit.build.shared_matrix`.
    """
    return Rows(k, place, columns, swizzle)


def _constant_offset(index: int | Register[u32], factor: int) -> int:
    return 0 if isinstance(index, Register) else index * factor


def _check_count(count: int) -> int:
    if count not in (1, 2, 4):
        raise BuildValueError(f"one, two or four matrices are moved at once, not {count!r}")
    return count
