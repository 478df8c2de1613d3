"""PTX901 to PTX908: instructions without effect, reported if notes are selected."""

from __future__ import annotations

from tests.rules.support import Case

STORE = """@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%r2], 2048;
@%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group.read 0;"""
OTHER_STORE, REFILL = STORE.replace("%rd2", "%rd1"), "st.shared.u32 [%r4], %r6;"
FILL = """@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 2048;
@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 2048, [%r5];
wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], 0; @!%p3 bra wait;"""
MULTICAST = """.reg .b16 %h1; mov.u16 %h1, 1;
@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; bar.sync 0;
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 512;
@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%rd1], 512, """
LAST = """wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], 0; @!%p3 bra wait;"""
MULTIPLY = """wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd6, %rd6, 1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;"""
COPY = "cp.async.ca.shared.global [%r4], [%rd1], 16;"
OTHER_COPY = "cp.async.ca.shared.global [%r4+2048], [%rd1], 16;"

CASES = (
    Case(
        "an initialization needs no proxy fence",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
@%p1 fence.proxy.async.shared::cta; //~ PTX901
bar.sync 0;
{FILL}
ld.shared.u32 %r10, [%r4]; st.global.u32 [%rd2], %r10;""",
        notes=True,
    ),
    Case(
        "a fence before the store that it is meant for orders nothing",
        f"""fence.proxy.async.shared::cta; //~ PTX901
st.shared.u32 [%r4], %r1;
fence.proxy.async.shared::cta;
bar.sync 0;
{STORE}""",
        notes=True,
    ),
    Case(
        "a fence is not reported where notes are not selected",
        f"""fence.proxy.async.shared::cta;
st.shared.u32 [%r4], %r1;
fence.proxy.async.shared::cta;
bar.sync 0;
{STORE}""",
    ),
    Case(
        "a fence after which another warp copies orders something",
        f"""st.shared.u32 [%r4], %r1; fence.proxy.async.shared::cta; bar.sync 0;
@!%p2 bra end;
{STORE.replace("@%p1 ", "")}
end:""",
        notes=True,
    ),
    Case(
        "a fence is needed where data decide whether a copy follows",
        f"""@!%p1 st.shared.u32 [%r4], %r1; fence.proxy.async.shared::cta; bar.sync 0;
ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p3, %r10, 7; and.pred %p1, %p1, %p3;
{STORE}""",
        notes=True,
    ),
    Case(
        "a wait after the wait for everything has no effect",
        f"""{COPY} cp.async.commit_group;
cp.async.wait_group 0;
ld.shared.u32 %r10, [%r4]; st.global.u32 [%rd2], %r10;
cp.async.wait_all; //~ PTX902
""",
        notes=True,
    ),
    Case(
        "a wait for a multiplication that does not exist has no effect",
        "wgmma.wait_group.sync.aligned 0; //~ PTX902\n",
        notes=True,
    ),
    Case(
        "a wait is for groups that a loop has left pending",
        f"""mov.u32 %r10, 0; add.u32 %r4, %r4, 2048;
next: {COPY} cp.async.commit_group; cp.async.wait_group 1; ld.shared.u32 %r11, [%r4+-2048];
add.u32 %r4, %r4, 2048; add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 3; @%p3 bra next;
cp.async.wait_group 0;""",
        notes=True,
    ),
    Case(
        "a wait that leaves more than this launch starts is not reported where there is a loop",
        f"""mov.u32 %r10, 0;
next: {COPY} cp.async.commit_group; cp.async.wait_group 7;
add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, %r6; @%p3 bra next;
cp.async.wait_group 0;""".replace("[%r4]", "[%r9]"),
        notes=True,
        undecided=("PTX304",),
    ),
    Case(
        "a wait at the start of a loop has no effect if the waits before it leave as many groups pending",
        f"""mov.u32 %r10, 0; {COPY} cp.async.commit_group; {OTHER_COPY} cp.async.commit_group;
cp.async.wait_group 1; ld.shared.u32 %r11, [%r4];
next: cp.async.wait_group 1; //= next //~ PTX902
ld.shared.u32 %r11, [%r4]; {COPY} cp.async.commit_group; cp.async.wait_group 1; ld.shared.u32 %r12, [%r4+2048];
{OTHER_COPY} cp.async.commit_group; cp.async.wait_group 1; //~ PTX907 next last
add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, %r6; @%p3 bra next;
cp.async.wait_group 0; //= last
ld.shared.u32 %r12, [%r4+2048];""",
        notes=True,
    ),
    Case(
        "nothing depends on a wait if the next access of the bytes follows another one",
        f"""{COPY} cp.async.commit_group;
cp.async.wait_group 0; //~ PTX907 last
st.shared.u32 [%r9], %r1;
cp.async.wait_group 0; //= last //~ PTX902
ld.shared.u32 %r10, [%r4]; st.global.u32 [%rd2], %r10;""",
        notes=True,
    ),
    Case(
        "a wait is needed before a barrier after which other threads read",
        f"""{COPY} cp.async.commit_group; cp.async.wait_group 0;
bar.sync 0; ld.shared.u32 %r10, [%r2];
cp.async.wait_group 0; //~ PTX902
ld.shared.u32 %r11, [%r4]; add.u32 %r10, %r10, %r11; st.global.u32 [%rd2], %r10;""",
        notes=True,
    ),
    Case(
        "a wait is needed before a flag for other blocks",
        f"""{COPY} cp.async.commit_group; cp.async.wait_group 0;
st.release.gpu.global.u32 [%rd2], %r1;
{OTHER_COPY} cp.async.commit_group; cp.async.wait_group 0; ld.shared.u32 %r10, [%r4+2048];""",
        notes=True,
    ),
    Case(
        "a wait is needed if only the exit follows",
        f"{COPY} cp.async.commit_group; cp.async.wait_group 0;",
        notes=True,
    ),
    Case(
        "a wait is needed before the accumulators are used",
        f""".reg .f32 %f<8>; mov.u64 %rd6, 4611686293305294848;
{MULTIPLY} wgmma.wait_group.sync.aligned 0; st.global.f32 [%rd2], %f1;
{MULTIPLY} wgmma.wait_group.sync.aligned 0; st.global.f32 [%rd2], %f1;""",
        notes=True,
    ),
    Case(
        "nothing depends on a wait between multiplications into the same accumulators",
        f""".reg .f32 %f<8>; mov.u64 %rd6, 4611686293305294848;
{MULTIPLY} //~ PTX907 last
wgmma.wait_group.sync.aligned 0; //~ PTX907 last
{MULTIPLY.removeprefix("wgmma.fence.sync.aligned;")}
wgmma.wait_group.sync.aligned 0; //= last
st.global.f32 [%rd2], %f1;""",
        notes=True,
    ),
    Case(
        "a barrier is needed between a read and the copy that overwrites the bytes",
        """@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; bar.sync 0; mov.u32 %r10, 0;
next: @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 2048;
@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 2048, [%r5];
wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], %r10; @!%p3 bra wait;
ld.shared.u32 %r11, [%r4]; bar.sync 0;
xor.b32 %r10, %r10, 1; setp.ne.u32 %p4, %r10, 0; @%p4 bra next;""",
        notes=True,
    ),
    Case(
        "a barrier is needed between two updates of one word",
        """atom.shared.add.u32 %r10, [%r2], 1; bar.sync 0; atom.shared.and.b32 %r10, [%r2], 7;""",
        notes=True,
    ),
    Case(
        "a barrier of the only warp is needed before lanes read together what others have stored",
        """st.shared.u32 [%r4], %r1; xor.b32 %r4, %r4, 16; bar.sync 0;
ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r10}, [%r4]; st.global.u32 [%rd2], %r10;""",
        bounds=".reqntid 32, 1, 1",
        notes=True,
    ),
    Case(
        "a barrier that only a fence of all writers replaces is kept under strict",
        f"""st.shared.u32 [%r4], %r1; bar.sync 0;
