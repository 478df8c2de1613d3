"""Pairs of instructions that need different values of one parameter, at addresses that are not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.linter import lint

FIXTURE = Path(__file__).resolve().parents[3] / "corpus" / "rules" / "PTX804_bad_one_map_of_two_ranks.ptx"
ADDRESS = "cvta.param.u64 %rd2, %rd2;"
#: A distance that is zero for all data.
DISTANCE = (
    "ld.global.u32 %r8, [distance]; and.b32 %r8, %r8, 1; and.b32 %r8, %r8, 2; "
    "cvt.u64.u32 %rd3, %r8; add.u64 %rd2, %rd2, %rd3;"
)
DATA = ".global .align 4 .b32 distance = 1;\n.visible .entry"


@pytest.mark.parametrize(("size", "is_asked"), [(128, True), (256, False)])
def test_a_map_at_an_unknown_distance_is_that_of_a_parameter_with_one_map(size: int, is_asked: bool) -> None:
    text = FIXTURE.read_text()
    assert {each.code for each in lint(text).diagnostics} == {"PTX804"}
    assert text.count(ADDRESS) == 1
    changed = text.replace(ADDRESS, f"{DISTANCE} {ADDRESS}").replace(".visible .entry", DATA)
    verdict = lint(changed.replace("map[128]", f"map[{size}]"))
    assert "PTX804" not in {each.code for each in verdict.diagnostics}
    assert ("PTX804" in {each.code for each in verdict.undecided}) is is_asked
