"""Kernels of clusters of two CTAs: accesses to the other one, and the barrier of both (PTX611, 612, 613); and how they
signal each other (PTX302, 501, 503 to 505, 601)."""

from __future__ import annotations

from tests.rules.support import Case

BOUNDS = ".reqntid 128, 1, 1\n.reqnctapercluster 2, 1, 1"
#: The other CTA's tile in %r10, its mbarrier in %r11.
PEER = """mov.u32 %r12, %cluster_ctarank; xor.b32 %r12, %r12, 1;
mapa.shared::cluster.u32 %r10, %r4, %r12; mapa.shared::cluster.u32 %r11, %r5, %r12;"""
MEET = "barrier.cluster.arrive.release; barrier.cluster.wait.acquire;"
RELAXED = "barrier.cluster.arrive.relaxed; barrier.cluster.wait.acquire;"
CP_ASYNC = "cp.async.ca.shared.global [%r4], [%rd1], 16;"
INIT = "@%p1 mbarrier.init.shared::cta.b64 [%r5], 128;"
#: An mbarrier with a count of one.
ONE = "@%p1 mbarrier.init.shared::cta.b64 [%r5], 1;"
ARRIVE = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11];"
#: A copy into both CTAs, half of what each expects.
TO_BOTH = """.reg .b16 %rs<2>; mov.u16 %rs1, 3;
@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2],[%rd1],16,[%r5],%rs1;"""
WAIT = "wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r5], 0; @!%p3 bra wait;"


def case(name: str, body: str, bounds: str = BOUNDS, target: str = "sm_90a", undecided: tuple[str, ...] = ()) -> Case:
    return Case(name, f"{PEER}\n{body}", bounds=bounds, target=target, undecided=undecided)


def _refill_case(
    name: str, *, free: str = "", after: str = "", early: str = "", undecided: tuple[str, ...] = ()
) -> Case:
    """One thread copies into both CTAs in each of two rounds; all threads wait and read.

    free: before the copy of the second round. early, after: before and after the read.
    """
    body = f"""{ONE} @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 256; @%p1 fence.mbarrier_init.release.cluster;
.reg .b16 %rs<2>; mov.u16 %rs1, 3; add.u32 %r14, %r5, 8; mapa.shared::cluster.u32 %r15, %r14, 0;
mov.u32 %r13, %cluster_ctarank; setp.eq.and.u32 %p4, %r13, 0, %p1; mov.u32 %r16, 0; {MEET}
next: @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 2048;
@!%p4 bra wait; setp.eq.u32 %p5, %r16, 0; @%p5 bra fill; {free}
fill: cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2],[%rd1],2048,[%r5],%rs1;
wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r5], %r16; @!%p3 bra wait;
{early} ld.shared.u32 %r20, [%r4]; {after}
add.u32 %r16, %r16, 1; setp.lt.u32 %p6, %r16, 2; @%p6 bra next; {MEET}"""
    return case(name, body, undecided=undecided)


_FREE = "free: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r5+8], 0; @!%p3 bra free;"
_FREED = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r15];"


def _inbox_case(name: str, *, early: str = "", late: str = "", undecided: tuple[str, ...] = ()) -> Case:
    """The first CTA stores into the second one, twice; the second one reads, and frees the memory before or after."""
    wait = "{0}: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r5+{1}], %r16; @!%p3 bra {0};"
    body = f"""{INIT} @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 128; @%p1 fence.mbarrier_init.release.cluster;
mov.u32 %r16, 0; setp.eq.u32 %p4, %r12, 1; {MEET} @%p4 bra send;
next: {wait.format("full", 0)} {early} xor.b32 %r14, %r4, 16; ld.shared.u32 %r20, [%r14]; {late}
add.u32 %r16, %r16, 1; setp.lt.u32 %p6, %r16, 2; @%p6 bra next; bra meet;
send: st.shared::cluster.u32 [%r10], %r1; {ARRIVE}
{wait.format("freed", 8)} add.u32 %r16, %r16, 1; setp.lt.u32 %p6, %r16, 2; @%p6 bra send;
meet: {MEET}"""
    return case(name, body, undecided=undecided)


