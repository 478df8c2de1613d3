"""The inputs that determine an instruction: data and arguments, or only the position of the thread."""

from __future__ import annotations

from ptxkit.analysis.dataflow.input_independence import InputIndependence
from ptxkit.analysis.ir.program import Step
from ptxkit.analysis.values.scenario import launch_config_of
from tests.analysis.support import module_of, program_of

HEAD = ".shared .align 16 .b8 tile[64]; mov.u32 %r1, tile; mov.u32 %r2, %tid.x; ld.param.u32 %r5, [n];"
STORE = "st.shared.u32 [%r9], %r2;"


def looked_at(body: str, bounds: str = ".reqntid 64") -> tuple[InputIndependence, Step]:
    """Returns the store of a kernel and the analysis of its inputs."""
    program = program_of(module_of(HEAD + body, parameters=".param .u32 n", bounds=bounds))
    (store,) = (step for step in program.steps if step.instruction.opcode == "st.shared.u32")
    return InputIndependence(program, launch_config_of(program)), store


def base(body: str, bounds: str = ".reqntid 64") -> str | None:
    certainty, store = looked_at(body, bounds)
    return certainty.sole_variable(store, store.instruction.operands[0])


def test_a_variable_and_the_thread_index_determine_an_address() -> None:
    assert base(f"mad.lo.u32 %r9, %r2, 4, %r1; {STORE}") == "tile"
    assert base(f"mov.u32 %r3, %ntid.x; mad.lo.u32 %r9, %r3, 4, %r1; {STORE}") == "tile"


def test_the_launch_determines_a_block_size_that_the_kernel_does_not_declare() -> None:
    assert base(f"mov.u32 %r3, %ntid.x; mad.lo.u32 %r9, %r3, 4, %r1; {STORE}", bounds="") is None
    assert base(f"mad.lo.u32 %r9, %r2, 4, %r1; {STORE}", bounds="") == "tile"


def test_an_argument_in_the_address_leaves_it_open() -> None:
    assert base(f"add.u32 %r9, %r1, %r5; {STORE}") is None


def test_an_argument_in_a_guard_or_a_branch_leaves_it_open() -> None:
    assert base(f"setp.gt.u32 %p1, %r5, 4; mov.u32 %r9, %r1; @%p1 {STORE}") is None
    assert base(f"setp.gt.u32 %p1, %r5, 4; mov.u32 %r9, %r1; @%p1 bra on; {STORE}\non:") is None
    assert base(f"setp.gt.u32 %p1, %r2, 4; mov.u32 %r9, %r1; @%p1 bra on; {STORE}\non:") == "tile"


def test_a_step_that_no_branch_decides_is_certain() -> None:
    assert base(f"setp.gt.u32 %p1, %r5, 4; mov.u32 %r9, %r1; @%p1 bra on; nanosleep.u32 0;\non: {STORE}") == "tile"


def test_a_nested_branch_counts() -> None:
    body = "setp.gt.u32 %p1, %r5, 4; setp.gt.u32 %p2, %r2, 4; mov.u32 %r9, %r1; @%p1 bra on; @%p2 bra on;"
    assert base(f"{body} {STORE}\non:") is None


def test_a_definition_that_an_argument_selects_leaves_it_open() -> None:
    assert base(f"setp.gt.u32 %p1, %r5, 4; mov.u32 %r9, %r1; @%p1 add.u32 %r9, %r1, 4; {STORE}") is None
    chosen = "setp.gt.u32 %p1, %r5, 4; mov.u32 %r9, %r1; @%p1 bra on; add.u32 %r9, %r1, 4;"
    assert base(f"{chosen}\non: {STORE}") is None


def test_an_indexed_branch_on_an_argument_leaves_it_open() -> None:
    body = "ways: .branchtargets one, two; mov.u32 %r9, %r1; brx.idx %r5, ways;\n"
    assert base(f"{body} one: {STORE}\ntwo:") is None


def test_a_loop_that_waits_for_data_terminates() -> None:
    body = "again: mov.u32 %r9, %r1; ld.volatile.shared.u32 %r3, [tile]; setp.eq.u32 %p1, %r3, 0; @%p1 bra again;"
    assert base(f"{body} {STORE}") is None  # the loop may assign its variables again
    assert base(f"mov.u32 %r9, %r1; {body.replace('mov.u32 %r9, %r1;', '')} {STORE}") == "tile"


def test_the_result_of_a_call_is_unknown() -> None:
    body = f"call (%r3), f; mad.lo.u32 %r9, %r3, 4, %r1; {STORE}"
    program = program_of(module_of(HEAD + body, parameters=".param .u32 n", before=".func (.reg .b32 r) f { ret; }"))
    (store,) = (step for step in program.steps if step.instruction.name == "st")
    assert (
        InputIndependence(program, launch_config_of(program)).sole_variable(store, store.instruction.operands[0])
        is None
    )


def test_a_parameter_variable_depends_on_what_is_stored_to_it() -> None:
    variable = ".param .b32 v;"
    loaded = f"ld.param.u32 %r3, [v]; mad.lo.u32 %r9, %r3, 4, %r1; {STORE}"
    assert base(f"{variable} st.param.b32 [v], %r2; {loaded}") == "tile"
    assert base(f"{variable} st.param.b32 [v], %r5; {loaded}") is None
    assert (
        base(f"{variable} st.param.b32 [v], %r2; setp.gt.u32 %p1, %r5, 4; @%p1 st.param.b32 [v], 1; {loaded}") is None
    )
    assert base(f"{variable} st.param.b32 [v], %r2; {{ .param .b32 v; st.param.b32 [v], %r5; }} {loaded}") == "tile"


def test_constant_memory_is_data() -> None:
    body = f"ld.const.u32 %r3, [v]; mad.lo.u32 %r9, %r3, 4, %r1; {STORE}"
    program = program_of(module_of(HEAD + body, parameters=".param .u32 n", before=".const .u32 v = 1;"))
    (store,) = (step for step in program.steps if step.instruction.name == "st")
    certainty = InputIndependence(program, launch_config_of(program))
    assert certainty.sole_variable(store, store.instruction.operands[0]) is None


def test_two_variables_are_not_a_base() -> None:
    body = ".shared .b8 other[64]; mov.u32 %r3, other; setp.gt.u32 %p1, %r2, 4; selp.b32 %r9, %r1, %r3, %p1;"
    assert base(f"{body} {STORE}") is None


def test_a_step_of_another_program_is_not_part_of_the_kernel() -> None:
    certainty, store = looked_at(f"mov.u32 %r9, %r1; {STORE}")
    _, other = looked_at(f"mov.u32 %r9, %r1; {STORE}")
    assert certainty.program.contains(store)
    assert not certainty.program.contains(other)
