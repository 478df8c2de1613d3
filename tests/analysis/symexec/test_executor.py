"""The execution of one thread: its path, its values, where it stops, and where it guesses."""

from __future__ import annotations

import pytest

from ptxkit.analysis.symexec import executor as limits
from ptxkit.analysis.values.scenario import Scenario, launch_config_of
from ptxkit.analysis.values.symbolic_values import SymbolicValue
from ptxkit.isa.effects import Access, Barrier, MbarrierWait
from tests.analysis.support import compute_line, explorer_of, module_of, opcodes, program_of, walk

SHARED = ".shared .align 16 .b8 tile[1024]; .shared .align 8 .b64 bar; mov.u32 %r2, tile; mov.u32 %r5, bar;"
POINTER = ".param .u64 in, .param .u32 n"


# ----------------------------------------------------------------------------------------------- control


def test_a_loop_of_known_length_runs_that_often() -> None:
    executed = walk(
        module_of("mov.u32 %r1, 0; more: bar.sync 0; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 5; @%p1 bra more;")
    )
    assert [event.visit for event in executed.events(Barrier)] == [0, 1, 2, 3, 4]
    assert executed["%r1"] == 5
    assert (executed.trace.end_reason, executed.trace.first_guess) == ("exit", None)


def test_a_guard_holds_for_some_threads_and_not_for_others() -> None:
    module = module_of("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 mov.u32 %r8, 1; @!%p1 mov.u32 %r9, 2;")
    first, second = walk(module, 0), walk(module, 1)
    assert (first["%r8"], first["%r9"]) == (1, None)
    assert (second["%r8"], second["%r9"]) == (None, 2)


def test_a_predicated_exit_ends_the_execution_of_the_threads_it_names() -> None:
    module = module_of("mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32; @%p1 exit; bar.sync 0; @%p1 ret;")
    assert len(walk(module, 31).events(Barrier)) == 1
    assert walk(module, 32).events(Barrier) == []
    assert walk(module, 32).trace.end_reason == "exit"


def test_a_step_with_a_false_guard_is_not_covered() -> None:
    module = module_of("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bar.sync 0; @!%p1 bar.sync 1;")
    covered = {
        str(step.instruction.guard) for step in walk(module, 3).trace.covered_steps if step.instruction.name == "bar"
    }
    assert len(covered) == 1
    assert "negated=True" in covered.pop()


def test_execution_avoids_a_trap_and_ends_with_it_where_it_must() -> None:
    check = "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0;"
    line = check + "@%p1 bra over; trap; over: bar.sync 0;"
    passed = walk(module_of(line, parameters=".param .u64 p")).trace
    assert (passed.end_reason, len(passed.events)) == ("exit", 1)
    stopped = walk(module_of("bar.sync 0; trap; bar.sync 1;")).trace
    assert (stopped.end_reason, len(stopped.events)) == ("trap", 1)


def test_an_indexed_branch_takes_the_target_of_its_index() -> None:
    body = """mov.u32 %r1, %tid.x; list: .branchtargets one, two; brx.idx %r1, list;
    one: mov.u32 %r9, 1; bra.uni end; two: mov.u32 %r9, 2; end: nanosleep.u32 0;"""
    module = module_of(body)
    assert [walk(module, tid)["%r9"] for tid in (0, 1)] == [1, 2]
    assert walk(module, 1).trace.first_guess is None


def test_an_indexed_branch_takes_the_labels_of_the_block_with_the_list() -> None:
    body = """mov.u32 %r1, %tid.x; list: .branchtargets one, two;
    {{ {} brx.idx %r1, list; one: mov.u32 %r9, 3; bra.uni end; }}
    one: mov.u32 %r9, 1; bra.uni end; two: mov.u32 %r9, 2; end: nanosleep.u32 0;"""
    assert walk(module_of(body.format("")), 0)["%r9"] == 1
    assert walk(module_of(body.format("list: .branchtargets one, two;")), 0)["%r9"] == 3


def test_an_indexed_branch_on_data_is_a_guess() -> None:
    body = """ld.param.u64 %rd1, [in]; ld.global.u32 %r1, [%rd1]; list: .branchtargets one; brx.idx %r1, list;
    one: bar.sync 0;"""
    assert walk(module_of(body, parameters=POINTER)).trace.first_guess is not None


def test_a_branch_on_data_is_a_guess_and_the_same_condition_is_decided_once() -> None:
    body = """bar.sync 0; ld.param.u64 %rd1, [in]; ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 7;
    mov.u32 %r8, 0; mov.u32 %r9, 0; @%p1 mov.u32 %r8, 1; setp.eq.u32 %p2, %r1, 7; @!%p2 mov.u32 %r9, 1;"""
    executed = walk(module_of(body, parameters=POINTER))
    assert {executed["%r8"], executed["%r9"]} == {0, 1}
    assert executed.trace.first_guess == 1
    assert executed.trace.is_certain(0)
    assert not executed.trace.is_certain(1)
    assert not executed.trace.is_certain()


