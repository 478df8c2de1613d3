"""The output of the attention kernel: from registers to global memory, without shared memory.

A thread of a warpgroup has two values of every eight columns of a row, which are packed to four bytes. Four neighboring
lanes exchange them, so that each has 16 contiguous bytes of every 64, and a warp stores 64 bytes of eight rows at once.

    words of 64 bytes   lane 0        lane 1        lane 2         lane 3
    before              0 4 8  12     1 5 9  13     2 6 10 14      3  7  11 15
    after               0 1 2  3      4 5 6  7      8 9 10 11      12 13 14 15

Rows beyond the end of a sequence are not stored, so the tile that contains it needs no special case.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", "Register Fragments".
"""

from __future__ import annotations

from ptxkit.build import Accumulator, Global, Kernel, Register, b16, b32, f32, u32
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernels.attention_config import ELEMENTS, AttentionItem

STORE_BYTES = 16
_LANES = 4
"""The lanes that share a row, and the words of four bytes that one of them stores at once."""
_STEP_COLUMNS = 32
"""The columns that four lanes store at once."""


@dataclass(frozen=True, slots=True)
class AttentionOutput:
    """The output and the logarithms in global memory. The strides are in elements, multiples of 8."""

    k: Kernel
    element: str
    output: Global[b16]
    batch_stride: Register[u32]
    row_stride: Register[u32]
    head_stride: Register[u32]
    logarithms: Global[f32]

    def store(
        self, values: Accumulator, own_row: Register[u32], item: AttentionItem, logarithms: list[Register[f32]]
    ) -> None:
        """Stores two rows of this thread: `own_row` of the tile, and 8 below it."""
        k = self.k
        words = values.packed(ELEMENTS[self.element])
        lane = k.laneid & 3
        tile = item.batch * self.batch_stride + item.head * self.head_stride
        for half, logarithm in enumerate(logarithms):
            row = own_row + 8 * half
            exists = row < item.rows
            place = self.output[tile + (item.row + row) * self.row_stride + lane * 8].aligned(STORE_BYTES)
            pieces = [
                self._exchange(words[first : first + 2 * _LANES][half::2]) for first in range(0, len(words), 2 * _LANES)
            ]
            with k.predicated(exists):
                for number, piece in enumerate(pieces):
                    place[number * _STEP_COLUMNS].cast(b32).store(piece)
            with k.predicated(exists & (lane == 0)):
                self.logarithms[item.logarithm + row].store(logarithm)

    def _exchange(self, words: list[Register[b32]]) -> list[Register[b32]]:
        """Transposes the 4 x 4 words of four lanes: in blocks of 2 x 2, then the blocks."""
        first, second, third, fourth = words
        (first, second), (third, fourth) = self._swap(1, [first], [second]), self._swap(1, [third], [fourth])
        return self._swap(2, [first, second], [third, fourth])

    def _swap(self, distance: int, low: list[Register[b32]], high: list[Register[b32]]) -> list[Register[b32]]:
        """Exchanges words with the lane at that distance: the lane with the lower number keeps `low` and receives the
        other's `low` after it, and the other keeps `high` after the `high` that it receives.
        """
        k = self.k
        is_upper = (k.laneid & distance) != 0
        kept = [k.where(is_upper, b, a) for a, b in zip(low, high, strict=True)]
        received = [k.shuffle_xor(k.where(is_upper, a, b), distance) for a, b in zip(low, high, strict=True)]
        before = [k.where(is_upper, b, a) for a, b in zip(kept, received, strict=True)]
        after = [k.where(is_upper, a, b) for a, b in zip(kept, received, strict=True)]
        return [*before, *after]
