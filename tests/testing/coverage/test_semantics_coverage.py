"""What the reference machine can execute, counted."""

from __future__ import annotations

from ptxkit.testing.coverage.semantics_coverage import measure_coverage, unsupported_reason

WHOLE = ("logic", "comparison", "conversion", "mixed_precision", "warp_matrix", "wgmma", "video")
"""Chapters of which every form can be executed."""


def test_an_instruction_with_semantics_can_be_executed() -> None:
    assert unsupported_reason("add.u32 %u32_1, %u32_2, 3;") == ""


def test_an_instruction_without_semantics_has_a_reason() -> None:
    assert "`fabric.submit`" in unsupported_reason("fabric.submit;")


def test_complete_chapters_remain_complete() -> None:
    found = measure_coverage(1)
    assert {name: found.executable[name] for name in WHOLE} == {name: found.forms[name] for name in WHOLE}
    assert found.executable.total() >= 520