fence.proxy.async.shared::cta; bar.sync 0;
{STORE}""",
        policy="strict",
        notes=True,
    ),
    Case(
        "a repeated barrier is reported at the second one",
        """st.shared.u32 [%r4], %r1;
bar.sync 0; //= first
mov.u32 %r10, %r4;
bar.sync 0; //~ PTX903 first
ld.shared.u32 %r11, [%r2]; st.global.u32 [%rd2], %r11;""",
        notes=True,
    ),
    Case(
        "a barrier on each side of a load is not a repetition",
        """st.shared.u32 [%r4], %r1; bar.sync 0;
ld.shared.u32 %r11, [%r2]; bar.sync 0; st.shared.u32 [%r4], %r11;""",
        notes=True,
    ),
    Case(
        "two fences under different guards are two",
        f"""st.shared.u32 [%r4], %r1;
@%p1 fence.proxy.async.shared::cta;
@!%p1 fence.proxy.async.shared::cta;
bar.sync 0;
{STORE}""",
        notes=True,
    ),
    Case(
        "two fences under one guard are one too many",
        f"""@%p1 st.shared.u32 [%r4], %r1;
@%p1 fence.proxy.async.shared::cta; //= first
@%p1 fence.proxy.async.shared::cta; //~ PTX903 first
{STORE}""",
        notes=True,
    ),
    Case(
        "a group before its copy is empty",
        f"""cp.async.commit_group; //~ PTX904
{COPY} cp.async.commit_group; cp.async.wait_group 0;""",
        notes=True,
    ),
    Case(
        "a group is empty on all paths, whatever data decide",
        f"""ld.global.u32 %r9, [%rd1]; setp.eq.u32 %p3, %r9, 0; setp.eq.u32 %p4, %r9, 1;
