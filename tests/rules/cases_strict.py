"""PTX402 to PTX409: behavior that the text of the ISA leaves open, and about which `strict` warns."""

from __future__ import annotations

from tests.rules.support import Case

COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 2048, [%r5];"
EXPECT = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 2048;"
FULL = "full: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], %r11; @!%p3 bra full;"
ROUNDS = "add.u32 %r10, %r10, 1; xor.b32 %r11, %r11, 1; setp.lt.u32 %p4, %r10, 4; @%p4 bra next;"
SETUP = """@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 128;
bar.sync 0; mov.u32 %r10, 0; mov.u32 %r11, 0;"""

BOUNDS = ".reqntid 128, 1, 1\n.reqnctapercluster 2, 1, 1"
MEET = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"
PEER = f"""mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1;
mapa.shared::cluster.u32 %r22, %r4, %r21; mapa.shared::cluster.u32 %r23, %r5, %r21;
@%p1 mbarrier.init.shared::cta.b64 [%r5], 128; @%p1 fence.mbarrier_init.release.cluster;
{MEET}"""
REMOTE = "st.shared::cluster.u32 [%r22], %r1;"
FENCE = "fence.proxy.async.shared::cta;"
OUT = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 2048;"
DONE = "@%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group.read 0;"
TENSOR = """st.shared.v4.b32 [%r4], {%r1, %r1, %r1, %r1}; fence.proxy.async.shared::cta; setp.lt.u32 %p5, %r1, 32;
@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; @!%p5 bra ready;
tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r5+8], 32;
tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
ready: tcgen05.fence::before_thread_sync; bar.sync 0; tcgen05.fence::after_thread_sync;
ld.shared.u32 %r20, [%r5+8]; shr.u32 %r21, %r2, 4; cvt.u64.u32 %rd6, %r21; or.b64 %rd6, %rd6, 70437464178688;
mov.u32 %r22, 134742032; setp.ne.u32 %p6, %r1, %r1;
@!%p1 bra first;"""
PRODUCT = "tcgen05.mma.cta_group::1.kind::f16 [%r20], %rd6, %rd6, %r22, %p6;"
COMMIT = "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r5];"
FIRST = "first: mbarrier.try_wait.parity.shared::cta.b64 %p7, [%r5], 0; @!%p7 bra first;"
FREE = """tcgen05.fence::before_thread_sync; bar.sync 0; @!%p5 bra end;
tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r20, 32;
end:"""
POLL = "poll: ld.acquire.gpu.global.u32 %r12, [%rd2]; setp.eq.u32 %p4, %r12, 0; @%p4 bra poll;"
SINGLE = "mov.u32 %r11, 0; @%p1 mbarrier.init.shared::cta.b64 [%r5], 1; bar.sync 0; @!%p1 bra full;"
REDUCE = "@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd2], [%r2], 2048;"

