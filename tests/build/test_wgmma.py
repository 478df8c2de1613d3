"""Warpgroup multiplications: descriptors in the manual's layout, and instructions that ptxas accepts."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.build import (
    BuildTypeError,
    BuildValueError,
    Global,
    Kernel,
    VerificationError,
    b32,
    bf16,
    f16,
    f32,
    f64,
    s32,
)
from tests.build.support import assert_ptxas_accepts, marked_line, opcodes


@pytest.fixture
def k() -> Kernel:
    return Kernel("k", threads=128)


def test_a_descriptor_has_address_offsets_and_swizzle_in_their_fields(k: Kernel) -> None:
    tile = k.shared(bf16, 64 * 64, align=1024)
    matrix = k.matrix(tile)
    assert matrix.high == (1024 >> 4) | 1 << 30  # rows of 128 bytes, eight of them apart; swizzle of 128 bytes
    assert k.matrix(tile, swizzle=64).high == (512 >> 4) | 2 << 30
    assert k.matrix(tile, swizzle=0, stride=128).high == 128 >> 4
    text = str(k)
    assert "shr.u32 %r1, %r0, 4;\n\tand.b32 %r2, %r1, 16383;\n\tor.b32 %r3, %r2, 65536;" in text


def test_a_matrix_advances_along_its_rows(k: Kernel) -> None:
    matrix = k.matrix(k.shared(bf16, 64 * 64, align=1024))
    assert matrix.moved(0) is matrix
    matrix.moved(32)
    assert "add.u32 %r4, %r3, 2;" in str(k)
    with pytest.raises(BuildValueError, match="multiples of 16 bytes, not by 8"):
        matrix.moved(8)


def test_a_matrix_is_one_of_a_series(k: Kernel) -> None:
    matrix = k.matrix(k.shared(bf16, 64 * 64, align=1024))
    matrix.at(k.laneid, 8192)
    assert "mad.lo.u32 %r5, %r4, 512, %r3;" in str(k)
    with pytest.raises(BuildValueError, match="multiples of 16 bytes, not by 24"):
        matrix.at(k.laneid, 24)


def test_impossible_descriptors_are_rejected(k: Kernel) -> None:
    tile = k.shared(bf16, 64 * 64, align=1024)
    with pytest.raises(BuildValueError, match="0, 32, 64, 128 bytes, not 96"):
        k.matrix(tile, swizzle=96)
    with pytest.raises(BuildValueError, match="stride is a multiple of 16 bytes below 256 kB, not None"):
        k.matrix(tile, swizzle=0)
    with pytest.raises(BuildTypeError, match="a swizzle of 128 is aligned to 1024 bytes") as caught:
        k.matrix(k.shared(bf16, 64, align=128))  # not aligned
    assert caught.value.location == marked_line("not aligned")
    with pytest.raises(BuildTypeError, match="in the CTA's shared memory"):
        k.matrix(k.param(Global[bf16], "data"))  # type: ignore[arg-type]


KINDS = [
    (bf16, f32, 16, "f32.bf16.bf16"),
    (f16, f32, 16, "f32.f16.f16"),
    ("tf32", f32, 8, "f32.tf32.tf32"),
    ("e4m3", f32, 32, "f32.e4m3.e4m3"),
    ("s8", s32, 32, "s32.s8.s8"),
]


@pytest.mark.parametrize(("element", "scalar", "depth", "words"), KINDS)
def test_each_type_multiplies_32_bytes_of_a_row(
    k: Kernel, element: object, scalar: type, depth: int, words: str, tmp_path: Path
) -> None:
    a, b = k.matrix(k.shared(bf16, 64 * 64, align=1024)), k.matrix(k.shared(bf16, 64 * 64, align=1024))
    acc = k.accumulator(64, scalar)
    k.wgmma_fence()
    acc.multiply(a, b, element, accumulate=False)  # type: ignore[arg-type]
    acc.multiply([k.register(b32) for _ in range(4)], b, element)  # type: ignore[arg-type]
    k.wgmma_commit_group()
    k.wgmma_wait_group(0)
    assert f"wgmma.mma_async.sync.aligned.m64n64k{depth}.{words} {{" in str(k)
    assert_ptxas_accepts(str(k), tmp_path)


def test_a_predicate_states_whether_to_accumulate(k: Kernel, tmp_path: Path) -> None:
    a = k.matrix(k.shared(bf16, 64 * 64, align=1024))
    acc = k.accumulator(64)
    k.wgmma_fence()
    acc.multiply(a, k.matrix(k.shared(bf16, 64 * 64, align=1024), transposed=True), bf16, accumulate=k.tid.y > 0)
    assert ", %p0, 1, 1, 0, 1;" in str(k)
    assert_ptxas_accepts(str(k), tmp_path)


def test_an_accumulator_must_have_a_shape_of_the_hardware(k: Kernel) -> None:
    with pytest.raises(BuildValueError, match="by eights, not 12"):
        k.accumulator(12)
    with pytest.raises(BuildTypeError, match="holds f32 or s32"):
        k.accumulator(64, f64)
    acc = k.accumulator(64)
    with pytest.raises(BuildTypeError, match="wgmma multiplies f16, bf16"):
        acc.multiply(k.matrix(k.shared(bf16, 4096, align=1024)), k.matrix(k.shared(bf16, 4096, align=1024)), f32)


def test_results_are_packed_as_pairs_of_halves(k: Kernel, tmp_path: Path) -> None:
    acc = k.accumulator(16)
    halves = acc.packed(bf16)
    assert len(halves) == 4
    assert "cvt.rn.bf16x2.f32 %r0, %f1, %f0;" in str(k)  # the first operand is the upper half
    tile = k.shared(bf16, 64 * 16, align=16)
    k.stmatrix_m8n8_x4(tile[acc.row(0) * 16], tuple(halves))
    assert_ptxas_accepts(str(k), tmp_path)


def test_results_are_scaled_and_packed_into_existing_registers(k: Kernel, tmp_path: Path) -> None:
    acc = k.accumulator(8)
    halves = [k.variable(b32, 0) for _ in range(2)]
    scale = k.param(Global[f32], "scale").load()
    assert [each.name for each in acc.packed(bf16, into=halves, scale=scale)] == [each.name for each in halves]
    assert "mul.f32 %f5, %f0, %f4;\n\tmul.f32 %f6, %f1, %f4;\n\tcvt.rn.bf16x2.f32 %r0, %f6, %f5;" in str(k)
    assert_ptxas_accepts(str(k), tmp_path)


def test_reading_results_before_the_wait_is_rejected(k: Kernel) -> None:
    a, b = k.matrix(k.shared(bf16, 64 * 64, align=1024)), k.matrix(k.shared(bf16, 64 * 64, align=1024))
    out, acc = k.param(Global[f32], "out"), k.accumulator(64)
    k.wgmma_fence()
    acc.multiply(a, b, bf16, accumulate=False)
    k.wgmma_commit_group()
    out[acc.row(0) * 64 + acc.column(0)].store(acc.registers[0])  # too early
    k.wgmma_wait_group(0)
    with pytest.raises(VerificationError) as caught:
        k.verify()
    (blame,) = caught.value.blames
    assert blame.diagnostic.code == "PTX311"
    assert blame.location == marked_line("too early")
    assert opcodes(k.module()).count("wgmma.fence.sync.aligned") == 1
