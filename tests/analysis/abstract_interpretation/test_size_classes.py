"""The sizes for which branches decide in different ways."""

from __future__ import annotations

from ptxkit.analysis.abstract_interpretation.size_classes import CANDIDATE_SIZES, untried_sizes
from ptxkit.analysis.dataflow.pointer_params import pointer_parameters
from ptxkit.analysis.values.scenario import launch_config_of
from tests.analysis.support import explorer_of, module_of, opcodes, program_of

PARAMETERS = ".param .u64 in, .param .u32 n"
LOADED = "ld.param.u64 %rd1, [in]; ld.param.u32 %r6, [n]; ld.global.u32 %r7, [%rd1];"


def sizes_of(body: str, tried: list[int]) -> list[int]:
    program = program_of(module_of(LOADED + body, parameters=PARAMETERS))
    branches = [step for step in program.steps if step.instruction.guard is not None]
    return untried_sizes(program, launch_config_of(program), branches, pointer_parameters(program), tried)


def test_one_size_stands_for_all_that_decide_equally() -> None:
    body = "shr.u32 %r1, %r6, 5; and.b32 %r2, %r1, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra end; cp.async.wait_all; end:"
    (odd,) = sizes_of(body, [512])
    assert odd // 32 % 2 == 1
    (even,) = sizes_of(body, [odd])
    assert even // 32 % 2 == 0
    assert sizes_of(body, [odd, even]) == []


def test_several_branches_have_several_outcomes_the_usual_one_first() -> None:
    body = """setp.lt.u32 %p1, %r6, 8; @%p1 bra end; and.b32 %r2, %r6, 15; setp.eq.u32 %p2, %r2, 0;
    @%p2 bra end; cp.async.wait_all; end:"""
    found = sizes_of(body, [4])
    assert [(size < 8, size % 16 == 0) for size in found] == [(False, True), (False, False)]
    assert set(found) <= set(CANDIDATE_SIZES)


def test_data_and_counters_decide_nothing_that_is_known() -> None:
    assert sizes_of("setp.ne.u32 %p1, %r7, 0; @%p1 bra end; cp.async.wait_all; end:", [512]) == []
    body = "mov.u32 %r1, 0; on: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r6; @%p1 bra on; cp.async.wait_all;"
    assert sizes_of(body, [512]) == []


def test_the_remainder_of_an_unrolled_loop_is_executed() -> None:
    body = """shr.u32 %r1, %r6, 5; and.b32 %r2, %r1, 1; sub.u32 %r3, %r1, %r2; setp.eq.u32 %p1, %r3, 0; @%p1 bra rest;
    on: add.s32 %r3, %r3, -2; setp.ne.u32 %p2, %r3, 0; @%p2 bra on;
    rest: setp.eq.u32 %p3, %r2, 0; @%p3 bra end; cp.async.wait_all; end:"""
    explored = explorer_of(module_of(LOADED + body, parameters=PARAMETERS))
    assert opcodes(explored.unreached_steps) == set()
    assert explored.explorations[-1].scenario.sample in CANDIDATE_SIZES
