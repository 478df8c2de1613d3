"""PTX501, PTX502, PTX503, PTX507: mbarriers that are initialized, used, expect bytes, and are invalidated."""

from __future__ import annotations

from tests.rules.support import Case

#: More steps than all threads of a large CTA can execute within the budget.
LONG = "add.u32 %r20, %r20, 1;\n" * 500

INIT = "@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; bar.sync 0;"
FILL = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
LOOP = "wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], 0; @!%p3 bra wait;"
TWO_CTAS = ".reqntid 128, 1, 1 .explicitcluster .reqnctapercluster 2, 1, 1"

#: The second warp copies, the first one continues; all but the first wait, and take a long time.
_SIGNALED_AFTER_A_LOOP = f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; bar.sync 0;
setp.ge.u32 %p5, %r1, 32; @!%p5 bra join; @!%p2 bra wait;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 2048;
{FILL} [%r2], [%rd1], 2048, [%r5]; //= copy
{LOOP} mov.u32 %r21, 0;
more: add.u32 %r21, %r21, 1; st.global.u32 [%rd2], %r21; setp.lt.u32 %p6, %r21, 20000; @%p6 bra more;"""

USED_BEFORE_INIT = (
    Case(
        "an initialization after the use by the same thread is too late",
        """@!%p1 bra end;
mbarrier.arrive.shared::cta.b64 %rd7, [%r5]; //! PTX501 init
mbarrier.init.shared::cta.b64 [%r5], 1; //= init
end:""",
    ),
    Case(
        "an initialization before the use by the same thread is in time",
        "@!%p1 bra end; mbarrier.init.shared::cta.b64 [%r5], 1; mbarrier.arrive.shared::cta.b64 %rd7, [%r5]; end:",
    ),
    Case(
        "a barrier with another number than the users' orders nothing",
        """@%p1 mbarrier.init.shared::cta.b64 [%r5], 128; //= init
setp.lt.u32 %p3, %r1, 32; @%p3 barrier.sync 1, 32;
mbarrier.arrive.shared::cta.b64 %rd7, [%r5]; //! PTX501 init""",
    ),
    Case(
        "a named barrier of all threads orders them",
        """@%p1 mbarrier.init.shared::cta.b64 [%r5], 128; barrier.sync 1, 128;
mbarrier.arrive.shared::cta.b64 %rd7, [%r5];""",
    ),
    Case(
        "only one of two objects is initialized",
        """@%p1 mbarrier.init.shared::cta.b64 [%r5], 128; bar.sync 0;
mbarrier.arrive.shared::cta.b64 %rd7, [%r5];
mbarrier.arrive.shared::cta.b64 %rd7, [%r5+8]; //! PTX501""",
    ),
    Case(
        "each thread of the second warp initializes another mbarrier, in a long kernel of many threads",
        f"""shl.b32 %r7, %r1, 3; add.u32 %r7, %r8, %r7; setp.ge.u32 %p3, %r1, 64; setp.lt.u32 %p4, %r1, 32;
or.pred %p3, %p3, %p4; @!%p3 mbarrier.init.shared::cta.b64 [%r7], 1024; bar.sync 0;
{LONG}
mbarrier.arrive.shared::cta.b64 %rd7, [%r8+264]; mbarrier.arrive.shared::cta.b64 %rd7, [%r8+296];""",
        bounds=".reqntid 1024, 1, 1",
    ),
    Case(
        "an object beyond those that threads initialize, in a long kernel of many threads",
        f"""shl.b32 %r7, %r1, 3; add.u32 %r7, %r8, %r7; setp.ge.u32 %p3, %r1, 64; setp.lt.u32 %p4, %r1, 32;
or.pred %p3, %p3, %p4; @!%p3 mbarrier.init.shared::cta.b64 [%r7], 1024; bar.sync 0;
{LONG}
mbarrier.arrive.shared::cta.b64 %rd7, [%r8+512]; //! PTX501""",
        bounds=".reqntid 1024, 1, 1",
    ),
    Case(
        "each of four objects is initialized in a loop",
        """@!%p1 bra ready; mov.u32 %r7, %r5; add.u32 %r11, %r5, 32;
next: mbarrier.init.shared::cta.b64 [%r7], 128; add.u32 %r7, %r7, 8; setp.lt.u32 %p3, %r7, %r11; @%p3 bra next;
ready: bar.sync 0; mbarrier.arrive.shared::cta.b64 %rd7, [%r5+24];""",
    ),
    Case(
        "a cluster barrier that was arrived at and not waited for orders nothing",
        """@%p1 mbarrier.init.shared::cta.b64 [%r5], 128; //= init
fence.mbarrier_init.release.cluster; barrier.cluster.arrive.aligned;
mbarrier.arrive.shared::cta.b64 %rd7, [%r5]; //! PTX501 init
barrier.cluster.wait.aligned;""",
        bounds=TWO_CTAS,
    ),
    Case(
        "a cluster barrier that was waited for orders the initialization",
        """@%p1 mbarrier.init.shared::cta.b64 [%r5], 128;
fence.mbarrier_init.release.cluster; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
mbarrier.arrive.shared::cta.b64 %rd7, [%r5];""",
        bounds=TWO_CTAS,
    ),
    Case(
        "an initialization in code that is not here may have been",
        "call.uni elsewhere; bar.sync 0; mbarrier.arrive.shared::cta.b64 %rd7, [%r5];",
        before=".extern .func elsewhere;",
        undecided=("PTX300", "PTX501", "PTX603"),
    ),
    Case(
        "an initialization that hangs on data may be missing",
        """ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 0; @!%p3 bra end;
mbarrier.init.shared::cta.b64 [%r5], 1;
end: bar.sync 0; mbarrier.arrive.shared::cta.b64 %rd7, [%r5];""",
        bounds=".reqntid 1, 1, 1",
        undecided=("PTX501",),
    ),
)

