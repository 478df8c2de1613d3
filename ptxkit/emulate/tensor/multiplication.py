"""A warp's multiplication, from registers to registers.

Manual: Multiply-and-Accumulate Instruction: mma, mma.sp; wmma.mma; Block Scaling for mma.sync.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ptxkit.emulate.numbers.carriers import widen
from ptxkit.emulate.numbers.formats import FORMATS, Bits, Reals
from ptxkit.emulate.tensor import quads
from ptxkit.emulate.tensor.fragments import accumulator, matrix, multiplicand, registers
from ptxkit.emulate.tensor.products import Product
from ptxkit.emulate.tensor.sparse import dense
from ptxkit.isa.functions import bits, field

Registers = Sequence[Bits]
"""Arrays of shape (..., 32), a row for each warp."""


@dataclass(frozen=True, slots=True)
class Shape:
    """M, N and K of a product."""

    m: int
    n: int
    k: int


def shape_of(word: str) -> Shape:
    """`m16n8k32` taken apart."""
    return Shape(field(word, "m"), field(word, "n"), field(word, "k"))


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale factors of one block-scaled multiplicand.

    data: a register. byte, lanes: which of its bytes, and of which lanes of a group, count first.
    """

    data: Bits
    byte: int
    lanes: int


def multiply(shape: Shape, product: Product) -> Callable[..., list[Bits]]:
    """D's registers from those of A, B and C; a fragment that wmma has made longer is that of its first registers."""
    left = multiplicand(shape.m, shape.k, _width(product, product.left))
    right = multiplicand(shape.n, shape.k, _width(product, product.right))
    third = accumulator(shape.m, shape.n, bits(product.third))
    result = accumulator(shape.m, shape.n, bits(product.result))

    def compute(a: Registers, b: Registers, c: Registers) -> list[Bits]:
        x = matrix(a[: left.registers], left)
        y = np.swapaxes(matrix(b[: right.registers], right), -1, -2)
        return registers(product.of(x, y, matrix(c, third)), result)

    return compute


def multiply_sparse(shape: Shape, product: Product) -> Callable[..., list[Bits]]:
    """The same where A has half its elements, and a register and a selector say which."""
    width = _width(product, product.left)
    left = multiplicand(shape.m, shape.k // 2, width)
    right = multiplicand(shape.n, shape.k, _width(product, product.right))
    third = accumulator(shape.m, shape.n, bits(product.third))
    result = accumulator(shape.m, shape.n, bits(product.result))

    def compute(a: Registers, b: Registers, c: Registers, metadata: Bits, selector: int) -> list[Bits]:
        x = dense(matrix(a, left), metadata, selector, width)
        y = np.swapaxes(matrix(b, right), -1, -2)
        return registers(product.of(x, y, matrix(c, third)), result)

    return compute


def multiply_quads(product: Product, a_is_row: bool, b_is_row: bool) -> Callable[..., list[Bits]]:
    """mma.m8n8k4 of f16."""
    left = quads.multiplicand(a_is_row)
    product_, column, row = quads.multiplicand(not b_is_row)
    third, result = quads.accumulator(bits(product.third)), quads.accumulator(bits(product.result))

    def compute(a: Registers, b: Registers, c: Registers) -> list[Bits]:
        x = quads.matrix(a, left, (8, 4), 16)
        y = quads.matrix(b, (product_, row, column), (4, 8), 16)
        z = quads.matrix(c, third, (8, 8), bits(product.third))
        return quads.registers(product.of(x, y, z), result, bits(product.result))

    return compute


def multiply_scaled(shape: Shape, product: Product, vector: int, scale: str, sparse: bool) -> Callable[..., list[Bits]]:
    """Block-scaled: every `k / vector` neighbours along k of a row of A, or column of B, have a scale factor.

    Of a group the lanes 2i and 2i + 1 hold A's factors of the rows g and g + 8, and the lane j those of B's column g.
    """
    width = _width(product, product.left)
    left = multiplicand(shape.m, shape.k // 2 if sparse else shape.k, width)
    right = multiplicand(shape.n, shape.k, _width(product, product.right))
    place = accumulator(shape.m, shape.n, 32)

    def compute(
        a: Registers,
        b: Registers,
        c: Registers,
        a_scale: Scale,
        b_scale: Scale,
        metadata: Bits | None = None,
    ) -> list[Bits]:
        x = matrix(a, left)
        if metadata is not None:
            x = dense(x, metadata, 0, width)
        y = np.swapaxes(matrix(b, right), -1, -2)
        of_a = _factors(a_scale, vector, scale, 2)  # (..., 8 groups, 2 lanes, vector)
        rows = np.moveaxis(of_a, -2, -3).reshape(*of_a.shape[:-3], 16, vector)
        columns = _factors(b_scale, vector, scale, 1)[..., 0, :]
        times = shape.k // vector
        scales = np.repeat(rows, times, axis=-1), np.swapaxes(np.repeat(columns, times, axis=-1), -1, -2)
        return registers(product.of(x, y, matrix(c, place), scales), place)

    return compute


def _factors(scale: Scale, vector: int, word: str, lanes: int) -> Reals:
    by_group = scale.data.reshape(*scale.data.shape[:-1], 8, 4)
    used = by_group[..., scale.lanes * lanes : (scale.lanes + 1) * lanes]
    shifts = np.arange(scale.byte, scale.byte + vector, dtype=np.uint32) * np.uint32(8)
    return widen(FORMATS[word], used[..., None] >> shifts & np.uint32(255))


def _width(product: Product, word: str) -> int:
    """The bits that an element takes in a register."""
    return 8 if product.boxed else bits(word)
