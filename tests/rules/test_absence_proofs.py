"""Which kernels have no flags, no selected CTAs and no contradicting instructions, and on what the proofs rest."""

from __future__ import annotations

import pytest

from ptxkit.diagnostics.obligation import ObligationVerdict
from tests.rules.test_address_proofs import GLOBAL, verdicts

LOAD = "ld.global.u32 %r5, [%rd2];"
POLL = f"L: {LOAD} setp.eq.u32 %p1, %r5, 0; @%p1 bra L;"
COUNTED = f"mov.u32 %r6, 0; L: {LOAD} add.u32 %r7, %r7, %r5; add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 4; @%p1 bra L;"
FLAGS = [
    POLL,
    # through other registers, a guard, a branch, a vote, shared memory, a barrier and an exit
    f"L: {LOAD} add.u32 %r6, %r5, 1; mov.u32 %r7, %r6; setp.eq.u32 %p1, %r7, 1; @%p1 bra L;",
    f"mov.u32 %r6, 0; L: {LOAD} setp.ne.u32 %p2, %r5, 0; @%p2 mov.u32 %r6, 1; setp.eq.u32 %p1, %r6, 0; @%p1 bra L;",
    f"mov.u32 %r6, 0; L: {LOAD} setp.eq.u32 %p2, %r5, 0; @%p2 bra M; mov.u32 %r6, 1; M: setp.eq.u32 %p1, %r6, 0;"
    " @%p1 bra L;",
    f"L: {LOAD} setp.eq.u32 %p2, %r5, 0; vote.sync.any.pred %p1, %p2, 0xffffffff; @%p1 bra L;",
    f"L: {LOAD} st.shared.u32 [tile], %r5; bar.sync 0; ld.shared.u32 %r6, [tile]; setp.eq.u32 %p1, %r6, 0; @%p1 bra L;",
    "L: cp.async.ca.shared.global [tile], [%rd2], 4; cp.async.wait_all; ld.shared.u32 %r6, [tile];"
    " setp.eq.u32 %p1, %r6, 0; @%p1 bra L;",
    f"L: {LOAD} setp.eq.u32 %p2, %r5, 0; barrier.cta.red.or.pred %p1, 0, %p2; @%p1 bra L;",
    f"L: {LOAD} setp.ne.u32 %p2, %r5, 0; @%p2 exit; bra L;",
    "L: atom.global.add.u32 %r5, [%rd2], 0; setp.eq.u32 %p1, %r5, 0; @%p1 bra L;",
    "L: ld.u32 %r5, [%rd1]; setp.eq.u32 %p1, %r5, 0; @%p1 bra L;",
    f"L: mov.u32 %r6, 0; M: {LOAD} add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 4; @%p2 bra M; setp.eq.u32 %p1, %r5, 0;"
    " @%p1 bra L;",
]


@pytest.mark.parametrize("body", FLAGS)
def test_a_loop_that_may_wait_for_global_memory_leaves_flags_open(body: str) -> None:
    found = verdicts(GLOBAL + body, "PTX624")
    assert found
    assert all(each.verdict is not ObligationVerdict.DISCHARGED for each in found)


@pytest.mark.parametrize(
    "body",
    [
        LOAD,
        COUNTED,
        f"{LOAD} mov.u32 %r6, 0; L: add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, %r5; @%p1 bra L;",
        f"mov.u32 %r6, 0; L: {LOAD} setp.eq.u32 %p2, %r5, 7; @%p2 bra M; st.shared.u32 [tile], %r5; M:"
        " add.u32 %r6, %r6, 1; setp.lt.u32 %p1, %r6, 4; @%p1 bra L;",
    ],
)
def test_a_kernel_without_such_a_loop_has_no_flag(body: str) -> None:
    found = verdicts(GLOBAL + body, "PTX624")
    assert [each.evidence for each in found] == ["no other"] * len(found)


@pytest.mark.parametrize(
    ("body", "evidence"),
    [
        ("red.global.add.u32 [%rd2], 1; ld.global.u32 %r5, [%rd2+64];", "no other"),
        ("atom.global.add.u32 %r5, [%rd2], 1; ld.global.u32 %r6, [%rd2+64];", "no other"),
        ("atom.global.add.u32 %r5, [%rd2], 1; setp.eq.u32 %p1, %r5, 1; @%p1 ld.global.u32 %r6, [%rd2+64];", ""),
        ("atom.add.u32 %r5, [%rd1], 1; setp.eq.u32 %p1, %r5, 1; @%p1 ld.global.u32 %r6, [%rd2+64];", ""),
        ("red.global.add.u32 [%rd2], 1; ld.relaxed.gpu.global.u32 %r6, [%rd2];", ""),
    ],
)
def test_an_atomic_selects_no_cta_if_nothing_uses_its_result(body: str, evidence: str) -> None:
    found = verdicts(GLOBAL + body, "PTX623")
    assert [each.evidence for each in found] == [evidence] * len(found)


MAPS = ".param .align 64 .b8 m[128], .param .align 64 .b8 o[128], .param .u32 n"
COPY = (
    "mov.u64 %rd1, {0}; cvta.param.u64 %rd2, %rd1; cp.async.bulk.tensor.{1}d.global.shared::cta.bulk_group"
    " [%rd2, {{{2}}}], [tile];"
)
BULK = "cp.async.bulk.global.shared::cta.bulk_group [%rd2], [tile], {};"


@pytest.mark.parametrize(
    ("body", "evidence"),
    [
        (COPY.format("m", 1, "%r1") + COPY.format("o", 2, "%r1, %r1"), "no demand"),
        (COPY.format("m", 1, "%r1") + COPY.format("m", 1, "%r1"), "no demand"),
        (COPY.format("m", 1, "%r1") + "@%p1 bra L;" + COPY.format("m", 2, "%r1, %r1") + "L:", ""),
        (BULK.format(64), "no demand"),
        ("shl.b32 %r3, %r2, 4; and.b32 %r4, %r3, 63;" + BULK.format("%r4"), "no demand"),
        ("ld.param.u32 %r4, [n];" + BULK.format("%r4"), "no demand"),
        (
            "ld.param.u32 %r4, [n]; add.u32 %r5, %r4, 8;"
            + BULK.format("%r4")
            + "@%p1 bra L;"
            + BULK.format("%r5")
            + "L:",
            "",
        ),
        ("ld.param.u32 %r4, [n]; mul.lo.u32 %r4, %r4, %r4;" + BULK.format("%r4"), ""),
    ],
)
def test_numbers_that_no_argument_decides_cannot_contradict(body: str, evidence: str) -> None:
    found = [
        each for each in verdicts(body, "PTX804", parameters=MAPS) if each.verdict is not ObligationVerdict.VIOLATED
    ]
    assert found
    assert {each.evidence for each in found} == {evidence}