INITIALIZED_TWICE = (
    Case(
        "two threads of one warp initialize one object at once",
        """setp.lt.u32 %p3, %r1, 2;
@%p3 mbarrier.init.shared::cta.b64 [%r5], 1; //? PTX502""",
    ),
    Case(
        "threads of two warps initialize one object",
        """setp.lt.u32 %p3, %r1, 33;
@%p3 mbarrier.init.shared::cta.b64 [%r5], 1; //! PTX502""",
    ),
    Case(
        "all threads initialize one object, and the block may be one warp",
        "mbarrier.init.shared::cta.b64 [%r5], 1; //? PTX502",
        bounds="",
    ),
    Case(
        "a thread of a second warp, which the block may not have, initializes the object again",
        """and.b32 %r10, %r1, 31; setp.eq.u32 %p3, %r10, 0;
@%p3 mbarrier.init.shared::cta.b64 [%r5], 1;""",
        bounds="",
        undecided=("PTX502",),
    ),
    Case(
        "two threads initialize an object each",
        "setp.lt.u32 %p3, %r1, 2; shl.b32 %r10, %r1, 3; add.u32 %r10, %r10, %r5;\n"
        "@%p3 mbarrier.init.shared::cta.b64 [%r10], 1;",
    ),
    Case(
        "one thread initializes an object at two places",
        """@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; //= first
bar.sync 0;
@%p1 mbarrier.init.shared::cta.b64 [%r5], 2; //! PTX502 first""",
    ),
    Case(
        "one thread initializes an object again after it ended its life",
        """@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; bar.sync 0;
@%p1 mbarrier.inval.shared::cta.b64 [%r5]; bar.sync 0;
@%p1 mbarrier.init.shared::cta.b64 [%r5], 2;""",
    ),
    Case(
        "each CTA of a cluster initializes its own object",
        "@%p1 mbarrier.init.shared::cta.b64 [%r5], 1;\nbarrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;",
        bounds=TWO_CTAS,
    ),
)

