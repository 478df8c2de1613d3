"""Branches, loops, calls, and the scheduling of threads."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from ptxkit.emulator import RunBudget
from tests.emulator.support import compute_line, outcome

THREADS = numpy.arange(64)


@pytest.mark.parametrize("policy", ["eager", "random"])
def test_each_thread_executes_its_own_number_of_iterations(policy: str) -> None:
    body = """
 mov.u32 %r0, 0; mov.u32 %r1, %r31;
LOOP: setp.eq.u32 %p1, %r1, 0; @%p1 bra END; add.u32 %r0, %r0, %r1; sub.u32 %r1, %r1, 1; bra LOOP;
END:
"""
    assert (compute_line(body, 64, policy=policy) == THREADS * (THREADS + 1) // 2).all()


def test_guards_keep_the_values_of_other_threads() -> None:
    body = " mov.u32 %r0, 5; setp.lt.u32 %p1, %r31, 3; @%p1 mov.u32 %r0, 6; @!%p1 add.u32 %r0, %r0, 2;"
    assert (compute_line(body, 64) == numpy.where(THREADS < 3, 6, 7)).all()


def test_a_branch_target_list_selects_a_label() -> None:
    body = """
 targets: .branchtargets ZERO, ONE, TWO;
 rem.u32 %r1, %r31, 3; brx.idx %r1, targets;
ZERO: mov.u32 %r0, 10; bra END;
ONE: mov.u32 %r0, 11; bra END;
TWO: mov.u32 %r0, 12;
END:
"""
    assert (compute_line(body, 64) == THREADS % 3 + 10).all()
    assert [each.code for each in outcome(body.replace("rem.u32 %r1, %r31, 3", "mov.u32 %r1, 3")).findings] == [
        "PTX206"
    ]


def test_a_list_has_the_labels_of_its_own_block() -> None:
    body = """
 targets: .branchtargets ZERO, ONE; and.b32 %r1, %r31, 1;
 {{ {} brx.idx %r1, targets; ZERO: mov.u32 %r0, 12; bra END; }}
ZERO: mov.u32 %r0, 10; bra END;
ONE: mov.u32 %r0, 11;
END:
"""
    assert (compute_line(body.format(""), 64) == THREADS % 2 + 10).all()
    assert (compute_line(body.format("targets: .branchtargets ZERO, ONE;"), 64) == 12 - THREADS % 2).all()


@pytest.mark.parametrize("branch", ["bra NOWHERE;", "list: .branchtargets END, NOWHERE; brx.idx %r0, list;"])
def test_a_branch_to_an_unknown_label_cannot_be_executed(branch: str) -> None:
    assert not outcome("bra END; END:").unsupported_reason
    assert "nothing declares the label" in outcome(f"mov.u32 %r0, 0; {branch} END:").unsupported_reason


FUNCTION = """
.func (.param .b32 result) sum(.param .b32 n)
{
 .reg .b32 %a<4>; .reg .pred %p;
 ld.param.u32 %a0, [n]; mov.u32 %a1, 0; setp.eq.u32 %p, %a0, 0; @%p bra DONE;
 { .param .b32 inner; .param .b32 back; sub.u32 %a2, %a0, 1; st.param.b32 [inner], %a2;
   call (back), sum, (inner); ld.param.b32 %a1, [back]; add.u32 %a1, %a1, %a0; }
DONE: st.param.b32 [result], %a1; ret;
}
.func (.reg .u32 %twice) twice(.reg .u32 %x) { add.u32 %twice, %x, %x; ret; }
"""


@pytest.mark.parametrize("policy", ["eager", "random"])
def test_a_function_may_call_itself(policy: str) -> None:
    body = """
 { .param .b32 p; .param .b32 r; and.b32 %r1, %r31, 7; st.param.b32 [p], %r1;
   call (r), sum, (p); ld.param.b32 %r0, [r]; }
 call (%r0), twice, (%r0);
"""
    few = THREADS % 8
    assert (compute_line(body, 64, outside=FUNCTION, policy=policy) == few * (few + 1)).all()


def test_a_call_through_a_register_is_executed() -> None:
    body = """
 proto: .callprototype (.param .b32 _) _ (.param .b32 _);
 mov.u64 %d1, sum;
 { .param .b32 p; .param .b32 r; st.param.b32 [p], 4; call (r), %d1, (p), proto; ld.param.b32 %r0, [r]; }
"""
    assert (compute_line(body, outside=FUNCTION) == 10).all()


def test_threads_that_wait_in_a_loop_starve_no_others() -> None:
    body = """
 .shared .u32 flag; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 40; mov.u32 %r3, 1;
 @%p1 bra GIVE;
