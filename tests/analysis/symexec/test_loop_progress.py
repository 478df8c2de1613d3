"""Loops whose end is within the budget of an execution are executed to their ends; others for some iterations."""

from __future__ import annotations

import pytest

from ptxkit.analysis.limits import MIN_STALLED_STEPS, STALLED_STEPS
from tests.analysis.support import explorer_of, module_of

#: What keeps a loop from being quiet, and what makes its kernel asynchronous.
STORE = "st.shared.u32 [tile], %r1;"
COPY = "cp.async.ca.shared.global [tile], [%rd1], 4;"
#: Ends where an unknown number is 0, which it is not.
STRANGE = "ld.global.u32 %r2, [%rd1]; loop: {} setp.eq.u32 %p1, %r2, 0; @%p1 bra out; bra loop; out:"


def trace_lines(body: str, bounds: str = ".reqntid 32") -> tuple[str, int]:
    """Returns how the execution of all threads ended, and after how many steps."""
    explorer = explorer_of(module_of(".shared .align 8 .b8 tile[64]; mov.u32 %r1, 0;" + body, bounds=bounds))
    before = explorer.budget.steps
    ended = explorer.execute(explorer.explorations[0].scenario).groups[0].end_reason
    return ended, before - explorer.budget.steps


def counting(compared: str, *, start: int = 0, by: int = 1, body: str = STORE) -> str:
    """A loop that counts while a comparison with %r1 holds."""
    return f"mov.u32 %r1, {start}; loop: {body} add.u32 %r1, %r1, {by}; setp.{compared}; @%p1 bra loop;"


@pytest.mark.parametrize("body", [STORE, COPY])
@pytest.mark.parametrize(
    ("compared", "start", "by"),
    [
        ("lt.u32 %p1, %r1, 100000", 0, 1),
        ("gt.s32 %p1, %r1, -100000", 0, -1),
        ("ne.u32 %p1, %r1, 400000", 0, 4),
        ("ne.u32 %p1, %r1, 6001", 0, 4),
        ("le.s32 %p1, %r1, %r2", 0, 1),
    ],
)
def test_loops_with_a_distant_end_are_executed_for_some_iterations(
    compared: str, start: int, by: int, body: str
) -> None:
    ended, steps = trace_lines("mov.u32 %r2, 100000;" + counting(compared, start=start, by=by, body=body))
    assert ended == "budget"
    assert steps < 2 * MIN_STALLED_STEPS


@pytest.mark.parametrize(
    ("compared", "start", "by"),
    [
        ("lt.u32 %p1, %r1, 1500", 0, 1),
        ("gt.s32 %p1, %r1, -1500", 0, -1),
        ("ge.s32 %p1, %r1, -1500", 0, -1),
        ("ne.u32 %p1, %r1, 6000", 0, 4),
        ("hi.u32 %p1, 1500, %r1", 0, 1),
        ("ne.b32 %p1, %r1, -1", 1500, -1),
    ],
)
def test_loops_with_a_near_end_are_executed_to_it(compared: str, start: int, by: int) -> None:
    ended, steps = trace_lines(counting(compared, start=start, by=by))
    assert ended == "exit"
    assert steps > 4 * 1500


def test_an_end_counts_for_each_thread() -> None:
    """The last one ends long before the first one."""
    lanes = "mov.u32 %r3, %tid.x; mad.lo.u32 %r2, %r3, -3000, 94500;"
    assert trace_lines(lanes + counting("lt.s32 %p1, %r1, %r2"))[1] > 4 * 1500


def test_another_exit_counts_too() -> None:
    found = "setp.eq.u32 %p2, %r1, 1200; @%p2 bra out;"
    assert trace_lines(counting("lt.u32 %p1, %r1, 100000", body=STORE + found) + "out:") == ("exit", 1201 * 6)


def test_the_first_execution_of_a_step_in_a_later_iteration_counts_as_progress() -> None:
    late = "setp.eq.u32 %p2, %r1, 1200; @%p2 st.shared.u32 [tile+4], %r1;"
    assert trace_lines(counting("lt.u32 %p1, %r1, 100000", body=STORE + late))[1] > 6 * 1200 + MIN_STALLED_STEPS


def test_a_side_whose_predicate_was_decided_before_is_not_progress() -> None:
    never = "setp.ne.u32 %p2, %r1, 0;" + counting("lt.u32 %p1, %r1, 100000", body=STORE + "@%p2 bra out;") + "out:"
    assert trace_lines(never)[1] < 2 * MIN_STALLED_STEPS


def test_an_inner_loop_does_not_hide_that_the_outer_one_ends() -> None:
    inner = "mov.u32 %r2, 0; inner: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 20; @%p2 bra inner;"
    assert trace_lines(counting("lt.u32 %p1, %r1, 100", body=STORE + inner))[0] == "exit"
    assert trace_lines(counting("lt.u32 %p1, %r1, 10000", body=STORE + inner))[1] < 3 * MIN_STALLED_STEPS


def test_a_predicate_of_an_earlier_block_counts_as_well() -> None:
    parted = "setp.lt.u32 %p1, %r1, 1200; setp.eq.u32 %p3, %r2, %r3; @%p3 bra next; next:"
    body = f"loop: {STORE} add.u32 %r1, %r1, 1; {parted} @%p1 bra loop;"
    assert trace_lines(body)[0] == "exit"


def test_where_the_end_is_unknown_asynchronous_kernels_have_more_steps() -> None:
    assert trace_lines(STRANGE.format(STORE))[1] < 2 * MIN_STALLED_STEPS
    assert trace_lines(STRANGE.format(COPY))[1] > STALLED_STEPS


def test_a_loop_with_calls_is_not_counted() -> None:
    module = module_of(
        "mov.u32 %r1, 0; loop: call away; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 1000; @%p1 bra loop;",
        bounds=".reqntid 32",
        before=".shared .align 8 .b8 tile[64]; .func away() { st.shared.u32 [tile], 1; ret; }",
    )
    assert explorer_of(module).explorations[0].groups[0].end_reason == "exit"
