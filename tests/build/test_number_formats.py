"""Constants of the types for which PTX has none have the bits that the machine gives them."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.build import (
    BuildTypeError,
    BuildValueError,
    Global,
    Kernel,
    Register,
    Scalar,
    bf16,
    bf16x2,
    e4m3,
    e4m3x2,
    e5m2,
    f16,
    f16x2,
    f32,
    f32x2,
)
from ptxkit.build.number_formats import FLOAT_FORMATS, encode_number
from ptxkit.emulator.core.numbers.float_codec import narrow
from ptxkit.emulator.core.numbers.formats import FORMATS
from tests.build.running import run_lanes
from tests.build.support import opcodes

NARROW: tuple[type[Scalar], ...] = (f16, bf16, e4m3, e5m2)


def test_the_formats_are_those_of_the_machine() -> None:
    for word, layout in FLOAT_FORMATS.items():
        known = FORMATS[word]
        assert (layout.fraction_bits, layout.bias, layout.largest, layout.infinity, layout.nan) == (
            *(known.fraction_bits, known.bias, known.maximum, known.infinity, known.nan),
        )


@given(st.floats(), st.sampled_from(NARROW))
def test_a_number_is_rounded_as_the_machine_rounds(number: float, scalar: type[Scalar]) -> None:
    fmt = FORMATS[scalar.word]
    with np.errstate(over="ignore"):
        expected = int(narrow(fmt, np.array([number]))[0])
    magnitude = (1 << (scalar.bits - 1)) - 1
    if (
        not math.isnan(number)
        and expected & magnitude > fmt.maximum
        and (math.isfinite(number) or fmt.infinity is None)
    ):
        with pytest.raises(BuildValueError, match="is beyond the largest number of"):
            encode_number(number, scalar)
    else:
        assert encode_number(number, scalar) & (magnitude if math.isnan(number) else -1) == expected


@given(st.floats(width=16))
def test_numbers_of_half_precision_are_exact(number: float) -> None:
    if not math.isnan(number):
        assert encode_number(number, f16) == struct.unpack("<H", struct.pack("<e", number))[0]


def test_both_parts_of_a_packed_type_get_the_number() -> None:
    assert encode_number(1.0, f16x2) == 0x3C003C00
    assert encode_number(-2, bf16x2) == 0xC000C000
    assert encode_number(1.5, e4m3x2) == 0x3C3C
    assert encode_number(1.0, f32x2) == 0x3F800000_3F800000


def test_a_constant_takes_the_type_of_its_operand_and_leaves_the_target() -> None:
    k = Kernel("k")
    half, brain = k.param(f16, "half"), k.param(bf16, "brain")
    assert (half + 1.0).type is f16
    assert (2 * half).type is f16
    assert k.max(half, 0.5).type is f16
    assert k.fma(half, 2.0, 1.0).type is f16
    k.variable(f16, 1.0).set(0.25)
    assert ".target sm_80" in str(k)  # max of halves
    assert (brain * 0.5).type is bf16
    assert ".target sm_90\n" in str(k)
    assert "add.f16" in opcodes(k.module())
    assert not any(".f32" in opcode for opcode in opcodes(k.module()))


def test_a_number_that_is_too_large_is_an_error() -> None:
    k = Kernel("k")
    half = k.param(f16, "half")
    with pytest.raises(BuildValueError, match=r"1e\+?0?6 is beyond|1000000.0 is beyond"):
        half + 1e6
    half + math.inf
    k.param(bf16, "brain") + 1e6


def test_single_precision_is_not_meant_by_a_half(tmp_path: Path) -> None:
    def compute(_: Kernel, x: Register[f16]) -> Register[f16]:
        return (x + 1.0) * 0.5 - 0.125

    values = np.arange(32, dtype=np.float16) / np.float16(8)
    found = run_lanes(f16, values, f16, compute, tmp_path)
    assert found.tolist() == ((values + np.float16(1)) * np.float16(0.5) - np.float16(0.125)).tolist()


def test_memory_and_selections_take_numbers_of_half_precision() -> None:
    k = Kernel("k")
    out, n = k.param(Global[bf16], "out"), k.param(f32, "n")
    out.store(1.0)
    out[1].store(k.where(n > 1.0, out.load(), 2.0))
    assert "st.global.b16 [%rd0], 16256;" in str(k)
    with pytest.raises(BuildTypeError, match=r"takes \.bf16, got %f0: \.f32; use \.convert\(bf16\)"):
        out.store(n)  # type: ignore[arg-type]
