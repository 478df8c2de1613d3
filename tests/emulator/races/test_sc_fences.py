"""Fences of other threads than those that count: sequentially consistent ones order what they precede and follow."""

from __future__ import annotations

import numpy
import pytest

from ptxkit.emulator import run
from tests.emulator.support import kernel

#: Each CTA stores a word for each thread, and its first thread counts; the last one reads the words of all CTAs.
LAST_CTA = """ .shared .u32 last;
 ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r1, 0;
 mad.lo.u32 %r3, %r2, 64, %r1; mul.wide.u32 %d2, %r3, 4; add.u64 %d2, %d1, %d2;
 st.global.u32 [%d2+512], %r3; {before} {met}
 @%p1 bra COUNTED; {count} st.shared.u32 [last], %r4;
COUNTED: bar.sync 0; ld.shared.u32 %r4, [last]; setp.ne.u32 %p2, %r4, {number}; @%p2 bra END;
 {after} xor.b32 %r5, %r1, 32; mul.wide.u32 %d2, %r5, 4; add.u64 %d2, %d1, %d2;
 ld.global.u32 %r6, [%d2+512]; ld.global.u32 %r7, [%d2+768];
END:
"""
SC, WEAKER, MET = "fence.sc.gpu;", "fence.acq_rel.gpu;", "bar.sync 0;"
COUNT = "atom.relaxed.gpu.global.add.u32 %r4, [%d1], 1;"
BY_PARTS = "st.relaxed.gpu.global.u32 [%d1+4], 1; atom.relaxed.gpu.global.add.u32 %r4, [%d1], 1;"
CASES = [
    ("sc fences", SC, MET, COUNT, SC, False),
    ("old names of the fences", "membar.gl;", MET, COUNT, "membar.sys;", False),
    ("another write before the count", SC, MET, BY_PARTS, SC, False),
    ("weaker fences of other threads", WEAKER, MET, COUNT, WEAKER, True),
    ("a weaker fence before", WEAKER, MET, COUNT, SC, True),
    ("a weaker fence after", SC, MET, COUNT, WEAKER, True),
    ("no fence before", "", MET, COUNT, SC, True),
    ("no fence after", SC, MET, COUNT, "", True),
    ("no barrier before the count", SC, "", COUNT, SC, True),
    ("fences of the CTA", "fence.sc.cta;", MET, COUNT, "fence.sc.cta;", True),
    ("a count of the CTA", SC, MET, COUNT.replace(".gpu", ".cta"), SC, True),
]


@pytest.mark.parametrize(
    ("before", "met", "count", "after", "races"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_sc_fences_of_other_threads_order_where_a_count_is_between(
    before: str, met: str, count: str, after: str, races: bool
) -> None:
    text = kernel(LAST_CTA.format(before=before, met=met, count=count, after=after, number=1), ".param .u64 a")
    codes: set[str] = set()
    for seed in range(4):
        found = run(text, "k", grid=2, block=64, arguments=[numpy.zeros(256, numpy.uint32)], policy="random", seed=seed)
        assert not found.unsupported_reason, found.unsupported_reason
        codes |= {each.code for each in found.findings}
    assert ("PTX621" in codes) is races