_EMPTIED = ARRIVE.replace("[%r11]", "[%r11+8]")


def _reply_case(name: str, *, reply_first: bool) -> Case:
    """Each thread sends two words to the other CTA, which reads each and answers, and reads the answers."""
    send = "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r10], %r16, [%r11];"
    read = "xor.b32 %r14, %r4, 16; ld.shared.u32 %r20, [%r14];"
    wait = "{0}: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r5], %r16; @!%p3 bra {0};"
    body = f"""{ONE} @%p1 fence.mbarrier_init.release.cluster; mov.u32 %r16, 0; setp.eq.u32 %p4, %r12, 1; {MEET}
next: @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 512; @%p4 bra ask;
{wait.format("asked")} {f"{send} {read}" if reply_first else f"{read} {send}"} bra done;
ask: {send} {wait.format("replied")} {read}
done: add.u32 %r16, %r16, 1; setp.lt.u32 %p6, %r16, 2; @%p6 bra next; {MEET}"""
    return case(name, body, undecided=("PTX621",) if reply_first else ())


REFILLED = (
    _refill_case(
        "a barrier of the CTA does not order the refill of the other one",
        after="bar.sync 0;",
        undecided=("PTX304", "PTX621"),
    ),
    _refill_case("a barrier of the cluster orders the refill", after=MEET),
    _refill_case("each thread of both CTAs frees the tile", free=_FREE, after=_FREED),
    _refill_case("each thread frees the tile before it reads", free=_FREE, early=_FREED, undecided=("PTX621",)),
    _reply_case("a reply orders the next word after the read", reply_first=False),
    _reply_case("a reply before the read orders nothing", reply_first=True),
)

