"""The numbers of registers that loops carry: stages and parities of rings, in several spellings, and what is none."""

from __future__ import annotations

import pytest

from ptxkit.analysis.ir.program import flatten
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.syntax import parse
from ptxkit.syntax.tree import Name

TAIL = "add.u32 %r9, %r9, 1; setp.lt.u32 %p9, %r9, %r8; @%p9 bra L;"
BEGIN = "ld.param.u32 %r8, [n]; mov.u32 %r9, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; L: st.shared.u32 [a], %r1;"
SPIN = "W: mbarrier.try_wait.parity.shared::cta.b64 %p8, [bar], %r2; @!%p8 bra W;"
STEP = "add.u32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 3; selp.b32 %r1, 0, %r3, %p1;"


def numbers(body: str) -> tuple[int, int, int]:
    """The least, the largest and the step of the numbers that `%r1` has where it is stored."""
    text = f""".version 9.0 .target sm_90a .address_size 64 .visible .entry k(.param .u32 n) {{
    .reg .pred %p<10>; .reg .b16 %h<9>; .reg .b32 %r<20>; .shared .b32 a; .shared .b64 bar; {body} ret; }}"""
    module = parse(text)
    program = flatten(module, next(iter(module.functions())))
    store = next(step for step in program.steps if step.instruction.opcode.startswith("st."))
    [found] = FunctionProofs(program).values.value_at(store, Name("%r1"))
    return found.offset.unsigned


@pytest.mark.parametrize(
    "step",
    [
        STEP,
        SPIN + STEP,
        f"{SPIN} X: add.u32 %r12, %r12, 1; setp.lt.u32 %p7, %r12, %r8; @%p7 bra X; {STEP}",
        "add.u32 %r1, %r1, 1; setp.eq.u32 %p1, %r1, 3; @!%p1 bra M; mov.u32 %r1, 0; xor.b32 %r2, %r2, 1; M:",
        "add.u32 %r1, %r1, 1; setp.eq.u32 %p1, %r1, 3; @%p1 mov.u32 %r1, 0;",
        "add.u32 %r1, %r1, 1; mul.hi.u32 %r3, %r1, 0xAAAAAAAB; shr.u32 %r3, %r3, 1; mul.lo.u32 %r3, %r3, 3;"
        " sub.u32 %r1, %r1, %r3;",
        "sub.u32 %r3, %r1, 1; setp.eq.u32 %p1, %r1, 0; selp.b32 %r1, 2, %r3, %p1;",
        f"mov.u32 %r12, 0; K: {SPIN} {STEP} add.u32 %r12, %r12, 1; setp.lt.u32 %p7, %r12, %r8; @%p7 bra K;",
        f"setp.eq.u32 %p2, %r8, 7; @%p2 bra M; {STEP} M:",
    ],
)
def test_a_stage_modulo_three_has_three_numbers(step: str) -> None:
    assert numbers(f"{BEGIN} {step} {TAIL}") == (0, 2, 1)


@pytest.mark.parametrize(
    "step",
    [
        "add.u32 %r1, %r1, 1;",
        # tested before the increment: one stage too many
        "add.u32 %r3, %r1, 1; setp.eq.u32 %p1, %r1, 3; selp.b32 %r1, 0, %r3, %p1;",
        "add.u32 %r3, %r1, 2; setp.eq.u32 %p1, %r3, 3; selp.b32 %r1, 0, %r3, %p1;",
        "add.u32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 3; selp.b32 %r1, %r8, %r3, %p1;",
        "ld.shared.u32 %r1, [a];",
        f"{STEP} setp.eq.u32 %p2, %r8, 7; @%p2 mov.u32 %r1, 5;",
        # another loop changes it, too
        f"K: add.u32 %r1, %r1, 1; add.u32 %r12, %r12, 1; setp.lt.u32 %p7, %r12, %r8; @%p7 bra K; {STEP}",
        # the wrap depends on another register, which has a different period
        "add.u32 %r3, %r1, 1; add.u32 %r4, %r2, 1; setp.eq.u32 %p1, %r4, 4; selp.b32 %r2, 0, %r4, %p1;"
        " setp.eq.u32 %p1, %r2, 3; selp.b32 %r1, 0, %r3, %p1;",
    ],
)
def test_a_register_that_may_leave_the_ring_has_more_numbers(step: str) -> None:
    assert numbers(f"{BEGIN} {step} {TAIL}")[1] > 2


def test_a_stage_that_is_reset_in_the_outer_loop_has_the_numbers_of_both() -> None:
    inner = f"mov.u32 %r12, 0; K: {STEP} add.u32 %r12, %r12, 1; setp.lt.u32 %p7, %r12, %r8; @%p7 bra K; mov.u32 %r1, 6;"
    assert numbers(f"{BEGIN} {inner} {TAIL}")[1] >= 6
