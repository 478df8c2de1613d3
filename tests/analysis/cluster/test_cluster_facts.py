"""Accesses to other CTAs of a cluster, what orders them, and what keeps a CTA from ending."""

from __future__ import annotations

import pytest

from ptxkit.analysis.cluster.cluster_facts import (
    find_remote_accesses,
    find_signaled_mbarriers,
    has_observed_cluster_start,
    has_observed_signal,
    is_init_ordered_by_cluster_barrier,
    may_poll_memory,
    scenario_of_rank,
)
from ptxkit.analysis.cluster.cluster_lifetime import ExitSafety
from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.isa.effects import MbarrierInit
from tests.analysis.support import kernel_of, module_of

START = (
    ".shared .align 16 .b8 tile[64]; .shared .align 8 .b64 bar; mov.u32 %r1, tile; mov.u32 %r2, bar;"
    "mov.u32 %r3, %cluster_ctarank; xor.b32 %r3, %r3, 1; mov.u32 %r6, %tid.x; setp.eq.u32 %p1, %r6, 0;"
    "mapa.shared::cluster.u32 %r4, %r1, %r3; mapa.shared::cluster.u32 %r5, %r2, %r3;"
)
INIT = "@%p1 mbarrier.init.shared::cta.b64 [%r2], 1;"
MEET = "barrier.cluster.arrive; barrier.cluster.wait;"
RELAXED = "barrier.cluster.arrive.relaxed; barrier.cluster.wait;"
STORE = "@%p1 st.shared::cluster.u32 [%r4], 1;"
ARRIVE = "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];"
WAIT = "wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r2], 0; @!%p2 bra wait;"


def cluster(*lines: str, size: int = 2) -> KernelFacts:
    bounds = f".reqntid 64\n.reqnctapercluster {size}, 1, 1"
    return kernel_of(module_of(START + "".join(lines), bounds=bounds))


def test_a_remote_access_has_its_cta_and_its_mbarrier() -> None:
    store, arrival = find_remote_accesses(cluster(STORE, ARRIVE).scenarios[0])
    assert (store.rank, store.mbarrier, store.thread.tid) == (1, None, 0)
    assert arrival.rank == 1
    assert arrival.mbarrier is not None


def test_own_memory_and_a_missing_rank_are_not_remote_accesses() -> None:
    assert not list(find_remote_accesses(cluster("st.shared::cluster.u32 [%r1], 1;").scenarios[0]))
    assert not list(find_remote_accesses(cluster(STORE, size=1).scenarios[0]))


@pytest.mark.parametrize(("mask", "ranks"), [(1, []), (2, [1]), (3, [1]), (7, [1])])
def test_a_copy_to_several_ctas_accesses_those_of_its_mask(mask: int, ranks: list[int]) -> None:
    copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
    kernel = cluster(f"mov.u16 %h1, {mask}; @%p1 {copy} [%r1], [%rd1], 16, [%r2], %h1;")
    assert [reach.rank for reach in find_remote_accesses(kernel.scenarios[0])] == ranks
    assert len(find_signaled_mbarriers(kernel.scenarios)) == 1


def test_each_cta_finds_the_other_one() -> None:
    scenarios = cluster(STORE).scenarios
    first, second = scenario_of_rank(scenarios, scenarios[0], 0), scenario_of_rank(scenarios, scenarios[0], 1)
    assert first is not None
    assert second is not None
    assert (first.scenario.rank, second.scenario.rank) == (0, 1)
    assert scenario_of_rank(scenarios, scenarios[0], 2) is None


@pytest.mark.parametrize(("before", "knows"), [("", False), ("bar.sync 0;", False), (MEET, True), (RELAXED, True)])
def test_the_cluster_has_started_after_its_barrier(before: str, knows: bool) -> None:
    facts = cluster(before, STORE).scenarios[0]
    (reach,) = find_remote_accesses(facts)
    assert has_observed_cluster_start(facts, reach.thread, reach.position) is knows


@pytest.mark.parametrize(
    ("before", "published"),
    [
        (INIT + MEET, True),
        (INIT + RELAXED, False),
        (INIT + "@%p1 fence.mbarrier_init.release.cluster;" + RELAXED, True),
        ("@%p1 fence.mbarrier_init.release.cluster;" + INIT + RELAXED, False),
        (MEET + INIT, False),
    ],
)
def test_an_initialization_is_published_by_a_releasing_arrival_or_by_its_fence(before: str, published: bool) -> None:
    scenarios = cluster(before, ARRIVE).scenarios
    (reach,) = find_remote_accesses(scenarios[0])
    maker = scenarios[1].threads[0]
    ((made, _),) = maker.positions(MbarrierInit)
    assert is_init_ordered_by_cluster_barrier(maker, made, scenarios[0], reach.thread, reach.position) is published


@pytest.mark.parametrize(("parity", "reported"), [(0, True), (1, False)])
def test_a_wait_for_a_signal_of_the_other_cta_observes_it(parity: int, reported: bool) -> None:
    scenarios = cluster(INIT, MEET, ARRIVE, WAIT.replace(", 0;", f", {parity};"), STORE).scenarios
    (store,) = (reach for reach in find_remote_accesses(scenarios[0]) if reach.mbarrier is None)
    assert has_observed_signal(store.thread, store.position, find_signaled_mbarriers(scenarios)) is reported


@pytest.mark.parametrize(
    ("line", "is_poll"),
    [
        ("ld.acquire.gpu.global.u32 %r9, [%rd1]; st.global.u32 [%rd1+4], %r9;", True),
        ("atom.global.add.u32 %r9, [%rd1], 1; st.global.u32 [%rd1+4], %r9;", True),
        ("atom.global.add.u32 %r9, [%rd1], 1;", False),
        ("ld.global.u32 %r9, [%rd1];", False),
        ("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r4], %r9, [%r5];", False),
    ],
)
def test_strong_loads_and_atomics_may_poll(line: str, is_poll: bool) -> None:
    assert may_poll_memory(cluster(line).program) is is_poll


@pytest.mark.parametrize(
    ("body", "exposed"),
    [
        (MEET + STORE, 1),
        (MEET + STORE + MEET, 0),
        (INIT + MEET + STORE + ARRIVE + WAIT, 0),
        (INIT + MEET + ARRIVE + STORE + WAIT, 1),
        (INIT + MEET + ARRIVE + WAIT + ARRIVE, 1),
    ],
)
def test_memory_is_exposed_to_operations_that_its_cta_does_not_wait_for(body: str, exposed: int) -> None:
    own, other = cluster(body).scenarios
    exit_safety = ExitSafety(own, [other])
    assert exit_safety.is_known
    assert len(list(exit_safety.unprotected_accesses())) == exposed


def test_the_ends_of_a_cluster_after_a_guess_are_not_certain() -> None:
    own, other = cluster(
        MEET, "ld.global.u32 %r9, [%rd1]; setp.eq.u32 %p3, %r9, 0; @%p3 bra end;", STORE, "end:"
    ).scenarios[:2]
    assert ExitSafety(own, [other]).is_known
    assert not ExitSafety(own, [other]).is_certain
