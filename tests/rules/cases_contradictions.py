"""Kernels that need different values of one argument."""

from __future__ import annotations

from tests.rules.support import Case

COPY = "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes"


def copies(first: str, second: str, mark: str) -> str:
    """Two bulk copies by thread 0, whose sizes are computed from the argument."""
    return (
        "@!%p1 bra waiting;\nmbarrier.init.shared::cta.b64 [%r5], 1; fence.proxy.async.shared::cta;\n"
        f"{first} {second} add.u32 %r12, %r10, %r11; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], %r12;\n"
        f"{COPY} [%r2], [%rd1], %r10, [%r5]; //= first\n"
        f"{COPY} [%r8], [%rd1], %r11, [%r5]; {mark}\n"
        "waiting: bar.sync 0;\nagain: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], 0; @!%p3 bra again;"
    )


CASES = (
    Case(
        "two sizes that differ by 4 are not both multiples of 16",
        copies("mov.u32 %r10, %r6;", "add.u32 %r11, %r6, 4;", "//! PTX804 first"),
    ),
    Case(
        "two sizes that differ by 8 after a multiplication by 2 are not both multiples of 16",
        copies("shl.b32 %r10, %r6, 1;", "add.u32 %r11, %r10, 8;", "//! PTX804 first"),
    ),
    Case(
        "two sizes that differ by 16 may both be multiples of 16",
        copies("mov.u32 %r10, %r6;", "add.u32 %r11, %r6, 16;", ""),
    ),
    Case(
        "a choice between two equal sizes is that size",
        copies(
            "mov.u32 %r10, %r6; ld.global.u32 %r12, [%rd1]; setp.gt.u32 %p4, %r12, 7;",
            "add.u32 %r11, %r6, 4; selp.b32 %r11, %r11, %r11, %p4;",
            "//! PTX804 first",
        ),
    ),
    Case(
        "two sizes that differ by 4 in a branch that data decide",
        "ld.global.u32 %r13, [%rd2]; setp.eq.u32 %p4, %r13, 0; @%p4 bra end;\n"
        + copies("mov.u32 %r10, %r6;", "add.u32 %r11, %r6, 4;", "")
        + "end:",
        undecided=("PTX804",),
    ),
    Case(
        "two sizes that differ by 4 in the two sides of a branch",
        "ld.global.u32 %r13, [%rd2]; setp.eq.u32 %p4, %r13, 0; add.u32 %r10, %r6, 4; @%p4 bra next;\n"
        "cp.async.bulk.prefetch.L2.global [%rd1], %r6; bra end;\n"
        "next: cp.async.bulk.prefetch.L2.global [%rd1], %r10; end:",
    ),
    Case(
        "two sizes that differ by 4 under opposite guards",
        "ld.global.u32 %r13, [%rd2]; setp.eq.u32 %p4, %r13, 0; add.u32 %r10, %r6, 4;\n"
        "@%p4 cp.async.bulk.prefetch.L2.global [%rd1], %r6; @!%p4 cp.async.bulk.prefetch.L2.global [%rd1], %r10;",
    ),
)
