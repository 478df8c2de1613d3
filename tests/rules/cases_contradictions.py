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


_PREFETCH = """.func prefetch(.param .b64 a, .param .b32 first, .param .b32 second, .param .b32 flag)
{{ .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>; ld.param.b64 %rd1, [a]; ld.param.b32 %r1, [first];
ld.param.b32 %r2, [second]; ld.param.b32 %r3, [flag]; setp.ne.b32 %p1, %r3, 0;
{0} cp.async.bulk.prefetch.L2.global [%rd1], %r1; {1} cp.async.bulk.prefetch.L2.global [%rd1], %r2; ret; }}"""
_CALL = """ld.global.u32 %r13, [%rd2]; add.u32 %r10, %r6, {0}; {{ .param .b64 a; .param .b32 b, c, d;
st.param.b64 [a], %rd1; st.param.b32 [b], %r6; st.param.b32 [c], %r10; st.param.b32 [d], %r13;
call prefetch, (a, b, c, d); }}"""


CASES = (
    Case(
        "a function needs two sizes that differ by 4",
        _CALL.format(4),
        before=_PREFETCH.format("", ""),
        undecided=("PTX804",),
    ),
    Case("a function needs two sizes that differ by 16", _CALL.format(16), before=_PREFETCH.format("", "")),
    Case(
        "a function needs two sizes that differ by 4 under opposite guards",
        _CALL.format(4),
        before=_PREFETCH.format("@%p1", "@!%p1"),
        undecided=("PTX206",),
    ),
    Case(
        "a function needs a size that differs by 4 from one of the kernel",
        f"cp.async.bulk.prefetch.L2.global [%rd1], %r6;\n{_CALL.format(4)}",
        before=_PREFETCH.format("@%p1", ""),
        undecided=("PTX804",),
    ),
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
