"""PTX210: addresses in the shared memory of a CTA that the instruction does not accept."""

from __future__ import annotations

from tests.rules.support import Case

PAIR = ".reqntid 128, 1, 1 .reqnctapercluster 2, 1, 1"
PEER = """mov.u32 %r20, %cluster_ctarank; xor.b32 %r21, %r20, 1; mapa.shared::cluster.u32 %r22, %r2, %r21;
mapa.shared::cluster.u32 %r23, %r5, %r21; @%p1 mbarrier.init.shared.b64 [%r5], 1; fence.mbarrier_init.release.cluster;
@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 16;
barrier.cluster.arrive; barrier.cluster.wait; @!%p1 bra done; """
DONE = """
more: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p3, [%r5], 0; @!%p3 bra more;
done: barrier.cluster.arrive; barrier.cluster.wait;"""
STORE = "st.async.mbarrier::complete_tx::bytes.shared::cluster.v4.b32"
REDUCE = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32"
LOAD = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
REDUCE_ALL = "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32"
COPY = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"

CASES = (
    Case(
        "a store to the other CTA signals there", f"{PEER} {STORE} [%r22], {{1, 2, 3, 4}}, [%r23];{DONE}", bounds=PAIR
    ),
    Case(
        "a store to the other CTA cannot signal here",
        f"{PEER}\n{STORE} [%r22], {{1, 2, 3, 4}}, [%r5]; //! PTX210{DONE}",
        bounds=PAIR,
    ),
    Case(
        "a store that signals in another CTA is a doubt if a number that is removed again contributes to its address",
        f"{PEER} mov.u32 %r24, %clock; add.u32 %r22, %r22, %r24; sub.u32 %r22, %r22, %r24;"
        f" {STORE} [%r22], {{1, 2, 3, 4}}, [%r5];{DONE}",
        bounds=PAIR,
        undecided=("PTX210",),
    ),
    Case(
        "an argument decides whether a store signals in the wrong CTA",
        f"setp.eq.u32 %p4, %r6, 5;\n{PEER} @%p4 bra more;\n{STORE} [%r22], {{1, 2, 3, 4}}, [%r5]; //! PTX210{DONE}",
        bounds=PAIR,
    ),
    Case(
        "only the first CTA of a cluster reduces in its own memory",
        f"""mov.u32 %r20, %cluster_ctarank; mov.u32 %r24, 0; mapa.shared::cluster.u32 %r22, %r2, %r24;
mapa.shared::cluster.u32 %r23, %r5, %r24; @%p1 mbarrier.init.shared.b64 [%r5], 1; fence.mbarrier_init.release.cluster;
setp.eq.u32 %p4, %r20, 0; and.pred %p4, %p4, %p1; @%p4 mbarrier.arrive.expect_tx.shared.b64 _, [%r5], 8;
barrier.cluster.arrive; barrier.cluster.wait; @!%p1 bra done;
{REDUCE} [%r22], 1, [%r23]; //! PTX210
@!%p4 bra done;{DONE}""",
        bounds=PAIR,
    ),
    Case("a copy to the other CTA", f"{PEER} {COPY} [%r22], [%r8], 16, [%r23];{DONE}", bounds=PAIR),
    Case(
        "a copy to the other CTA cannot signal here",
        f"{PEER}\n{COPY} [%r22], [%r8], 16, [%r5]; //! PTX210{DONE}",
        bounds=PAIR,
    ),
    Case(
        "nor one from global memory",
        f"{PEER}\n{LOAD} [%r22], [%rd1], 16, [%r5]; //! PTX210{DONE}",
        bounds=PAIR,
    ),
    Case(
        "nor a reduction of many words",
        f"{PEER}\n{REDUCE_ALL} [%r22], [%r8], 16, [%r5]; //! PTX210{DONE}",
        bounds=PAIR,
    ),
    Case(
        "a copy within the CTA is not one to the cluster",
        f"{PEER}\n{COPY} [%r2], [%r8], 16, [%r5]; //! PTX210{DONE}",
        bounds=PAIR,
    ),
    Case(
        "a reduction within the CTA is not one to the cluster",
        f"{PEER}\n{REDUCE} [%r2], 1, [%r5]; //! PTX210{DONE}".replace("[%r5], 16", "[%r5], 4"),
        bounds=PAIR,
    ),
    Case(
        "a reduction is in the other CTA",
        f"{PEER} {REDUCE} [%r22], 1, [%r23];{DONE}".replace("[%r5], 16", "[%r5], 4"),
        bounds=PAIR,
    ),
    Case(
        "an argument determines the CTA, which is unknown",
        f"{PEER} mapa.shared::cluster.u32 %r24, %r2, %r6; {COPY} [%r24], [%r8], 16, [%r23];{DONE}",
        undecided=("PTX304",),
        bounds=PAIR,
    ),
)