WAIT: ld.volatile.shared.u32 %r2, [flag]; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT; bra END;
GIVE: st.volatile.shared.u32 [flag], %r3;
END:
"""
    assert outcome(body, 64).is_clean
    assert outcome(body, 64, policy="random").is_clean


def test_a_loop_without_end_is_undecided() -> None:
    found = outcome("L: add.u32 %r1, %r1, 1; bra L;", budget=RunBudget(steps=5000))
    assert found.incomplete_reason == "the run has used up its steps"
    assert not found.findings


FLAG = """
 .shared .u32 flag; mov.u32 %r1, %tid.x; mov.u32 %r3, %cluster_ctarank; setp.ne.u32 %p1, %r1, 3;
 @!%p1 st.shared.u32 [flag], 0; barrier.cluster.arrive; barrier.cluster.wait; @%p1 bra END;
 setp.eq.u32 %p2, %r3, {releaser}; @%p2 bra GIVE;
WAIT: ld.relaxed.cluster.shared.u32 %r2, [flag]; setp.eq.u32 %p3, %r2, 0; {more} @%p3 bra WAIT; bra END;
GIVE: mov.u32 %r4, 0;
COUNT: add.u32 %r4, %r4, 1; setp.lt.u32 %p4, %r4, 2000; @%p4 bra COUNT;
 mov.u32 %r5, flag; mapa.shared::cluster.u32 %r5, %r5, 0; st.relaxed.cluster.shared::cluster.u32 [%r5], 7;
END: barrier.cluster.arrive; barrier.cluster.wait;
"""


def run_wait(policy: str, releaser: int = 1, more: str = "") -> Any:
    return outcome(FLAG.format(releaser=releaser, more=more), 128, grid=2, cluster=2, policy=policy, races=False)


@pytest.mark.parametrize("policy", ["eager", "random"])
@pytest.mark.parametrize("more", ["", "nanosleep.u32 20;", "mov.u32 %r9, %clock;"])
def test_a_thread_that_loops_without_a_change_yields_at_once(policy: str, more: str) -> None:
    found = run_wait(policy, more=more)
    assert found.is_clean, (found.unsupported_reason, found.incomplete_reason, found.findings)
    assert more.startswith("mov") or found.steps < 20_000  # of a lane that loops for 4,096 steps of 128 threads: more


@pytest.mark.parametrize("policy", ["eager", "late", "random"])
@pytest.mark.parametrize("more", ["", "nanosleep.u32 20;"])
def test_a_wait_that_no_thread_can_satisfy_is_undecided_soon(policy: str, more: str) -> None:
    found = run_wait(policy, releaser=9, more=more)
    assert found.incomplete_reason.startswith("livelock: thread 3 of CTA (0, 0, 0) polls at line ")
    assert found.incomplete_reason.endswith("and no thread changes the awaited value")
    assert not found.findings
    assert found.steps < 20_000


def test_a_loop_that_only_writes_does_not_block_the_threads_that_wait_for_it() -> None:
    body = """
 .shared .u32 sum; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 40;
 @%p1 st.shared.u32 [sum], 0; bar.sync 0; @%p1 bra ADD;
WAIT: ld.volatile.shared.u32 %r2, [sum]; setp.lt.u32 %p2, %r2, 90; @%p2 bra WAIT; bra END;
ADD: red.shared.add.u32 [sum], 1; ld.volatile.shared.u32 %r2, [sum]; setp.lt.u32 %p2, %r2, 90; @%p2 bra ADD;
END:
"""
    for policy in ("eager", "random"):
        assert outcome(body, 64, policy=policy, races=False).is_clean


def test_a_trap_ends_the_run_and_reports_its_place() -> None:
    (found,) = outcome(" mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 9; @%p1 trap;").findings
    assert (found.code, found.witnesses[0].thread) == ("PTX650", (9, 0, 0))


def test_registers_and_labels_of_a_block_are_local_to_it() -> None:
    body = """
 mov.u32 %r0, 1;
 { .reg .u32 %r0; mov.u32 %r0, 7; bra HERE; HERE: }
 { .reg .u32 %x; bra HERE; mov.u32 %x, 3; HERE: mov.u32 %x, %r0; }
"""
    assert (compute_line(body) == 1).all()


def test_an_unsupported_instruction_is_reported_only_when_it_is_executed() -> None:
    body = " mov.u32 %r1, 0; setp.eq.u32 %p1, %r1, 1; @%p1 bra NEVER; bra END;\nNEVER: {what}\nEND:"
    what = "tcgen05.shift.cta_group::1.down [%r1];"
    assert outcome(body.format(what=what)).is_clean
    assert "tcgen05.shift" in outcome(f" mov.u32 %r1, 0; {what}").unsupported_reason
