"""Kernels that disturb the one under test: they fill shared memory with a pattern, and contend for memory.

Shared memory keeps its contents from one kernel to the next, and the launches of a kernel leave the same contents each
time. A read that comes too early could then find the right value from the launch before. So a kernel fills the shared
memory of all multiprocessors before each trial, which changes nothing in the kernel under test.

The contending CTAs run at the same time on another stream. They write over the lines of the L2 cache, keep the paths to
shared memory busy, and, from sm_90 on, the copy engine by prefetches.
"""

from __future__ import annotations

FILL_KERNEL, CONTENTION_KERNEL = "fill_shared_memory", "contend_for_memory"

FILL_PATTERN = 0x7FC17FC1
"""A quiet NaN as f32, as bf16 and as f16, and a large integer."""

PREFETCH_BYTES = 2048
"""The bytes of each prefetch, which keep the copy engine of a multiprocessor busy."""

_FIRST_WITH_PREFETCH = 90

_TEXT = """.version {version}
.target {target}
.address_size 64
.extern .shared .align 16 .b8 filled[];
.visible .entry fill_shared_memory(.param .u32 words)
{{
    .reg .b32 %r<8>;
    .reg .pred %p;
    ld.param.u32 %r1, [words];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, filled;
    mov.u32 %r5, {pattern};
next:
    setp.ge.u32 %p, %r2, %r1;
    @%p bra done;
    mad.lo.u32 %r6, %r2, 4, %r4;
    st.volatile.shared.u32 [%r6], %r5;
    add.u32 %r2, %r2, %r3;
    bra next;
done:
    ret;
}}
.visible .entry contend_for_memory(.param .u64 buffer, .param .u32 lines, .param .u32 rounds)
{{
    .reg .b32 %r<16>;
    .reg .b64 %rd<4>;
    .reg .pred %p;
    .shared .align 16 .b8 lanes[2048];
    ld.param.u64 %rd1, [buffer];
    cvta.to.global.u64 %rd1, %rd1;
    ld.param.u32 %r1, [lines];
    ld.param.u32 %r2, [rounds];
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mov.u32 %r5, %tid.x;
    mad.lo.u32 %r3, %r3, %r4, %r5;
    mov.u32 %r6, lanes;
    and.b32 %r7, %r5, 127;
    mad.lo.u32 %r6, %r7, 16, %r6;
next:
    mad.lo.u32 %r3, %r3, 1664525, 1013904223;
    shr.u32 %r7, %r3, 4;
    rem.u32 %r7, %r7, %r1;
    mul.wide.u32 %rd2, %r7, 16;
    add.s64 %rd2, %rd1, %rd2;
    ld.volatile.global.v4.u32 {{%r8, %r9, %r10, %r11}}, [%rd2];
    st.volatile.shared.v4.u32 [%r6], {{%r8, %r9, %r10, %r11}};
    ld.volatile.shared.v4.u32 {{%r8, %r9, %r10, %r11}}, [%r6];
    st.volatile.global.v4.u32 [%rd2], {{%r11, %r8, %r9, %r10}};
{prefetch}    sub.u32 %r2, %r2, 1;
    setp.ne.u32 %p, %r2, 0;
    @%p bra next;
    ret;
}}
"""


def disturbing_text(architecture: int) -> str:
    """Returns the PTX of both kernels, for the number of an architecture, such as 90."""
    has_prefetch = architecture >= _FIRST_WITH_PREFETCH
    prefetch = f"    cp.async.bulk.prefetch.L2.global [%rd2], {PREFETCH_BYTES};\n" if has_prefetch else ""
    version, target = ("8.0", "sm_90") if has_prefetch else ("6.3", "sm_70")
    return _TEXT.format(version=version, target=target, pattern=FILL_PATTERN, prefetch=prefetch)
