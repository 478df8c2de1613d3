"""Small kernels with the forms that no other comparison with hardware covers: `scripts/device_same` runs them."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.testing.hardware.form_template import FormKernel

_INIT = """
 setp.eq.u32 %p0, %r11, 0;
 @%p0 mbarrier.init.shared.b64 [bars], 64; @%p0 mbarrier.init.shared.b64 [bars+8], 1;
 fence.mbarrier_init.release.cluster; bar.sync 0;
"""
_WAIT = """
 {{ .reg .pred %done;
AGAIN{at}: mbarrier.try_wait.parity.shared.b64 %done, [bars+{at}], 0;
 @!%done bra AGAIN{at}; }}
"""


def form_kernels() -> Iterator[FormKernel]:
    """Yields all of them."""
    yield from _REGISTER_KERNELS
    yield from _MEMORY_KERNELS
    yield from _THREAD_KERNELS
    yield from _COPY_KERNELS


# ------------------------------------------------------------------------------------------------ registers and calls

_REGISTER_KERNELS = (
    FormKernel(
        "moves",
        """
 mov.b128 %q0, {%d4, %d5}; mov.b128 %q1, %q0; mov.b128 {%d8, %d9}, %q1;
 mov.b64 {%r20, %r21}, %d8; mov.b64 {%r22, %r23}, %d9;
 mov.b64 {%h0, %h1, %h2, %h3}, %d6; mov.b64 %d8, {%h3, %h1, %h0, %h2}; mov.b64 {%r24, %r25}, %d8;
""",
    ),
    FormKernel("vector_moves", " mov.v4.b32 {%r20, %r21, %r22, %r23}, {%r4, %r3, %r2, %r1};\n", "9.4"),
    FormKernel(
        "carries",
        """
 add.cc.u32 %r20, %r1, %r2; addc.cc.u32 %r21, %r3, %r4; addc.u32 %r22, %r5, %r6;
 sub.cc.u32 %r23, %r1, %r2; subc.cc.u32 %r24, %r3, %r4; subc.u32 %r25, %r5, %r6;
 mad.lo.cc.u32 %r26, %r1, %r2, %r3; madc.hi.cc.u32 %r27, %r1, %r2, %r4; madc.lo.u32 %r28, %r5, %r6, %r7;
 mad.hi.cc.u32 %r29, %r5, %r6, %r7; madc.lo.cc.u32 %r30, %r1, %r3, %r5; madc.hi.u32 %r31, %r2, %r4, %r6;
 add.cc.u64 %d8, %d4, %d5; addc.u64 %d9, %d6, %d7;
 xor.b64 %d8, %d8, %d9; mov.b64 {%r32, %r33}, %d8;
 sub.cc.u64 %d8, %d4, %d5; subc.u64 %d9, %d6, %d7; xor.b64 %d8, %d8, %d9; mov.b64 {%r34, %r35}, %d8;
""",
    ),
    FormKernel(
        "products_without_carries",
        """
 clmad.lo.u64 %d8, %d4, %d5, %d6; mov.b64 {%r20, %r21}, %d8;
 clmad.hi.u64 %d8, %d4, %d5, %d6; mov.b64 {%r22, %r23}, %d8;
""",
        "9.3",
    ),
    FormKernel(
        "calls",
        """
 ONE: .callprototype (.param .b32 _) _ (.param .b32 _);
 TWO: .callprototype _ (.param .b64 _, .param .b32 _);
 NONE: .callprototype _ ();
 mov.u64 %d8, twice; mov.u64 %d9, into; mov.u64 %d10, nothing;
 { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), %d8, (a), ONE; ld.param.b32 %r20, [b]; }
 { .param .b64 a; .param .b32 b; st.param.b64 [a], %d3; st.param.b32 [b], %r2; call %d9, (a, b), TWO; }
 ld.global.u32 %r21, [%d3];
 call %d10, NONE;
 { .param .b32 a; .param .b32 b; st.param.b32 [a], %r3; call (b), twice, (a); ld.param.b32 %r22, [b]; }
 { .param .b64 a; .param .b32 b; st.param.b64 [a], %d3; st.param.b32 [b], %r4; call into, (a, b); }
 ld.global.u32 %r23, [%d3]; call nothing;
 and.b32 %r14, %r11, 3; min.u32 %r14, %r14, 2;
LIST: .branchtargets FIRST, SECOND, OTHERS;
 brx.idx %r14, LIST;
