"""Tiles for `mma.sync`: the instructions, the sources of fragments, and invalid combinations."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.build import (
    BuildTypeError,
    BuildValueError,
    Global,
    Kernel,
    Rows,
    Scalar,
    Tile,
    b8,
    bf16,
    f16,
    f32,
    f64,
    s32,
    u32,
)
from tests.build.lanes import addresses
from tests.build.support import assert_ptxas_accepts, opcodes

ELEMENTS: list[tuple[str, type[Scalar], type[Scalar], str]] = [
    ("f16", f16, f32, "m16n8k16.row.col.f32.f16.f16.f32"),
    ("bf16", bf16, f32, "m16n8k16.row.col.f32.bf16.bf16.f32"),
    ("tf32", f32, f32, "m16n8k8.row.col.f32.tf32.tf32.f32"),
    ("e4m3", b8, f32, "m16n8k32.row.col.f32.e4m3.e4m3.f32"),
    ("e5m2", b8, f32, "m16n8k32.row.col.f32.e5m2.e5m2.f32"),
    ("s8", b8, s32, "m16n8k32.row.col.s32.s8.s8.s32"),
    ("u8", b8, s32, "m16n8k32.row.col.s32.u8.u8.s32"),
]


def operands(k: Kernel, scalar: type[Scalar] = bf16) -> tuple[Rows[Scalar], Rows[Scalar]]:
    """Two matrices with rows of 128 bytes."""
    columns = 128 // scalar.size()
    left, right = (k.shared(scalar, 64 * columns, align=1024, name=name) for name in ("left", "right"))
    return k.rows(left, columns, swizzle=128), k.rows(right, columns, swizzle=128)


@pytest.mark.parametrize(("element", "stored", "scalar", "word"), ELEMENTS)
def test_a_step_multiplies_32_bytes_of_k(
    element: str, stored: type[Scalar], scalar: type[Scalar], word: str, tmp_path: Path
) -> None:
    k = Kernel("k", threads=32)
    out = k.param(Global[scalar], "out", align=8)  # type: ignore[valid-type]
    left, right = operands(k, stored)
    acc = k.mma_tile(32, 24, scalar)
    acc.multiply(k.mma_a(left, 0, 0, count=32), k.mma_b(right, 0, 0, count=24), element)
    acc.store(out, 24)
    found = opcodes(k.module())
    assert [each for each in found if each.startswith("mma")] == [f"mma.sync.aligned.{word}"] * 6
    assert [each.partition(".shared")[0] for each in found if each.startswith("ldmatrix")] == [
        "ldmatrix.sync.aligned.m8n8.x4",  # 16 rows of A
        "ldmatrix.sync.aligned.m8n8.x4",
        "ldmatrix.sync.aligned.m8n8.x4",  # 16 columns of B
        "ldmatrix.sync.aligned.m8n8.x2",  # and eight
    ]
    assert "cvta" not in str(k)
    assert k.verify().diagnostics == ()
    assert_ptxas_accepts(str(k), tmp_path)


def test_results_begin_with_zero_and_are_accumulated() -> None:
    k = Kernel("k", threads=32)
    left, right = operands(k)
    acc = k.mma_tile(16, 8)
    acc.multiply(k.mma_a(left, 0, 0), k.mma_b(right, 0, 0), bf16)
    text = str(k)
    assert all(f"mov.f32 %f{number}, 0f00000000;" in text for number in range(4))
    assert "f32 {%f0, %f1, %f2, %f3}, {%r" in text
    assert "}, {%f0, %f1, %f2, %f3};" in text


def test_matrices_along_m_or_n_are_transposed_by_the_load(tmp_path: Path) -> None:
    k = Kernel("k", threads=32)
    left, right = operands(k)
    acc = k.mma_tile(16, 16)
    a = k.mma_a(left, 8, 16, transposed=True)
    b = k.mma_b(right, 24, 16, count=16, transposed=True)
    acc.multiply(a, b, bf16)
    module = k.module()
    assert [each for each in opcodes(module) if each.startswith("ldmatrix")] == [
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"
    ] * 2
    first = {"left": 0, "right": 1 << 16}
    for thread in range(32):
        matrix, line = divmod(thread, 8)
        below, right_of = matrix >> 1, matrix & 1
        of_a = _at(16 + below * 8 + line, 8 + right_of * 8)  # row along K; the next one has eight rows of A more
        of_b = (1 << 16) + _at(16 + (matrix & 1) * 8 + line, 24 + (matrix >> 1) * 8)
        assert addresses(module, "ldmatrix", thread, first) == [of_a, of_b]
    assert_ptxas_accepts(str(k), tmp_path)


def _at(row: int, column: int) -> int:
    """Checks a bf16 element in rows of 128 bytes with that swizzle."""
    offset = row * 128 + column * 2
    return offset ^ (row & 7) << 4


def test_results_are_stored_in_pairs_at_their_positions(tmp_path: Path) -> None:
    k = Kernel("k", threads=32)
    out = k.shared(f32, 32 * 64, align=16, name="out")
    k.mma_tile(32, 16).store(out, 64)
    module = k.module()
    for thread in (0, 5, 31):
        row, column = thread >> 2, thread % 4 * 2
        expected = [(row + down) * 256 + (column + right) * 4 for down in (0, 8, 16, 24) for right in (0, 8)]
        assert addresses(module, "st.shared.v2.f32", thread, {"out": 0}) == expected
    assert_ptxas_accepts(str(k), tmp_path)


def test_results_are_stored_as_halves(tmp_path: Path) -> None:
    k = Kernel("k", threads=32)
    rows, _ = operands(k)
    k.mma_tile(16, 24).stmatrix(rows, 0, 0)
    found = opcodes(k.module())
    assert found.count("cvt.rn.bf16x2.f32") == 6
    assert [each for each in found if each.startswith("stmatrix")] == [
        "stmatrix.sync.aligned.m8n8.x4.shared.b16",
        "stmatrix.sync.aligned.m8n8.x2.shared.b16",
    ]
    assert "cvt.rn.bf16x2.f32 %r" in str(k)
    assert ", %f1, %f0;" in str(k)  # the even column is the low half
    assert_ptxas_accepts(str(k), tmp_path)
    with pytest.raises(BuildTypeError, match="packed as pairs of f16 or bf16"):
        k.mma_tile(16, 8, s32).packed(0, 0, bf16)


def test_a_warpgroup_stores_its_results_as_halves(tmp_path: Path) -> None:
    k = Kernel("k", threads=128, target="sm_90a")
    rows, _ = operands(k)
    k.accumulator(24).stmatrix(rows, 0, 0)
    module = k.module()
    for thread in (0, 33, 100):
        four = addresses(module, "stmatrix.sync.aligned.m8n8.x4", thread, {"left": 0})
        assert four == [_at(thread // 32 * 16 + thread % 16, thread % 32 // 16 * 8)]
    assert opcodes(module).count("stmatrix.sync.aligned.m8n8.x2.shared.b16") == 1
    assert_ptxas_accepts(str(k), tmp_path)


def test_invalid_combinations_are_rejected() -> None:
    k = Kernel("k", threads=32)
    left, right = operands(k)
    acc, a, b = k.mma_tile(16, 16), k.mma_a(left, 0, 0), k.mma_b(right, 0, 0, count=16)
    acc.multiply(a, b, bf16)
    with pytest.raises(BuildTypeError, match=r"k.mma_a\(...\) of 16 rows, not k.mma_b\(...\) of 16"):
        acc.multiply(b, a, bf16)
    with pytest.raises(BuildTypeError, match=r"of 16 columns, not k.mma_b\(...\) of 8"):
        acc.multiply(a, k.mma_b(right, 0, 0), bf16)
    with pytest.raises(BuildTypeError, match="products of s8 are added up as s32"):
        acc.multiply(a, b, "s8")
    with pytest.raises(BuildTypeError, match="no instruction multiplies f16 by bf16"):
        acc.multiply(a, b, f16, b_element=bf16)
    with pytest.raises(BuildTypeError, match=r"mma multiplies f16, .*, not f64"):
        acc.multiply(a, b, f64)
    with pytest.raises(BuildTypeError, match=r"the results are .f32, and the matrix is .*Shared\[u32\]"):
        acc.store(k.shared(u32, 256, align=16, name="numbers"), 16)
    with pytest.raises(BuildValueError, match="the pitch is even"):
        acc.store(k.shared(f32, 272, align=16, name="odd"), 17)


def test_impossible_tiles_are_rejected() -> None:
    k = Kernel("k", threads=32)
    left, _ = operands(k, b8)
    with pytest.raises(BuildValueError, match="multiple of 16 rows and of 8 columns, not 24"):
        k.mma_tile(24, 8)
    with pytest.raises(BuildTypeError, match="results are f32 or s32"):
        Tile(k, 16, 8, f64)
    with pytest.raises(BuildValueError, match="a multiple of 16 rows, not 8"):
        k.mma_a(left, 0, 0, count=8)
    with pytest.raises(BuildTypeError, match=r"only elements of 16 bits are transposed as they are loaded, not .b8"):
        k.mma_b(left, 0, 0, transposed=True)
    with pytest.raises(BuildTypeError, match="from rows in shared memory"):
        k.mma_a(left.place, 0, 0)  # type: ignore[arg-type]
