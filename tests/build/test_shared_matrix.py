"""Rows in shared memory: the positions of elements under a swizzle, and the lines that the threads of a warp name."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import pytest

from ptxkit.build import BuildTypeError, BuildValueError, Global, Kernel, Register, b16, bf16, f32, u32
from tests.build.lanes import addresses
from tests.build.support import assert_ptxas_accepts, opcodes

Place: TypeAlias = "tuple[int | Register[u32], int | Register[u32]]"
START = {"tile": 0x2000}


@pytest.fixture
def k() -> Kernel:
    return Kernel("k", threads=32)


def swizzle_offset(offset: int, span: int) -> int:
    """Returns the offset at which the bulk copy engine places a byte: the 16-byte chunks of each row of 128 bytes are
    permuted."""
    return offset ^ (((offset >> 7) & (span // 16 - 1)) << 4) if span else offset


SHAPES = [(0, 40), (128, 64), (64, 32), (32, 16)]


@pytest.mark.parametrize(("swizzle", "columns"), SHAPES)
def test_an_element_is_at_the_position_of_the_swizzle(k: Kernel, swizzle: int, columns: int, tmp_path: Path) -> None:
    rows = k.rows(k.shared(bf16, 64 * columns, align=1024, name="tile"), columns, swizzle=swizzle)
    lane = k.laneid
    places: list[Place] = [
        (3, 5),
        (lane, 9),
        (lane, lane >> 1),
        (7, lane >> 2),
        (lane & 7, 0),
    ]
    for row, column in places:
        rows.at(row, column).load()
    module = k.module()
    for thread in (0, 1, 13, 31):
        wanted = [(3, 5), (thread, 9), (thread, thread >> 1), (7, thread >> 2), (thread & 7, 0)]
        expected = [0x2000 + swizzle_offset((row * columns + column) * 2, swizzle) for row, column in wanted]
        assert addresses(module, "ld.shared", thread, START) == expected
    assert_ptxas_accepts(str(k), tmp_path)


@pytest.mark.parametrize(("swizzle", "columns"), SHAPES)
@pytest.mark.parametrize("across", [False, True])
def test_each_thread_names_its_own_line(k: Kernel, swizzle: int, columns: int, across: bool, tmp_path: Path) -> None:
    rows = k.rows(k.shared(bf16, 64 * columns, align=1024, name="tile"), columns, swizzle=swizzle)
    warp = k.tid.x >> 5
    registers = rows.ldmatrix(16, 0, across=across)
    rows.stmatrix(warp * 16 + 8, 0, registers, across=across)
    module = k.module()
    for thread in range(32):
        matrix, line = divmod(thread, 8)
        down, right = (matrix >> 1, matrix & 1) if across else (matrix & 1, matrix >> 1)
        for opcode, first in (("ldmatrix", 16), ("stmatrix", 8)):
            offset = (first + down * 8 + line) * columns * 2 + right * 16
            assert addresses(module, opcode, thread, START) == [0x2000 + swizzle_offset(offset, swizzle)]
    assert_ptxas_accepts(str(k), tmp_path)


def test_one_two_and_four_matrices_are_loaded_with_and_without_a_transpose(k: Kernel, tmp_path: Path) -> None:
    rows = k.rows(k.shared(b16, 64 * 64, align=16), 64)
    for count in (1, 2, 4):
        for transposed in (False, True):
            registers = rows.ldmatrix(0, 0, count, transposed=transposed)
            assert len(registers) == count
            rows.stmatrix(0, 8, registers, transposed=transposed)
            word = f"m8n8.x{count}{'.trans' if transposed else ''}.shared.b16"
            assert f"ldmatrix.sync.aligned.{word}" in opcodes(k.module())
            assert f"stmatrix.sync.aligned.{word}" in opcodes(k.module())
    assert "cvta" not in str(k)
    assert_ptxas_accepts(str(k), tmp_path)


def test_matrix_loads_and_stores_have_no_findings(k: Kernel) -> None:
    out = k.param(Global[b16], "out")
    rows = k.rows(k.shared(b16, 32 * 16, align=16), 16)
    rows.at(k.laneid, 0).store(k.mov_b16(1))
    k.warp_sync()
    registers = rows.ldmatrix(0, 0)
    k.warp_sync()
    rows.stmatrix(16, 0, registers)
    k.warp_sync()
    out[k.tid.x].store(rows.at(k.laneid, 0).load())
    assert k.verify().diagnostics == ()


def test_impossible_matrices_are_rejected(k: Kernel) -> None:
    tile = k.shared(bf16, 64 * 64, align=128)
    rows = k.rows(tile, 64)
    with pytest.raises(BuildTypeError, match=r"aligned to 1024 bytes, and not .*declare the array with align=1024"):
        k.rows(tile, 64, swizzle=128)
    with pytest.raises(BuildValueError, match="a row has 64 bytes, as the swizzle, and not 128"):
        k.rows(tile.aligned(512), 64, swizzle=64)
    with pytest.raises(BuildValueError, match="a multiple of 16 bytes, and not 24"):
        k.rows(tile, 12)
    with pytest.raises(BuildValueError, match="0, 32, 64, 128 bytes, not 96"):
        k.rows(tile, 48, swizzle=96)
    with pytest.raises(BuildTypeError, match=r"in the CTA's shared memory, not .*Global"):
        k.rows(k.param(Global[f32], "data"), 64)  # type: ignore[arg-type]
    with pytest.raises(BuildValueError, match="one, two or four matrices are moved at once, not 3"):
        rows.ldmatrix(0, 0, 3)
    with pytest.raises(BuildTypeError, match="aligned to 16 bytes"):
        rows.ldmatrix(0, 4)
    with pytest.raises(BuildValueError, match="leaves"):
        rows.at(64, 1)