TOO_EARLY = (
    case(
        "a remote load before the cluster has synchronized is too early",
        f"ld.shared::cluster.u32 %r20, [%r10]; //! PTX611\n{MEET}",
    ),
    case(
        "a barrier of the CTA does not synchronize the cluster",
        f"bar.sync 0; st.shared::cluster.u32 [%r10], 1; //! PTX611\n{MEET}",
    ),
    case("where the cluster has met its memory is there", f"{MEET} st.shared::cluster.u32 [%r10], 1; {MEET}"),
    case(
        "of one missing barrier there is one report",
        f"st.shared::cluster.u32 [%r10], 1; //! PTX611\nst.shared::cluster.u32 [%r10+4], 1; {MEET}",
    ),
    case(
        "the executing CTA's memory at its cluster address exists",
        "mov.u32 %r13, %cluster_ctarank; mapa.shared::cluster.u32 %r10, %r4, %r13; st.shared::cluster.u32 [%r10], 1;",
    ),
    case(
        "whether a flag in memory has signaled the start of the other CTA, and its end, is open",
        "poll: ld.acquire.gpu.global.u32 %r20, [%rd1]; setp.eq.u32 %p3, %r20, 0; @%p3 bra poll;\n"
        "st.shared::cluster.u32 [%r10], 1;",
        undecided=("PTX611", "PTX612"),
    ),
    case(
        "the result of an atomic that the kernel ignores proves nothing",
        "atom.global.add.u32 %r20, [%rd1], 1; st.shared::cluster.u32 [%r10], 1; //! PTX611\n" + MEET,
    ),
    case(
        "data decides which CTA is accessed, and it may be another one that has not started",
        "ld.global.u32 %r12, [%rd1]; mapa.shared::cluster.u32 %r10, %r4, %r12;\n"
        f"atom.shared::cluster.add.u32 %r20, [%r10], 1; {MEET}",
        undecided=("PTX611",),
    ),
    case(
        "whether anything orders a read and a store by the other CTA is open",
        f"{MEET} st.shared::cluster.u32 [%r10], 1; ld.shared.u32 %r20, [%r4]; {MEET}",
        undecided=("PTX621",),
    ),
    case(
        "a read between the arrival at the cluster barrier and the wait is not ordered by it",
        f"""{MEET} st.shared::cluster.u32 [%r10], 1; barrier.cluster.arrive.release; ld.shared.u32 %r20, [%r4];
barrier.cluster.wait.acquire; {MEET}""",
        undecided=("PTX621",),
    ),
    case(
        "a CTA that does not wait for a copy into both CTAs reads early",
        f"""{ONE} {MEET} @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 16; setp.ne.u32 %p4, %r12, 1;
{{ {TO_BOTH.replace("@%p1", "@%p4 bra none; @%p1")} none: }} @%p4 bra read; {WAIT}
read: ld.shared.u32 %r20, [%r2]; st.global.u32 [%rd2], %r20; {MEET}""",
        undecided=("PTX302",),
    ),
    case(
        "both CTAs wait for a copy into both",
        f"""{ONE} {MEET} @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 16; setp.ne.u32 %p4, %r12, 1;
{{ {TO_BOTH.replace("@%p1", "@%p4 bra none; @%p1")} none: }} {WAIT}
read: ld.shared.u32 %r20, [%r2]; st.global.u32 [%rd2], %r20; {MEET}""",
    ),
    case(
        "the cluster barrier orders a read and a store by the other CTA",
        f"{MEET} st.shared::cluster.u32 [%r10], 1; {MEET} ld.shared.u32 %r20, [%r4]; {MEET}",
    ),
    case(
        "a relaxed arrival without a fence orders nothing",
        f"{MEET} st.shared.u32 [%r4], 1; {RELAXED} ld.shared::cluster.u32 %r20, [%r10]; {MEET}",
        undecided=("PTX621",),
    ),
    case(
        "a relaxed arrival after the fence of its own thread orders",
        f"{MEET} st.shared.u32 [%r4], 1; fence.acq_rel.cluster; {RELAXED} ld.shared::cluster.u32 %r20, [%r10]; {MEET}",
    ),
    case(
        "a relaxed arrival after the fence of a thread that has met all others orders",
        f"{MEET} st.shared.u32 [%r4], 1; bar.sync 0; @%p1 fence.acq_rel.cluster; {RELAXED}\n"
        f"ld.shared::cluster.u32 %r20, [%r10]; {MEET}",
    ),
    case(
        "the fence of one thread orders nothing that the others have stored",
        f"{MEET} st.shared.u32 [%r4], 1; @%p1 fence.acq_rel.cluster; {RELAXED}\n"
        f"ld.shared::cluster.u32 %r20, [%r10]; {MEET}",
        undecided=("PTX621",),
    ),
    case(
        "the cluster barrier orders a copy that its thread has waited for",
        f"{CP_ASYNC} cp.async.wait_all; {MEET} ld.shared::cluster.u32 %r20, [%r10]; {MEET}",
    ),
    case(
        "the cluster barrier does not order a copy that its thread waits for later",
        f"{CP_ASYNC} {MEET} cp.async.wait_all; ld.shared::cluster.u32 %r20, [%r10]; {MEET}",
        undecided=("PTX621",),
    ),
    case(
        "a relaxed arrival does not order a copy that its thread has waited for",
        f"{MEET} {CP_ASYNC} cp.async.wait_all; {RELAXED} ld.shared::cluster.u32 %r20, [%r10]; {MEET}",
        undecided=("PTX621",),
    ),
    case(
        "an mbarrier of the CTA may show others that a copy is complete",
        f"{INIT} bar.sync 0; {CP_ASYNC} cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r5];\n"
        f"{WAIT} {MEET} ld.shared::cluster.u32 %r20, [%r10]; {MEET}",
    ),
    case(
        "an mbarrier orders a read and a store by the other CTA",
        f"{INIT} {MEET} st.shared::cluster.u32 [%r10], 1; {ARRIVE} {WAIT} ld.shared.u32 %r20, [%r4]; {MEET}",
    ),
    case(
        "data decides which CTA is accessed, and the read may be of its bytes",
        f"{MEET} ld.global.u32 %r12, [%rd1]; mapa.shared::cluster.u32 %r10, %r4, %r12;\n"
        f"atom.shared::cluster.add.u32 %r20, [%r10], 1; ld.shared.u32 %r20, [%r4]; {MEET}",
        undecided=("PTX621",),
    ),
    case(
        "data decides which CTA is accessed, and all have started",
        f"{MEET} ld.global.u32 %r12, [%rd1]; mapa.shared::cluster.u32 %r10, %r4, %r12;\n"
        f"atom.shared::cluster.add.u32 %r20, [%r10], 1; {MEET}",
    ),
    case(
        "a store to the next CTA is wrong with each size of the cluster with which there is one",
        "st.shared::cluster.u32 [%r10], 1; //? PTX611 //? PTX612",
        undecided=("PTX206",),
        bounds=".reqntid 128, 1, 1",
    ),
    case(
        "a copy to both CTAs accesses the other one",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 32;
bar.sync 0; {TO_BOTH} //! PTX611
{WAIT} {MEET}""",
    ),
    case(
        "a copy to both CTAs when these have met",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; @%p1 fence.mbarrier_init.release.cluster;
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 32;
{MEET} {TO_BOTH}
{WAIT} {MEET}""",
        undecided=("PTX304",),
    ),
)

