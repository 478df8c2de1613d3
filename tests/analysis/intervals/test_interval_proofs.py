"""Which orders barrier intervals prove, and that each of them rests on each instruction that makes it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxkit.analysis.ir.program import flatten
from ptxkit.analysis.phase_order.interval_proofs import IntervalProofs
from ptxkit.rules.function_proofs import FunctionProofs
from ptxkit.syntax import parse
from tests.rules.test_address_proofs import kernel

KERNELS = Path(__file__).resolve().parents[3] / "corpus" / "kernels"
OWN = "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile; add.s32 %r4, %r3, %r2;"
SYNC = re.compile(r"\s*(bar\.sync|cp\.async\.(commit|wait)|cp\.async\.bulk\.wait)")


def proofs_of(text: str) -> IntervalProofs:
    module = parse(text)
    (function,) = (each for each in module.functions() if each.kind == "entry")
    return FunctionProofs(flatten(module, function, calls=True)).intervals


def is_proven(text: str) -> bool:
    proofs = proofs_of(text)
    return proofs.orders_alone and not any(proofs.all_pairs()) and not any(True for _ in proofs.all_unfenced())


def neighbor(between: str, *, store: str = "st.shared.u32 [%r4], %r1;", load: str = "") -> str:
    """Returns a kernel in which each thread stores a word and loads the word of another thread."""
    other = load or "xor.b32 %r5, %r2, 128; add.s32 %r6, %r3, %r5; ld.shared.u32 %r7, [%r6];"
    return kernel(f"{OWN} {store} {between} {other}")


RING = """
{own} mov.u32 %r5, 0; mov.u32 %r8, 0; ld.param.u32 %r9, [n]; ld.param.u64 %rd1, [p];
LOOP:
shl.b32 %r6, %r5, 8; add.s32 %r7, %r4, %r6;
cp.async.ca.shared.global [%r7], [%rd1], 4; cp.async.commit_group;
cp.async.wait_group {pending}; bar.sync 0;
{stage}
xor.b32 %r11, %r12, 128; add.s32 %r10, %r3, %r11; ld.shared.u32 %r13, [%r10];
{last}
add.s32 %r8, %r8, 1; {advance}
setp.lt.s32 %p1, %r8, %r9; @%p1 bra LOOP;
"""
#: The stage that the copy of the iteration before filled, in a ring of two.
BEFORE = "xor.b32 %r14, %r5, 1; shl.b32 %r12, %r14, 8; add.s32 %r12, %r12, %r2;"
#: The stage that the copy of this iteration fills.
NOW = "shl.b32 %r12, %r5, 8; add.s32 %r12, %r12, %r2;"
ADVANCES = [
    "xor.b32 %r5, %r5, 1;",
    "and.b32 %r5, %r8, 1;",
    "add.s32 %r5, %r5, 1; setp.eq.s32 %p2, %r5, 2; selp.b32 %r5, 0, %r5, %p2;",
]


@pytest.mark.parametrize("advance", ADVANCES)
@pytest.mark.parametrize(
    ("pending", "stage", "last", "expected"),
    [
        (1, BEFORE, "bar.sync 0;", True),
        (0, NOW, "bar.sync 0;", True),
        (0, NOW, "", True),  # the barrier of the next iteration is between the read and the next use of the stage
        (1, NOW, "bar.sync 0;", False),
        (2, BEFORE, "bar.sync 0;", False),
        (1, BEFORE, "", False),
    ],
)
def test_a_ring_is_proven_for_any_number_of_iterations(
    advance: str, pending: int, stage: str, last: str, expected: bool
) -> None:
    body = RING.format(own=OWN, pending=pending, stage=stage, last=last, advance=advance)
    assert is_proven(kernel(body)) is expected


#: A ring of three stages, whose number is the remainder of a division by multiplication; the compiler advances the
#: address of each thread instead of multiplying the number of the iteration.
DIVIDED_RING = """
{own} mov.u32 %r8, 0; mov.u32 %r5, 0; ld.param.u32 %r9, [n]; ld.param.u64 %rd1, [p]; xor.b32 %r11, %r2, 128;
LOOP:
{quotient} mad.lo.s32 %r7, %r6, -768, %r4; mad.lo.s32 %r12, %r6, -768, %r5;
cp.async.ca.shared.global [%r7], [%rd1], 4; cp.async.commit_group;
cp.async.wait_group {pending}; bar.sync 0;
add.s32 %r12, %r12, %r11; add.s32 %r12, %r12, %r3; ld.shared.u32 %r13, [%r12];
{last}
add.s32 %r8, %r8, 1; add.s32 %r4, %r4, {step}; add.s32 %r5, %r5, 256;
setp.lt.s32 %p1, %r8, %r9; @%p1 bra LOOP;
"""
WIDE = "mul.wide.u32 %rd2, %r8, -1431655765; shr.u64 %rd3, %rd2, 33; cvt.u32.u64 %r6, %rd3;"
UPPER = "mul.hi.u32 %r6, %r8, -1431655765; shr.u32 %r6, %r6, 1;"


@pytest.mark.parametrize(
    ("quotient", "pending", "last", "step", "expected"),
    [
        (WIDE, 0, "", 256, True),
        (UPPER, 0, "", 256, True),
        (WIDE, 0, "bar.sync 0;", 256, True),
        (WIDE, 1, "", 256, False),
        (WIDE, 0, "", 260, False),
    ],
)
def test_the_remainder_of_a_division_selects_a_stage(
    quotient: str, pending: int, last: str, step: int, expected: bool
) -> None:
    body = DIVIDED_RING.format(own=OWN, quotient=quotient, pending=pending, last=last, step=step)
    assert is_proven(kernel(body)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (neighbor("bar.sync 0;"), True),
        (neighbor(""), False),
        (neighbor("bar.warp.sync -1;"), False),
        (neighbor("bar.sync 1, 32;"), False),
        (neighbor("setp.lt.u32 %p1, %r1, 32; @%p1 bar.sync 0;"), False),
        (neighbor("", load="ld.shared.u32 %r7, [%r4];"), True),
        (neighbor("", load="ld.shared.u32 %r7, [%r4+256];"), True),
        (neighbor("", load="ld.shared.u16 %h1, [%r4+2];"), True),
        (neighbor("", load="ld.shared.u32 %r7, [%r4+4];"), False),
        (neighbor("", load="lop3.b32 %r8, %r4, 0, 0, 0xf0; ld.shared.u32 %r7, [%r8];"), True),
        (neighbor("", load="lop3.b32 %r8, %r4, 4, 0, 0x3c; ld.shared.u32 %r7, [%r8];"), False),
        (neighbor("", store="setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [%r4], %r1;", load=""), False),
        (neighbor("", store="and.b32 %r8, %r2, 7; add.s32 %r8, %r3, %r8; st.shared.u32 [%r8], %r1;"), False),
    ],
)
def test_two_threads_are_ordered_by_a_barrier_or_use_different_bytes(text: str, expected: bool) -> None:
    proofs = proofs_of(text)
    assert proofs.is_solved
    assert any(proofs.all_pairs()) is not expected


def test_threads_that_exit_at_the_beginning_are_not_waited_for() -> None:
    leave = "ld.param.u32 %r9, [n]; mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, %r9; @%p1 ret;"
    text = neighbor("bar.sync 0;").replace(OWN, f"{leave} {OWN}")
    assert is_proven(text)
    late = neighbor("ld.param.u32 %r9, [n]; setp.ge.u32 %p1, %r1, %r9; @%p1 ret; bar.sync 0;")
    assert not is_proven(late)


@pytest.mark.parametrize("name", ["cp_async_one_stage.sm_80", "hand_double_buffer.sm_80"])
def test_each_barrier_commit_and_wait_is_needed_for_the_proof(name: str) -> None:
    lines = (KERNELS / f"{name}.ptx").read_text().splitlines()
    assert is_proven("\n".join(lines))
    places = [at for at, line in enumerate(lines) if SYNC.match(line)]
    assert len(places) > 3
    unneeded = [at + 1 for at in places if is_proven("\n".join([*lines[:at], *lines[at + 1 :]]))]
    assert unneeded == []
