"""Video instructions: the manual's rules on selected numbers; results that an H200 also computes come first."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.support import compute_line

A, B, C = 0x80FF7F01, 0x00FE0102, 0x11223344


def result(instruction: str, operands: str = "%r1, %r2, %r3", part: str = "") -> int:
    """Returns the result of an instruction for A, B and C."""
    body = f" mov.u32 %r1, {A};\n mov.u32 %r2, {B};\n mov.u32 %r3, {C};\n {instruction} %r0{part}, {operands};\n"
    return int(compute_line(body, threads=1)[0])


@pytest.mark.parametrize(
    ("instruction", "operands", "part", "expected"),
    [
        ("vadd.s32.s32.s32", "%r1.b3, %r2.b0", "", -128 + 2),
        ("vadd.s32.u32.s32", "%r1.h1, %r2.b2", "", 0x80FF - 2),
        ("vsub.s32.u32.u32.add", "%r1.b0, %r2.b0, %r3", "", C - 1),
        ("vabsdiff.u32.s32.s32", "%r1.b3, %r2.b1", "", 129),
        ("vmin.s32.s32.s32", "%r1, %r2", "", A),
        ("vmax.u32.u32.u32", "%r1.b1, 3", "", 0x7F),
        ("vadd.u32.u32.u32", "%r1.b2, %r2.b2, %r3", ".b1", 0x1122FD44),
        ("vshl.u32.u32.u32.clamp", "%r1.b1, 4", "", 0x7F0),
        ("vshr.s32.s32.u32.wrap", "%r1, 36", "", 0xF80FF7F0),
        ("vset.s32.s32.lt", "%r1.b2, %r2.b0, %r3", ".b3", 0x01223344),
        ("vset.u32.u32.ge.add", "%r1, %r2, %r3", "", C + 1),
        ("vadd2.u32.u32.u32", "%r1, %r2, %r3", "", 0x81FD8003),
        ("vavrg2.s32.s32.s32", "%r1.h11, %r2.h10, %r3", ".h0", 0x11220000),
        ("vabsdiff4.u32.u32.u32.add", "%r1, %r2, %r3", "", C + 0x80 + 1 + 0x7E + 1),
        ("vset4.s32.s32.lt", "%r1, %r2, %r3", ".b30", 0x01223301),
    ],
)
def test_parts_are_selected_combined_and_merged(instruction: str, operands: str, part: str, expected: int) -> None:
    assert result(instruction, operands, part) == expected & 0xFFFF_FFFF


def test_large_results_are_saturated_to_the_selected_part() -> None:
    assert result("vadd.s32.s32.s32.sat", "%r1.b1, %r2.b0, %r3", ".b0") == 0x1122337F
    assert result("vsub.u32.u32.u32.sat", "%r2, %r1") == 0
    assert result("vadd.s32.s32.s32.sat", "%r1, %r1") == 0x80000000
    assert result("vadd4.s32.s32.s32.sat", "%r1, %r2, %r3") == 0x80FD7F03


def test_a_second_operation_compares_integers() -> None:
    assert result("vadd.s32.s32.s32.max", "%r1, %r1, %r3") == C
    assert result("vsub.u32.u32.u32.min", "%r1, %r2, %r3") == C


def test_products_are_added_shifted_and_negated() -> None:
    assert result("vmad.u32.u32.u32", "%r1.b1, %r2.b2, %r3") == 0x7F * 0xFE + C
    assert result("vmad.s32.s32.s32", "%r1.b2, %r2.b2, -%r3") == (2 - C) & 0xFFFF_FFFF
    assert result("vmad.s32.u32.u32", "-%r1.b0, %r2.b0, %r3") == C - 2
    assert result("vmad.u32.u32.u32.po.shr7", "%r1, %r2, %r3") == (A * B + C + 1 >> 7) & 0xFFFF_FFFF
    assert result("vmad.u32.u32.u32.sat", "%r1, %r2, %r3") == 0xFFFF_FFFF
    assert result("vmad.s32.s32.u32.sat", "%r1, %r2, %r3") == 0x8000_0000


def test_lanes_are_computed_separately() -> None:
    found = compute_line(" mov.u32 %r1, 300;\n vadd.u32.u32.u32 %r0.b0, %r31, %r31, %r1;\n", threads=4)
    assert (found == 256 + np.array([0, 2, 4, 6])).all()
