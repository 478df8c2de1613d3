"""Which orders are proven where the stage of a ring is the remainder of a counter, as compilers compute it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ptxkit.analysis.values.counter_fractions import divisor_of, reciprocal
from ptxkit.semantics.value_ops import INTEGER_OPERATIONS
from tests.analysis.intervals.test_interval_proofs import is_proven
from tests.rules.test_address_proofs import kernel

#: A ring of three stages. The number of an iteration is divided by three with the reciprocal, in both roles.
RING = """
.reg .pred %p<9>; .reg .b32 %i<20>; .shared .align 8 .b64 bars[8];
.shared .align 16 .b8 slots[1536];
mov.u32 %r1, %tid.x; mov.u32 %r2, bars; add.s32 %r3, %r2, 32; mov.u32 %r4, slots; shl.b32 %r5, %r1, 2;
ld.param.u32 %r9, [n]; ld.param.u64 %rd1, [p]; setp.ne.u32 %p1, %r1, 0; @%p1 bra READY;
mbarrier.init.shared.b64 [%r2], 1; mbarrier.init.shared.b64 [%r2+8], 1; mbarrier.init.shared.b64 [%r2+16], 1;
mbarrier.init.shared.b64 [%r3], 32; mbarrier.init.shared.b64 [%r3+8], 32; mbarrier.init.shared.b64 [%r3+16], 32;
READY: bar.sync 0; setp.lt.s32 %p1, %r9, 1; @%p1 bra DONE;
mov.u32 %i1, 0;
setp.ge.u32 %p1, %r1, 32; @%p1 bra CONSUMER; setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE;
mov.u32 %i2, slots; mov.u32 %i3, bars;
FILL: {divide}
mul.lo.s32 %i5, %i4, 1536; sub.s32 %i6, %i2, %i5;
mul.lo.s32 %i5, %i4, 24; sub.s32 %i7, %i3, %i5; add.s32 %i8, %i7, 32;
not.b32 %i9, %i4; and.b32 %i9, %i9, 1;
FREE: mbarrier.try_wait.parity.shared.b64 %p2, [%i8], %i9; @!%p2 bra FREE;
mbarrier.arrive.expect_tx.shared.b64 _, [%i7], 512;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%i6], [%rd1], 512, [%i7];
add.s32 %i2, %i2, {step}; add.s32 %i3, %i3, 8;
add.s32 %i1, %i1, 1; setp.lt.s32 %p3, %i1, %r9; @%p3 bra FILL; bra DONE;
CONSUMER: setp.ge.u32 %p1, %r1, 64; @%p1 bra DONE; sub.s32 %i10, %r5, 128;
READ: {divide}
mul.lo.s32 %i5, %i4, -3; add.s32 %i5, %i5, %i1; shl.b32 %i6, %i5, 9; add.s32 %i6, %i6, %r4; add.s32 %i6, %i6, %i10;
shl.b32 %i7, %i5, 3; add.s32 %i8, %i7, %r2; add.s32 %i9, %i7, %r3; and.b32 %i11, %i4, 1;
FULL: mbarrier.try_wait.parity.shared.b64 %p2, [%i8], %i11; @!%p2 bra FULL;
ld.shared.u32 %r10, [%i6]; mbarrier.arrive.shared.b64 _, [%i9];
add.s32 %i1, %i1, 1; setp.lt.s32 %p3, %i1, %r9; @%p3 bra READ;
DONE: ret;
"""
SIGNED = "mul.hi.s32 %i4, %i1, 1431655766; shr.u32 %i5, %i4, 31; add.s32 %i4, %i4, %i5;"
UNSIGNED = "mul.hi.u32 %i4, %i1, -1431655765; shr.u32 %i4, %i4, 1;"
PLAIN = "div.s32 %i4, %i1, 3;"


def ring(divide: str, *, step: int = 512) -> str:
    """Returns the ring. step: how far the producer advances its address, in bytes."""
    return kernel(RING.replace("{divide}", divide).replace("{step}", str(step)))


@pytest.mark.parametrize("divide", [SIGNED, UNSIGNED, PLAIN])
def test_a_stage_is_the_remainder_of_a_counter(divide: str) -> None:
    assert is_proven(ring(divide))


def test_a_copy_into_another_stage_is_not_proven() -> None:
    assert not is_proven(ring(SIGNED, step=256))


def test_a_divisor_other_than_the_number_of_stages_is_not_proven() -> None:
    assert not is_proven(ring(PLAIN.replace("3", "2")))


@pytest.mark.parametrize("constant", [0x55555556, 0xAAAAAAAB, 0xCCCCCCCD, 0x66666667, 0x24924925, 0x1BACF915])
def test_the_upper_half_of_a_product_with_a_reciprocal_is_a_quotient(constant: int) -> None:
    factor = reciprocal(constant, 32)
    assert factor is not None
    assert divisor_of(constant, is_reciprocal=True) is not None
    upper_half = INTEGER_OPERATIONS["mul_hi"].compute
    numbers = [*range(200), *range((1 << 26) - 200, 1 << 26), *range(0, 1 << 26, 999_983)]
    for number in numbers:
        assert upper_half(32, False, number, constant) == int(number * Fraction(factor))


def test_other_numbers_are_not_reciprocals() -> None:
    assert reciprocal(0x40000000, 32) is None
    assert reciprocal(12345, 32) is None
