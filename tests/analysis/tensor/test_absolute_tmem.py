"""Loads and stores of Tensor Memory that name it by constants."""

from __future__ import annotations

import pytest

from ptxkit.analysis.tensor.absolute_tmem import find_absolute_tmem_steps
from tests.analysis.support import module_of, program_of

LOAD = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r3}, [%r1];"


@pytest.mark.parametrize(
    ("before", "is_constant"),
    [
        ("mov.u32 %r1, 64;", True),
        ("mov.u32 %r2, %tid.x; shfl.sync.idx.b32 %r2, %r2, 0, 31, -1; shl.b32 %r1, %r2, 16;", True),
        ("mov.u32 %r1, 0; go: add.u32 %r1, %r1, 8; setp.lt.u32 %p1, %r1, 64; @%p1 bra go;", True),
        (".shared .b32 base; ld.shared.u32 %r1, [base];", False),
        (".shared .b32 base; ld.shared.u32 %r2, [base]; add.u32 %r1, %r2, 64;", False),
        (".shared .b32 base; ld.shared.u32 %r2, [base]; shfl.sync.idx.b32 %r1, %r2, 0, 31, -1;", False),
        ("", False),
    ],
)
def test_a_value_from_memory_may_be_an_allocated_address(before: str, is_constant: bool) -> None:
    program = program_of(module_of(f"{before} {LOAD}"))
    assert find_absolute_tmem_steps(program) == ({program.steps[-2].start} if is_constant else set())


def test_instructions_without_tensor_memory_are_not_named() -> None:
    assert not find_absolute_tmem_steps(program_of(module_of("ld.global.u32 %r1, [%rd1];")))
