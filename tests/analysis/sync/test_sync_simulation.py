"""The synchronization of the CTAs of a cluster, simulated together."""

from __future__ import annotations

import pytest

from ptxkit.analysis.context.kernel_facts import ScenarioFacts
from ptxkit.analysis.limits import MAX_SIMULATED_CTAS
from ptxkit.analysis.mbarrier.cluster_tx_count import find_tx_imbalances
from ptxkit.analysis.sync.sync_schedule import simulate_schedule
from ptxkit.isa.effects import MbarrierArrive, MbarrierComplete, MbarrierInit, MbarrierWait
from tests.analysis.support import kernel_of, module_of

START = """.shared .align 128 .b8 tile[512]; .shared .align 8 .b64 bar; mov.u32 %r1, tile; mov.u32 %r2, bar;
mov.u32 %r3, %cluster_ctarank; xor.b32 %r4, %r3, 1; mov.u32 %r6, %tid.x; setp.eq.u32 %p1, %r6, 0;
setp.eq.u32 %p3, %r3, 0; mapa.shared::cluster.u32 %r5, %r2, %r4; mapa.shared::cluster.u32 %r7, %r2, 0;
mapa.shared::cluster.u32 %r8, %r1, %r4;"""
MEET = "barrier.cluster.arrive; barrier.cluster.wait;"
ARRIVE = "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r5];"
AT_FIRST = "@%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r7];"
STORE = "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r8], %r6, [%r5];"
MULTICAST = """mov.u16 %h1, 3; @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
[%r1], [%rd1], 16, [%r2], %h1;"""


def init(count: int) -> str:
    return f"@%p1 mbarrier.init.shared::cta.b64 [%r2], {count}; {MEET}"


def expect(size: int) -> str:
    return f"@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], {size}; {MEET}"


def wait(parity: int = 0, label: str = "wait") -> str:
    return f"{label}: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r2], {parity}; @!%p2 bra {label};"


def facts_of(*lines: str, size: int = 2, threads: int = 64) -> ScenarioFacts:
    bounds = f".reqntid {threads}\n.reqnctapercluster {size}, 1, 1"
    return kernel_of(module_of(START + "".join(lines), bounds=bounds)).scenarios[0]


def blocked_threads(played: ScenarioFacts) -> list[set[tuple[int, type]]]:
    """Returns for each simulation the CTAs in which actors never continue, and the operations that they wait for."""
    actors = played.simulation.thread_classes
    return [
        {(actors[s.thread_class].rank, type(s.event.effect)) for s in reported.blocked_threads}
        for reported in played.schedules
    ]


def test_each_cta_waits_for_the_arrival_of_the_other() -> None:
    played = facts_of(init(1), ARRIVE, wait())
    assert {actor.rank for actor in played.simulation.thread_classes} == {0, 1}
    assert len(played.schedules) == 4  # thread 0 and the others, of each CTA
    assert blocked_threads(played) == [set()] * 4
    assert not any(reported.excess_arrivals for reported in played.schedules)


def test_a_missing_arrival_is_reported_in_the_cta_of_its_mbarrier() -> None:
    played = facts_of(init(1), "@!%p3 bra skip;", ARRIVE, "skip:", wait())
    assert blocked_threads(played) == [{(0, MbarrierWait)}] * 4


@pytest.mark.parametrize("size", [2, 4, 8])
def test_all_ctas_of_a_cluster_arrive_at_the_first_one(size: int) -> None:
    one = "@!%p3 bra end;"
    assert not any(blocked_threads(facts_of(init(size), AT_FIRST, one, wait(), "end:", size=size)))
    assert all(blocked_threads(facts_of(init(size + 1), AT_FIRST, one, wait(), "end:", size=size)))


def test_a_cluster_that_is_too_large_is_not_simulated() -> None:
    played = facts_of(init(16), AT_FIRST, "@!%p3 bra end;", wait(), "end:", size=MAX_SIMULATED_CTAS + 8)
    assert not played.simulation.is_fully_known
    assert played.schedules == []


