"""Kernels that read the position and the size of the block along the axes only to number their threads."""

from __future__ import annotations

import pytest

from ptxkit.analysis.dataflow.thread_numbering import count_block_axes, only_numbers_threads
from tests.analysis.support import module_of, program_of

ROW = """mov.u32 %r1, %ntid.y; mov.u32 %r2, %tid.z; mov.u32 %r3, %tid.y; mad.lo.s32 %r4, %r1, %r2, %r3;
mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x; mad.lo.s32 %r7, %r4, %r5, %r6; """
SIZE = "mul.lo.s32 %r8, %r5, %r1; mov.u32 %r9, %ntid.z; mul.lo.s32 %r10, %r8, %r9; "


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (ROW, True),
        (ROW + SIZE + "setp.lt.u32 %p1, %r7, %r10; @%p1 st.shared.u32 [tile], %r7;", True),
        (ROW + "st.shared.u32 [tile], %r6;", False),
        (ROW + "st.shared.u32 [tile], %r4;", False),
        (ROW + "setp.eq.u32 %p1, %r6, 0; @%p1 st.shared.u32 [tile], %r7;", False),
        (ROW + "xor.b32 %r8, %r6, 1;", False),
        (ROW + "mov.u32 %r11, %tid.y; add.u32 %r12, %r11, %r8;", False),
        ("mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mad.lo.s32 %r3, %r2, 16, %r1;", True),
        ("mov.u32 %r1, %tid.x; st.shared.u32 [tile], %r1;", False),
        ("mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid; st.shared.u32 [tile], %r1;", False),
    ],
)
def test_positions_only_number_the_threads(code: str, expected: bool) -> None:
    program = program_of(module_of(".shared .align 4 .b8 tile[64];\n" + code))
    assert program.analysis(only_numbers_threads) == expected


FIRST = "add.s32 %r8, %r6, %r3; neg.s32 %r9, %r2; setp.ne.s32 %p1, %r8, %r9; @!%p1 st.shared.u32 [tile], 0; "


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (ROW + "st.shared.u32 [tile], %r7;", 1),
        (ROW + "st.shared.u32 [tile], %r7; st.shared.u32 [tile+4], %r6;", 1),
        (ROW + FIRST + "st.shared.u32 [tile+4], %r6;", 1),
        (ROW + FIRST.replace("ne.s32", "lt.s32"), 3),
        (ROW + FIRST.replace("%r6, %r3", "%r6, %r6"), 3),
        (ROW + "st.shared.u32 [tile], %r3;", 3),
        (ROW + "st.shared.u32 [tile], %r4;", 3),
        ("mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; st.shared.u32 [tile], %r2;", 2),
        ("mov.u32 %r1, %tid.x; st.shared.u32 [tile], %r1;", 1),
    ],
)
def test_a_kernel_that_only_numbers_its_threads_along_y_and_z_is_for_blocks_of_one_row(
    code: str, expected: int
) -> None:
    program = program_of(module_of(".shared .align 4 .b8 tile[64];\n" + code))
    assert program.analysis(count_block_axes) == expected
