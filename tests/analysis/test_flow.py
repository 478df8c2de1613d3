"""Basic blocks, and the registers that asynchronous multiplications use along every path."""

from __future__ import annotations

from ptxkit.analysis.flow import Flow
from ptxkit.analysis.registers_in_flight import touches_of
from tests.analysis.support import module_of, program_of

MULTIPLY = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;"
COMMIT = "wgmma.commit_group.sync.aligned;"


def wait(pending: int) -> str:
    return f"wgmma.wait_group.sync.aligned {pending};"


def touched(body: str) -> list[str]:
    """The opcodes that touch registers in flight."""
    return [touch.step.instruction.opcode for touch in touches_of(program_of(module_of(body)), "wgmma")]


def test_blocks_begin_at_labels_and_behind_branches() -> None:
    program = program_of(module_of("mov.u32 %r1, 0; @%p1 bra there; mov.u32 %r2, 0;\nthere: mov.u32 %r3, 0;"))
    flow = Flow(program)
    assert flow.starts == [0, 2, 3]
    assert flow.after == [(1, 2), (2,), ()]
    assert flow.before == [(), (0,), (0, 1)]


def test_a_call_ends_no_block() -> None:
    program = program_of(module_of("mov.u32 %r1, 0; call f; mov.u32 %r2, 0;", before=".func f { ret; }"))
    assert Flow(program).starts == [0]


def test_what_is_reached_includes_the_start_and_loops() -> None:
    flow = Flow(program_of(module_of("next: mov.u32 %r1, 0; @%p1 bra next; mov.u32 %r2, 0;")))
    assert flow.reachable((0,)) == {0, 1}
    assert flow.reachable((1,)) == {1}


def test_a_wait_on_every_path_settles_a_flight() -> None:
    assert touched(f"{MULTIPLY} {COMMIT} {wait(0)} st.global.f32 [%rd3], %f0;") == []
    assert touched(f"{MULTIPLY} {COMMIT} {wait(1)} st.global.f32 [%rd3], %f0;") == ["st.global.f32"]


def test_a_wait_on_some_path_leaves_it_open() -> None:
    assert touched(f"{MULTIPLY} {COMMIT} @%p1 bra on; {wait(0)}\non: st.global.f32 [%rd3], %f0;") == []


def test_a_later_round_of_a_loop_settles_what_an_earlier_one_left_pending() -> None:
    loop = f"next: {MULTIPLY} {COMMIT} {wait(1)} @%p1 bra next;"
    assert touched(f"{loop} {wait(0)} st.global.f32 [%rd3], %f0;") == []
    assert touched(f"{loop} st.global.f32 [%rd3], %f0;") == ["st.global.f32"]