def test_a_rank_that_the_cluster_lacks_is_not_simulated() -> None:
    beyond = "mapa.shared::cluster.u32 %r9, %r2, 5; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r9];"
    assert facts_of(init(1), beyond).schedules == []
    assert facts_of(init(1), ARRIVE).schedules


def test_arrivals_from_two_ctas_exceed_a_count_of_one() -> None:
    both = f"{ARRIVE} @%p1 mbarrier.arrive.shared::cta.b64 _, [%r2];"
    assert any(reported.excess_arrivals for reported in facts_of(init(1), both, wait()).schedules)
    assert not any(reported.excess_arrivals for reported in facts_of(init(2), both, wait()).schedules)


def test_an_arrival_at_the_other_cta_counts_in_the_phase_of_its_mbarrier() -> None:
    played = facts_of(init(1), ARRIVE, wait(0), MEET, ARRIVE, wait(1, "again"))
    thread = played.threads[0]
    phases = [[thread.phases[at] for at, _ in thread.positions(kind)] for kind in (MbarrierArrive, MbarrierWait)]
    assert phases == [[1, 2], [1, 2]]


def test_the_cluster_barrier_completes_when_all_threads_of_all_ctas_have_arrived() -> None:
    assert not any(blocked_threads(facts_of(MEET, "bar.sync 0;", MEET)))
    late = "setp.lt.u32 %p4, %r6, 32; and.pred %p4, %p4, %p3; @%p4 bra skip;"
    assert all(blocked_threads(facts_of(late, MEET, "skip: bar.sync 0;")))


def test_exited_threads_are_not_waited_for() -> None:
    assert not any(blocked_threads(facts_of("@%p3 bra end;", MEET, "end:")))


@pytest.mark.parametrize("halves", ["barrier.cluster.wait;", "barrier.cluster.arrive; barrier.cluster.arrive;"])
def test_arrivals_and_waits_that_do_not_alternate_are_not_simulated(halves: str) -> None:
    assert facts_of(halves).schedules == []
    assert facts_of(MEET).schedules


@pytest.mark.parametrize(("bytes_", "right"), [(256, True), (128, False), (512, False)])
def test_stores_from_the_other_cta_complete_their_bytes(bytes_: int, right: bool) -> None:
    played = facts_of(init(1), expect(bytes_), STORE, wait())
    found = [each for reported in played.schedules for each in find_tx_imbalances(played.simulation, reported)]
    assert bool(found) != right
    assert all((each.copied_bytes, each.expected_bytes) == (256, bytes_) for each in found)
    assert {each.location[0] for each in found} == (set() if right else {0, 1})


@pytest.mark.parametrize(("bytes_", "right"), [(32, True), (16, False)])
def test_a_copy_to_both_ctas_completes_its_bytes_in_each(bytes_: int, right: bool) -> None:
    played = facts_of(init(1), expect(bytes_), MULTICAST, wait())
    assert any(any(find_tx_imbalances(played.simulation, reported)) for reported in played.schedules) != right
    assert {
        e.ctas
        for actor in played.simulation.thread_classes
        for e in actor.events
        if isinstance(e.effect, MbarrierComplete)
    } == {3}


def test_an_expect_tx_that_is_not_an_arrival_is_reported() -> None:
    alone = f"@%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r2], 256; {MEET}"
    played = facts_of(init(1), alone, STORE, wait())
    found = [each for reported in played.schedules for each in find_tx_imbalances(played.simulation, reported)]
    assert found
    assert not any(each.has_arrivals for each in found)