FIRST: mov.u32 %r24, %r5; bra MET;
SECOND: mov.u32 %r24, %r6; bra MET;
OTHERS: mov.u32 %r24, %r7;
MET:
 setp.lt.u32 %p1, %r11, 5; @%p1 st.global.u32 [%d1], %r20; @%p1 exit;
""",
        preamble="""
.func (.param .b32 result) twice(.param .b32 given)
{ .reg .b32 %r<2>; ld.param.b32 %r0, [given]; add.u32 %r1, %r0, %r0; st.param.b32 [result], %r1; ret; }
.func into(.param .b64 place, .param .b32 given)
{ .reg .b32 %r<2>; .reg .b64 %d<2>; ld.param.b64 %d0, [place]; ld.param.b32 %r0, [given];
 st.global.b32 [%d0], %r0; ret; }
.func nothing() { ret; }
""",
    ),
    FormKernel(
        "stack",
        """
 stacksave.u64 %d8; alloca.u64 %d9, 64, 16; st.local.v4.u32 [%d9], {%r1, %r2, %r3, %r4};
 alloca.u64 %d10, 32; st.local.u32 [%d10], %r5;
 and.b32 %r14, %r11, 3; mul.wide.u32 %d11, %r14, 4; add.u64 %d11, %d9, %d11; ld.local.u32 %r20, [%d11];
 ld.local.u32 %r21, [%d10]; and.b64 %d12, %d9, 15; cvt.u32.u64 %r22, %d12;
 stackrestore.u64 %d8; pmevent 3; pmevent.mask 5;
""",
    ),
)

# ----------------------------------------------------------------------------------------------------------- memory

_MEMORY_KERNELS = (
    FormKernel(
        "hints",
        """
 createpolicy.fractional.L2::evict_first.b64 %d8, 0.5; createpolicy.range.global.L2::evict_last.b64 %d9, [%d3], 64, 128;
 createpolicy.cvt.L2.b64 %d10, %d8;
 prefetch.global.L1 [%d3]; prefetch.global.L2::evict_last [%d3]; prefetchu.L1 [%d3];
 applypriority.global.L2::evict_normal [%d3], 128;
 ld.global.L1::evict_last.u32 %r20, [%d3]; ld.global.L1::no_allocate.L2::cache_hint.v2.u32 {%r21, %r22}, [%d3+8], %d9;
 ldu.global.v2.u32 {%r23, %r24}, [%d3+16]; ld.global.L2::cache_hint.u32 %r25, [%d3+24], %d10;
 discard.global.L2 [%d3], 128;
 st.global.L1::evict_last.u32 [%d3], %r2; st.global.L1::no_allocate.L2::cache_hint.v2.u32 [%d3+8], {%r3, %r4}, %d9;
 st.global.u32 [%d3+4], %r5; st.global.v4.u32 [%d3+16], {%r1, %r2, %r3, %r4};
 st.global.v4.u32 [%d3+32], {%r5, %r6, %r7, %r8}; st.global.v4.u32 [%d3+48], {%r5, %r6, %r7, %r8};
 st.global.v4.u32 [%d3+64], {%r5, %r6, %r7, %r8}; st.global.v4.u32 [%d3+80], {%r5, %r6, %r7, %r8};
 st.global.v4.u32 [%d3+96], {%r5, %r6, %r7, %r8}; st.global.v4.u32 [%d3+112], {%r5, %r6, %r7, %r8};
 ld.global.u32 %r26, [%d3+8];
""",
    ),
    FormKernel(
        "memory_mapped",
        """
 st.mmio.relaxed.sys.global.u32 [%d3], %r2; ld.mmio.relaxed.sys.global.u32 %r20, [%d3];
 st.mmio.relaxed.sys.global.u64 [%d3+8], %d5; ld.mmio.relaxed.sys.global.u16 %h0, [%d3+8]; cvt.u32.u16 %r21, %h0;