PUBLISHED = (
    case(
        "accesses before a relaxed arrival are not published",
        f"""{INIT} //= init
bar.sync 0; barrier.cluster.arrive.relaxed; //= arrive
barrier.cluster.wait.acquire; {ARRIVE} //! PTX611 init arrive
{WAIT} {MEET}""",
    ),
    case(
        "a fence of the cluster before a relaxed arrival publishes all",
        f"{INIT} bar.sync 0; fence.acq_rel.cluster; barrier.cluster.arrive.relaxed; barrier.cluster.wait.acquire;\n"
        f"{ARRIVE} {WAIT} {MEET}",
    ),
    case(
        "the fence for initializations is executed by the initializing thread",
        f"""{INIT} //= init
@%p2 fence.mbarrier_init.release.cluster; bar.sync 0; barrier.cluster.arrive.relaxed; //= arrive
barrier.cluster.wait.acquire; {ARRIVE} //! PTX611 init arrive
{WAIT} {MEET}""",
    ),
    case(
        "an initialization that follows the barrier of the cluster is not published by it",
        f"{MEET} {INIT} //= init\nbar.sync 0; {ARRIVE} //! PTX611 init\n{WAIT} {MEET}",
    ),
    case("an arrival that releases publishes them", f"{INIT} {MEET} {ARRIVE} {WAIT} {MEET}"),
)

COPY = "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r13], [%r8], 16, [%r11];"
EXPECTING = f"""mapa.shared::cluster.u32 %r13, %r2, %r12; @%p1 mbarrier.init.shared::cta.b64 [%r5], 1;
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 16; {MEET}"""

#: CTA 0 (not %p5) fills the memory of both CTAs; its own mbarrier tracks all bytes.
FOR_A_PAIR = f"""{ONE} @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 1; {MEET}
setp.eq.u32 %p5, %r12, 0; .reg .b16 %rs<2>; mov.u16 %rs1, 3; not.pred %p4, %p5; and.pred %p4, %p1, %p4;
@%p4 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 4096;
@%p4 cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2.multicast::cluster \
[%r2], [%rd1, {{%r20}}], [%r5], %rs1;"""