def test_operations_on_an_mbarrier_come_from_all_ctas() -> None:
    played = facts_of(init(1), ARRIVE, wait())
    place = next(
        (1, e.address) for a in played.simulation.thread_classes for e in a.events if isinstance(e.effect, MbarrierInit)
    )
    assert isinstance(place[1], int)
    kinds = [type(event.effect) for event in played.simulation.events_at((1, place[1]))]
    assert kinds.count(MbarrierArrive) == 1
    assert kinds.count(MbarrierInit) == 1


def test_a_single_cta_is_simulated_as_before() -> None:
    body = "@%p1 mbarrier.init.shared::cta.b64 [%r2], 64; bar.sync 0; mbarrier.arrive.shared::cta.b64 _, [%r2];"
    played = facts_of(body, wait(), size=1)
    assert played.simulation.size == 1
    assert played.thread_classes == played.simulation.thread_classes
    assert blocked_threads(played) == [set()] * len(played.schedules)


@pytest.mark.parametrize(("mask", "right"), [("0xFEFFFFF8", True), ("-16777224", True), ("0xFFFFFFF8", False)])
def test_both_ctas_of_a_pair_complete_their_bytes_at_the_even_one(mask: str, right: bool) -> None:
    copy = f"""and.b32 %r9, %r2, {mask}; @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
    [%r1], [%rd1], 16, [%r9]; @!%p3 bra end; {wait()} end: {MEET}"""
    expected = f"and.pred %p5, %p1, %p3; @%p5 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 32; {MEET}"
    played = facts_of(init(1), expected, copy)
    assert any(any(find_tx_imbalances(played.simulation, reported)) for reported in played.schedules) != right


@pytest.mark.parametrize(
    "body",
    [
        "bar.sync 0; @%p1 bar.sync 1; bar.sync 0;",
        "@%p1 bra out; bar.sync 0; out:",
        "setp.lt.u32 %p2, %r6, 32; @%p2 bra low; bar.sync 1; bra on; low: bar.sync 2; on: bar.sync 0;",
        "@%p1 bra out; bar.warp.sync -1; bar.sync 0; bra on; out: bar.sync 1; on: bar.sync 0;",
    ],
)
def test_any_order_has_the_same_result_where_actors_only_meet_at_barriers(body: str) -> None:
    cast = kernel_of(module_of(START + body, bounds=".reqntid 64")).scenarios[0].simulation
    played = list(cast.schedules.values())
    alone = [simulate_schedule(cast.thread_classes, first) for first in cast.schedules]
    assert len(played) > 1
    assert [(reported.blocked_threads, reported.phases, reported.count_mismatches) for reported in played] == [
        (reported.blocked_threads, reported.phases, reported.count_mismatches) for reported in alone
    ]


@pytest.mark.parametrize(
    ("body", "plays"),
    [
        ("bar.sync 0; setp.lt.u32 %p2, %r6, 16; @%p2 bra low; low: bar.warp.sync -1; bar.sync 1;", False),
        ("bar.sync 0; @%p1 bra out; bar.sync 0; out:", True),
        ("setp.lt.u32 %p2, %r6, 16; @%p2 bra low; bar.warp.sync -1; low: bar.sync 0;", True),
    ],
)
def test_threads_in_lockstep_need_not_be_simulated(body: str, plays: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    cast = kernel_of(module_of(START + body, bounds=".reqntid 64")).scenarios[0].simulation
    alone = [simulate_schedule(cast.thread_classes, first) for first in cast._priority_classes]
    played: list[int] = []
    monkeypatch.setattr(
        "ptxkit.analysis.sync.sync_simulation.simulate_schedule", lambda *_: played.append(1) or alone[0]
    )
    found = list(cast.schedules.values())
    assert bool(played) == plays
    assert [
        (
            reported.blocked_threads,
            reported.phases,
            reported.count_mismatches,
            reported.is_approximate,
            reported.is_complete,
        )
        for reported in found
    ] == [
        (
            reported.blocked_threads,
            reported.phases,
            reported.count_mismatches,
            reported.is_approximate,
            reported.is_complete,
        )
        for reported in (alone if not plays else found)
    ]