""",
    ),
    FormKernel("read_only_loads", " ld.global.u32.proxy::readonly %r20, [%d0];\n", "9.4"),
    FormKernel(
        "compare_and_swap",
        """
 ld.global.u32 %r14, [%d3+4]; and.b32 %r15, %r11, 1; add.u32 %r15, %r14, %r15;
 atom.global.cas.b32 %r20, [%d3+4], %r15, %r7; atom.global.cas.b32 %r21, [%d3+4], %r7, %r8;
 atom.global.cas.b64 %d8, [%d3+8], %d5, %d6; mov.b64 {%r22, %r23}, %d8;
 mov.b32 {%h0, %h1}, %r1; mov.b32 {%h2, %h3}, %r2; atom.global.cas.b16 %h4, [%d3+2], %h1, %h2; mov.b32 %r24, {%h4, %h4};
 mov.b128 %q0, {%d6, %d7}; mov.b128 %q1, {%d4, %d5}; atom.global.cas.b128 %q2, [%d3+16], %q0, %q1;
 mov.b128 {%d8, %d9}, %q2; mov.b64 {%r25, %r26}, %d8; mov.b64 {%r27, %r28}, %d9;
 atom.shared.exch.b32 %r14, [%r13], %r3; atom.acq_rel.cta.shared.cas.b32 %r29, [%r13], %r3, %r4;
""",
    ),
    FormKernel(
        "atomic_sums_of_halves",
        """
 mov.b32 {%h0, %h1}, %r3; mov.b32 {%h2, %h3}, %r4;
 atom.global.add.noftz.f16x2 %r20, [%d3], %r5; atom.global.add.noftz.bf16x2 %r21, [%d3+4], %r6;
 atom.global.add.noftz.f16 %h4, [%d3+8], %h0; atom.global.add.noftz.bf16 %h5, [%d3+10], %h2;
 mov.b32 %r22, {%h4, %h5};
 red.global.add.noftz.f16x2 [%d3+12], %r5; red.global.add.noftz.bf16x2 [%d3+16], %r6;
 red.global.add.noftz.f16 [%d3+20], %h1; red.global.add.noftz.bf16 [%d3+22], %h3;
 st.shared.u32 [%r13], %r1; red.shared.add.noftz.f16x2 [%r13], %r2; ld.shared.u32 %r23, [%r13];
 atom.relaxed.gpu.global.add.noftz.v2.f16 {%h6, %h7}, [%d3+32], {%h0, %h1}; mov.b32 %r24, {%h6, %h7};
 atom.global.min.noftz.v2.bf16x2 {%r25, %r26}, [%d3+40], {%r7, %r8};
 atom.global.max.noftz.v4.f16x2 {%r27, %r28, %r29, %r30}, [%d3+48], {%r1, %r2, %r3, %r4};
 atom.global.add.noftz.v4.bf16x2 _, [%d3+64], {%r4, %r3, %r2, %r1};
 red.global.add.noftz.v2.f16x2 [%d3+80], {%r1, %r2}; red.global.max.noftz.v4.bf16x2 [%d3+96], {%r1, %r2, %r3, %r4};
 red.release.gpu.global.min.noftz.v8.f16 [%d3+112], {%h0, %h1, %h2, %h3, %h4, %h5, %h6, %h7};
""",
    ),
    FormKernel(
        "atomic_sums_of_vectors",
        """
 mov.b32 %f0, %r1; mov.b32 %f1, %r2; mov.b32 %f2, %r3; mov.b32 %f3, %r4;
 atom.global.add.v2.f32 {%f4, %f5}, [%d3], {%f2, %f3}; mov.b32 %r20, %f4; mov.b32 %r21, %f5;
 atom.global.add.v4.f32 {%f4, %f5, %f6, %f7}, [%d3+16], {%f0, %f1, %f2, %f3}; mov.b32 %r22, %f4; mov.b32 %r23, %f7;
 atom.global.add.v2.f32 _, [%d3+32], {%f0, %f1}; red.global.add.v4.f32 [%d3+48], {%f3, %f2, %f1, %f0};
 red.global.add.v2.f32 [%d3+64], {%f3, %f2};
""",
    ),
    FormKernel(
        "atomic_sums_with_subnormals",
        """
 mov.b32 %f0, %r1; mov.b32 %f1, 0f00000003;
 atom.global.add.noftz.f32 %f4, [%d3], %f0; mov.b32 %r20, %f4; st.global.u32 [%d3+4], 5;
 red.global.add.noftz.f32 [%d3+4], %f1; red.global.add.noftz.f32 [%d3+8], %f0;