BY_ONE_LANE = "setp.ne.u32 %p5, %r1, 1; @%p5 bra stored; st.shared::cluster.u32 [%r10], 1; stored:"
#: The register keeps its value, which the analysis does not know.
HIDE = "mov.u32 %r20, %clock; shl.b32 %r20, %r20, 28; or.b32 %r20, %r20, {0}; and.b32 {0}, %r20, 0xfffffff;"

FAREWELLS = (
    case(
        "a store that may execute when the other CTA has exited", f"{MEET} st.shared::cluster.u32 [%r10], 1; //! PTX612"
    ),
    case(
        "an arrival after the store publishes both to the other CTA",
        f"{INIT} {MEET} st.shared::cluster.u32 [%r10], 1; {ARRIVE} {WAIT}",
    ),
    case(
        "an arrival after the store may publish both where it is unknown which mbarrier the other CTA waits at",
        f"{INIT} {MEET} st.shared::cluster.u32 [%r10], 1; {ARRIVE} {HIDE.format('%r5')} {WAIT}",
        undecided=("PTX501", "PTX504", "PTX612"),
    ),
    case(
        "an arrival at an unknown mbarrier may publish the store",
        f"{INIT} {MEET} st.shared::cluster.u32 [%r10], 1; {HIDE.format('%r11')} {ARRIVE} {WAIT}",
        undecided=("PTX501", "PTX504", "PTX612"),
    ),
    case(
        "a store after the last arrival that the other CTA waits for",
        f"{ONE} {MEET} @%p1 {ARRIVE} @%p1 st.shared::cluster.u32 [%r10], 1; //! PTX612\n{WAIT}",
    ),
    case(
        "a store by another thread than the one whose arrival cannot publish it",
        f"{ONE} {MEET} @%p1 {ARRIVE} @%p2 st.shared::cluster.u32 [%r10], 1; //! PTX612\n{WAIT}",
    ),
    case(
        "a store by another thread than the one whose arrival may publish it",
        f"{ONE} {MEET} @%p2 st.shared::cluster.u32 [%r10], 1; bar.sync 0; @%p1 {ARRIVE}\n{WAIT}",
    ),
    case(
        "threads that a smaller block does not have wait for the arrival before the exit",
        f"{ONE} {MEET} @%p1 {ARRIVE} setp.lt.u32 %p5, %r1, 64; @%p5 bra end; {WAIT} end:",
        bounds=".maxntid 128, 1, 1\n.reqnctapercluster 2, 1, 1",
        undecided=("PTX612",),
    ),
    case(
        "whether a store is over when the lanes of its warp have only converged before the arrival is open",
        f"{ONE} {MEET} {BY_ONE_LANE} elect.sync %r20|%p4, -1; @%p1 {ARRIVE}\n{WAIT}",
        undecided=("PTX612",),
    ),
    case(
        "a store before a barrier of the warp, after which another lane arrives",
        f"{ONE} {MEET} {BY_ONE_LANE} bar.warp.sync -1; @%p1 {ARRIVE}\n{WAIT}",
    ),
    case(
        "a store by a thread that arrives at a barrier, after which another one publishes it",
        f"""{ONE} {MEET} @%p2 st.shared::cluster.u32 [%r10], 1; shr.u32 %r20, %r1, 5; setp.eq.u32 %p5, %r20, 1;
@%p5 bar.arrive 1, 64; setp.eq.u32 %p4, %r20, 0; @%p4 bar.sync 1, 64; @%p1 {ARRIVE}
{WAIT}""",
    ),
    case(
        "an arrival in a phase that no thread waits for",
        f"{ONE} {MEET} @%p1 {ARRIVE} {WAIT} {MEET}\n@%p1 {ARRIVE} //! PTX612",
    ),
    case(
        "a copy out of the executing CTA's memory whose completion only the other CTA observes",
        f"{EXPECTING}\n{COPY} //! PTX612\n{WAIT}",
    ),
    case(
        "a copy out of the executing CTA's memory, acknowledged by the other CTA when it is complete",
        f"""@%p1 mbarrier.init.shared::cta.b64 [%r5+8], 1; {EXPECTING}
{COPY} {WAIT}
@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11+8];
done: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r5+8], 0; @!%p3 bra done;""",
    ),
    case("a copy out of the executing CTA's memory before both CTAs synchronize", f"{EXPECTING}\n{COPY} {WAIT} {MEET}"),
    case(
        "a copy for a pair of CTAs: one of them observes its completion, and signals the other",
        f"""{FOR_A_PAIR}
@%p5 bra told; {WAIT}
@%p1 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r5+8], %rs1;
told: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r5+8], 0; @!%p3 bra told;""",
        target="sm_100a",
        undecided=("PTX503",),
    ),
    case(
        "a copy for a pair of CTAs that one of them sees complete, and keeps to itself",
        f"{FOR_A_PAIR} //! PTX612\n@%p5 bra signaled; {WAIT} signaled:",
        target="sm_100a",
        undecided=("PTX503",),
    ),
    case(
        "whether data leads to a store after the exit of the other CTA is open",
        f"{MEET} ld.volatile.global.u32 %r20, [%rd1]; setp.eq.u32 %p3, %r20, 0; @%p3 bra end;\n"
        "st.shared::cluster.u32 [%r10], 1; end:",
        undecided=("PTX612",),
    ),
    case(
        "data that do not decide whether the cluster meets leave nothing open",
        f"{MEET} ld.global.u32 %r20, [%rd1]; setp.eq.u32 %p3, %r20, 0; @%p3 bra end;\n"
        f"st.shared::cluster.u32 [%r10], 1; end: {MEET}",
    ),
)

