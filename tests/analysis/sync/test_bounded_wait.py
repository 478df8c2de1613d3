"""Waits that give up: loops that poll a phase and have another exit than its end."""

from __future__ import annotations

import pytest

from ptxkit.analysis.ir.program import Program, flatten
from ptxkit.analysis.sync.bounded_wait import find_unchecked_waits, is_bounded_wait
from ptxkit.isa.effects import MbarrierWait
from ptxkit.syntax import parse

FRAME = """.version 9.0
.target sm_90a
.address_size 64
.shared .align 8 .b64 bar[2];
.func (.param .b32 r) increment(.param .b32 a)
{{ .reg .b32 %r1; ld.param.b32 %r1, [a]; add.u32 %r1, %r1, 1; st.param.b32 [r], %r1; ret; }}
.func (.param .b32 r) poll()
{{ .reg .pred %p1; .reg .b32 %r1; mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; selp.b32 %r1, 1, 0, %p1;
st.param.b32 [r], %r1; ret; }}
.func spin() {{ .reg .pred %p1; again: mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra again; ret; }}
.func arrive() {{ mbarrier.arrive.shared.b64 _, [bar+8]; ret; }}
.visible .entry k()
{{
.reg .pred %p<9>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
mov.u32 %r1, 0;
{0}
ret;
}}
"""
ASKS = "mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;"
CALLS_POLL = "{ .param .b32 got; call (got), poll, (); ld.param.b32 %r4, [got]; setp.ne.b32 %p1, %r4, 0; }"
INCREMENTS = "{ .param .b32 old, new; st.param.b32 [old], %r1; call (new), increment, (old); ld.param.b32 %r1, [new]; }"
ARRIVES = "mbarrier.arrive.shared.b64 _, [bar+8];"
LIMIT = "setp.lt.u32 %p2, %r1, 9; @%p2 bra again; done:"

GIVES_UP = {
    "a count": f"again: {ASKS} @%p1 bra done; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 9; @%p2 bra again; done:",
    "a clock": f"again: {ASKS} @%p1 bra done; mov.u64 %rd1, %clock64; setp.lt.u64 %p2, %rd1, 9; @%p2 bra again; done:",
    "a count that a function increments": f"again: {ASKS} @%p1 bra done; {INCREMENTS} {LIMIT}",
    "a count that is kept in shared memory, too": f"again: {ASKS} @%p1 bra done; add.u32 %r1, %r1, 1; "
    f"st.shared.u32 [bar+8], %r1; {LIMIT}",
    "a function that asks": f"again: {CALLS_POLL} @%p1 bra done; add.u32 %r1, %r1, 1; {LIMIT}",
    "a loop that does one of two things": f"again: {ASKS} @!%p1 bra other; st.release.cta.shared.u32 [bar+8], %r1; "
    f"add.u32 %r1, %r1, 1; other: mbarrier.test_wait.parity.shared.b64 %p3, [bar+8], 0; @!%p3 bra last; {ARRIVES} "
    f"last: {LIMIT}",
}
WAITS = {
    "the answer": f"again: {ASKS} @!%p1 bra again;",
    "the answer as a number": f"again: {ASKS} selp.u32 %r2, 1, 0, %p1; setp.eq.u32 %p2, %r2, 0; @%p2 bra again;",
    "the answer, with a pause": f"again: {ASKS} @%p1 bra done; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 9; "
    "@%p2 bra short; nanosleep.u32 99; short: bra again; done:",
    "a loop around it": f"round: mov.u32 %r3, 0; again: {ASKS} @!%p1 bra again; add.u32 %r1, %r1, 1; "
    "setp.lt.u32 %p2, %r1, 9; @%p2 bra round;",
    "no loop": ASKS,
    "the answer, unless a limit ends the launch": f"again: {ASKS} @%p1 bra done; add.u32 %r1, %r1, 1; "
    "setp.lt.u32 %p2, %r1, 9; @%p2 bra again; trap; done:",
    "a loop that arrives, too": f"again: {ARRIVES} {ASKS} @%p1 bra done; "
    "add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 9; @%p2 bra again; done:",
    "a loop that sets a flag, too": f"again: st.release.cta.shared.u32 [bar+8], %r1; {ASKS} @%p1 bra done; "
    f"add.u32 %r1, %r1, 1; {LIMIT}",
    "a loop that arrives after the answer": f"again: {ASKS} @!%p1 bra last; {ARRIVES} add.u32 %r1, %r1, 1; "
    f"last: {LIMIT}",
    "a loop around a function that waits": f"again: call spin, (); add.u32 %r1, %r1, 1; {LIMIT}",
    "the answer of a function": f"again: {CALLS_POLL} @!%p1 bra again;",
    "a loop that calls a function which arrives": f"again: call arrive, (); {ASKS} @%p1 bra done; {INCREMENTS} {LIMIT}",
}


def program_of(body: str) -> Program:
    module = parse(FRAME.format(body))
    return flatten(module, module.function("k"), calls=True)


def answer(body: str) -> bool:
    program = program_of(body)
    effects = ((step, effect) for step in program.effectful_steps for effect in step.effects)
    return is_bounded_wait(program, next(step for step, effect in effects if isinstance(effect, MbarrierWait)))


@pytest.mark.parametrize("body", GIVES_UP.values(), ids=list(GIVES_UP))
def test_a_loop_with_another_exit_is_bounded(body: str) -> None:
    assert answer(body)


@pytest.mark.parametrize("body", WAITS.values(), ids=list(WAITS))
def test_a_loop_that_only_the_phase_ends_waits(body: str) -> None:
    assert not answer(body)


def test_results_of_polling_functions_are_tested_after_the_loop() -> None:
    body = GIVES_UP["a function that asks"]
    (found,) = find_unchecked_waits(program_of(body))
    assert found.is_opaque_call
    assert not find_unchecked_waits(program_of(f"{body} @!%p1 trap;"))


def test_a_function_that_waits_for_the_phase_leaves_nothing_to_test() -> None:
    assert not find_unchecked_waits(program_of(WAITS["a loop around a function that waits"]))