""",
        "9.4",
    ),
)

# ------------------------------------------------------------------------------------------------------ many threads

_THREAD_KERNELS = (
    FormKernel(
        "reductions_at_barriers",
        """
 and.b32 %r14, %r1, 3; setp.eq.u32 %p0, %r14, 0; setp.lt.u32 %p1, %r11, 40; setp.lt.u32 %p2, %r11, 64;
 bar.red.popc.u32 %r20, 1, %p0; bar.red.and.pred %p3, 1, 64, %p1; selp.u32 %r21, 1, 0, %p3;
 bar.red.or.pred %p3, 1, %p1; selp.u32 %r22, 1, 0, %p3; bar.red.and.pred %p3, 2, !%p2; selp.u32 %r23, 1, 0, %p3;
 bar.cta.red.popc.u32 %r24, 3, !%p0; bar.cta.red.and.pred %p3, 3, %p2; selp.u32 %r25, 1, 0, %p3; bar.cta.sync 2;
 barrier.red.popc.u32 %r26, 4, %p0; barrier.red.or.pred %p3, 4, 64, %p0; selp.u32 %r27, 1, 0, %p3;
 barrier.cta.red.popc.aligned.u32 %r28, 5, %p1; barrier.cta.red.and.pred %p3, 5, %p2; selp.u32 %r29, 1, 0, %p3;
 barrier.cta.sync 6; barrier.cta.sync.aligned 6, 64;
""",
    ),
    FormKernel(
        "arrivals_at_barriers",
        """
 setp.lt.u32 %p0, %r11, 32; st.shared.u32 [%r13], %r1; sub.u32 %r14, %r13, 1024;
 @%p0 bra FIRST;
 bar.sync 1, 64; barrier.sync 2, 64; barrier.cta.sync 3, 64; bar.cta.sync 4, 64; ld.shared.u32 %r20, [%r14];
 bra.uni OVER;
FIRST: bar.arrive 1, 64; barrier.arrive 2, 64; barrier.cta.arrive 3, 64; bar.cta.arrive 4, 64; mov.u32 %r20, %r2;
OVER: bar.sync 0;
""",
    ),
    FormKernel(
        "fences",
        """
 st.global.u32 [%d3], %r2; fence.proxy.alias; membar.proxy.alias; fence.proxy.async; fence.sc.gpu;
 fence.release.sync_restrict::shared::cta.cluster; fence.acquire.sync_restrict::shared::cluster.cluster;
 fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;
 fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster; ld.global.u32 %r20, [%d3];
""",
        cluster=True,
    ),
    FormKernel(
        "fences_of_version_9_4",
        # The manual has `membar.proxy.async` since PTX 8.0; ptxas 13.0 rejects it with every version that it knows.
        " st.global.u32 [%d3], %r2; fence.proxy.alias.release.sys; fence.proxy.alias.acquire.sys; membar.proxy.async; "
        "fence.proxy.async::generic.release.sync_restrict::shared::cluster::read.cluster; "
        "prefetch.global.L1::32B.valid_addr [%d3]; ld.global.u32 %r20, [%d3];\n",
        "9.4",
    ),
    FormKernel(
        "cluster_addresses",
        """
 mov.u32 %r14, %cluster_ctarank; xor.b32 %r14, %r14, 1; mapa.shared::cluster.u32 %r15, %r13, %r14;
 mapa.u64 %d8, %d13, %r14; getctarank.shared::cluster.u32 %r20, %r15; getctarank.u64 %r21, %d8;
 getctarank.shared::cluster.u32 %r22, %r13; isspacep.shared::cluster %p0, %d8; selp.u32 %r23, 1, 0, %p0;
 isspacep.shared::cta %p0, %d8; selp.u32 %r24, 1, 0, %p0; isspacep.global %p0, %d3; selp.u32 %r25, 1, 0, %p0;
 st.shared.u32 [%r13], %r1; barrier.cluster.arrive; barrier.cluster.wait;
 ld.shared::cluster.u32 %r26, [%r15]; ld.u32 %r27, [%d8]; barrier.cluster.arrive; barrier.cluster.wait;
""",
        cluster=True,
    ),
    FormKernel(
        "mbarriers",
        _INIT
        + """
 setp.lt.u32 %p1, %r11, 63; setp.eq.u32 %p2, %r11, 63;
 @%p1 mbarrier.arrive.noComplete.shared.b64 %d8, [bars], 1; bar.sync 0;
 @%p1 mbarrier.pending_count.b64 %r14, %d8; @%p1 setp.gt.u32 %p3, %r14, 0; @%p1 selp.u32 %r20, 1, 0, %p3;
 @%p2 mbarrier.expect_tx.relaxed.cta.shared.b64 [bars], 48;
 @%p2 mbarrier.arrive.shared.b64 _, [bars];
 mbarrier.test_wait.parity.shared.b64 %p3, [bars], 0; selp.u32 %r21, 1, 0, %p3; bar.sync 0;
 @%p2 mbarrier.complete_tx.relaxed.cta.shared.b64 [bars], 48;