HALVES = (
    case(
        "a thread that arrives twice in a phase",
        "barrier.cluster.arrive.release; //= first\nbarrier.cluster.arrive.release; //! PTX613 first\n"
        "barrier.cluster.wait.acquire;",
    ),
    case(
        "a thread that arrives in each iteration and waits once",
        "mov.u32 %r20, 0; next: barrier.cluster.arrive.release; //! PTX613\n"
        "add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, 3; @%p3 bra next; barrier.cluster.wait.acquire;",
    ),
    case("a thread that waits for itself", "barrier.cluster.wait.acquire; //! PTX613\nbarrier.cluster.arrive.release;"),
    case(
        "each path to an arrival that no execution reaches has another one",
        """barrier.cluster.arrive.release;
ld.global.u32 %r20, [%rd1]; setp.ne.u32 %p3, %r20, 7; @%p3 bra end;
ld.global.u32 %r21, [%rd1+4]; setp.ne.u32 %p4, %r21, 9; @%p4 bra end;
barrier.cluster.arrive.release; //? PTX613
end: barrier.cluster.wait.acquire;""",
    ),
    case(
        "halves that alternate in a loop",
        f"mov.u32 %r20, 0; next: {MEET} add.u32 %r20, %r20, 1; setp.lt.u32 %p3, %r20, 3; @%p3 bra next;",
    ),
    case("an arrival that no thread waits for before the end", f"{MEET} barrier.cluster.arrive.relaxed;"),
)

SECOND = "setp.eq.u32 %p4, %r12, 0; and.pred %p5, %p1, %p4;"  # %p4: in the second CTA, whose peer is the first
STORE = "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r10], %r1, [%r11];"

