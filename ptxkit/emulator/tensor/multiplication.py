"""Matrix multiplication by a warp, from registers to registers.

Manual: Multiply-and-Accumulate Instruction: mma, mma.sp; wmma.mma; Block Scaling for mma.sync.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ptxkit.emulator.core.numbers.float_codec import widen
from ptxkit.emulator.core.numbers.formats import FORMATS, Bits, Reals
from ptxkit.emulator.tensor import mma_m8n8k4
from ptxkit.emulator.tensor.fragments import accumulator_layout, gather_matrix, multiplicand_layout, scatter_registers
from ptxkit.emulator.tensor.matmul import MatrixProduct
from ptxkit.emulator.tensor.sparse_metadata import expand_sparse
from ptxkit.isa.functions import bits, field

WarpRegisters = Sequence[Bits]
"""Arrays of shape (..., 32), a row for each warp."""


@dataclass(frozen=True, slots=True)
class MmaShape:
    """M, N and K of a product."""

    m: int
    n: int
    k: int


def shape_of(word: str) -> MmaShape:
    """Parses a shape such as `m16n8k32`."""
    return MmaShape(field(word, "m"), field(word, "n"), field(word, "k"))


@dataclass(frozen=True, slots=True)
class ScaleFactors:
    """The scale factors of one block-scaled multiplicand, in the register `data`.

    `byte` and `lanes` state which of its bytes, and of which lanes of a group, is the first.
    """

    data: Bits
    byte: int
    lanes: int


def multiply(shape: MmaShape, product: MatrixProduct) -> Callable[..., list[Bits]]:
    """Returns D's registers from those of A, B and C. The additional registers of a wmma fragment repeat the first
    ones.
    """
    left = multiplicand_layout(shape.m, shape.k, _element_width(product, product.left))
    right = multiplicand_layout(shape.n, shape.k, _element_width(product, product.right))
    third = accumulator_layout(shape.m, shape.n, bits(product.third))
    result = accumulator_layout(shape.m, shape.n, bits(product.result))

    def compute(a: WarpRegisters, b: WarpRegisters, c: WarpRegisters) -> list[Bits]:
        x = gather_matrix(a[: left.registers], left)
        y = np.swapaxes(gather_matrix(b[: right.registers], right), -1, -2)
        return scatter_registers(product.compute(x, y, gather_matrix(c, third)), result)

    return compute


def multiply_sparse(shape: MmaShape, product: MatrixProduct) -> Callable[..., list[Bits]]:
    """Multiplies as `multiply` does, with half of the elements of A, which a register and a selector determine."""
    width = _element_width(product, product.left)
    left = multiplicand_layout(shape.m, shape.k // 2, width)
    right = multiplicand_layout(shape.n, shape.k, _element_width(product, product.right))
    third = accumulator_layout(shape.m, shape.n, bits(product.third))
    result = accumulator_layout(shape.m, shape.n, bits(product.result))

    def compute(a: WarpRegisters, b: WarpRegisters, c: WarpRegisters, metadata: Bits, selector: int) -> list[Bits]:
        x = expand_sparse(gather_matrix(a, left), metadata, selector, width)
        y = np.swapaxes(gather_matrix(b, right), -1, -2)
        return scatter_registers(product.compute(x, y, gather_matrix(c, third)), result)

    return compute


def multiply_m8n8k4(product: MatrixProduct, a_is_row: bool, b_is_row: bool) -> Callable[..., list[Bits]]:
    """Multiplies by mma.m8n8k4 of f16."""
    left = mma_m8n8k4.multiplicand_layout(a_is_row)
    product_, column, row = mma_m8n8k4.multiplicand_layout(not b_is_row)
    third, result = (
        mma_m8n8k4.accumulator_layout(bits(product.third)),
        mma_m8n8k4.accumulator_layout(bits(product.result)),
    )

    def compute(a: WarpRegisters, b: WarpRegisters, c: WarpRegisters) -> list[Bits]:
        x = mma_m8n8k4.gather_matrix(a, left, (8, 4), 16)
        y = mma_m8n8k4.gather_matrix(b, (product_, row, column), (4, 8), 16)
        z = mma_m8n8k4.gather_matrix(c, third, (8, 8), bits(product.third))
        return mma_m8n8k4.scatter_registers(product.compute(x, y, z), result, bits(product.result))

    return compute


def multiply_scaled(
    shape: MmaShape, product: MatrixProduct, vector: int, scale: str, sparse: bool
) -> Callable[..., list[Bits]]:
    """Multiplies with scale factors, one for each `k / vector` neighbors along k of a row of A, or a column of B."""
    width = _element_width(product, product.left)
    left = multiplicand_layout(shape.m, shape.k // 2 if sparse else shape.k, width)
    right = multiplicand_layout(shape.n, shape.k, _element_width(product, product.right))
    place = accumulator_layout(shape.m, shape.n, 32)

    def compute(
        a: WarpRegisters,
        b: WarpRegisters,
        c: WarpRegisters,
        a_scale: ScaleFactors,
        b_scale: ScaleFactors,
        metadata: Bits | None = None,
    ) -> list[Bits]:
        x = gather_matrix(a, left)
        if metadata is not None:
            x = expand_sparse(x, metadata, 0, width)
        y = np.swapaxes(gather_matrix(b, right), -1, -2)
        of_a = _scale_values(a_scale, vector, scale, 2)  # (..., 8 groups, 2 lanes, vector)
        rows = np.moveaxis(of_a, -2, -3).reshape(*of_a.shape[:-3], 16, vector)
        columns = _scale_values(b_scale, vector, scale, 1)[..., 0, :]
        times = shape.k // vector
        scales = np.repeat(rows, times, axis=-1), np.swapaxes(np.repeat(columns, times, axis=-1), -1, -2)
        return scatter_registers(product.compute(x, y, gather_matrix(c, place), scales), place)

    return compute


def _scale_values(scale: ScaleFactors, vector: int, word: str, lanes: int) -> Reals:
    by_group = scale.data.reshape(*scale.data.shape[:-1], 8, 4)
    used = by_group[..., scale.lanes * lanes : (scale.lanes + 1) * lanes]
    shifts = np.arange(scale.byte, scale.byte + vector, dtype=np.uint32) * np.uint32(8)
    return widen(FORMATS[word], used[..., None] >> shifts & np.uint32(255))


def _element_width(product: MatrixProduct, word: str) -> int:
    """Returns the bits that an element takes in a register."""
    return 8 if product.boxed else bits(word)