BYTES = (
    *[
        Case(
            f"the bytes that a thread of larger blocks copies are expected by one of all blocks: {bounds or 'no size'}",
            f"""{INIT} @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 64;
setp.eq.u32 %p4, %r1, 128; @!%p4 bra wait; {FILL} [%r2], [%rd1], 64, [%r5]; {LOOP}""",
            bounds=bounds,
            undecided=undecided,
        )
        for bounds, undecided in ((".maxntid 256, 1, 1", ("PTX503",)), ("", ("PTX503",)), (".reqntid 256, 1, 1", ()))
    ],
    Case(
        "the arrival that is waited for is unreachable",
        f"""{INIT} bra.uni wait;
mbarrier.arrive.shared::cta.b64 _, [%r5];
{LOOP} //! PTX503""",
    ),
    Case(
        "all threads wait although code that no thread reaches has an arrival",
        f"""{INIT} setp.eq.u32 %p4, %r1, 4096; @!%p4 bra wait;
mbarrier.arrive.shared::cta.b64 _, [%r5];
{LOOP} //! PTX503""",
    ),
    Case(
        "a second copy in a loop transfers unexpected bytes",
        f"""{INIT} @!%p1 bra end;
mov.u32 %r7, 0;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 1024; //! PTX503 copy
next: {FILL} [%r2], [%rd1], 1024, [%r5]; //= copy
add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra next;
end:
{LOOP}""",
    ),
    Case(
        "all copies of a loop are expected at once",
        f"""{INIT} @!%p1 bra end;
mov.u32 %r7, 0; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 4096;
next: {FILL} [%r2], [%rd1], 1024, [%r5]; add.u32 %r2, %r2, 1024;
add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra next;
end:
{LOOP}""",
    ),
    Case(
        "bytes are expected on one object and brought to another",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
@%p1 mbarrier.init.shared::cta.b64 [%r5+8], 1;
bar.sync 0; @!%p1 bra end;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 1024; //! PTX503
{FILL} [%r2], [%rd1], 1024, [%r5+8]; //! PTX503
end:
{LOOP}""",
    ),
    Case(
        "bytes are expected on the object that they are brought to",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5+8], 1; bar.sync 0; @!%p1 bra end;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5+8], 1024; {FILL} [%r2], [%rd1], 1024, [%r5+8];
end:""",
    ),
    Case(
        "bytes that follow an integer parameter agree on both sides",
        f"""{INIT} @!%p1 bra end; shl.b32 %r10, %r6, 4;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], %r10; {FILL} [%r2], [%rd1], %r10, [%r5];
end:
{LOOP}""",
    ),
    Case(
        "bytes that follow an integer parameter are expected for half of the copy",
        f"""{INIT} @!%p1 bra end; shl.b32 %r10, %r6, 4; shl.b32 %r11, %r6, 3;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], %r11; //! PTX503 copy
{FILL} [%r2], [%rd1], %r10, [%r5]; //= copy
end:
{LOOP}""",
    ),
    Case(
        "the box of a tensor copy is not known",
        f"""{INIT} @!%p1 bra end;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 1024;
cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1, {{%r1}}], [%r5];
end:
{LOOP}""",
        undecided=("PTX503",),
    ),
    Case(
        "bytes are expected after the only arrival of their phase",
        f"""{INIT} @!%p1 bra end;
mbarrier.arrive.shared::cta.b64 _, [%r5]; //= arrive
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r5], 1024; //! PTX503 arrive
{FILL} [%r2], [%rd1], 1024, [%r5];
end:
{LOOP}""",
    ),
    Case(
        "bytes of a second copy are expected after an arrival that waits for those of the first",
        f"""{INIT} @!%p1 bra end;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 1024;
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r5], 1024;
{FILL} [%r2], [%rd1], 2048, [%r5];
end:
{LOOP}""",
    ),
    Case(
        "bytes of a second copy are expected when the first one may have ended the phase",
        f"""{INIT} @!%p1 bra end;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 1024;
{FILL} [%r2], [%rd1], 1024, [%r5]; //= copy
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r5], 1024; //! PTX503 copy
{FILL} [%r2+1024], [%rd1], 1024, [%r5];
end:
{LOOP}""",
    ),
    Case(
        "bytes of a third copy are expected while those of the second keep the phase open",
        f"""{INIT} @!%p1 bra end;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 2048;
{FILL} [%r2], [%rd1], 1024, [%r5];
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r5], 1024;
{FILL} [%r2+1024], [%rd1], 1024, [%r5]; {FILL} [%r2+2048], [%rd1], 1024, [%r5];
end:
{LOOP}""",
    ),
    Case(
        "a flag in memory may signal that the first copy is complete",
        f"""{INIT} @!%p1 bra end;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 1024; {FILL} [%r2], [%rd1], 1024, [%r5];
poll: ld.acquire.gpu.global.u32 %r20, [%rd2]; setp.eq.u32 %p4, %r20, 0; @%p4 bra poll;
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r5], 1024; mbarrier.arrive.shared::cta.b64 _, [%r5];
{FILL} [%r2], [%rd1], 1024, [%r5];
end:
{LOOP} st.release.gpu.global.u32 [%rd2], 1;""",
        undecided=("PTX503", "PTX505"),
    ),
    Case(
        "every thread expects so much that the object cannot count it",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 128; bar.sync 0;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 8192; //! PTX503
{FILL} [%r2], [%rd1], 8192, [%r5];
{LOOP}""",
    ),
    Case(
        "every thread expects as much as the object can count",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 128; bar.sync 0;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 8176;
{FILL} [%r2], [%rd1], 8176, [%r5];
{LOOP}""",
        undecided=("PTX304",),
    ),
    Case(
        "another thread arrives after the expect-tx",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 2;
bar.sync 0; setp.eq.u32 %p4, %r1, 64; @!%p1 bra behind;
mbarrier.arrive.shared::cta.b64 _, [%r5];
mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r5], 1024;
{FILL} [%r2], [%rd1], 1024, [%r5];
behind: bar.sync 0;
@%p4 mbarrier.arrive.shared::cta.b64 _, [%r5];
{LOOP}""",
    ),
    Case(
        "a wait for a phase without arrivals never ends",
        f"""{INIT}
wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], 0; //! PTX503
@!%p3 bra wait;""",
    ),
    Case(
        "a wait for the phase before the first one passes at once",
        f"""{INIT}
wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], 1; @!%p3 bra wait;""",
    ),
    Case(
        "an arrival in code that is not here may end the phase",
        f"{INIT} call.uni elsewhere;\n{LOOP}",
        before=".extern .func elsewhere;",
        undecided=("PTX300", "PTX501", "PTX502", "PTX503", "PTX603"),
    ),
    Case(
        "a copy is read by a thread that does not wait",
        f"""{INIT}
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 2048;
@%p1 {FILL} [%r2], [%rd1], 2048, [%r5]; //= copy
ld.shared.u32 %r10, [%r4]; //! PTX302 copy""",
    ),
    Case(
        "a thread that waits for a copy may publish it after a loop beyond the budget",
        f"""{_SIGNALED_AFTER_A_LOOP}
join: bar.sync 0; ld.shared.u32 %r12, [%r4]; st.global.u32 [%rd2], %r12;""",
        undecided=("PTX302",),
    ),
    Case(
        "no barrier follows a loop beyond the budget",
        f"""{_SIGNALED_AFTER_A_LOOP}
join: ld.shared.u32 %r12, [%r4]; //! PTX302 copy
st.global.u32 [%rd2], %r12;""",
    ),
    Case(
        "a copy is read by a thread that waits",
        f"""{INIT}
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 2048; @%p1 {FILL} [%r2], [%rd1], 2048, [%r5];
{LOOP} ld.shared.u32 %r10, [%r4];""",
    ),
)

ALL_ARRIVE = "@%p1 mbarrier.init.shared::cta.b64 [%r5], 128; bar.sync 0; mbarrier.arrive.shared::cta.b64 %rd7, [%r5];"
WAIT = "wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], 0; //= wait\n@!%p3 bra wait;"

LAST = "setp.ne.u32 %p4, %r20, 1; @%p4 bra end; mbarrier.inval.shared::cta.b64 [%r5];"
COUNT = "atom.acquire.cta.shared::cta.add.u32 %r20, [%r2], -1;"
ELECTED = """match.any.sync.b32 %r11, %r5, 0xffffffff; brev.b32 %r12, %r11; bfind.shiftamt.u32 %r13, %r12;
mov.u32 %r14, %laneid; setp.ne.s32 %p5, %r14, %r13; @%p5 bra end;"""

