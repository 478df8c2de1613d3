"""PTX506, and PTX302 across CTAs: synchronization of the CTAs of a cluster by mbarriers, and its scope."""

from __future__ import annotations

from tests.rules.support import Case

BOUNDS = ".reqntid 128, 1, 1\n.reqnctapercluster 2, 1, 1"
SETUP = """mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1;
mapa.shared::cluster.u32 %r22, %r4, %r21; mapa.shared::cluster.u32 %r23, %r5, %r21;
@%p1 mbarrier.init.shared::cta.b64 [%r5], 128; @%p1 fence.mbarrier_init.release.cluster;
barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;"""
STORE = "st.shared::cluster.u32 [%r22], %r1;"
ARRIVE = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r23];"
WAIT = "wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p3, [%r5], 0; @!%p3 bra wait;"
LOAD = "ld.shared.u32 %r24, [%r4]; st.global.u32 [%rd2], %r24;"
MEET = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"

#: Each thread sends a word to the other CTA, and reads the one from the thread 37 further on: its address is in %r27.
ROWS = (
    SETUP.replace("[%r5], 128;", "[%r5], 1;")
    + """
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 512; add.u32 %r25, %r1, 37; and.b32 %r25, %r25, 127;
shl.b32 %r26, %r25, 4; add.u32 %r27, %r2, %r26;"""
)
SEND = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r22], %r1, [%r23];"
#: The first of two rows is complete; the second one completes on the next mbarrier.
TWO_ROWS = f"""{ROWS.replace("[%r5], 1;", "[%r5], 1; @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 1;")}
{SEND}
{WAIT}
ld.shared.u32 %r24, [%r27]; st.global.u32 [%rd2], %r24;
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5+8], 512;"""


def narrow(text: str) -> str:
    """Returns the arrival or the wait without its scope."""
    return text.replace(".release.cluster", "").replace(".acquire.cluster", "")


