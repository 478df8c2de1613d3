"""Products of matrices, compared with numpy and Python's integers."""

from __future__ import annotations

import numpy as np

from ptxkit.emulator.core.numbers.float_codec import narrow
from ptxkit.emulator.core.numbers.formats import FORMATS
from ptxkit.emulator.tensor.matmul import MatrixProduct, element_values


def test_halves_are_summed_before_they_are_rounded() -> None:
    generator = np.random.default_rng(1)
    a, b = generator.standard_normal((16, 16)), generator.standard_normal((16, 8))
    codes = [narrow(FORMATS["f16"], each) for each in (a, b)]
    exact = element_values("f16", codes[0]) @ element_values("f16", codes[1])
    c = generator.standard_normal((16, 8)).astype(np.float32)
    found = MatrixProduct("f32", "f16", "f16", "f32").compute(*codes, c.view(np.uint32))
    assert (found.view(np.float32) == (exact + c).astype(np.float32)).all()
    small = MatrixProduct("f16", "f16", "f16", "f16").compute(*codes, np.zeros((16, 8), np.uint16))
    assert (small.view(np.float16) == exact.astype(np.float16)).all()


def test_integers_wrap_or_saturate() -> None:
    a, b = np.full((1, 32), 0x80, np.uint8), np.full((32, 1), 0x80, np.uint8)
    c = np.array([[0x7FFFFFFF]], np.uint32)
    wrapped = MatrixProduct("s32", "s8", "s8", "s32").compute(a, b, c)
    assert wrapped.tolist() == [[(0x7FFFFFFF + 32 * 128 * 128) % 2**32]]
    limited = MatrixProduct("s32", "s8", "s8", "s32", satfinite=True).compute(a, b, c)
    assert limited.tolist() == [[0x7FFFFFFF]]
    mixed = MatrixProduct("s32", "u8", "s8", "s32").compute(a, b, np.zeros((1, 1), np.uint32))
    assert mixed.view(np.int32).tolist() == [[-32 * 128 * 128]]
    four = MatrixProduct("s32", "s4", "u4", "s32").compute(a >> 4, b >> 4, np.zeros((1, 1), np.uint32))
    assert four.view(np.int32).tolist() == [[-8 * 8 * 32]]


def test_one_bits_are_counted() -> None:
    generator = np.random.default_rng(2)
    a, b = generator.integers(0, 2, (8, 128)).astype(np.uint8), generator.integers(0, 2, (128, 8)).astype(np.uint8)
    c = np.zeros((8, 8), np.uint32)
    both = (a[:, :, None] & b[None]).sum(axis=1)
    either = (a[:, :, None] ^ b[None]).sum(axis=1)
    assert (MatrixProduct("s32", "b1", "b1", "s32", operation="and").compute(a, b, c) == both).all()
    assert (MatrixProduct("s32", "b1", "b1", "s32", operation="xor").compute(a, b, c) == either).all()


def test_doubles_are_a_chain_of_fused_operations() -> None:
    a, b = np.array([[1.0 + 2.0**-30, 1.0]]), np.array([[1.0 + 2.0**-30], [2.0**-60]])
    c = np.array([[-1.0]])
    found = MatrixProduct("f64", "f64", "f64", "f64").compute(*(each.view(np.uint64) for each in (a, b, c)))
    assert found.view(np.float64)[0, 0] == 2.0**-29 + 2.0**-60 + 2.0**-60
    down = MatrixProduct("f64", "f64", "f64", "f64", rounding="rm")
    result = down.compute(*(each.view(np.uint64) for each in (a[:, :1], b[:1], np.array([[0.0]]))))
    assert result.view(np.float64)[0, 0] == 1.0 + 2.0**-29


def test_small_floats_are_in_separate_bytes() -> None:
    assert element_values("e2m1", np.array([0b00011100], np.uint8), boxed=True).tolist() == [6.0]
    assert element_values("e2m1", np.array([0b0111], np.uint8)).tolist() == [6.0]
    assert element_values("e3m2", np.array([0b011111], np.uint8), boxed=True).tolist() == [28.0]


def test_lower_bits_of_tf32_are_ignored() -> None:
    a = np.array([[0x3F801FFF]], np.uint32)
    found = MatrixProduct("f32", "tf32", "tf32", "f32").compute(a, a, np.zeros((1, 1), np.uint32))
    assert found.view(np.float32).tolist() == [[1.0]]