def test_a_branch_on_an_integer_parameter_is_not_a_guess() -> None:
    body = "ld.param.u32 %r1, [n]; setp.gt.u32 %p1, %r1, 100; @%p1 bra end; bar.sync 0; end: nanosleep.u32 0;"
    module = module_of(body, parameters=POINTER)
    assert walk(module, sample=512).events(Barrier) == []
    assert len(walk(module, sample=19).events(Barrier)) == 1
    assert walk(module, sample=19).trace.is_certain()


def test_a_scenario_may_fix_the_side_of_a_guess() -> None:
    body = """ld.param.u64 %rd1, [in]; ld.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 7; @%p1 bra end; bar.sync 0;
    end: nanosleep.u32 0;"""
    module = module_of(body, parameters=POINTER)
    first = Scenario(launch_config_of(program_of(module)), 512)
    before = len(walk(module, scenario=first).events(Barrier))
    (condition,) = first.decisions
    turned = Scenario(first.launch, 512, 0, {condition: not first.decisions[condition]})
    assert {before, len(walk(module, scenario=turned).events(Barrier))} == {0, 1}


# --------------------------------------------------------------------------------------------------- calls


def test_a_call_passes_its_parameters_and_its_result() -> None:
    function = """.func (.param .b32 result) twice(.param .b32 x)
    { .reg .b32 %r<4>; ld.param.u32 %r1, [x]; add.u32 %r2, %r1, %r1; st.param.b32 [result], %r2; ret; }"""
    body = """{ .param .b32 a; .param .b32 b; mov.u32 %r1, 21; st.param.b32 [a], %r1; call.uni (b), twice, (a);
    ld.param.b32 %r9, [b]; }"""
    executed = walk(module_of(body, before=function))
    assert executed["%r9"] == 42
    assert executed["%r1"] == 21
    assert not executed.opaque


def test_a_call_of_external_code_is_opaque_and_its_result_unknown() -> None:
    body = """{ .param .b32 a; .param .b32 b; mov.u32 %r1, 21; st.param.b32 [a], %r1; st.param.b32 [b], %r1;
    call.uni (b), elsewhere, (a); ld.param.b32 %r9, [b]; }"""
    executed = walk(module_of(body, before=".extern .func (.param .b32 r) elsewhere(.param .b32 x);"))
    assert executed.trace.has_unknown_call
    assert len(executed.opaque) == 1
    assert isinstance(executed["%r9"], SymbolicValue)


def test_a_return_from_a_function_continues_after_the_call_and_an_exit_does_not() -> None:
    for word, rounds in (("ret", 1), ("exit", 0)):
        executed = walk(module_of("call.uni stop; bar.sync 0;", before=f".func stop {{ {word}; }}"))
        assert len(executed.events(Barrier)) == rounds, word


def test_endless_recursion_becomes_opaque() -> None:
    executed = walk(module_of("call.uni again;", before=".func again { call.uni again; ret; }"))
    assert executed.trace.end_reason == "exit"
    assert executed.trace.has_unknown_call


# --------------------------------------------------------------------------------------------------- memory


def test_local_memory_returns_the_stored_value() -> None:
    body = ".local .align 8 .b8 mine[16]; mov.u64 %rd1, mine; st.local.u32 [%rd1+4], %r1; ld.local.u32 %r9, [%rd1+4];"
    assert walk(module_of(f"mov.u32 %r1, 77; {body}"))["%r9"] == 77


def test_local_memory_is_the_same_by_its_generic_address() -> None:
    body = """.local .align 8 .b8 mine[16]; mov.u64 %rd1, mine; cvta.local.u64 %rd2, %rd1; mov.u32 %r1, 77;
    st.u32 [%rd2+8], %r1; ld.local.u32 %r9, [%rd1+8];"""
    assert walk(module_of(body))["%r9"] == 77


def test_a_vector_is_stored_and_loaded_in_local_memory() -> None:
    body = """.local .align 16 .b8 mine[16]; mov.u64 %rd1, mine; mov.u32 %r1, 5; mov.u32 %r2, 6;
    st.local.v2.u32 [%rd1], {%r1, %r2}; ld.local.v2.u32 {%r8, %r9}, [%rd1];"""
    executed = walk(module_of(body))
    assert (executed["%r8"], executed["%r9"]) == (5, 6)