@%p3 bra next;
{COPY} cp.async.commit_group; cp.async.wait_group 0;
next: @%p4 bra over;
cp.async.commit_group; //~ PTX904
over: mov.u32 %r9, 0;""",
        notes=True,
    ),
    Case(
        "a group is not empty if data decide that a copy comes before it",
        f"""ld.global.u32 %r9, [%rd1]; setp.eq.u32 %p3, %r9, 0; setp.eq.u32 %p4, %r9, 1;
@%p3 bra next;
{COPY}
next: cp.async.commit_group; cp.async.wait_group 0;""",
        notes=True,
    ),
    Case(
        "a group of the other kind is empty",
        f"""{COPY} cp.async.commit_group;
cp.async.bulk.commit_group; //~ PTX904
cp.async.wait_group 0;""",
        notes=True,
    ),
    Case(
        "a fence for all memory is wide where only copies use global memory",
        f"""st.shared.u32 [%r4], %r1;
fence.proxy.async; //~ PTX905
bar.sync 0;
{STORE}""",
        notes=True,
    ),
    Case(
        "a fence for all memory is wide in the issuing thread, too",
        f"""st.shared.u32 [%r4], %r1; bar.sync 0;
@%p1 fence.proxy.async; //~ PTX905
{STORE}""",
        notes=True,
    ),
    Case(
        "a fence for all memory is not wide where threads store to global memory",
        f"""st.shared.u32 [%r4], %r1; st.global.u32 [%rd1], %r1; fence.proxy.async; bar.sync 0;
{STORE}""",
        notes=True,
    ),
    Case(
        "multicast is made for targets with features of their own",
        MULTICAST + "[%r5], %h1; //~ PTX906\n" + LAST,
        target="sm_90",
        notes=True,
        undecided=("PTX503", "PTX611"),
    ),
    Case(
        "multicast for another plain target",
        MULTICAST + "[%r5], %h1; //~ PTX906\n" + LAST,
        target="sm_100",
        notes=True,
        undecided=("PTX503", "PTX611"),
    ),
    Case(
        "a fence orders nothing where all accesses are of one proxy, whatever data decide",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
ld.global.u32 %r10, [%rd1]; setp.eq.u32 %p4, %r10, 7;
@%p4 fence.proxy.async.shared::cta; //~ PTX901
bar.sync 0;
{FILL}""",
        notes=True,
    ),
    Case(
        "a wait after a loop that data end has nothing to wait for",
        f"""ld.global.u32 %r10, [%rd1];
next: {COPY} cp.async.commit_group; cp.async.wait_group 0;
add.u32 %r10, %r10, -1; setp.gt.s32 %p3, %r10, 0; @%p3 bra next;
cp.async.wait_group 0; //~ PTX902
""",
        notes=True,
    ),
    Case(
        "a wait after a loop that may leave a group",
        f"""ld.global.u32 %r10, [%rd1];
next: {COPY} cp.async.commit_group; add.u32 %r4, %r4, 2048;
add.u32 %r10, %r10, -1; setp.gt.s32 %p3, %r10, 0; @%p3 bra next;
cp.async.wait_group 0;""",
        notes=True,
        undecided=("PTX304",),
    ),
    Case(
        "a commit before a wait for everything is redundant",
        f"{COPY}\ncp.async.commit_group; //~ PTX904\ncp.async.wait_all;",
        notes=True,
    ),
    Case(
        "a commit before another one is redundant if no wait counts the groups",
        f"""{COPY} cp.async.commit_group; //~ PTX904
{OTHER_COPY} cp.async.commit_group; cp.async.wait_group 0;""",
        notes=True,
    ),
    Case(
        "a commit before another one is needed if a wait counts the groups",
        f"""{COPY} cp.async.commit_group; {OTHER_COPY} cp.async.commit_group; cp.async.wait_group 1;
ld.shared.u32 %r10, [%r4]; cp.async.wait_group 0;""",
        notes=True,
    ),
    Case(
        "the last commit of a loop is redundant if a commit follows the loop",
        f"""ld.global.u32 %r10, [%rd1];
next: {COPY} cp.async.commit_group; //~ PTX904
sub.u32 %r10, %r10, 1; setp.ne.u32 %p3, %r10, 0; @%p3 bra next;
{OTHER_COPY} cp.async.commit_group; cp.async.wait_group 0;""",
        notes=True,
        undecided=("PTX304",),
    ),
    Case(
        "a commit before another one under a guard is needed",
        f"""{COPY} cp.async.commit_group; @%p1 {OTHER_COPY} @%p1 cp.async.commit_group; cp.async.wait_group 0;""",
        notes=True,
    ),
    Case(
        "a commit before another one is needed if a path between them exits",
        f"""{COPY} cp.async.commit_group; @%p1 ret; {OTHER_COPY} cp.async.commit_group;
cp.async.wait_group 0;""",
        notes=True,
    ),
    Case(
        "a commit before a wait for everything under a guard is needed",
        f"{COPY} cp.async.commit_group; @%p1 cp.async.wait_all; cp.async.wait_group 0;",
        notes=True,
    ),
    Case(
        "the first of two waits that count needs the commit",
        f"{COPY} cp.async.commit_group; cp.async.wait_group 0; {COPY} cp.async.commit_group; cp.async.wait_group 0;",
        notes=True,
    ),
    Case(
        "an initialization in a kernel for one CTA needs no fence",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
@%p1 fence.mbarrier_init.release.cluster; //~ PTX907
bar.sync 0;
{FILL}""",
        notes=True,
    ),
    Case(
        "a warp barrier comes before everything",
        "bar.warp.sync -1; //~ PTX907\nst.shared.u32 [%r4], %r1;",
        notes=True,
    ),
    Case(
        "a warp barrier is on only one of two paths",
        "setp.lt.u32 %p4, %r1, 32; @%p4 bra end; bar.warp.sync -1;\nend: st.shared.u32 [%r4], %r1;",
        notes=True,
    ),
    Case(
        "an mbarrier is initialized and not used",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
@%p1 mbarrier.init.shared::cta.b64 [%r5+16], 1; //~ PTX908
bar.sync 0;
{FILL}""",
        notes=True,
    ),
    Case(
        "an mbarrier is initialized and invalidated",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; @%p1 mbarrier.init.shared::cta.b64 [%r5+16], 1;
@%p1 mbarrier.inval.shared::cta.b64 [%r5+16];
bar.sync 0;
{FILL}""",
        notes=True,
    ),
    Case(
        "each of two mbarriers may be the one that is used",
        """@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 1;
bar.sync 0; and.b32 %r10, %r6, 1; mad.lo.u32 %r5, %r10, 8, %r5;
@%p1 mbarrier.arrive.shared::cta.b64 _, [%r5];""",
        notes=True,
    ),
    Case(
        "a second mbarrier is initialized where another variable is used",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
@%p1 mbarrier.init.shared::cta.b64 [%r8], 1; //~ PTX908
bar.sync 0;
{FILL}""",
        notes=True,
    ),
    Case(
        "the first barriers of a block order nothing if only printing precedes them",
        """bar.sync 0; //~ PTX907
@%p1 bra print; bra both;
print: call.uni (%r10), vprintf, (%rd1, %rd2);
both: bar.sync 0; //~ PTX907
st.shared.u32 [%r4], %r1;
bar.sync 0; ld.shared.u32 %r11, [%r2]; st.global.u32 [%rd2], %r11;""",
        before=".extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 values);",
        notes=True,
    ),
    Case(
        "a barrier after a load of global memory orders it before later stores",
        "ld.global.u32 %r10, [%rd1]; bar.sync 0; st.global.u32 [%rd2], %r10;",
        notes=True,
    ),
    Case(
        "a barrier in a loop may follow an access of the iteration before",
        """mov.u32 %r10, 0;
next: bar.sync 0; st.shared.u32 [%r2], %r10; add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 3; @%p3 bra next;""",
        notes=True,
    ),
    Case(
        "a barrier of some warps is not the first one of all",
        "setp.ge.u32 %p4, %r1, 64; @%p4 bra end; bar.sync 1, 64;\nend: st.shared.u32 [%r4], %r1;",
        notes=True,
    ),
    *(
        Case(
            f"an initialization is published to the cluster by an arrival that {does}",
            f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
@%p1 fence.mbarrier_init.release.cluster;{expected}
barrier.cluster.arrive{order}.aligned; barrier.cluster.wait.aligned;
mov.u32 %r10, %cluster_ctarank; xor.b32 %r10, %r10, 1; mapa.shared::cluster.u32 %r11, %r5, %r10;
@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11];
wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r5], 0; @!%p3 bra wait;""",
            bounds=".reqntid 128, 1, 1\n.reqnctapercluster 2, 1, 1",
            notes=True,
        )
        for does, order, expected in (
            ("releases", "", " //~ PTX907"),
            ("names the release", ".release", " //~ PTX907"),
            ("is relaxed", ".relaxed", ""),
        )
    ),
    Case(
        "a barrier before a loop that begins with one orders nothing more",
        """st.shared.u32 [%r4], %r1; mov.u32 %r10, 0;
