"""The steps that an execution must follow, and those that it may skip."""

from __future__ import annotations

import pytest

from ptxkit.analysis.dataflow.slicing import ProgramSlice, compute_slice
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.isa.effects import Access, Value
from tests.analysis.support import module_of, program_of

SHARED = ".shared .align 16 .b8 tile[1024];"


def slice_of(body: str, **more: str) -> ProgramSlice:
    return compute_slice(program_of(module_of(body, **more)))


def test_an_address_is_followed_and_the_stored_value_is_not() -> None:
    found = slice_of(
        f"{SHARED} mov.u32 %r1, tile; mov.u32 %r2, %tid.x; shl.b32 %r3, %r2, 2; add.u32 %r4, %r1, %r3;"
        "mov.u32 %r5, 7; mul.lo.u32 %r6, %r5, %r5; st.shared.u32 [%r4], %r6;"
    ).registers
    assert {"%r1", "%r2", "%r3", "%r4"} <= found
    assert not {"%r5", "%r6"} & found


def test_the_guard_of_a_branch_is_followed_and_that_of_arithmetic_is_not() -> None:
    found = slice_of(
        "setp.eq.u32 %p1, %r1, 0; @%p1 add.u32 %r2, %r2, 1; setp.eq.u32 %p2, %r3, 0; @%p2 bra end; bar.sync 0; end:"
    ).registers
    assert {"%p2", "%r3"} <= found
    assert not {"%p1", "%r1", "%r2"} & found


def test_a_branch_around_values_that_nothing_needs_is_not_followed() -> None:
    body = "setp.eq.u32 %p1, %r1, 0; @%p1 bra end; add.u32 %r2, %r2, 1; @%p2 bra end; mov.u32 %r2, 7; end: bar.sync 0;"
    found = slice_of(body)
    assert not found.registers
    assert len(found.ineffective_branches) == 2


@pytest.mark.parametrize(
    "side",
    [
        "mov.u32 %r3, tile;",
        "mov.u32 %r5, tile; mov.u32 %r3, %r5;",
        "setp.eq.u32 %p2, %r4, 0;",
        "ld.global.u32 %r2, [%rd1];",
        "again: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 9; @%p1 bra again;",
        "trap;",
    ],
)
def test_a_branch_around_anything_else_is_followed(side: str) -> None:
    body = f"{SHARED} setp.eq.u32 %p1, %r1, 0; @%p1 bra end; {side} end: @%p2 st.shared.u32 [%r3], 1;"
    found = slice_of(body)
    assert {"%p1", "%r1"} <= found.registers
    assert not found.ineffective_branches


def test_the_guard_of_a_followed_value_is_followed() -> None:
    found = slice_of(f"{SHARED} setp.eq.u32 %p1, %r1, 0; @%p1 mov.u32 %r2, tile; st.shared.u32 [%r2], 1;").registers
    assert {"%p1", "%r1"} <= found


def test_a_counter_is_followed_where_the_end_of_its_loop_depends_on_it() -> None:
    body = "more: add.u32 %r1, %r1, 1; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r1, 5; @%p1 bra more;"
    found = slice_of(body).registers
    assert "%r1" in found
    assert "%r2" not in found


def test_mbarrier_operands_are_followed() -> None:
    found = slice_of(
        "mbarrier.init.shared::cta.b64 [%r1], %r2; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], %r3;"
        "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], %r4; add.u32 %r5, %r5, 1;"
    ).registers
    assert {"%r1", "%r2", "%r3", "%r4"} <= found
    assert "%r5" not in found


def test_local_memory_is_followed_where_its_contents_become_an_address() -> None:
    local = ".local .align 8 .b8 stack[16]; mov.u32 %r1, 64; st.local.u32 [stack], %r1; next: "
    local += "ld.local.u32 %r2, [stack];"
    followed = slice_of(f"{local} st.shared.u32 [%r2], 1;")
    assert followed.includes_private_stores
    assert "%r1" in followed.registers
    left = slice_of(f"{local} st.global.u32 [%rd1], %r2;")
    assert not left.includes_private_stores
    assert "%r1" not in left.registers


def test_the_result_of_a_function_is_followed() -> None:
    before = ".func (.reg .b32 %back) f (.reg .b32 %given) { .reg .b32 %r<3>; add.u32 %back, %given, 1; ret; }"
    module = module_of("mov.u32 %r2, 1027; call (%r1), f, (%r2); st.shared.u32 [%r1], 1;", before=before)
    explorer = Explorer(program_of(module))
    explorer.run()
    (stored,) = explorer.explorations[0].groups[0].events
    assert isinstance(stored, TraceEvent)
    assert stored.address == 1028


def test_an_execution_skips_steps_on_which_no_effect_depends() -> None:
    body = f"{SHARED} mov.u32 %r1, tile; mul.lo.u32 %r2, %r3, %r4; st.shared.u32 [%r1], %r2;"
    program = program_of(module_of(body))
    found = compute_slice(program)
    values = [(s, e) for s in program.steps if s.match for e in s.match.effects if isinstance(e, Value)]
    assert [found.is_needed(step, effect) for step, effect in values] == [True, False]
    stores = [step for step in program.steps if step.match and any(isinstance(e, Access) for e in step.match.effects)]
    assert len(stores) == 1