JOINT = (
    case("each CTA waits for the arrival of the other one", f"{ONE} {MEET} @%p1 {ARRIVE} {WAIT} {MEET}"),
    case(
        "an arrival that only one of two CTAs makes",
        f"{ONE} //= init\n{MEET} {SECOND} @%p5 {ARRIVE} //= arrive\n"
        "wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r5], 0; //! PTX503\n"
        f"@!%p3 bra wait; {MEET}",
    ),
    case(
        "an mbarrier that counts an arrival which no CTA makes",
        "@%p1 mbarrier.init.shared::cta.b64 [%r5], 2; //= init\n"
        f"{MEET} @%p1 {ARRIVE} //= arrive\n"
        "wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r5], 0; //! PTX504 arrive init\n"
        f"@!%p3 bra wait; {MEET}",
    ),
    case(
        "an arrival of each of two CTAs where one is counted",
        f"{ONE} //= init\n{MEET} @%p1 {ARRIVE} //= first\n"
        f"@%p1 mbarrier.arrive.shared::cta.b64 _, [%r5]; //! PTX505 first init\n{WAIT} {MEET}",
    ),
    case(
        "a cluster's barrier that a warp of one CTA does not execute",
        f"{SECOND} setp.lt.u32 %p6, %r1, 32; and.pred %p6, %p6, %p4; @%p6 bra late;\n"
        "barrier.cluster.arrive; barrier.cluster.wait; //= cluster\n"
        "late: bar.sync 0; //! PTX601 cluster\n",
    ),
    case("a cluster's barrier that an exited CTA does not execute", f"{SECOND} @%p4 bra end; {MEET} end:"),
    case(
        "stores of all threads where the bytes of half of them are expected",
        f"{ONE} @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 260; //! PTX503 store wait\n"
        f"{MEET} {STORE} //= store\n"
        "wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r5], 0; //= wait\n"
        f"@!%p3 bra wait; {MEET}",
    ),
    case(
        "stores of all threads where their bytes are expected",
        f"{ONE} @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 512; {MEET} {STORE} {WAIT} {MEET}",
    ),
    case(
        "a read of the other CTA's store, by threads that do not wait",
        f"{ONE} @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 512; {MEET} {STORE} //= store\n"
        f"@!%p1 bra read; {WAIT} read: ld.shared.u32 %r20, [%r4]; //! PTX302 store\n{MEET}",
    ),
    case(
        "a read of the other CTA's store, by threads that do not wait, after a condition on the clock",
        "mov.u32 %r21, %clock; setp.gt.u32 %p4, %r21, 7; @%p4 bra begin; st.global.u32 [%rd2], %r21;\n"
        f"begin: {ONE} @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 512; {MEET} {STORE}\n"
        f"@!%p1 bra read; {WAIT} read: ld.shared.u32 %r20, [%r4];\n{MEET}",
        undecided=("PTX302",),
    ),
    case(
        "a read of the other CTA's store, by threads that wait for the one that waits",
        f"{ONE} @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 512; {MEET} {STORE}\n"
        f"@!%p1 bra read; {WAIT} read: bar.sync 0; ld.shared.u32 %r20, [%r4]; {MEET}",
    ),
    case(
        "a read before the other CTA begins to store",
        f"{ONE} @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 512; ld.shared.u32 %r20, [%r4];\n"
        f"{MEET} {STORE} {WAIT} {MEET}",
    ),
    case(
        "a signal to an mbarrier of the other CTA that no thread initializes",
        f"{ONE} {MEET} @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r11+8]; //! PTX501\n{MEET}",
    ),
    case(
        "phases are open where the kernel does not fix the size of its clusters",
        f"@%p1 mbarrier.init.shared::cta.b64 [%r5], 1; {MEET} @%p1 mbarrier.arrive.shared::cta.b64 _, [%r5];\n"
        f"{WAIT} {MEET}",
        undecided=("PTX503",),
        bounds=".reqntid 128, 1, 1",
    ),
    case(
        "an arrival is missing in clusters of each size that is tried",
        "@%p1 mbarrier.init.shared::cta.b64 [%r5], 2; //= init\n"
        f"{MEET} @%p1 mbarrier.arrive.shared::cta.b64 _, [%r5]; //= arrive\n"
        "wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], 0; //? PTX504 arrive init\n@!%p3 bra wait;\n"
        f"{MEET}",
        undecided=("PTX503",),
        bounds=".reqntid 128, 1, 1",
    ),
    case(
        "in a cluster of one CTA, no other thread makes the arrival that is missing",
        "@%p1 mbarrier.init.shared::cta.b64 [%r5], 2; //= init\n"
        f"{MEET} @%p1 mbarrier.arrive.shared::cta.b64 _, [%r5]; //= arrive\n"
        "wait: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], 0; //! PTX504 arrive init\n@!%p3 bra wait;",
        bounds=".reqntid 128, 1, 1\n.reqnctapercluster 1, 1, 1",
    ),
)

