"""The conditions on the paths to an instruction are solved for integer arguments."""

from __future__ import annotations

import pytest

from ptxkit.analysis.abstract_interpretation.path_arguments import PathArguments, path_conditions
from ptxkit.analysis.dataflow.pointer_params import pointer_parameters
from ptxkit.analysis.dataflow.unreached_conditions import UnreachedConditions
from ptxkit.analysis.ir.program import Program, flatten
from ptxkit.analysis.values.scenario import launch_config_of
from ptxkit.emulator import run
from ptxkit.syntax import parse

HEAD = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n, .param .u32 m, .param .align 8 .b8 s[16]) .reqntid 32
{
 .reg .pred %p<8>; .reg .b32 %r<12>; .reg .b64 %d<4>;
 ld.param.u64 %d0, [a]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [m]; ld.param.u32 %r3, [s+8];
"""
TARGET = "st.global.u32 [%d0], 77;"


def text_of(body: str) -> str:
    return f"{HEAD}{body}\nEND: ret;\n}}\n"


def program_of(body: str) -> Program:
    module = parse(text_of(body))
    return flatten(module, next(iter(module.functions())))


def solve(body: str) -> dict[tuple[str, int], int] | None:
    program = program_of(body)
    (target,) = (step for step in program.steps if step.instruction.opcode.startswith("st.global"))
    launch = launch_config_of(program)
    conditions = UnreachedConditions(program, launch, pointer_parameters(program))
    found = PathArguments(program, launch).leading_to(target, conditions.sizes_deciding, conditions.compared_numbers)
    return None if found is None else dict(found)


CASES = {
    "equality": f"setp.ne.u32 %p1, %r1, 37; @%p1 bra END; {TARGET}",
    "two numbers": f"setp.ne.u32 %p1, %r1, 37; @%p1 bra END; setp.ne.u32 %p2, %r2, 5; @%p2 bra END; {TARGET}",
    "sum": f"add.u32 %r4, %r1, %r2; setp.ne.u32 %p1, %r4, 65; @%p1 bra END; {TARGET}",
    "order of two": f"setp.ge.u32 %p1, %r1, %r2; @%p1 bra END; setp.lt.u32 %p2, %r1, 100; @%p2 bra END; {TARGET}",
    "structure": f"setp.ne.u32 %p1, %r3, 9; @!%p1 bra GO; bra END; GO: {TARGET}",
    "own guard": f"setp.eq.u32 %p1, %r1, 41; @%p1 {TARGET}",
    "remainder": f"and.b32 %r4, %r1, 15; setp.eq.u32 %p1, %r4, 0; @%p1 bra END; shr.u32 %r5, %r2, 8; "
    f"setp.eq.u32 %p2, %r5, 0; @%p2 bra END; {TARGET}",
}


@pytest.mark.parametrize("name", CASES)
def test_a_run_with_the_solution_reaches_the_instruction(name: str) -> None:
    numpy = pytest.importorskip("numpy")
    found = solve(CASES[name])
    assert found is not None
    structure = bytes(8) + found.get(("s", 8), 0).to_bytes(8, "little")
    arguments = [numpy.zeros(1, numpy.uint32), found.get(("n", 0), 64), found.get(("m", 0), 64), structure]
    outcome = run(text_of(CASES[name]), "k", arguments=arguments)
    assert outcome.is_clean
    assert outcome.outputs[0][0] == 77


@pytest.mark.parametrize(
    "body",
    [
        TARGET,
        f"ld.global.u32 %r4, [%d0]; setp.ne.u32 %p1, %r4, 5; @%p1 bra END; {TARGET}",
        f"setp.ne.u32 %p1, %r1, 5; @%p1 bra SECOND; FIRST: {TARGET} bra END; SECOND: bra FIRST;",
    ],
)
def test_nothing_is_solved_where_no_argument_decides(body: str) -> None:
    assert solve(body) is None


def test_a_branch_of_which_both_sides_lead_there_is_no_condition() -> None:
    program = program_of(f"setp.ne.u32 %p1, %r1, 5; @%p1 bra JOIN; mov.u32 %r4, 1; JOIN: {TARGET}")
    assert path_conditions(program, program.steps[-2]) == []