CASES = (
    Case(
        "an arrival without a scope publishes no store to the other CTA",
        f"""{SETUP}
{STORE} //= write
{narrow(ARRIVE)} //= arrival
{WAIT} //= wait
{LOAD} //! PTX506 write arrival wait
{MEET}""",
        bounds=BOUNDS,
    ),
    Case(
        "a wait without a scope does not acquire a store of the other CTA",
        f"""{SETUP}
{STORE} //= write
{ARRIVE} //= arrival
{narrow(WAIT)} //= wait
{LOAD} //! PTX506 write arrival wait
{MEET}""",
        bounds=BOUNDS,
    ),
    Case(
        "a relaxed arrival publishes nothing",
        f"""{SETUP}
{STORE} //= write
{ARRIVE.replace("release", "relaxed")} //= arrival
{WAIT} //= wait
{LOAD} //! PTX506 write arrival wait
{MEET}""",
        bounds=BOUNDS,
    ),
    Case(
        "a relaxed wait does not acquire",
        f"""{SETUP}
{STORE} //= write
{ARRIVE} //= arrival
{WAIT.replace("acquire", "relaxed")} //= wait
{LOAD} //! PTX506 write arrival wait
{MEET}""",
        bounds=BOUNDS,
        undecided=("PTX621",),
    ),
    Case(
        "fences of the cluster around relaxed synchronization order the store",
        f"""{SETUP}
{STORE} fence.acq_rel.cluster; {ARRIVE.replace("release", "relaxed")}
{WAIT.replace("acquire", "relaxed")} fence.acq_rel.cluster;
{LOAD}
{MEET}""",
        bounds=BOUNDS,
    ),
    Case(
        "an arrival and a wait of the cluster synchronize a store",
        f"{SETUP}\n{STORE} {ARRIVE}\n{WAIT}\n{LOAD}\n{MEET}",
        bounds=BOUNDS,
    ),
    Case(
        "the wait does not cover a store after the arrival",
        f"{SETUP}\n{narrow(ARRIVE)}\n{narrow(WAIT)}\n{MEET}\n{STORE}\n{MEET}\n{LOAD}",
        bounds=BOUNDS,
    ),
    Case(
        "the barrier of the cluster orders stores before a narrow arrival",
        f"{SETUP}\n{STORE} {narrow(ARRIVE)}\n{narrow(WAIT)}\n{MEET}\n{LOAD}\n{MEET}",
        bounds=BOUNDS,
    ),
    Case(
        "a fence of the cluster before the arrival may order the store",
        f"{SETUP}\n{STORE} fence.acq_rel.cluster; {narrow(ARRIVE)}\n{WAIT}\n{LOAD}\n{MEET}",
        bounds=BOUNDS,
    ),
    Case(
        "another mbarrier of a wider scope may order the store",
        f"""{SETUP.replace("[%r5], 128;", "[%r5], 128; @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 128;")}
{STORE} {narrow(ARRIVE)} {ARRIVE.replace("[%r23]", "[%r23+8]")}
{narrow(WAIT)}
{WAIT.replace("wait", "more", 1).replace("bra wait", "bra more").replace("[%r5]", "[%r5+8]")}
{LOAD}
{MEET}""",
        bounds=BOUNDS,
    ),
    Case(
        "an mbarrier by which the other CTA releases the memory orders no store of this one",
        f"""{SETUP.replace("[%r5], 128;", "[%r5], 128; @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 128;")}
setp.eq.u32 %p4, %r20, 0; @!%p4 bra use;
{STORE} //= write
{narrow(ARRIVE)} //= arrival
{WAIT.replace("wait", "freed", 1).replace("bra wait", "bra freed").replace("[%r5]", "[%r5+8]")}
bra meet;
use: {WAIT} //= wait
{LOAD} //! PTX506 write arrival wait
{ARRIVE.replace("[%r23]", "[%r23+8]")}
meet: {MEET}""",
        bounds=BOUNDS,
    ),
    Case(
        "other bytes than those that were stored do not cross",
        f"{SETUP}\n{STORE} {narrow(ARRIVE)}\n{narrow(WAIT)}\n{LOAD.replace('[%r4]', '[%r9]')}\n{MEET}",
        bounds=BOUNDS,
    ),
    Case(
        "memory that was read and is written again after a narrow arrival is left open",
        f"""{SETUP}
{LOAD} {narrow(ARRIVE)}
{narrow(WAIT)}
{STORE}
{MEET}""",
        bounds=BOUNDS,
    ),
    Case(
        "memory that was read and is written again after a narrow arrival is a warning under strict",
        f"""{SETUP}
{LOAD} //= read
{narrow(ARRIVE)} //= arrival
{narrow(WAIT)} //= wait
{STORE} //? PTX506 read arrival wait
{MEET}""",
        bounds=BOUNDS,
        policy="strict",
    ),
    Case(
        "memory that was read and is written again after a relaxed wait is a fault",
        f"""{SETUP}
{LOAD} //= read
{ARRIVE} //= arrival
{WAIT.replace("acquire", "relaxed")} //= wait
{STORE} //! PTX506 read arrival wait
{MEET}""",
        bounds=BOUNDS,
        undecided=("PTX621",),
    ),
    Case(
        "memory that was read and is written again after a relaxed arrival is a fault",
        f"""{SETUP}
{LOAD} //= read
{ARRIVE.replace("release", "relaxed")} //= arrival
{WAIT} //= wait
{STORE} //! PTX506 read arrival wait
{MEET}""",
        bounds=BOUNDS,
    ),
    Case(
        "memory that was read and is written again after an arrival and a wait of the cluster is not published data",
        f"{SETUP}\n{LOAD} {ARRIVE}\n{WAIT}\n{STORE}\n{MEET}",
        bounds=BOUNDS,
        policy="strict",
    ),
    Case(
        "another mbarrier at scope .cta may release memory next to a relaxed one, as libraries do",
        f"""{SETUP.replace("[%r5], 128;", "[%r5], 128; @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 128;")}
{LOAD} {ARRIVE.replace("release", "relaxed")} {narrow(ARRIVE).replace("[%r23]", "[%r23+8]")}
{WAIT}
{narrow(WAIT).replace("wait", "more", 1).replace("bra wait", "bra more").replace("[%r5]", "[%r5+8]")}
{STORE}
{MEET}""",
        bounds=BOUNDS,
    ),
    Case(
        "in a cluster of four a wait for arrivals of the executing CTA proves nothing about the others",
        f"""{SETUP.replace("[%r5], 128;", "[%r5], 128; @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 128;")}
mbarrier.arrive.release.cluster.shared::cta.b64 _, [%r5+8];
{WAIT.replace("wait", "own", 1).replace("bra wait", "bra own").replace("[%r5]", "[%r5+8]")}
{STORE} //= write
{narrow(ARRIVE)} //= arrival
{WAIT} //= wait
{LOAD} //! PTX506 write arrival wait
{MEET}""",
        bounds=BOUNDS.replace("cluster 2", "cluster 4"),
    ),
    Case(
        "in a cluster of four another CTA may pass on data that it acquired at cluster scope",
        f"""{SETUP.replace("[%r5], 128;", "[%r5], 128; @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 128;")}
{STORE} {narrow(ARRIVE)} add.u32 %r30, %r20, 3; and.b32 %r30, %r30, 3;
mapa.shared::cluster.u32 %r31, %r5, %r30;
{ARRIVE.replace("[%r23]", "[%r31+8]")}
{WAIT}
{WAIT.replace("wait", "more", 1).replace("bra wait", "bra more").replace("[%r5]", "[%r5+8]")}
{LOAD}
{MEET}""",
        bounds=BOUNDS.replace("cluster 2", "cluster 4"),
    ),
    Case(
        "in a cluster of four another CTA that only answers passes nothing on",
        f"""{SETUP.replace("[%r5], 128;", "[%r5], 128; @%p1 mbarrier.init.shared::cta.b64 [%r5+8], 128;")}
{STORE} //= write
{narrow(ARRIVE)} //= arrival
xor.b32 %r30, %r20, 2; mapa.shared::cluster.u32 %r31, %r5, %r30;
{ARRIVE.replace("[%r23]", "[%r31+8]")}
{WAIT} //= wait
{WAIT.replace("wait", "more", 1).replace("bra wait", "bra more").replace("[%r5]", "[%r5+8]")}
{LOAD} //! PTX506 write arrival wait
{MEET}""",
        bounds=BOUNDS.replace("cluster 2", "cluster 4"),
    ),
    Case(
        "a row that another thread of the other CTA sends is read after a relaxed wait",
        f"""{ROWS}
{SEND} //= sent
{WAIT.replace("acquire", "relaxed")}
ld.shared.u32 %r24, [%r27]; st.global.u32 [%rd2], %r24; //! PTX302 sent
{MEET}""",
        bounds=BOUNDS,
    ),
    Case(
        "a row that another thread of the other CTA sends is read after a wait",
        f"{ROWS}\n{SEND}\n{WAIT}\nld.shared.u32 %r24, [%r27]; st.global.u32 [%rd2], %r24;\n{MEET}",
        bounds=BOUNDS,
    ),
    Case(
        "another mbarrier that the other CTA's copies signal proves nothing about the last copy",
        f"""{TWO_ROWS}
add.u32 %r28, %r22, 4096; {SEND.replace("[%r22]", "[%r28]").replace("[%r23]", "[%r23+8]")} //= sent
{WAIT.replace("wait", "last", 1).replace("bra wait", "bra last").replace("[%r5], 0", "[%r5+8], 1")}
ld.shared.u32 %r24, [%r27+4096]; st.global.u32 [%rd2], %r24; //! PTX302 sent
{MEET}""",
        bounds=BOUNDS,
    ),
    Case(
        "each of two rows is waited for by another mbarrier",
        f"""{TWO_ROWS}
add.u32 %r28, %r22, 4096; {SEND.replace("[%r22]", "[%r28]").replace("[%r23]", "[%r23+8]")}
{WAIT.replace("wait", "last", 1).replace("bra wait", "bra last").replace("[%r5], 0", "[%r5+8], 0")}
ld.shared.u32 %r24, [%r27+4096]; st.global.u32 [%rd2], %r24;
{MEET}""",
        bounds=BOUNDS,
    ),
    Case(
        "a row that is read before the CTA requests the copy into it from the other one",
        f"""{TWO_ROWS.replace("[%r5+8], 1;", "[%r5+8], 1; @%p1 mbarrier.init.shared::cta.b64 [%r5+16], 128;")}
ld.shared.u32 %r24, [%r27+4096]; st.global.u32 [%rd2], %r24; bar.sync 0;
{ARRIVE.replace("[%r23]", "[%r23+16]")}
{WAIT.replace("wait", "asked", 1).replace("bra wait", "bra asked").replace("[%r5], 0", "[%r5+16], 0")}
add.u32 %r28, %r22, 4096; {SEND.replace("[%r22]", "[%r28]").replace("[%r23]", "[%r23+8]")}
{MEET}""",
        bounds=BOUNDS,
    ),
)
