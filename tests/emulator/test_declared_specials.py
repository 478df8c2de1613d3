"""Registers that a kernel declares with the names of special ones hide these."""

from __future__ import annotations

import pytest

from tests.emulator.support import compute_line, outcome


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (".reg .u32 %laneid; mov.u32 %laneid, 7; mov.u32 %r0, %laneid;", 7),
        ("{ .reg .v2 .u32 %tid; mov.u32 %tid.x, 5; mov.u32 %r0, %tid.x; }", 5),
        ("{ .reg .u32 %tid<4>; mov.u32 %tid1, 3; mov.u32 %r0, %ntid.x; }", 32),
    ],
)
def test_declared_registers_contain_the_written_values(body: str, wanted: int) -> None:
    assert (compute_line(body) == wanted).all()


@pytest.mark.parametrize("declared", [".reg .u32 %tid;", ".shared .u32 %tid;", "%tid:"])
def test_an_element_of_a_scalar_is_not_one_of_the_special_register(declared: str) -> None:
    found = outcome(f"{declared} mov.u32 %r0, %tid.x;", threads=1)
    assert found.unsupported_reason == "`mov.u32`: %tid is declared, and has no element x"