CASES = (
    Case(
        "a copy overwrites a tile that all have read, after a barrier and without a fence",
        f"""{SETUP}
next: @!%p1 bra full; {EXPECT}
{COPY} //? PTX402 read sync
{FULL}
ld.shared.u32 %r12, [%r4]; st.global.u32 [%rd2], %r12; //= read
bar.sync 0; //= sync
{ROUNDS}""",
        policy="strict",
    ),
    Case(
        "nothing is reported for that under the default policy",
        f"""{SETUP}
next: @!%p1 bra full; {EXPECT}
{COPY}
{FULL}
ld.shared.u32 %r12, [%r4]; st.global.u32 [%rd2], %r12; bar.sync 0;
{ROUNDS}""",
    ),
    Case(
        "a fence in the copying thread after the barrier suffices",
        f"""{SETUP}
next: @!%p1 bra full; fence.proxy.async.shared::cta; {EXPECT}
{COPY}
{FULL}
ld.shared.u32 %r12, [%r4]; st.global.u32 [%rd2], %r12; bar.sync 0;
{ROUNDS}""",
        policy="strict",
    ),
    Case(
        "zeros are stored before the copy",
        f"""{SETUP}
st.shared.u32 [%r4], %r10; //= write
bar.sync 0; //= sync
@!%p1 bra full; {EXPECT}
{COPY} //? PTX402 write sync
{FULL}
ld.shared.u32 %r12, [%r4]; st.global.u32 [%rd2], %r12;""",
        policy="strict",
    ),
    Case(
        "one thread reads and copies again",
        f"""{SETUP} @!%p1 bra end;
next: {EXPECT}
{COPY} //? PTX402 read
{FULL}
ld.shared.u32 %r12, [%r2]; //= read
st.global.u32 [%rd2], %r12;
{ROUNDS}
end:""",
        policy="strict",
    ),
    Case(
        "a copy into bytes that no thread has used needs no fence",
        f"""{SETUP}
@!%p1 bra full; {EXPECT}
{COPY}
{FULL}
ld.shared.u32 %r12, [%r4]; st.shared.u32 [%r9], %r12; st.global.u32 [%rd2], %r12;""",
        policy="strict",
    ),
    Case(
        "stores of another CTA are copied out with no fence in either",
        f"""{PEER}
{REMOTE} //= write
{MEET}
{OUT} //! PTX404 write
{DONE} {MEET}""",
        bounds=BOUNDS,
    ),
    Case(
        "stores that an mbarrier synchronizes are copied out without a fence in either CTA",
        f"""{PEER}
{REMOTE} //= write
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];
wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r5], 0; @!%p3 bra wait;
{OUT} //! PTX404 write
{DONE} {MEET}""",
        bounds=BOUNDS,
    ),
    Case(
        "a fence in the CTA that copies the stores of another one out",
        f"{PEER}\n{REMOTE} {MEET} {FENCE} {OUT} {DONE} {MEET}",
        bounds=BOUNDS,
        policy="strict",
    ),
    Case(
        "a fence in the CTA that stores is left open",
        f"{PEER}\n{REMOTE} {FENCE} {MEET} {OUT} {DONE} {MEET}",
        bounds=BOUNDS,
    ),
    Case(
        "a fence in the CTA that stores is not enough for strict",
        f"""{PEER}
{REMOTE} //= write
{FENCE} {MEET}
{OUT} //? PTX404 write
{DONE} {MEET}""",
        bounds=BOUNDS,
        policy="strict",
    ),
    Case(
        "other bytes than another CTA stored need no fence",
        f"{PEER}\n{REMOTE} {MEET} {OUT.replace('[%r2]', '[%r8]')} {DONE} {MEET}",
        bounds=BOUNDS,
        policy="strict",
    ),
    Case(
        "operands are stored again after the wait for their product",
        f"""{TENSOR}
{PRODUCT} //= product
{COMMIT}
{FIRST} //= sync
st.shared.b32 [%r4], %r3; //? PTX405 product
{FREE}""",
        target="sm_100a",
        policy="strict",
    ),
    Case(
        "one thread waits for all before they store operands again",
        f"""{TENSOR}
{PRODUCT} //= product
{COMMIT}
{FIRST} bar.sync 0;
st.shared.b32 [%r4+16], %r3;
@%p1 st.shared.b32 [%r4], %r3; //? PTX405 product
{FREE}""",
        target="sm_100a",
        policy="strict",
    ),
    Case(
        "operands are stored again after a fence",
        f"{TENSOR}\n{PRODUCT} {COMMIT}\n{FIRST} {FENCE} st.shared.b32 [%r4], %r3;\n{FREE}",
        target="sm_100a",
        policy="strict",
    ),
    Case(
        "operands that are stored again are left open",
        f"{TENSOR}\n{PRODUCT} {COMMIT}\n{FIRST} st.shared.b32 [%r4], %r3;\n{FREE}",
        target="sm_100a",
    ),
    Case(
        "a copy after the wait for a flag needs a fence for global memory",
        f"""{SINGLE}
{POLL} //= poll
{EXPECT}
{COPY} //? PTX406 poll
{FULL}""",
        policy="strict",
    ),
    Case(
        "a copy after a relaxed flag and a fence of the device needs one, too",
        f"""{SINGLE}
{POLL.replace("acquire", "relaxed")} //= poll
fence.acq_rel.gpu; {FENCE} {EXPECT}
{COPY} //? PTX406 poll
{FULL}""",
        policy="strict",
    ),
    Case(
        "a relaxed flag orders nothing at all",
        f"{SINGLE}\n{POLL.replace('acquire', 'relaxed')} {EXPECT}\n{COPY}\n{FULL}",
        policy="strict",
    ),
    Case(
        "a fence on one of two paths to the copy may be the one that counts",
        f"{SINGLE}\n{POLL} setp.eq.u32 %p5, %r12, 1; @%p5 bra on; fence.proxy.async;\non: {EXPECT}\n{COPY}\n{FULL}",
        policy="strict",
    ),
    Case(
        "a copy before the flag is not after it",
        f"{SINGLE}\n{EXPECT}\n{COPY}\n{POLL}\n{FULL}",
        policy="strict",
    ),
    Case(
        "a copy after a flag is left open",
        f"{SINGLE}\n{POLL} {EXPECT}\n{COPY}\n{FULL}",
    ),
    Case(
        "an atomic counts in a word that bulk reductions add to",
        f"""st.shared.u32 [%r4], %r1; {FENCE} bar.sync 0;
red.relaxed.gpu.global.add.u32 [%rd2+16], 1; //= atomic
{REDUCE} //? PTX407 atomic
{DONE}""",
        policy="strict",
    ),
    Case(
        "a generic atomic updates the last word that bulk reductions add to",
        f"""st.shared.u32 [%r4], %r1; {FENCE} bar.sync 0;
{REDUCE} //? PTX407 atomic
{DONE} atom.global.exch.b32 %r12, [%rd2+2044], %r1; //= atomic
st.global.u32 [%rd1], %r12;""",
        policy="strict",
    ),
    Case(
        "an atomic counts after the destination of bulk reductions",
        f"""st.shared.u32 [%r4], %r1; {FENCE} bar.sync 0;
red.relaxed.gpu.global.add.u32 [%rd2+2048], 1; {REDUCE}
{DONE}""",
        policy="strict",
    ),
    Case(
        "an atomic at an index of the thread is not known to be in the destination of bulk reductions",
        f"""st.shared.u32 [%r4], %r1; {FENCE} bar.sync 0; mul.wide.u32 %rd6, %r1, 4; add.u64 %rd6, %rd6, %rd2;
red.relaxed.gpu.global.add.u32 [%rd6], 1; {REDUCE}
{DONE}""",
        policy="strict",
    ),
)