bar.sync 0; //~ PTX907
next: bar.sync 0; ld.shared.u32 %r11, [%r2]; bar.sync 0; st.shared.u32 [%r4], %r11;
add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 3; @%p3 bra next;""",
        notes=True,
    ),
    Case(
        "one of two barriers between which threads only read is redundant",
        """st.shared.u32 [%r4], %r1; bar.sync 0; ld.shared.u32 %r11, [%r2]; st.global.u32 [%rd2], %r11;
bar.sync 0; //~ PTX907
ld.shared.u32 %r12, [%r2]; bar.sync 0; st.shared.u32 [%r4], %r12;""",
        notes=True,
    ),
    Case(
        "either of two barriers may go if threads access only their own memory between them",
        """.local .align 4 .b8 own[4];
st.shared.u32 [%r4], %r1; bar.sync 0; ld.shared.u32 %r11, [%r2]; setp.eq.u32 %p3, %r6, 3;
bar.sync 0; //~ PTX907 //= stays
st.local.u32 [own], %r11; @!%p3 bra on; st.local.u32 [own], %r6;
on: bar.sync 0; //~ PTX907 stays
st.shared.u32 [%r4], %r11; bar.sync 0; ld.shared.u32 %r12, [%r2]; st.global.u32 [%rd2], %r12;""",
        notes=True,
    ),
    Case(
        "a barrier after a wait for copies is needed",
        f"""{COPY} cp.async.commit_group; bar.sync 0; //~ PTX907