"""
        + _WAIT.format(at=0)
        + """
 bar.sync 0; @%p0 mbarrier.arrive_drop.noComplete.shared.b64 %d8, [bars], 2;
 @%p2 mbarrier.arrive_drop.expect_tx.shared.b64 %d8, [bars], 0; bar.sync 0;
 setp.lt.u32 %p4, %r11, 60; @%p4 mbarrier.arrive.noComplete.release.cta.shared.b64 _, [bars], 1; bar.sync 0;
 mbarrier.test_wait.parity.shared.b64 %p3, [bars], 1; selp.u32 %r23, 1, 0, %p3; bar.sync 0;
 @%p0 mbarrier.arrive.release.cta.shared.b64 _, [bars]; bar.sync 0;
 mbarrier.test_wait.parity.shared.b64 %p3, [bars], 1; selp.u32 %r22, 1, 0, %p3;
 @%p0 mbarrier.init.shared.b64 [bars+16], 5; bar.sync 0;
 @%p0 mbarrier.arrive_drop.noComplete.release.cta.shared.b64 _, [bars+16], 2;
 @%p0 mbarrier.arrive.shared.b64 %d8, [bars+16]; @%p0 mbarrier.pending_count.b64 %r24, %d8;
""",
    ),
    FormKernel(
        "mbarriers_of_others",
        _INIT
        + """
 barrier.cluster.arrive; barrier.cluster.wait;
 mov.u32 %r14, %cluster_ctarank; xor.b32 %r14, %r14, 1; mov.u32 %r15, bars; mapa.shared::cluster.u32 %r15, %r15, %r14;
 st.shared.u32 [%r13], %r1;
 setp.lt.u32 %p1, %r11, 62; @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r15];
 setp.eq.u32 %p1, %r11, 62; @%p1 mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r15], 0;
 setp.eq.u32 %p1, %r11, 63; @%p1 mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%r15];
"""
        + _WAIT.format(at=0)
        + """
 barrier.cluster.arrive; barrier.cluster.wait;
 setp.lt.u32 %p1, %r11, 62; @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r15]; bar.sync 0;
 mbarrier.test_wait.parity.shared.b64 %p3, [bars], 1; selp.u32 %r20, 1, 0, %p3;
 setp.eq.u32 %p1, %r11, 5; barrier.cluster.arrive; barrier.cluster.wait;
 @%p1 mbarrier.arrive_drop.expect_tx.release.cluster.shared::cluster.b64 _, [%r15], 0;
 barrier.cluster.arrive; barrier.cluster.wait;
 mbarrier.test_wait.parity.acquire.cluster.shared.b64 %p3, [bars], 1; selp.u32 %r21, 1, 0, %p3;
""",
        cluster=True,
    ),
    FormKernel(
        "layouts_of_mbarriers",
        _INIT
        + """
 mbarrier.check_layout.layout::v0.shared::cta.b64 %p1, [bars]; selp.u32 %r20, 1, 0, %p1;
""",
        "9.3",
    ),
)

# ------------------------------------------------------------------------------------------------------------ copies

_COPY_KERNELS = (
    FormKernel(
        "copies_that_are_left_out",
        """
 setp.lt.u32 %p0, %r11, 20; setp.ge.u32 %p1, %r11, 20;
 st.shared.v4.u32 [%r13], {%r8, %r8, %r8, %r8}; st.shared.v4.u32 [%r13+16], {%r8, %r8, %r8, %r8};
 cp.async.ca.shared.global [%r13], [%d3], 16, !%p0; cp.async.cg.shared.global [%r13+16], [%d3+16], 16, !%p1;
 cp.async.commit_group; cp.async.wait_group 0; ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r13];
 ld.shared.v4.u32 {%r24, %r25, %r26, %r27}, [%r13+16];
