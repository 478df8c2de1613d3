"""Which orders are proven between the CTAs of a cluster: by its barrier, remote arrivals and multicast copies."""

from __future__ import annotations

import pytest

from ptxkit.testing.pipelines.campaign import pipeline_jobs
from tests.analysis.intervals.test_interval_proofs import is_proven, proofs_of

from .test_phase_order import text_of, without_order

#: Exchanges between two CTAs, and rings that both CTAs fill and free.
EXCHANGES = [
    "kernels/dsmem_copy.sm_90.ptx",
    "kernels/st_async_exchange.sm_90.ptx",
    "kernels/hand_cluster_relaxed.sm_90.ptx",
    "rules/PTX302_ok_copy_of_the_other_cta.ptx",
    "rules/PTX404_ok_ordered_by_mbarrier.ptx",
    "rules/PTX506_ok_slot_handed_back.ptx",
]
#: Faults of generated pipelines without which an order is not proven, whatever else is.
UNORDERED = [
    "barrier-too-early", "delete-barrier", "delete-init", "delete-mbarrier-wait",
    "delete-proxy-fence", "expect-nothing", "fence-by-one", "fence-other-memory", "fence-too-early",
    "fence-without-proxy", "inval-too-early", "other-parity", "own-mbarrier", "wait-for-less", "weaker-order",
]  # fmt: skip


@pytest.mark.parametrize("name", EXCHANGES)
def test_the_proof_of_an_exchange_rests_on_each_ordering_instruction(name: str) -> None:
    """Nothing that is proven here needs the wait at the end, which keeps the shared memory of a CTA."""
    assert is_proven(text_of(name))
    broken = without_order(text_of(name))
    *inside, last = broken
    assert len(inside) > 4
    assert [at for at, text in enumerate(inside) if is_proven(text)] == []
    assert is_proven(last)


def test_a_multicast_ring_of_two_ctas_is_proven() -> None:
    proofs = proofs_of(text_of("kernels/multicast_cluster.sm_90a.ptx"))
    assert proofs.orders_alone
    assert not any(proofs.all_pairs())


def test_generated_pipelines_of_clusters_are_proven_unless_a_fault_leaves_something_unordered() -> None:
    right = wrong = 0
    for job in pipeline_jobs(20, 90, 11, "sm_90a", (8, 7)):
        pipeline = job.pipeline()
        family = pipeline.site.fault.family if pipeline.site is not None else ""
        is_followed = pipeline.plan.cluster > 1 and pipeline.plan.mechanism != "red.async"  # whose order is relaxed
        if not is_followed or (job.is_broken and family not in UNORDERED):
            continue
        assert is_proven(pipeline.module()) is not job.is_broken, (job, family)
        right, wrong = right + (not job.is_broken), wrong + job.is_broken
    assert right > 2
    assert wrong > 2


NAMED = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 p) .reqntid 64, 1, 1 .reqnctapercluster 2, 1, 1
{
.reg .pred %p<5>; .reg .b32 %r<20>; .reg .b64 %rd<5>; .shared .align 16 .b8 tile[512];
mov.u32 %r1, %tid.x; mov.u32 %r2, %<<RANK>>; shl.b32 %r3, %r1, 2; mov.u32 %r4, tile; add.u32 %r5, %r4, %r3;
xor.b32 %r6, %r2, 1; mapa.shared::cluster.u32 %r7, %r5, %r6;
barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
<<STORE>>
barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
ld.shared.u32 %r8, [%r5]; xor.b32 %r9, %r5, 4; ld.shared.u32 %r10, [%r9];
ret;
}
"""


@pytest.mark.parametrize(
    ("rank", "store", "proven"),
    [
        ("cluster_ctarank", "st.shared::cluster.u32 [%r7], %r1;", True),
        ("cluster_ctaid.x", "st.shared::cluster.u32 [%r7], %r1;", True),
        # The number of the CTA in the grid has the same lowest bit, since clusters are aligned.
        (
            "ctaid.x",
            "and.b32 %r6, %r6, 1; mapa.shared::cluster.u32 %r7, %r5, %r6; st.shared::cluster.u32 [%r7], 1;",
            True,
        ),
        ("cluster_ctarank", "st.shared.u32 [%r5], %r1; st.shared::cluster.u32 [%r7], %r1;", False),
        ("cluster_ctarank", "st.shared::cluster.u32 [%r7], %r1; bar.sync 0; ld.shared.u32 %r11, [%r5];", False),
    ],
)
def test_the_rank_of_a_cta_decides_whose_memory_a_thread_accesses(rank: str, store: str, proven: bool) -> None:
    assert is_proven(NAMED.replace("<<RANK>>", rank).replace("<<STORE>>", store)) is proven


#: The threads of one CTA store and load without a barrier; those of the other CTA do not execute the same steps.
RACE_IN_ONE_CTA = """
<<HEAD>>
.reg .pred %p<5>; .reg .b32 %r<20>; .shared .align 16 .b8 tile[512]; .shared .align 8 .b64 bar;
mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; shl.b32 %r3, %r1, 2; mov.u32 %r4, tile; add.u32 %r5, %r4, %r3;
xor.b32 %r6, %r5, 128; setp.eq.u32 %p1, %r2, 0; @!%p1 bra other;
st.shared.u32 [%r5], %r1; <<SYNC>> ld.shared.u32 %r7, [%r6]; bra done;
other: setp.eq.u32 %p2, %r1, 0; mov.u32 %r8, bar; @%p2 mbarrier.init.shared::cta.b64 [%r8], 1;
done: barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
ret;
}
"""


@pytest.mark.parametrize(("sync", "proven"), [("bar.sync 0;", True), ("", False)])
def test_a_race_in_one_cta_is_found_where_the_threads_of_another_one_are_divided(sync: str, proven: bool) -> None:
    head = NAMED[: NAMED.index("{") + 1]
    assert is_proven(RACE_IN_ONE_CTA.replace("<<HEAD>>", head).replace("<<SYNC>>", sync)) is proven
