"""Which orders are proven where one role's loop is unrolled, and another one's is not or in another way."""

from __future__ import annotations

import pytest

from tests.analysis.intervals.test_interval_proofs import is_proven
from tests.rules.test_address_proofs import kernel

#: A ring of one slot. Both roles take the steps `{producer}` and `{consumer}` `n` times.
RING = """
.reg .pred %p<9>; .reg .b32 %i<9>; .shared .align 8 .b64 full; .shared .align 8 .b64 empty;
.shared .align 16 .b8 slot[512];
mov.u32 %r1, %tid.x; mov.u32 %r2, full; mov.u32 %r3, empty; mov.u32 %r4, slot; shl.b32 %r5, %r1, 2;
ld.param.u32 %r9, [n]; ld.param.u64 %rd1, [p]; setp.ne.u32 %p1, %r1, 0; @%p1 bra READY;
mbarrier.init.shared.b64 [%r2], 1; mbarrier.init.shared.b64 [%r3], 32;
READY: bar.sync 0; setp.lt.s32 %p1, %r9, 1; @%p1 bra DONE;
setp.ge.u32 %p1, %r1, 32; @%p1 bra CONSUMER; setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE;
mov.u32 %r7, 1;
{producer}
bra DONE;
CONSUMER: setp.ge.u32 %p1, %r1, 64; @%p1 bra DONE; mov.u32 %r7, 0; add.s32 %r8, %r4, %r5;
{consumer}
DONE: {last}
"""
#: After the loops, no copy is in progress if both roles count equally often.
LAST = "bar.sync 0; add.s32 %r11, %r4, %r5; st.shared.u32 [%r11], %r1; ret;"
FILL = """
add.s32 %r13, %r4, 0;
FREE{at}: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], %r7; @!%p2 bra FREE{at}; xor.b32 %r7, %r7, 1;
mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 512;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1], 512, [%r2];
"""
READ = """
add.s32 %r13, %r4, 0;
FULL{at}: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], %r7; @!%p2 bra FULL{at}; xor.b32 %r7, %r7, 1;
ld.shared.u32 %r10, [%r8]; mbarrier.arrive.shared.b64 _, [%r3];
"""


def rolled_loop(body: str, role: str) -> str:
    return f"""
    mov.u32 %i1, 0;
    {role}: {body.replace("{at}", role)}
    add.s32 %i1, %i1, 1; setp.lt.s32 %p3, %i1, %r9; @%p3 bra {role};
    """


def unrolled_loop(body: str, role: str, *, factor: int = 4, rest: int = 0) -> str:
    """Returns a loop as compilers unroll it, with a loop for the last steps. rest: added to their number."""
    steps = "\n".join(body.replace("{at}", f"{role}{number}") for number in range(factor))
    return f"""
    and.b32 %i2, %r9, {factor - 1}; add.s32 %i3, %r9, -1; setp.lt.u32 %p3, %i3, {factor - 1}; @%p3 bra {role}REST;
    sub.s32 %i4, %r9, %i2;
    {role}: {steps}
    add.s32 %i4, %i4, -{factor}; setp.ne.s32 %p3, %i4, 0; @%p3 bra {role};
    {role}REST: setp.eq.s32 %p4, %i2, 0; @%p4 bra DONE;
    add.s32 %i2, %i2, {rest};
    {role}ONE: {body.replace("{at}", f"{role}LAST")}
    add.s32 %i2, %i2, -1; setp.ne.s32 %p5, %i2, 0; @%p5 bra {role}ONE;
    """


def ring(producer: str, consumer: str) -> str:
    text = RING.replace("{producer}", producer).replace("{consumer}", consumer).replace("{last}", LAST)
    return kernel(text)


@pytest.mark.parametrize("factor", [2, 4, 8])
def test_an_unrolled_producer_fills_as_often_as_a_consumer_reads(factor: int) -> None:
    assert is_proven(ring(unrolled_loop(FILL, "P", factor=factor), rolled_loop(READ, "C")))


def test_both_roles_are_unrolled_by_different_factors() -> None:
    assert is_proven(ring(unrolled_loop(FILL, "P", factor=4), unrolled_loop(READ, "C", factor=2)))


@pytest.mark.parametrize("rest", [-1, 1])
def test_a_rest_of_another_length_is_not_proven(rest: int) -> None:
    assert not is_proven(ring(unrolled_loop(FILL, "P", rest=rest), rolled_loop(READ, "C")))


def test_a_loop_without_the_rest_is_not_proven() -> None:
    producer = unrolled_loop(FILL, "P").replace("@%p4 bra DONE;", "bra DONE;")
    assert not is_proven(ring(producer, rolled_loop(READ, "C")))


def test_a_rest_that_is_counted_although_the_loop_was_skipped_for_another_reason_is_not_proven() -> None:
    """The number may be larger than the rest there."""
    producer = unrolled_loop(FILL, "P").replace("setp.lt.u32 %p3, %i3, 3;", "setp.lt.u32 %p3, %i3, 9;")
    assert not is_proven(ring(producer, rolled_loop(READ, "C")))


def test_data_that_only_decides_about_a_trap_does_not_divide_threads() -> None:
    use = "setp.ne.u32 %p6, %r10, 7; {after}"
    checked = ring(rolled_loop(FILL, "P"), rolled_loop(READ + use, "C"))
    assert is_proven(checked.replace("{after}", ""))
    trapping = checked.replace("{after}", "@%p6 bra BAD;").replace(LAST, f"{LAST} BAD: trap;")
    assert is_proven(trapping)
    assert not is_proven(trapping.replace("trap;", "ret;"))
