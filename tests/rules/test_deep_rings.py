"""Rings with more slots than the first sample of the size fills."""

from __future__ import annotations

import pytest

from ptxkit import Verdict, lint

SLOTS = 6
RING = """.version 8.6
.target sm_90a
.address_size 64

.visible .entry kernel(.param .u64 source, .param .u32 size)
.reqntid 32
{
  .shared .align 128 .b8 ring[6144];
  .shared .align 8 .b64 full[6];
  .reg .pred %p<5>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [source];
  cvta.to.global.u64 %rd1, %rd1;
  ld.param.u32 %r1, [size];
  shr.u32 %r1, %r1, 7;
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, full;
  mov.u32 %r4, ring;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra READY;
  mbarrier.init.shared::cta.b64 [%r3], 1;
  mbarrier.init.shared::cta.b64 [%r3+8], 1;
  mbarrier.init.shared::cta.b64 [%r3+16], 1;
  mbarrier.init.shared::cta.b64 [%r3+24], 1;
  mbarrier.init.shared::cta.b64 [%r3+32], 1;
  mbarrier.init.shared::cta.b64 [%r3+40], 1;
READY:
  bar.sync 0;
  mov.u32 %r5, 0;
  mov.u32 %r6, 0;
  mov.u32 %r7, 0;
  setp.eq.u32 %p2, %r1, 0;
  @%p2 bra DONE;
NEXT:
  shl.b32 %r8, %r6, 3;
  add.u32 %r8, %r3, %r8;
  shl.b32 %r9, %r6, 10;
  add.u32 %r9, %r4, %r9;
  @%p1 bra WAIT;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r8], 1024;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%rd1], 1024, [%r8];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r8], %r7;
  @!%p3 bra WAIT;
  bar.sync 0;
  add.u64 %rd1, %rd1, 1024;
  add.u32 %r5, %r5, 1;
  add.u32 %r6, %r6, 1;
  setp.eq.u32 %p4, %r6, 6;
  selp.u32 %r6, 0, %r6, %p4;
  selp.u32 %r10, 1, 0, %p4;
  xor.b32 %r7, %r7, %r10;
  setp.lt.u32 %p4, %r5, %r1;
  @%p4 bra NEXT;
DONE:
  ret;
}
"""
"""One tile of 128 elements in each round: a size of 512 fills four of the six slots."""


def test_a_ring_whose_slots_are_all_initialized_is_clean() -> None:
    assert lint(RING) == Verdict(())


@pytest.mark.parametrize("slot", range(1, SLOTS))
def test_each_slot_of_a_ring_must_be_initialized(slot: int) -> None:
    line = f"  mbarrier.init.shared::cta.b64 [%r3+{slot * 8}], 1;\n"
    assert RING.count(line) == 1
    assert {each.code for each in lint(RING.replace(line, "")).diagnostics} == {"PTX501"}
