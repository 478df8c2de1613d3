"""Basic blocks, and the registers that asynchronous multiplications use along every path."""

from __future__ import annotations

from ptxkit.analysis.cfg.control_flow_graph import ControlFlowGraph
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.registers.wgmma_hazards import WgmmaHazard, find_wgmma_hazards
from ptxkit.syntax import parse
from tests.analysis.support import module_of, program_of

MULTIPLY = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;"
COMMIT = "wgmma.commit_group.sync.aligned;"


def wait(pending: int) -> str:
    return f"wgmma.wait_group.sync.aligned {pending};"


def hazards(body: str) -> list[WgmmaHazard]:
    return list(find_wgmma_hazards(program_of(module_of(body)), "wgmma"))


def touched_registers(body: str) -> list[str]:
    """The opcodes that touch registers in flight."""
    return [touch.step.instruction.opcode for touch in hazards(body)]


def test_blocks_begin_at_labels_and_after_branches() -> None:
    program = program_of(module_of("mov.u32 %r1, 0; @%p1 bra there; mov.u32 %r2, 0;\nthere: mov.u32 %r3, 0;"))
    flow = ControlFlowGraph(program)
    assert flow.block_starts == [0, 2, 3]
    assert flow.successors == [(1, 2), (2,), ()]
    assert flow.predecessors == [(), (0,), (0, 1)]


def test_a_call_does_not_end_a_block() -> None:
    program = program_of(module_of("mov.u32 %r1, 0; call f; mov.u32 %r2, 0;", before=".func f { ret; }"))
    assert ControlFlowGraph(program).block_starts == [0]


def test_reachable_steps_include_the_start_and_loops() -> None:
    flow = ControlFlowGraph(program_of(module_of("next: mov.u32 %r1, 0; @%p1 bra next; mov.u32 %r2, 0;")))
    assert flow.reachable((0,)) == {0, 1}
    assert flow.reachable((1,)) == {1}


def flow_of(body: str) -> tuple[ControlFlowGraph, list[Step]]:
    program = program_of(module_of(body))
    return ControlFlowGraph(program), list(program.steps)


def post_dominates(flow: ControlFlowGraph, last: Step, step: Step) -> bool:
    """Returns whether every path from a step to an end of the function contains the last step."""
    here, there = flow.block_of(last), flow.block_of(step)
    return last.index >= step.index if here == there else flow.post_dominators.dominates(here, there)


def test_a_step_is_dominated_by_the_steps_on_every_path_to_it() -> None:
    flow, (first, branch, one, last, _) = flow_of(
        "mov.u32 %r1, 0; @%p1 bra there; mov.u32 %r2, 0;\nthere: mov.u32 %r3, 0;"
    )
    assert flow.dominates(first, branch)
    assert flow.dominates(branch, last)
    assert not flow.dominates(one, last)
    assert not flow.dominates(last, first)
    assert post_dominates(flow, last, first)
    assert not post_dominates(flow, one, first)
    assert flow.control_dependences == [(), (0,), ()]


def test_a_guarded_exit_bypasses_the_following_steps() -> None:
    flow, (leave, after, _) = flow_of("@%p1 exit; mov.u32 %r1, 0;")
    assert flow.exit_blocks == (0, 1)
    assert not post_dominates(flow, after, leave)
    assert flow.dominates(leave, after)
    assert flow.control_dependences == [(), (0,)]


def test_a_trap_does_not_bypass_the_following_steps() -> None:
    flow, (_, after, check, _, last, _) = flow_of(
        "bra.uni on;\non: mov.u32 %r1, 0; @%p1 bra there; trap;\nthere: mov.u32 %r2, 0;"
    )
    assert post_dominates(flow, last, after)
    assert post_dominates(flow, check, after)


def test_an_indexed_branch_has_all_of_its_targets_as_successors() -> None:
    flow, (jump, one, _, two, last, _) = flow_of(
        "ways: .branchtargets one, two;\n brx.idx %r1, ways;\n"
        "one: mov.u32 %r2, 0; bra last;\ntwo: mov.u32 %r2, 1;\nlast: mov.u32 %r3, 0;"
    )
    assert flow.successors[0] == (1, 2)
    assert flow.dominates(jump, two)
    assert not flow.dominates(one, last)
    assert post_dominates(flow, last, jump)


def test_a_branch_after_the_last_instruction_ends_the_function() -> None:
    program = program_of(
        parse(
            ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k() {\n.reg .pred %p<2>; .reg .b32 %r<4>;\n"
            "@%p1 bra out; mov.u32 %r1, 0;\nout:\n}\n",
            "k.ptx",
        )
    )
    flow = ControlFlowGraph(program)
    assert flow.exit_blocks == (0, 1)
    assert not post_dominates(flow, program.steps[1], program.steps[0])


def test_an_endless_loop_has_no_successors() -> None:
    flow, (ask, again, _) = flow_of("again: mov.u32 %r1, 0; bra again;")
    assert not flow.post_dominators.is_reachable(0)
    assert post_dominates(flow, again, ask)
    assert flow.may_repeat(ask)


def test_a_loop_decides_whether_it_repeats() -> None:
    flow, (before, inside, branch, after, _) = flow_of(
        "mov.u32 %r1, 0;\nagain: mov.u32 %r2, 0; @%p1 bra again; mov.u32 %r3, 0;"
    )
    assert flow.control_dependences == [(), (1,), ()]
    assert [flow.may_repeat(step) for step in (before, inside, branch, after)] == [False, True, True, False]
    loop = flow.loop_of(inside)
    assert loop is not None
    assert flow.loops.exit_edges(loop) == [(1, 2)]


def test_a_wait_on_every_path_settles_a_pending_operation() -> None:
    assert touched_registers(f"{MULTIPLY} {COMMIT} {wait(0)} st.global.f32 [%rd3], %f0;") == []
    assert touched_registers(f"{MULTIPLY} {COMMIT} {wait(1)} st.global.f32 [%rd3], %f0;") == ["st.global.f32"]


def test_a_wait_on_some_path_leaves_it_open_whether_an_operation_is_pending() -> None:
    [found] = hazards(f"{MULTIPLY} {COMMIT} @%p1 bra on; {wait(0)}\non: st.global.f32 [%rd3], %f0;")
    assert (found.step.instruction.opcode, found.may_have_waited) == ("st.global.f32", True)
    [certain] = hazards(f"{MULTIPLY} {COMMIT} @%p1 bra on; {wait(1)}\non: st.global.f32 [%rd3], %f0;")
    assert not certain.may_have_waited


def test_a_later_iteration_settles_what_an_earlier_one_left_pending() -> None:
    loop = f"next: {MULTIPLY} {COMMIT} {wait(1)} @%p1 bra next;"
    assert touched_registers(f"{loop} {wait(0)} st.global.f32 [%rd3], %f0;") == []
    assert touched_registers(f"{loop} st.global.f32 [%rd3], %f0;") == ["st.global.f32"]
