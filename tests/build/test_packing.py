"""Values are packed in registers and unpacked, with the first in the lowest bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ptxkit.build import (
    BuildTypeError,
    Global,
    Kernel,
    Register,
    Scalar,
    b8,
    b16,
    b32,
    b64,
    b128,
    bf16,
    bf16x2,
    e4m3,
    e4m3x2,
    e5m2,
    e5m2x2,
    f16,
    f16x2,
    f32,
    f32x2,
    f64,
    s8,
    u8,
    u16,
    u32,
    u64,
)
from tests.build.running import run_kernel, run_lanes
from tests.build.support import opcodes


@pytest.fixture
def k() -> Kernel:
    return Kernel("k")


@pytest.mark.parametrize(
    ("part", "count", "packed"),
    [
        (f16, 2, f16x2),
        (bf16, 2, bf16x2),
        (f32, 2, f32x2),
        (e4m3, 2, e4m3x2),
        (e5m2, 4, b32),
        (u16, 2, b32),
        (f16, 4, b64),
        (u32, 2, b64),
        (f32, 4, b128),
        (f64, 2, b128),
        (u8, 2, b16),
        (u8, 4, b32),
        (b8, 8, b64),
    ],
)
def test_packed_values_have_a_type_and_are_unpacked_to_their_own(
    k: Kernel, part: type[Scalar], count: int, packed: type[Scalar]
) -> None:
    word: Register[Any] = k.pack(*(k.register(part) for _ in range(count)))
    assert word.type is packed
    parts = k.unpack(word, part)
    assert [each.type for each in parts] == [part] * count


@pytest.mark.parametrize(
    ("word", "half"),
    [(f16x2, f16), (bf16x2, bf16), (f32x2, f32), (b32, b16), (u32, b16), (b64, b32), (f64, b32), (b128, b64)],
)
def test_a_register_has_two_halves(k: Kernel, word: type[Scalar], half: type[Scalar]) -> None:
    low, high = k.unpack(k.register(word))  # type: ignore[call-overload]
    assert (low.type, high.type) == (half, half)
    assert opcodes(k.module())[0] == f"mov.b{word.bits}"


def test_values_that_do_not_fit_are_errors(k: Kernel) -> None:
    half, brain, word = k.register(f16), k.register(bf16), k.register(u32)
    for values in ((), (half, brain), (half, 1.0), (word < 1, word < 2)):
        with pytest.raises(BuildTypeError, match="pack joins"):
            k.pack(*values)  # type: ignore[arg-type]
    with pytest.raises(BuildTypeError, match="two or four values"):
        k.pack(half, half, half)
    with pytest.raises(BuildTypeError, match=r"up to 128 bits, not 4 of \.u64"):
        k.pack(*[k.register(u64)] * 4)
    with pytest.raises(BuildTypeError, match="does not consist of several u64"):
        k.unpack(word, u64)
    with pytest.raises(BuildTypeError, match="does not consist of several halves"):
        k.unpack(word < 1)  # type: ignore[call-overload]


def test_the_first_value_is_in_the_lowest_bits(tmp_path: Path) -> None:
    def swap(k: Kernel, x: Register[u64]) -> Register[Any]:
        parts = k.unpack(x, u8)
        return k.pack(*parts[1:], parts[0])

    values = np.random.default_rng(1).integers(0, 1 << 64, 32, dtype=np.uint64)
    found = run_lanes(u64, values, u64, swap, tmp_path)
    assert found.tolist() == ((values >> np.uint64(8)) | (values << np.uint64(56))).tolist()


def test_signed_bytes_are_extended(tmp_path: Path) -> None:
    values = np.arange(32, dtype=np.uint32) << 27
    found = run_lanes(u32, values, u16, lambda k, x: Register(k, u16, k.unpack(x, s8)[3].name), tmp_path)
    assert found.view(np.int16).tolist() == (values >> 24).astype(np.uint8).view(np.int8).tolist()


def test_two_singles_are_converted_to_a_pair_with_the_first_in_the_lower_half(tmp_path: Path) -> None:
    values = np.linspace(-3, 3, 32, dtype=np.float32)
    found = run_lanes(f32, values, f16x2, lambda k, x: k.pack_convert(f16x2, x, x * 2.0), tmp_path)
    pairs = found.view(np.float16).reshape(32, 2)
    assert pairs[:, 0].tolist() == values.astype(np.float16).tolist()
    assert pairs[:, 1].tolist() == (values * 2).astype(np.float16).tolist()
    k = Kernel("k")
    assert k.pack_convert(bf16x2, k.register(f32), k.register(f32), "rz", relu=True).type is bf16x2
    assert opcodes(k.module())[0] == "cvt.rz.relu.bf16x2.f32"


@pytest.mark.parametrize("scalar", [e4m3x2, e5m2x2])
def test_numbers_of_8_bits_are_converted_in_pairs_and_saturate(scalar: type[Scalar], tmp_path: Path) -> None:
    def convert_and_return(k: Kernel, x: Register[f32]) -> Register[f16x2]:
        return k.pack_convert(scalar, x, -x).convert(f16x2, "rn")

    values = np.array([0, 0.5, 1, 1.5, 2, 96, 1e9, 7] * 4, np.float32)
    found = run_lanes(f32, values, f16x2, convert_and_return, tmp_path).view(np.float16).reshape(32, 2)
    expected = np.minimum(values, 448 if scalar is e4m3x2 else 57344)
    assert found[:, 0].tolist() == expected.tolist()
    assert found[:, 1].tolist() == (-expected).tolist()


def test_constants_of_8_bits_are_stored_and_declared(tmp_path: Path) -> None:
    k = Kernel("k", threads=32)
    given, out = k.param(Global[e4m3], "given"), k.param(Global[e4m3], "out", align=4)
    table = k.constant(e4m3, [0.5, 448])
    out[k.laneid * 4].store([1.0, -1.0, table[1].load(), given[k.laneid].load()])
    found = run_kernel(k, np.zeros(128, np.uint8), np.arange(32, dtype=np.uint8), tmp_path)
    assert found[:8].tolist() == [0x38, 0xB8, 0x7E, 0, 0x38, 0xB8, 0x7E, 1]


def test_pairs_of_singles_are_added_at_once(tmp_path: Path) -> None:
    def add(k: Kernel, x: Register[f32]) -> Register[f32]:
        low, high = k.unpack(k.pack(x, x * 2.0) + 1.0)
        return low + high

    values = np.arange(32, dtype=np.float32)
    found = run_lanes(f32, values, f32, add, tmp_path, target="sm_100a")
    assert found.tolist() == (3 * values + 2).tolist()