cp.async.wait_group 0; bar.sync 0; ld.shared.u32 %r12, [%r2]; st.global.u32 [%rd2], %r12;""",
        notes=True,
    ),
    Case(
        "a barrier that one half of the block passes twice is needed",
        """setp.ge.u32 %p3, %r1, 64; st.shared.u32 [%r4], %r1; @%p3 bra half;
bar.sync 0; mov.u32 %r10, 0; @%p1 mov.u32 %r10, 1; bar.sync 0; bra meet;
half: bar.sync 0; ld.shared.u32 %r7, [%r4+-256]; st.global.u32 [%rd2], %r7; bar.sync 0;
meet: st.shared.u32 [%r4], %r3;""",
        notes=True,
    ),
    Case(
        "a proxy fence after a multiplication repeats the one before it",
        f"""st.shared.u32 [%r4], %r1; fence.proxy.async.shared::cta; bar.sync 0;
@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 512;
@%p1 cp.async.bulk.commit_group; //~ PTX907 last
@%p1 cp.async.bulk.wait_group.read 0; //~ PTX907 last
fence.proxy.async.shared::cta; //~ PTX901
{STORE} //= last""",
        notes=True,
    ),
    Case(
        "a proxy fence after another write is needed",
        f"""st.shared.u32 [%r4], %r1; fence.proxy.async.shared::cta; bar.sync 0;
@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 512; @%p1 cp.async.bulk.commit_group;
@%p1 cp.async.bulk.wait_group.read 0;
bar.sync 0; st.shared.u32 [%r4], %r6;
fence.proxy.async.shared::cta; bar.sync 0;
{STORE}""",
        notes=True,
    ),
    Case(
        "the writes of other threads before a barrier need a fence after it",
        f"""fence.proxy.async.shared::cta; //~ PTX901
st.shared.u32 [%r4], %r1; bar.sync 0; //= one //~ PTX907 other
fence.proxy.async.shared::cta; bar.sync 0; //= other //~ PTX907 one
{STORE}""",
        notes=True,
    ),
    Case(
        "copies that complete after a fence need another one",
        f"""{COPY} cp.async.commit_group;
fence.proxy.async.shared::cta; //~ PTX901
cp.async.wait_group 0; fence.proxy.async.shared::cta; bar.sync 0;
{STORE}""",
        notes=True,
    ),
    Case(
        "a proxy fence before a barrier and another fence orders nothing",
        f"""st.shared.u32 [%r4], %r1;
fence.proxy.async.shared::cta; //~ PTX901
bar.sync 0; fence.proxy.async.shared::cta; //= one //~ PTX907 other
bar.sync 0; //= other //~ PTX907 one
{STORE}""",
        notes=True,
    ),
    *(
        Case(
            f"a proxy fence before {what}",
            f"""st.shared.u32 [%r4], %r1;
fence.proxy.async.shared::cta;{first}
{between} fence.proxy.async.shared::cta;{second}
bar.sync 0; {STORE}""",
            policy=policy,
            notes=True,
        )
        for what, between, policy, first, second in (
            ("a barrier is that of the writers", "bar.sync 0;", "strict", "", " //~ PTX901"),
            ("an async access is needed", f"bar.sync 0; {OTHER_STORE} bar.sync 0; {REFILL}", "isa", "", ""),
            ("a fence of memory is needed", "fence.acq_rel.gpu;", "isa", "", " //~ PTX901"),
        )
    ),
    Case(
        "copies are tracked twice before the thread arrives",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 128; bar.sync 0;
{COPY}
cp.async.mbarrier.arrive.shared::cta.b64 [%r5]; //~ PTX907 again
{OTHER_COPY}
cp.async.mbarrier.arrive.shared::cta.b64 [%r5]; //= again
mbarrier.arrive.shared::cta.b64 _, [%r5];
{LAST}""",
        notes=True,
    ),
    *(
        Case(
            f"copies are tracked once if {what}",
            f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 128; @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 128;
bar.sync 0; {COPY} cp.async.mbarrier.arrive.shared::cta.b64 [%r5]; {between}
{guard}{OTHER_COPY} {guard}cp.async.mbarrier.arrive.shared::cta.b64 [%r5+{offset}];
mbarrier.arrive.shared::cta.b64 _, [%r5]; mbarrier.arrive.shared::cta.b64 _, [%r5+8];
{LAST} on: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5+8], 0; @!%p3 bra on;""",
            notes=True,
        )
        for what, between, guard, offset in (
            ("the other one has a guard", "", "@%p1 ", 0),
            ("the other one is for another mbarrier", "", "", 8),
            ("a barrier is between", "bar.sync 0; //= it //~ PTX907 it", "", 0),
        )
    ),
)