def test_shared_memory_is_unknown_whichever_thread_stored_it() -> None:
    executed = walk(module_of(f"{SHARED} mov.u32 %r1, 77; st.shared.u32 [%r2], %r1; ld.shared.u32 %r9, [%r2];"))
    assert isinstance(executed["%r9"], SymbolicValue)
    assert [event.effect.kind for event in executed.events(Access) if isinstance(event.effect, Access)] == [
        "write",
        "read",
    ]


def test_an_access_of_shared_memory_has_its_address_and_size() -> None:
    module = module_of(
        f"{SHARED} mov.u32 %r1, %tid.x; shl.b32 %r3, %r1, 4; add.u32 %r4, %r2, %r3;"
        "st.shared.v4.u32 [%r4+16], {%r1, %r1, %r1, %r1};"
    )
    start = program_of(module).scope.variable("tile")
    assert start
    for tid in (0, 3):
        (event,) = walk(module, tid).events(Access)
        assert event.range == (start.address + 16 * tid + 16, start.address + 16 * tid + 32)


def test_a_generic_address_of_shared_memory_is_an_access_of_it_and_one_of_global_memory_is_not() -> None:
    shared = f"{SHARED} mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; st.u32 [%rd2+8], %r1;"
    (event,) = walk(module_of(shared)).events(Access)
    assert event.range is not None
    assert event.range[1] - event.range[0] == 4
    plain = walk(module_of("ld.param.u64 %rd2, [in]; st.u32 [%rd2+8], %r1;", parameters=POINTER))
    assert plain.events(Access) == []


def test_a_copy_that_its_predicate_suppresses_does_not_read_the_source() -> None:
    copy = "cp.async.ca.shared.global [%r2], [%rd1], 16, %p1;"
    for flag in (0, 1):
        body = f"{SHARED} ld.param.u64 %rd1, [in]; setp.eq.u32 %p1, {flag}, 1; {copy}"
        writes = [e for e in walk(module_of(body, parameters=POINTER)).events(Access) if e.range]
        assert len(writes) == 1, flag


# ------------------------------------------------------------------------------------------ waits and limits


def test_a_wait_returns_false_first_and_counts_when_it_is_polled_again() -> None:
    wait = "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r5], 0;"
    once = walk(module_of(f"{SHARED} {wait}"))
    assert (once["%p1"], once.events(MbarrierWait)) == (0, [])
    looped = walk(module_of(f"{SHARED} more: {wait} @!%p1 bra more;"))
    assert looped["%p1"] == 1
    assert [event.visit for event in looped.events(MbarrierWait)] == [1]


def test_a_wait_in_a_second_iteration_returns_false_first_again() -> None:
    body = f"""{SHARED} mov.u32 %r1, 0; next: more: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r5], %r1;
    @!%p1 bra more; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 3; @%p2 bra next;"""
    events = walk(module_of(body)).events(MbarrierWait)
    assert [event.visit for event in events] == [1, 3, 5]
    assert [event.amount for event in events] == [0, 1, 2]


def test_an_instruction_without_a_form_is_opaque_and_its_registers_become_unknown() -> None:
    executed = walk(module_of("mov.u32 %r1, 1; mov.u32 %r2, 2; frobnicate.u32 %r1, %r7;"))
    assert len(executed.opaque) == 1
    assert isinstance(executed["%r1"], SymbolicValue)
    assert executed["%r2"] == 2
    assert walk(module_of("mov.u32 %r1, 1; add.u32 %r1, %r1, %r7;")).opaque == []


def test_a_loop_that_finds_nothing_new_ends_as_budget() -> None:
    executed = walk(module_of("more: add.u32 %r1, %r1, 1; bra.uni more;"))
    assert executed.trace.end_reason == "budget"
    assert executed.state.executed_steps <= limits.STALLED_STEPS + 10


def test_a_long_loop_within_the_budget_is_executed_to_its_end() -> None:
    body = "mov.u32 %r1, 0; more: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 400; @%p1 bra more; bar.sync 0;"
    executed = walk(module_of(body))
    assert (executed.trace.end_reason, executed["%r1"], len(executed.events(Barrier))) == ("exit", 400, 1)


def test_an_execution_has_a_limited_number_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_STEPS", 50)
    executed = walk(module_of("more: add.u32 %r1, %r1, 1; bra.uni more;"))
    assert executed.trace.end_reason == "budget"
    assert 50 <= executed.state.executed_steps <= 52


