"""The end of an mbarrier's life: the thread that ends it must be ordered after all other operations on it."""

from __future__ import annotations

import pytest

from ptxkit.emulator import POLICIES
from tests.emulator.support import outcome

BODY = """ .shared .align 8 .b64 bar; .shared .align 4 .b32 left;
 mov.u32 %r1, %tid.x; and.b32 %r2, %r1, 31; mov.u32 %r3, bar; mov.u32 %r4, left; mov.u32 %r5, 64;
 setp.eq.u32 %p0, %r1, 0;
 @%p0 mbarrier.init.shared::cta.b64 [%r3], 64;
 @%p0 st.shared.u32 [%r4], %r5;
 bar.sync 0;
 mbarrier.arrive.shared::cta.b64 %d0, [%r3];
WAIT:
 mbarrier.test_wait.shared::cta.b64 %p1, [%r3], %d0;
 @!%p1 bra WAIT;
 activemask.b32 %r6; match.any.sync.b32 %r7, %r3, %r6; brev.b32 %r8, %r7; bfind.shiftamt.u32 %r8, %r8;
 setp.ne.s32 %p2, %r2, %r8;
 @%p2 bra END;
 popc.b32 %r9, %r7; neg.s32 %r10, %r9;
 FENCE
 atom.add.acquire.cta.shared.u32 %r11, [%r4], %r10;
 setp.ne.s32 %p3, %r11, %r9;
 @%p3 bra END;
 mbarrier.inval.shared::cta.b64 [%r3];
END:
"""


def codes(policy: str, fence: str) -> set[str]:
    found = outcome(BODY.replace("FENCE", fence), 64, policy=policy, seed=5)
    assert not found.unsupported_reason
    assert not found.incomplete_reason
    return {each.code for each in found.findings}


@pytest.mark.parametrize("policy", POLICIES)
def test_a_lane_releases_for_its_warp_by_a_fence_and_an_atomic(policy: str) -> None:
    assert codes(policy, "fence.sc.cta;") == set()


@pytest.mark.parametrize("policy", POLICIES)
def test_a_relaxed_atomic_releases_nothing(policy: str) -> None:
    assert codes(policy, "") == {"PTX507"}
