"""What is proven about registers that asynchronous operations use, on all paths."""

from __future__ import annotations

import pytest

from ptxkit.analysis.abstract_interpretation.async_group_proofs import AsyncGroupProofs
from ptxkit.analysis.registers.async_register_proofs import AsyncRegisterProofs
from tests.analysis.support import module_of, program_of

ISSUE = (
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r1, %r2, %r3, %r4}, %rd2, 1, 1, 1, 0;"
)
COMMIT = "wgmma.commit_group.sync.aligned;"
WAIT = "wgmma.wait_group.sync.aligned 0;"
USE = "st.global.f32 [%rd1], %f1;"


def is_free(body: str, opcode: str = "st.global.f32", group: str = "wgmma") -> bool:
    """Whether the last instruction of an opcode is proven to use no register in flight."""
    program = program_of(module_of(body))
    step = [each for each in program.steps if each.instruction.opcode == opcode][-1]
    return AsyncRegisterProofs(program, group, AsyncGroupProofs(program)).proof_of_no_use(step) is not None


def test_the_group_is_committed_and_waited_for_on_each_path() -> None:
    assert is_free(f"{ISSUE} {COMMIT} {WAIT} {USE}")
    assert not is_free(f"{ISSUE} {COMMIT} {USE}")
    assert not is_free(f"{ISSUE} {WAIT} {USE}")
    assert not is_free(f"{ISSUE} {COMMIT} @%p1 bra A; {WAIT} A: {USE}")
    assert not is_free(f"{ISSUE} {COMMIT} wgmma.wait_group.sync.aligned 1; {USE}")
    assert is_free(f"{ISSUE} {COMMIT} {COMMIT} wgmma.wait_group.sync.aligned 1; {USE}")
    assert is_free(f"{USE} {ISSUE} {COMMIT}")
    assert not is_free(f"LOOP: {USE} {ISSUE} {COMMIT} @%p1 bra LOOP;")


def test_a_move_in_flight_gives_the_registers_another_name() -> None:
    use = "st.global.f32 [%rd1], %f9;"
    registers = ".reg .f32 %f9;"
    assert not is_free(f"{registers} {ISSUE} {COMMIT} mov.f32 %f9, %f1; {use}")
    assert is_free(f"{registers} {ISSUE} {COMMIT} mov.f32 %f9, %f1; {WAIT} {use}")
    assert is_free(f"{registers} {ISSUE} {COMMIT} {WAIT} mov.f32 %f9, %f1; {ISSUE} {COMMIT} {use}")


def test_accumulators_of_one_shape_may_be_shared() -> None:
    opcode = ISSUE.partition(" ")[0]
    assert is_free(f"{ISSUE} {ISSUE} {COMMIT} {WAIT}", opcode)
    larger = ".reg .f32 %f<8>; wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, "
    assert not is_free(f"{{ {larger} %rd1, %rd2, 1, 1, 1, 0, 0; {ISSUE} }}", opcode)


def test_an_argument_of_a_call_is_a_use() -> None:
    call = ".reg .f32 %f9; call take, (%f1);"
    assert not is_free(f"{ISSUE} {COMMIT} {call}", "call")
    assert is_free(f"{ISSUE} {COMMIT} {WAIT} {call}", "call")


@pytest.mark.parametrize(("wait", "free"), [("tcgen05.wait::ld.sync.aligned;", True), ("bar.sync 0;", False)])
def test_the_registers_of_a_load_from_tensor_memory_are_free_after_its_wait(wait: str, free: bool) -> None:
    load = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];"
    assert is_free(f"{load} {wait} st.global.u32 [%rd1], %r1;", "st.global.u32", "tcgen05.ld") is free