ENDED = (
    Case(
        "others may still wait when the first thread is done",
        f"{ALL_ARRIVE}\n{WAIT}\n@%p1 mbarrier.inval.shared::cta.b64 [%r5]; //! PTX507 wait",
    ),
    Case(
        "a barrier orders all other uses before",
        f"{ALL_ARRIVE} {LOOP} bar.sync 0; @%p1 mbarrier.inval.shared::cta.b64 [%r5];",
    ),
    Case(
        "a barrier that the execution of many iterations does not reach orders all other uses before",
        f"""{ALL_ARRIVE} {LOOP} @%p1 bra join; mov.u32 %r10, 0;
work: {"add.u32 %r11, %r11, %r10; " * 30} add.u32 %r10, %r10, 1; setp.lt.u32 %p5, %r10, %r6; @%p5 bra work;
join: bar.sync 0; @%p1 mbarrier.inval.shared::cta.b64 [%r5];""",
    ),
    Case(
        "a barrier that no execution reaches may order all other uses before",
        f"""{ALL_ARRIVE} {LOOP} @%p1 bra join; mov.u32 %r10, 0;
work: {"add.u32 %r11, %r11, %r10; " * 30} add.u32 %r10, %r10, 1; setp.lt.u32 %p5, %r10, 4000; @%p5 bra work;
join: bar.sync 0; @%p1 mbarrier.inval.shared::cta.b64 [%r5];""",
        undecided=("PTX507",),
    ),
    Case(
        "waits after reinitialization belong to the next mbarrier",
        f"""{ALL_ARRIVE} {LOOP} bar.sync 0; @%p1 mbarrier.inval.shared::cta.b64 [%r5];
@%p1 mbarrier.init.shared::cta.b64 [%r5], 128; bar.sync 0; mbarrier.arrive.shared::cta.b64 %rd7, [%r5];
{LOOP.replace("wait:", "again:").replace("bra wait", "bra again")} bar.sync 0;
@%p1 mbarrier.inval.shared::cta.b64 [%r5];""",
    ),
    Case(
        "the last thread by an atomic, without a release before it, may invalidate an mbarrier that others wait on",
        f"{ALL_ARRIVE}\n{WAIT}\n{COUNT} //= atomic\n{LAST} //! PTX507 wait atomic\nend:",
        undecided=("PTX507",),
    ),
    Case(
        "the last thread by an atomic that releases",
        f"{ALL_ARRIVE} {LOOP} {COUNT.replace('.acquire', '.acq_rel')} {LAST} end:",
        undecided=("PTX507",),
    ),
    Case(
        "the last thread after a fence",
        f"{ALL_ARRIVE} {LOOP} fence.acq_rel.cta; {COUNT} {LAST} end:",
        undecided=("PTX507",),
    ),
    Case(
        "the last thread after a barrier",
        f"{ALL_ARRIVE} {LOOP} bar.sync 0; {COUNT} {LAST} end:",
        undecided=("PTX507",),
    ),
    Case(
        "an elected lane of each warp fences and counts",
        f"{ALL_ARRIVE} {LOOP} {ELECTED} fence.sc.cta; {COUNT} {LAST} end:",
        undecided=("PTX507",),
    ),
    Case(
        "data decides whether some warps fence",
        f"""{ALL_ARRIVE} {LOOP} setp.lt.u32 %p5, %r1, 32; ld.volatile.global.u32 %r11, [%rd1];
setp.eq.or.u32 %p5, %r11, 0, %p5; @%p5 bra on; fence.sc.cta; on: {COUNT} {LAST} end:""",
        undecided=("PTX507",),
    ),
    Case(
        "a number in memory determines the last thread",
        f"{ALL_ARRIVE} {LOOP} {COUNT} ld.global.u32 %r20, [%rd1]; {LAST} end:",
        undecided=("PTX507",),
    ),
    Case(
        "an object that was ended already has no life to end",
        """@%p1 mbarrier.init.shared::cta.b64 [%r5], 128; @%p1 mbarrier.inval.shared::cta.b64 [%r5]; //= first
@%p1 mbarrier.inval.shared::cta.b64 [%r5]; //! PTX507 first""",
    ),
    Case(
        "a thread arrives at an object whose life it has ended",
        """@!%p1 bra end; mbarrier.init.shared::cta.b64 [%r5], 1;
mbarrier.inval.shared::cta.b64 [%r5]; //! PTX507 use
mbarrier.arrive.shared::cta.b64 _, [%r5]; //= use
end:""",
    ),
    Case(
        "another thread arrives after a barrier at an object whose life has ended",
        """@%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
@%p1 mbarrier.inval.shared::cta.b64 [%r5]; //! PTX507 use
bar.sync 0;
@%p2 mbarrier.arrive.shared::cta.b64 _, [%r5]; //= use""",
    ),
    Case(
        "an object begins another life before an arrival",
        """@!%p1 bra end; mbarrier.init.shared::cta.b64 [%r5], 1; mbarrier.inval.shared::cta.b64 [%r5];
mbarrier.init.shared::cta.b64 [%r5], 1; mbarrier.arrive.shared::cta.b64 _, [%r5];
end:""",
    ),
)

CASES = (*USED_BEFORE_INIT, *INITIALIZED_TWICE, *BYTES, *ENDED)