INBOXES = (
    _inbox_case("the memory is freed after the read", late=_EMPTIED),
    _inbox_case("the memory is freed before the read", early=_EMPTIED, undecided=("PTX621",)),
)

_ANY_RANK = """ld.global.u32 %r13, [%rd1]; and.b32 %r13, %r13, 1; cvt.u64.u32 %rd5, %r2; cvta.shared.u64 %rd5, %rd5;
mapa.u64 %rd6, %rd5, %r13; mul.wide.u32 %rd7, %r1, 4; add.u64 %rd6, %rd6, %rd7;"""
_COUNT_ANYWHERE = "atom.add.u32 %r14, [%rd6], 1;"
_INTO_PEER = """mapa.shared::cluster.u32 %r13, %r2, %r12;
cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r13], [%r8], 2048, [%r11];"""
_OWN = f"{ONE} @%p1 fence.mbarrier_init.release.cluster;"
_TAKE = f"@!%p1 bra wait; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 2048; {_INTO_PEER}\n{WAIT} {MEET}"
_ZERO = "st.shared.u32 [%r4], 0;"

#: Memory that its own CTA initializes, and another CTA updates.
INITIALIZED = (
    case("any CTA counts after all have met", f"{_ANY_RANK} {_ZERO} {MEET} {_COUNT_ANYWHERE} {MEET}"),
    case(
        "any CTA counts before the other one has met it",
        f"{_ANY_RANK} {_ZERO} bar.sync 0; {_COUNT_ANYWHERE} {MEET}",
        undecided=("PTX611", "PTX621"),
    ),
    case(
        "any CTA counts, and each reads its counts without the other",
        f"{_ANY_RANK} {_ZERO} {MEET} {_COUNT_ANYWHERE} bar.sync 0; ld.shared.u32 %r15, [%r4];",
        undecided=("PTX621",),
    ),
    case("a CTA stores before the other one may copy there", f"{_OWN} {_ZERO} {MEET} {_TAKE}"),
    case(
        "a CTA stores while the other one may copy there",
        f"{_OWN} {MEET} {_ZERO} {_TAKE}",
        undecided=("PTX621",),
    ),
    case("a CTA stores after the copy of the other one", f"{_OWN} {MEET} {_TAKE} {_ZERO}"),
)


def _ranks(name: str, rank: str, mark: str = "") -> Case:
    """Four lanes store into the CTAs of a cluster. rank: computes the rank of the CTA in %r13."""
    return case(
        name,
        f"""{MEET} setp.ge.u32 %p3, %r1, 4; @%p3 bra end; {rank}
mapa.shared::cluster.u32 %r14, %r4, %r13; mad.lo.u32 %r14, %r12, 2048, %r14;
st.shared::cluster.u32 [%r14], %r12;{mark}
end: {MEET}""",
    )


RANKS = (
    _ranks("all lanes store inside the cluster", "shr.u32 %r13, %r1, 1;"),
    _ranks("the last lane stores beyond the cluster", "add.u32 %r13, %r1, 1; shr.u32 %r13, %r13, 1;", " //! PTX206"),
)

CASES = (*INITIALIZED, *RANKS, *REFILLED, *TOO_EARLY, *PUBLISHED, *FAREWELLS, *HALVES, *JOINT)
