"""Copies by loads and stores, found by data flow."""

from __future__ import annotations

import pytest

from ptxkit.analysis.cfg.control_flow_graph import step_successors
from ptxkit.analysis.cfg.reaching_definitions import ReachingDefinitions
from ptxkit.analysis.context.plain_copies import find_plain_copies
from tests.analysis.support import module_of, program_of

TILE = ".shared .align 16 .b8 tile[64]; mov.u32 %r1, tile; "


def copies(body: str) -> list[tuple[str, str, int]]:
    """(source, destination, number of loads) of each plain copy."""
    found = find_plain_copies(program_of(module_of(TILE + body)))
    return [(copy.movement.source, copy.movement.destination, len(copy.loads)) for copy in found]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("ld.global.u32 %r2, [%rd1]; st.shared.u32 [%r1], %r2;", ("global", "shared::cta", 1)),
        ("ld.global.nc.f32 %f1, [%rd1]; st.shared.f32 [%r1], %f1;", ("global", "shared::cta", 1)),
        ("ld.global.u32 %r2, [%rd1]; mov.b32 %r3, %r2; st.shared.u32 [%r1], %r3;", ("global", "shared::cta", 1)),
        (
            "ld.global.v2.u32 {%r2, %r3}, [%rd1]; st.shared.v2.u32 [%r1], {%r2, %r3};",
            ("global", "shared::cta", 1),
        ),
        (
            "ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, [%rd2]; st.shared.v2.u32 [%r1], {%r2, %r3};",
            ("global", "shared::cta", 2),
        ),
        (
            "ld.global.u64 %rd2, [%rd1]; mov.b64 {%r2, %r3}, %rd2; st.shared.u32 [%r1], %r3;",
            ("global", "shared::cta", 1),
        ),
        ("ld.u32 %r2, [%rd1]; st.u32 [%rd3], %r2;", ("generic", "generic", 1)),
    ],
)
def test_a_store_of_a_loaded_value_is_a_copy(body: str, expected: tuple[str, str, int]) -> None:
    assert copies(body) == [expected]


@pytest.mark.parametrize(
    "body",
    [
        "ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1; st.shared.u32 [%r1], %r2;",
        "ld.shared.u32 %r2, [%r1]; st.shared.u32 [%r1+4], %r2;",
        "mov.u32 %r2, 7; st.shared.u32 [%r1], %r2;",
        "ld.global.u32 %r2, [%rd1]; st.shared.v2.u32 [%r1], {%r2, %r3};",
        "ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd2], %r2;",
        "ld.global.u32 %r2, [%rd1]; atom.shared.exch.b32 %r3, [%r1], %r2;",
        "st.shared.u32 [%r1], 0;",
    ],
)
def test_a_store_of_a_computed_value_or_elsewhere_is_not_a_copy(body: str) -> None:
    assert copies(body) == []


def test_the_nearest_assignment_on_each_path_counts() -> None:
    either = (
        "setp.eq.u32 %p1, %r9, 0; @%p1 bra other; ld.global.u32 %r2, [%rd1]; bra join;"
        "other: {second} join: st.shared.u32 [%r1], %r2;"
    )
    assert copies(either.format(second="ld.global.u32 %r2, [%rd2];")) == [("global", "shared::cta", 2)]
    assert copies(either.format(second="mov.u32 %r2, 0;")) == []


def test_a_replaced_assignment_does_not_count() -> None:
    program = program_of(module_of("mov.u32 %r1, 1; mov.u32 %r1, 2; mov.u32 %r2, %r1;"))
    before = ReachingDefinitions(program).definitions_reaching(program.steps[2], "%r1")
    assert before == {program.steps[1]}


def test_a_guarded_assignment_may_not_have_executed() -> None:
    program = program_of(module_of("mov.u32 %r1, 1; @%p1 mov.u32 %r1, 2; mov.u32 %r2, %r1;"))
    before = ReachingDefinitions(program).definitions_reaching(program.steps[2], "%r1")
    assert before == {program.steps[0], program.steps[1]}


def test_successors_follow_branches_tables_and_ends() -> None:
    program = program_of(
        module_of(
            "@%p1 bra there; bra there; there: call f; table: .branchtargets there, end; brx.idx %r1, table; end:"
        )
    )
    assert [step_successors(program, step) for step in program.steps] == [[1, 2], [2], [3], [2, 4], []]
