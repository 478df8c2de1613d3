"""The conditions that decide whether code is executed that no execution reached."""

from __future__ import annotations

from ptxkit.analysis.dataflow.pointer_params import pointer_parameters
from ptxkit.analysis.dataflow.unreached_conditions import UnreachedConditions
from ptxkit.analysis.ir.program import Program, Step
from ptxkit.analysis.values.scenario import launch_config_of
from tests.analysis.support import module_of, program_of

HEAD = """ld.param.u64 %rd1, [in]; ld.param.u32 %r1, [n]; ld.global.u32 %r2, [%rd1]; mov.u32 %r3, %tid.x;
setp.gt.u32 %p1, %r1, 77; setp.gt.u32 %p2, %r2, 77; setp.gt.u32 %p3, %r3, 77; setp.ne.u64 %p4, %rd1, 0;"""
PARAMETERS = ".param .u64 in, .param .u32 n"


def find_conditions(body: str) -> tuple[UnreachedConditions, Program, Step]:
    """Returns the wait of a kernel, and the conditions of the path to it."""
    program = program_of(module_of(f"{HEAD} {body}", parameters=PARAMETERS))
    (wait,) = (step for step in program.steps if step.instruction.opcode.startswith("cp.async.wait_all"))
    return UnreachedConditions(program, launch_config_of(program), pointer_parameters(program)), program, wait


def hangs_on_sizes(body: str) -> bool:
    openings, _, wait = find_conditions(body)
    return openings.depends_on_sizes([wait])


def test_a_size_decides_by_a_branch_or_a_guard() -> None:
    assert hangs_on_sizes("@%p1 bra end; cp.async.wait_all;\nend:")
    assert hangs_on_sizes("@%p1 cp.async.wait_all;")
    assert hangs_on_sizes("@%p3 bra end; @%p1 bra end; cp.async.wait_all;\nend:")


def test_data_threads_and_pointers_are_not_sizes() -> None:
    assert not hangs_on_sizes("@%p2 bra end; cp.async.wait_all;\nend:")
    assert not hangs_on_sizes("@%p3 bra end; cp.async.wait_all;\nend:")
    assert not hangs_on_sizes("@%p4 bra end; cp.async.wait_all;\nend:")


def test_a_size_that_decides_something_else_does_not_count() -> None:
    assert not hangs_on_sizes("@%p1 bra on; nanosleep.u32 0;\non: cp.async.wait_all;")


def test_the_last_branch_on_the_path_is_the_one_to_invert() -> None:
    openings, program, wait = find_conditions("@%p2 bra end; @%p3 bra end; cp.async.wait_all;\nend: nanosleep.u32 0;")
    first, second = (step for step in program.steps if step.instruction.name == "bra")
    assert openings.deciding_branches([wait], [first, second]) == {second}
    assert openings.deciding_branches([wait], [first]) == {first}
    assert openings.deciding_branches([wait], []) == set()


def test_a_guard_is_tested_at_the_step_itself() -> None:
    openings, _, wait = find_conditions("@%p2 cp.async.wait_all;")
    assert openings.deciding_branches([wait], [wait]) == {wait}