def test_an_execution_has_a_limited_number_of_unknowns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many threads at one loop took more memory than any text should need."""
    monkeypatch.setattr(limits, "MAX_SYMBOLIC_VALUES", 50)
    body = "ld.param.u64 %rd1, [in]; more: ld.global.u32 %r1, [%rd1]; add.u32 %r2, %r2, %r1; bra.uni more;"
    executed = walk(module_of(body, parameters=POINTER))
    assert executed.trace.end_reason == "budget"
    assert 50 < len(executed.state.symbolic_values) < 60


def test_a_loop_on_data_is_left_after_some_iterations() -> None:
    body = """ld.param.u64 %rd1, [in]; more: ld.global.acquire.gpu.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0;
    @%p1 bra more; bar.sync 0;"""
    executed = walk(module_of(body, parameters=POINTER))
    assert executed.trace.end_reason == "exit"
    assert len(executed.events(Barrier)) == 1


# ------------------------------------------------------------------------------------------- threads, lanes


def test_special_registers_give_the_position_of_the_thread() -> None:
    body = """mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z; mov.u32 %r4, %laneid; mov.u32 %r5, %ntid.y;
    mov.u32 %r6, %cluster_ctarank; mov.u32 %r7, %cluster_nctarank; mov.u32 %r8, %lanemask_lt; mov.u32 %r9, %ctaid.x;"""
    module = module_of(body, bounds=".reqntid 8, 4, 2 .explicitcluster .reqnctapercluster 2, 1, 1")
    executed = walk(module, 45, rank=1)
    assert [executed[f"%r{n}"] for n in range(1, 10)] == [5, 1, 1, 13, 4, 1, 2, (1 << 13) - 1, 1]


def test_lane_zero_is_the_elected_one() -> None:
    module = module_of("elect.sync %r1|%p9, 0xffffffff;")
    assert [walk(module, tid)["%p9"] for tid in (0, 1, 32)] == [1, 0, 1]


def test_a_clock_reads_differently_each_time_and_another_register_does_not() -> None:
    executed = walk(module_of("mov.u32 %r1, %clock; mov.u32 %r2, %clock; mov.u32 %r3, %smid; mov.u32 %r4, %smid;"))
    assert executed["%r1"] != executed["%r2"]
    assert executed["%r3"] == executed["%r4"]


def test_halves_are_packed_and_unpacked() -> None:
    assert compute_line("mov.b64 %rd9, {%r1, %r2};", r1=5, r2=6) == 6 << 32 | 5
    executed = walk(module_of("mov.u64 %rd1, 0x600000005; mov.b64 {%r8, %r9}, %rd1;"))
    assert (executed["%r8"], executed["%r9"]) == (5, 6)


def test_coverage_is_exactly_the_executed_steps() -> None:
    executed = walk(module_of("bra.uni end; bar.sync 0; end: nanosleep.u32 0;"))
    assert opcodes(executed.trace.covered_steps) == {"bra.uni", "nanosleep.u32", "ret"}


# ---------------------------------------------------------------------------------------- lanes' addresses


def rows(number: str, registers: str, tid: int) -> list[object]:
    """Returns the offsets in `tile` of the addresses that a lane provides and that are used."""
    body = f"mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r3, 16, %r2; ldmatrix.sync.aligned.{number}.b16 {registers}, [%r4];"
    executed = walk(module_of(SHARED + body.replace("b16 ", "shared.b16 ")), tid)
    return [event.address - 1024 for event in executed.events(Access) if isinstance(event.address, int)]


def test_the_lowest_lanes_give_the_rows_of_a_matrix() -> None:
    assert [rows("m8n8.x1", "{%r9}", tid) for tid in (0, 7, 8, 31, 32 + 7, 32 + 8)] == [[0], [112], [], [], [624], []]
    assert [rows("m8n8.x2", "{%r9, %r10}", tid) for tid in (15, 16)] == [[240], []]
    assert rows("m8n8.x4", "{%r9, %r10, %r11, %r12}", 31) == [496]


def test_the_lanes_of_a_group_whose_addresses_are_used_take_part() -> None:
    body = (
        "mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r3, 16, %r2; stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r4], {%r9, %r9};"
    )
    (group,) = explorer_of(module_of(SHARED + body)).explorations[0].groups
    reported = [tid for tid, _ in group.thread_events(lambda event: isinstance(event.effect, Access))]
    assert reported == [tid for tid in range(128) if tid % 32 < 16]


@pytest.mark.parametrize(
    ("declared", "name", "is_special"),
    [
        ("", "%tid.x", True),
        (".reg .v2 .u32 %tid;", "%tid.x", False),
        (".reg .u32 %laneid;", "%laneid", False),
        (".reg .u32 %tid<4>;", "%tid.x", True),
    ],
)
def test_a_declared_register_hides_a_special_one(declared: str, name: str, is_special: bool) -> None:
    found = walk(module_of(f"{{ {declared} mov.u32 %r9, {name}; }}"), tid=3)["%r9"]
    assert (found == 3) == is_special
