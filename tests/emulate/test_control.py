"""Branches, loops, calls, and whose turn it is."""

from __future__ import annotations

import numpy
import pytest

from ptxkit.emulate import Budget
from tests.emulate.support import computed, outcome

THREADS = numpy.arange(64)


@pytest.mark.parametrize("policy", ["eager", "random"])
def test_each_thread_takes_its_own_number_of_turns(policy: str) -> None:
    body = """
 mov.u32 %r0, 0; mov.u32 %r1, %r31;
LOOP: setp.eq.u32 %p1, %r1, 0; @%p1 bra END; add.u32 %r0, %r0, %r1; sub.u32 %r1, %r1, 1; bra LOOP;
END:
"""
    assert (computed(body, 64, policy=policy) == THREADS * (THREADS + 1) // 2).all()


def test_guards_keep_what_others_have() -> None:
    body = " mov.u32 %r0, 5; setp.lt.u32 %p1, %r31, 3; @%p1 mov.u32 %r0, 6; @!%p1 add.u32 %r0, %r0, 2;"
    assert (computed(body, 64) == numpy.where(THREADS < 3, 6, 7)).all()


def test_a_list_of_labels() -> None:
    body = """
 targets: .branchtargets ZERO, ONE, TWO;
 rem.u32 %r1, %r31, 3; brx.idx %r1, targets;
ZERO: mov.u32 %r0, 10; bra END;
ONE: mov.u32 %r0, 11; bra END;
TWO: mov.u32 %r0, 12;
END:
"""
    assert (computed(body, 64) == THREADS % 3 + 10).all()
    assert [each.code for each in outcome(body.replace("rem.u32 %r1, %r31, 3", "mov.u32 %r1, 3")).findings] == [
        "PTX206"
    ]


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
def test_a_function_that_calls_itself(policy: str) -> None:
    body = """
 { .param .b32 p; .param .b32 r; and.b32 %r1, %r31, 7; st.param.b32 [p], %r1;
   call (r), sum, (p); ld.param.b32 %r0, [r]; }
 call (%r0), twice, (%r0);
"""
    few = THREADS % 8
    assert (computed(body, 64, outside=FUNCTION, policy=policy) == few * (few + 1)).all()


def test_a_call_through_a_register() -> None:
    body = """
 proto: .callprototype (.param .b32 _) _ (.param .b32 _);
 mov.u64 %d1, sum;
 { .param .b32 p; .param .b32 r; st.param.b32 [p], 4; call (r), %d1, (p), proto; ld.param.b32 %r0, [r]; }
"""
    assert (computed(body, outside=FUNCTION) == 10).all()


def test_threads_that_wait_in_a_loop_starve_nobody() -> None:
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
    found = outcome("L: bra L;", budget=Budget(steps=5000))
    assert found.undecided == "the run has used up its steps"
    assert not found.findings


def test_a_trap_ends_the_run_and_says_where() -> None:
    (found,) = outcome(" mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 9; @%p1 trap;").findings
    assert (found.code, found.witnesses[0].thread) == ("trap", (9, 0, 0))


def test_registers_and_labels_of_a_block_are_its_own() -> None:
    body = """
 mov.u32 %r0, 1;
 { .reg .u32 %r0; mov.u32 %r0, 7; bra HERE; HERE: }
 { .reg .u32 %x; bra HERE; mov.u32 %x, 3; HERE: mov.u32 %x, %r0; }
"""
    assert (computed(body) == 1).all()


def test_what_the_machine_cannot_do_is_named_and_only_when_it_is_executed() -> None:
    body = " mov.u32 %r1, 0; setp.eq.u32 %p1, %r1, 1; @%p1 bra NEVER; bra END;\nNEVER: {what}\nEND:"
    what = "tcgen05.shift.cta_group::1.down [%r1];"
    assert outcome(body.format(what=what)).is_clean
    assert "tcgen05.shift" in outcome(f" mov.u32 %r1, 0; {what}").failed
