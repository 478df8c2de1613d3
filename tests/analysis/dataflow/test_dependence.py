"""The inputs on which registers depend, and the instructions that take an address apart."""

from __future__ import annotations

import pytest

from ptxkit.analysis.dataflow.dependence import Dependence, DependenceSource
from ptxkit.syntax.tree import Name
from tests.analysis.support import module_of, program_of

PARAMETERS = ".param .u64 p, .param .u32 n, .param .align 8 .b8 s[32]"


def leaves(body: str, register: str = "%r1") -> set[DependenceSource]:
    program = program_of(module_of(body, parameters=PARAMETERS))
    return set(Dependence(program).sources_of(program.steps[-1], Name(register)))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("mov.u32 %r1, 7;", set()),
        ("ld.param.u32 %r1, [n];", {DependenceSource("parameter", "n", 0, 4)}),
        ("ld.param.u32 %r2, [s+8]; add.u32 %r1, %r2, 1;", {DependenceSource("parameter", "s", 8, 4)}),
        (
            "mov.b64 %rd1, s; add.s64 %rd2, %rd1, 16; ld.param.u32 %r1, [%rd2+-4];",
            {DependenceSource("parameter", "s", 12, 4)},
        ),
        ("mov.u32 %r2, %tid.x; shl.b32 %r1, %r2, 2;", {DependenceSource("special", "%tid.x")}),
        (".shared .b32 v; mov.u32 %r1, v;", {DependenceSource("variable", "v")}),
        ("ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1];", {DependenceSource("memory")}),
        (
            ".shared .b32 v; mov.u32 %r2, %tid.x; st.shared.b32 [v], %r2; ld.shared.b32 %r1, [v];",
            {DependenceSource("special", "%tid.x")},
        ),
        (
            ".shared .b32 v; mov.u32 %r2, %tid.x; st.shared.b32 [v], %r2; bar.sync 0; ld.shared.b32 %r1, [v];",
            {DependenceSource("memory")},
        ),
        (
            "ld.param.u32 %r1, [n]; mov.u32 %r1, %ctaid.x;",
            {DependenceSource("parameter", "n", 0, 4), DependenceSource("special", "%ctaid.x")},
        ),
        ("add.u32 %r1, %r2, 1;", {DependenceSource("unknown", "%r2")}),
    ],
)
def test_a_register_depends_on_the_operands_of_every_assignment_that_reaches_it(
    body: str, expected: set[DependenceSource]
) -> None:
    assert leaves(body) == expected


ADD = (
    ".func (.param .b32 sum) add(.param .b32 a, .param .b32 b) { .reg .b32 %r<3>; ld.param.b32 %r1, [a]; "
    "ld.param.b32 %r2, [b]; add.u32 %r1, %r1, %r2; st.param.b32 [sum], %r1; ret; }"
)
CALL_ADD = (
    ".param .b32 a, b, c; st.param.b32 [a], %r2; st.param.b32 [b], %r3; call (c), add, (a, b); ld.param.b32 %r1, [c];"
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (".shared .b32 v; mov.u32 %r1, v;", True),
        (f".shared .b32 v; mov.u32 %r2, v; mov.u32 %r3, %tid.x; {CALL_ADD}", True),
        (f".shared .b32 v; mov.u32 %r2, v; ld.param.u32 %r3, [n]; {CALL_ADD}", False),
        (".shared .b32 v; mov.u32 %r2, v; mov.u32 %r3, %tid.x; shl.b32 %r4, %r3, 2; add.u32 %r1, %r2, %r4;", True),
        ("mov.b64 %rd1, s; cvta.param.u64 %rd2, %rd1; cvt.u32.u64 %r1, %rd2;", True),
        ("mov.b64 %rd1, s; ld.param.u32 %r1, [%rd1];", False),
        (".shared .b32 v; ld.param.u32 %r2, [n]; mov.u32 %r3, v; add.u32 %r1, %r2, %r3;", False),
        (".shared .b32 v; ld.shared.u32 %r1, [v];", False),
        ("mov.u32 %r1, %ntid.x;", False),
        ("add.u32 %r1, %r2, 1;", False),
    ],
)
def test_a_location_is_made_of_addresses_and_thread_indices(body: str, expected: bool) -> None:
    program = program_of(module_of(body, parameters=PARAMETERS, before=ADD))
    assert Dependence(program).depends_on_position_only(program.steps[-1], Name("%r1")) is expected


def test_a_loop_variable_depends_on_its_initial_value() -> None:
    body = "ld.param.u32 %r1, [n]; again: sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra again;"
    assert leaves(body, "%p1") == {DependenceSource("parameter", "n", 0, 4)}


@pytest.mark.parametrize(
    ("body", "is_test"),
    [
        ("cvt.u32.u64 %r1, %rd1; and.b32 %r2, %r1, 15; setp.eq.u32 %p1, %r2, 0;", True),
        ("isspacep.shared %p1, %rd1;", True),
        ("rem.u64 %rd2, %rd1, 16; setp.eq.u64 %p1, %rd2, 0;", True),
        ("setp.eq.u64 %p1, %rd1, 0;", False),
        ("setp.eq.u64 %p2, %rd1, 0; selp.u32 %r1, 1, 2, %p2; and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;", False),
        ("ld.global.u32 %r1, [%rd1]; and.b32 %r2, %r1, 15; setp.eq.u32 %p1, %r2, 0;", False),
        ("ld.param.u32 %r1, [n]; and.b32 %r2, %r1, 15; setp.eq.u32 %p1, %r2, 0;", False),
    ],
)
def test_only_instructions_that_take_an_address_apart_test_it(body: str, is_test: bool) -> None:
    program = program_of(module_of(f"ld.param.u64 %rd1, [p]; {body}", parameters=PARAMETERS))
    assert ("%p1" in Dependence(program).registers_testing_addresses({("p", 0)})) is is_test


@pytest.mark.parametrize(
    ("rounding", "is_tested"),
    [
        ("st.local.b32 [slot], %r1; ld.local.b32 %r2, [slot]; and.b32 %r2, %r2, -16;", True),
        ("and.b32 %r2, %r1, -16; st.local.b32 [slot], %r2; ld.local.b32 %r2, [slot];", True),
        ("st.local.b32 [slot], %r1; ld.local.b32 %r2, [slot];", False),
        ("st.shared.b32 [%r1], %r3; ld.local.b32 %r2, [slot]; and.b32 %r2, %r2, -16;", False),
    ],
)
def test_an_address_that_is_spilled_may_have_been_rounded(rounding: str, is_tested: bool) -> None:
    body = f".shared .b32 v; .local .b32 slot; mov.u32 %r1, v; {rounding} st.shared.b32 [%r2], %r3;"
    program = program_of(module_of(body, parameters=PARAMETERS))
    store = program.steps[-2]
    assert Dependence(program).may_test_alignment("v", store, store.instruction.operands[0]) == is_tested
