"""Two CTAs of a cluster: the memory that they share, and how they synchronize."""

from __future__ import annotations

from collections.abc import Iterator

from ptxkit.analysis.cluster.cta_pairs import CtaPair, cta_pairs_of
from ptxkit.analysis.cluster.insufficient_scope import find_insufficient_scopes
from ptxkit.analysis.cluster.remote_proxy_crossings import find_remote_proxy_crossings
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.tensor.operand_overwrites import find_operand_overwrites
from tests.analysis.support import kernel_of, module_of

START = (
    ".shared .align 16 .b8 tile[1024]; .shared .align 8 .b64 bar; ld.param.u64 %rd1, [p]; mov.u32 %r1, tile;"
    "mov.u32 %r3, %tid.x; shl.b32 %r4, %r3, 2; add.u32 %r2, %r1, %r4; setp.eq.u32 %p1, %r3, 0; mov.u32 %r5, bar;"
    "mov.u32 %r6, %cluster_ctarank; xor.b32 %r6, %r6, 1; mapa.shared::cluster.u32 %r7, %r2, %r6;"
    "mapa.shared::cluster.u32 %r8, %r5, %r6; @%p1 mbarrier.init.shared.b64 [bar], 64;"
)
MEET = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
STORE, LOAD = "st.shared::cluster.u32 [%r7], %r3;", "ld.shared.u32 %r9, [%r2];"
ARRIVE = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8];"
WAIT = "wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r5], 0; @!%p2 bra wait;"
NARROW = ARRIVE.replace(".release.cluster", "")
COPY = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 256;"
FENCE = "fence.proxy.async.shared::cta;"


def explore_lines(*lines: str, cluster: int = 2) -> KernelFacts:
    bounds = f".reqntid 64 .reqnctapercluster {cluster}"
    return kernel_of(module_of(START + MEET + "".join(lines) + MEET, parameters=".param .u64 p", bounds=bounds))


def pairs(kernel: KernelFacts) -> Iterator[CtaPair]:
    for facts in kernel.scenarios:
        yield from cta_pairs_of(kernel, facts)


def test_a_single_cta_is_not_a_pair() -> None:
    kernel = kernel_of(module_of("bar.sync 0;"))
    assert list(pairs(kernel)) == []


def test_stores_of_one_cta_in_the_other_are_shared() -> None:
    found = {
        (before.event.step.instruction.opcode, after.event.step.instruction.opcode)
        for pair in pairs(explore_lines(STORE, MEET, LOAD))
        for before, after in pair.shared_accesses()
    }
    assert ("st.shared::cluster.u32", "ld.shared.u32") in found
    local = explore_lines("st.shared.u32 [%r2], %r3;", MEET, LOAD)
    assert [both for pair in pairs(local) for both in pair.shared_accesses()] == []


def test_an_arrival_at_the_other_cta_meets_its_wait() -> None:
    for pair in pairs(explore_lines(STORE, ARRIVE, WAIT, LOAD)):
        assert {each.arrival.event.step.instruction.opcode for each in pair.sync_edges} == {ARRIVE.partition(" ")[0]}
        stored = [both for both in pair.shared_accesses() if "st" in both[0].event.step.instruction.opcode]
        for before, after in stored:
            assert any(pair.is_ordered_by_edge(before, each, after) for each in pair.sync_edges)
            assert not any(pair.is_ordered_by_edge(after, each, before) for each in pair.sync_edges)
        assert stored


def test_the_barrier_of_the_cluster_orders_accesses_on_its_two_sides() -> None:
    for lines, met in (((STORE, MEET, LOAD), True), ((STORE, LOAD), False)):
        for pair in pairs(explore_lines(*lines)):
            for before, after in pair.shared_accesses():
                if "st" in before.event.step.instruction.opcode and "ld" in after.event.step.instruction.opcode:
                    assert (
                        pair.is_ordered_by_cluster_barrier(before, after),
                        pair.may_be_ordered_by_cluster_barrier(before, after),
                    ) == (met, met)


def crosses(*lines: str) -> set[bool]:
    kernel = explore_lines(*lines)
    return {
        each.is_data for number in range(len(kernel.scenarios)) for each in find_insufficient_scopes(kernel, number)
    }


def test_a_narrow_handover_leaves_contents_unordered() -> None:
    assert crosses(STORE, NARROW, WAIT, LOAD) == {True}
    assert crosses(STORE, ARRIVE, WAIT.replace(".acquire.cluster", ""), LOAD) == {True}
    assert crosses(STORE, ARRIVE, WAIT, LOAD) == set()


def test_other_possible_orders_of_two_ctas_count() -> None:
    assert crosses(STORE, NARROW, WAIT, MEET, LOAD) == set()
    assert crosses(STORE, "fence.acq_rel.cluster;", NARROW, WAIT, LOAD) == set()
    assert (
        crosses(STORE, NARROW, WAIT, "ld.acquire.gpu.global.u32 %r10, [%rd1]; st.global.u32 [%rd1+4], %r10;", LOAD)
        == set()
    )


def crossings(*lines: str) -> set[tuple[str, bool, bool]]:
    kernel = explore_lines(*lines)
    return {
        (p.kind, p.may_fence_in_releaser, p.may_fence_in_acquirer)
        for facts in kernel.scenarios
        for p in find_remote_proxy_crossings(kernel, facts)
    }


def test_the_fence_of_a_crossing_is_in_either_cta() -> None:
    assert crossings(STORE, MEET, COPY) == {("generic", False, False)}
    assert crossings(STORE, FENCE, MEET, COPY) == {("generic", True, False)}
    assert crossings(STORE, MEET, FENCE, COPY) == {("generic", False, True)}
    assert crossings(STORE, MEET, LOAD) == set()


def test_a_fence_by_an_untraced_thread_may_be_anywhere() -> None:
    found = {("generic", False, True)}
    for numbers, expected in (([0], found), ([40], found), (range(40, 48), set())):
        own = "".join(f"setp.eq.u32 %p3, %r3, {number}; @%p3 {FENCE}" for number in numbers)
        assert crossings(STORE, MEET, own, "bar.sync 0;", COPY) == expected


def test_without_tensor_operations_no_operand_is_stored() -> None:
    assert [
        found for facts in explore_lines(STORE, MEET, COPY).scenarios for found in find_operand_overwrites(facts)
    ] == []