""",
    ),
    FormKernel(
        "copies_between_ctas",
        _INIT
        + """
 mov.u32 %r14, %cluster_ctarank; xor.b32 %r14, %r14, 1; mov.u32 %r15, bars; mapa.shared::cluster.u32 %r16, %r15, %r14;
 mov.u32 %r17, tile; add.u32 %r18, %r17, 2048; mapa.shared::cluster.u32 %r18, %r18, %r14;
 shl.b32 %r19, %r11, 2; add.u32 %r19, %r17, %r19; st.shared.u32 [%r19], %r3;
 fence.proxy.async.shared::cta; @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bars+8], 256;
 barrier.cluster.arrive; barrier.cluster.wait;
 @%p0 cp.async.bulk.prefetch.L2.global [%d3], 128;
 add.u32 %r16, %r16, 8;
 @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r18], [%r17], 256, [%r16];
"""
        + _WAIT.format(at=8)
        + """
 ld.shared.u32 %r20, [%r19+2048]; barrier.cluster.arrive; barrier.cluster.wait;
""",
        cluster=True,
    ),
    FormKernel(
        "rows_of_matrices",
        """
 st.shared.v4.u32 [%r13], {%r1, %r2, %r3, %r4}; st.shared.v4.u32 [%r13+16], {%r5, %r6, %r7, %r8}; bar.sync 0;
 ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r20, %r21, %r22, %r23}, [%r13];
 ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%r24, %r25}, [%r13+16];
 ldmatrix.sync.aligned.m8n8.x1.b16 {%r26}, [%d13];
""",
    ),
    FormKernel(
        "rows_of_narrow_matrices",
        """
 st.shared.v4.u32 [%r13], {%r1, %r2, %r3, %r4}; st.shared.v4.u32 [%r13+16], {%r5, %r6, %r7, %r8}; bar.sync 0;
 ldmatrix.sync.aligned.m8n16.x4.shared.s8.s4 {%r20, %r21, %r22, %r23}, [%r13];
""",
        "9.4",
    ),
    FormKernel(
        "fields_of_tensor_maps",
        _INIT
        + """
 .shared .align 128 .b8 own[128];
 mov.b64 %d8, map; ld.param.u64 %d9, [maps]; cvt.u64.u32 %d10, %r12; shl.b64 %d10, %d10, 7; add.u64 %d9, %d9, %d10;
 mov.u32 %r15, own; ld.param.u64 %d11, [scratch];
 setp.lt.u32 %p1, %r11, 32; @!%p1 bra MADE;
 mul.wide.u32 %d12, %r11, 4; add.u64 %d8, %d8, %d12; ld.param.u32 %r14, [%d8];
 shl.b32 %r16, %r11, 2; add.u32 %r16, %r15, %r16; st.shared.u32 [%r16], %r14; bar.warp.sync -1;
 @!%p0 bra WRITTEN;
 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r15], %d11;
 tensormap.replace.tile.rank.shared::cta.b1024.b32 [%r15], 1;
 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r15], 0, 8;
 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%r15], 1, 6;
 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r15], 0, 30;
 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%r15], 1, 90;
 tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%r15], 0, 128;
 tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r15], 0, 1;
 tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%r15], 1, 2;
 tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%r15], 2;
 tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%r15], 0;
 tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%r15], 1;
 tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%r15], 0;
WRITTEN: bar.warp.sync -1;
 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d9], [%r15], 128;
 fence.proxy.tensormap::generic.acquire.gpu [%d9], 128;
MADE: bar.sync 0;
 @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bars+8], 96;
 mad.lo.u32 %r16, %r12, 85, 1; mov.u32 %r17, 24; mov.u32 %r18, tile;
 @%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r18],
 [%d9, {%r17, %r16}], [bars+8];
 @%p0 cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%d9, {%r17, %r16}];
 @%p0 mbarrier.init.shared.b64 [bars+16], 1; fence.mbarrier_init.release.cluster;
 @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bars+16], 96;
 add.u32 %r19, %r18, 128; mov.u32 %r17, 8; bar.sync 0;
 @%p0 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r19],
 [%d9, {%r17, %r16}], [bars+16];
"""
        + _WAIT.format(at=8)
        + _WAIT.format(at=16)
        + """
 setp.lt.u32 %p2, %r11, 24; shl.b32 %r19, %r11, 2; add.u32 %r19, %r18, %r19; @%p2 ld.shared.u32 %r20, [%r19];
 @%p2 ld.shared.u32 %r21, [%r19+128];
""",
        has_tensor_map=True,
    ),
)
