"""Warpgroup matrix multiplications: descriptors denote matrices in shared memory, and registers hold the accumulators.

    acc = k.accumulator(256)
    a, b = k.matrix(tile_a), k.matrix(tile_b)          # in the layout of a tensor map with swizzle 128
    k.wgmma_fence()
    for step in k.unroll(4):                           # 64 of K, 16 at a time
        acc.multiply(a.moved(32 * step), b.moved(32 * step), bf16)
    k.wgmma_commit_group()
    k.wgmma_wait_group(0)

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions", "Matrix Descriptor Format", "Register Fragments",
"Strides".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ptxkit.build.addresses import Shared
from ptxkit.build.errors import BuildTypeError, BuildValueError
from ptxkit.build.instructions import InstructionBuilder
from ptxkit.build.registers import Register
from ptxkit.build.shared_matrix import Rows
from ptxkit.build.special_registers import constant_register, read_special
from ptxkit.fast_dataclasses import dataclass
from ptxkit.kernel_model.scalar_types import Scalar, b32, b64, bf16, f16, f32, pred, s32, u32

WARPGROUP_ROWS = 64
"""The number of rows of the accumulator of one warpgroup."""
_SWIZZLES = {0: 0, 128: 1, 64: 2, 32: 3}
"""The layout codes of a descriptor, by the width of the swizzle in bytes."""
_WARP_ROWS, _PIECE_COLUMNS = 16, 8
"""The rows of the accumulator that one warp holds, and the columns that two of its registers hold as halves."""
_FIELD_MASK = (1 << 14) - 1
_STEP_BYTES = 32
"""The bytes of a row that one instruction multiplies, for all types: 16 elements of bf16, 32 of e4m3, 8 of tf32."""
_TYPE_WORDS = {"tf32": "tf32", "e4m3": "e4m3", "e5m2": "e5m2", "s8": "s8", "u8": "u8"}


@dataclass(frozen=True, slots=True)
class Matrix:
    """A matrix in shared memory, as the low word of its descriptor. The high word is a constant.

    With `transposed`, the rows in memory are along M or N instead of K.
    """

    flow: InstructionBuilder
    low: Register[u32]
    high: int
    transposed: bool = False

    def moved(self, offset: int | Register[u32]) -> Matrix:
        """Returns the matrix that is `offset` bytes after this one. A constant offset must be a multiple of 16."""
        if isinstance(offset, Register):
            return Matrix(self.flow, self.low + (offset >> 4), self.high, self.transposed)
        if offset % 16:
            raise BuildValueError(f"a descriptor moves by multiples of 16 bytes, not by {offset}")
        return Matrix(self.flow, self.low + (offset >> 4), self.high, self.transposed) if offset else self

    def at(self, index: Register[u32], size: int) -> Matrix:
        """Returns the matrix with that index in an array of matrices of `size` bytes each. `size` must be a multiple of
        16.
        """
        if size % 16:
            raise BuildValueError(f"a descriptor moves by multiples of 16 bytes, not by {size}")
        low = self.flow.instruction("mad_lo", (index, size >> 4, self.low))
        return Matrix(self.flow, cast("Register[u32]", low), self.high, self.transposed)

    def descriptor(self) -> Register[b64]:
        """Returns the 64 bits of the descriptor in a register."""
        high = constant_register(self.flow, self.high)
        return cast("Register[b64]", self.flow.instruction("mov_b64", ((self.low, high),)))


def matrix(
    k: InstructionBuilder,
    place: Shared[Any],
    *,
    swizzle: int = 128,
    stride: int | None = None,
    leading: int = 16,
    transposed: bool = False,
) -> Matrix:
    """Returns a matrix in shared memory for `wgmma`, in the layout of a tensor map with that swizzle.

    `swizzle` is the width of the swizzle in bytes: 0, 32, 64 or 128. `stride` is the number of bytes from eight rows to
    the next eight, by default that of rows as wide as the swizzle. `leading` is the number of bytes from one column of
    core matrices to the next, if the layout has several. With `transposed`, the rows in memory are along M or N. Raises
    `BuildError` if the address or a distance does not suit the swizzle. Source: PTX ISA, "Matrix Descriptor Format",
    "Strides".
    """
    low, apart = make_descriptor_low(place, swizzle, stride, leading)
    return Matrix(k, low, apart >> 4 | _SWIZZLES[swizzle] << 30, transposed)


def make_descriptor_low(
    place: Shared[Any], swizzle: int, stride: int | None, leading: int
) -> tuple[Register[u32], int]:
    """Returns the low word of a matrix descriptor, which all generations share, and the stride in bytes."""
    if not isinstance(place, Shared):
        raise BuildTypeError(f"a matrix with a descriptor is in the CTA's shared memory, not {place!r}")
    if swizzle not in _SWIZZLES:
        raise BuildValueError(f"a swizzle spans {', '.join(map(str, sorted(_SWIZZLES)))} bytes, not {swizzle!r}")
    apart = 8 * swizzle if stride is None and swizzle else stride
    for name, value in (("stride", apart), ("leading", leading)):
        if value is None or value % 16 or not 0 <= value >> 4 <= _FIELD_MASK:
            raise BuildValueError(f"{name} is a multiple of 16 bytes below 256 kB, not {value!r}")
    assert apart is not None
    needed = 8 * swizzle if swizzle else 16
    if place.alignment < needed:
        raise BuildTypeError(f"a matrix with a swizzle of {swizzle} is aligned to {needed} bytes, and not {place!r}")
    address = place.to_register() >> 4
    return cast("Register[u32]", address & _FIELD_MASK) | leading >> 4 << 16, apart


class Accumulator:
    """The 64 x n results of a warpgroup; `registers` holds n / 2 of them in each thread."""

    def __init__(self, flow: InstructionBuilder, columns: int, scalar: type[Scalar] = f32) -> None:
        if scalar not in (f32, s32):
            raise BuildTypeError(f"an accumulator holds f32 or s32, not {scalar!r}")
        if isinstance(columns, bool) or not isinstance(columns, int) or columns % 8 or not 8 <= columns <= 256:
            raise BuildValueError(f"an accumulator has 8 to 256 columns, by eights, not {columns!r}")
        self._flow = flow
        self.columns = columns
        self.type = scalar
        self.registers: tuple[Register[Any], ...] = tuple(flow.register(scalar) for _ in range(columns // 2))

    def multiply(
        self,
        a: Matrix | Sequence[Register[Any]],
        b: Matrix,
        element: type[Scalar] | str,
        *,
        b_element: type[Scalar] | str | None = None,
        accumulate: bool | Register[pred] = True,
        scale_a: int = 1,
        scale_b: int = 1,
    ) -> None:
        """Starts `self = a * b + self`, or `a * b` if `accumulate` does not hold, for 32 bytes of K: `wgmma.mma_async`.

        `a` is a matrix, or four registers with its fragment. `element` and `b_element` are the types of A and B, by
        default the same; types without a class have names, such as `e4m3` or `tf32`. The result is complete after a
        wait for its group; until then the registers must not be accessed.
        """
        words = [_element_word(element), _element_word(element if b_element is None else b_element)]
        k = _STEP_BYTES * 8 // {"f16": 16, "bf16": 16, "tf32": 32}.get(words[0], 8)
        opcode = (
            f"wgmma.mma_async.sync.aligned.m{WARPGROUP_ROWS}n{self.columns}k{k}.{self.type.word}.{words[0]}.{words[1]}"
        )
        left: object = a.descriptor() if isinstance(a, Matrix) else tuple(a)
        scale = int(accumulate) if isinstance(accumulate, bool) else accumulate
        more: list[object] = [] if self.type is s32 else [scale_a, scale_b]
        if words[0] in ("f16", "bf16"):
            more += [int(a.transposed)] if isinstance(a, Matrix) else []
            more.append(int(b.transposed))
        self._flow.emit(opcode, self.registers, left, b.descriptor(), scale, *more)

    def row(self, index: int) -> Register[u32]:
        """Returns the row of the thread's result with that index."""
        lane, thread = read_special(self._flow, "%laneid"), read_special(self._flow, "%tid.x")
        return ((thread >> 5) & 3) * 16 + (lane >> 2) + 8 * (index // 2 % 2)

    def column(self, index: int) -> Register[u32]:
        """Returns the column of the thread's result with that index."""
        return (read_special(self._flow, "%laneid") & 3) * 2 + (index // 4 * 8 + index % 2)

    def packed(
        self, scalar: type[Scalar], *, into: Sequence[Register[b32]] | None = None, scale: Register[f32] | None = None
    ) -> list[Register[b32]]:
        """Returns the results as pairs of halves, two in each register: `cvt.rn.bf16x2.f32`. The even column is the low
        half.

        `into` names registers that receive the pairs, by default new ones. Each result is multiplied by `scale` first.
        """
        if scalar not in (bf16, f16) or self.type is not f32:
            raise BuildTypeError(f"results of f32 are packed as pairs of f16 or bf16, not of {scalar!r}")
        pairs = zip(self.registers[::2], self.registers[1::2], strict=True)
        name = f"cvt_rn_{scalar.word}x2_f32"
        found: list[Register[Any]] = []
        for number, pair in enumerate(pairs):
            low, high = pair if scale is None else (each * scale for each in pair)
            place = None if into is None else into[number]
            found.append(cast("Register[Any]", self._flow.instruction(name, (high, low), into=place)))
        return [Register(self._flow, b32, each.name) for each in found]

    def stmatrix(self, rows: Rows[Any], row: int | Register[u32], column: int | Register[u32]) -> None:
        """Stores the results to shared memory as halves of the matrix's element type: `stmatrix`.

        All warps of the warpgroup must execute it; each stores its 16 rows.
        """
        halves = self.packed(rows.place.type)
        own = ((read_special(self._flow, "%tid.x") >> 5) & 3) * _WARP_ROWS + row
        for start in range(0, self.columns, 2 * _PIECE_COLUMNS):
            some = halves[start // 4 :][: min(self.columns - start, 2 * _PIECE_COLUMNS) // 4]
            rows.stmatrix(own, column + start, some)


def accumulator(k: InstructionBuilder, columns: int, scalar: type[Scalar] = f32) -> Accumulator:
    """Returns the accumulators of a warpgroup: registers for 64 x `columns` results, which are not initialized."""
    return Accumulator(k, columns, scalar)


def _element_word(element: type[Scalar] | str) -> str:
    word = element if isinstance(element, str) else element.word
    if word not in _TYPE_WORDS and word not in ("f16", "bf16"):
        raise BuildTypeError(f"wgmma multiplies f16, bf16, {', '.join(_TYPE_WORDS)}, not {word}")
    return word
