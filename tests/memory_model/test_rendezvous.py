"""The phases of barriers and mbarrier objects: which operations are paired, and who waits without end."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.memory_model.events import BarrierUse, EventKind, MbarrierUse, MemoryEvent, Placement, SyncUse
from ptxkit.memory_model.rendezvous import Rendezvous, find_rendezvous

SAME = [Placement(0, 0, 0, rank) for rank in range(3)]


def phases(*threads: Sequence[SyncUse], places: Sequence[Placement] = SAME) -> tuple[Rendezvous, ...]:
    """Returns the phases of threads, whose operations are numbered one thread after the other."""
    events = [MemoryEvent(EventKind.SYNC, "", use=use) for uses in threads for use in uses]
    owners = [at for at, uses in enumerate(threads) for _ in uses]
    return find_rendezvous(events, owners, [None] * len(events), places[: len(threads)])


def sync(number: int = 0, awaited: int | None = None) -> BarrierUse:
    return BarrierUse("cta", number, "sync", awaited)


def mbarrier(action: str, **fields: int) -> MbarrierUse:
    return MbarrierUse("bar", action, **fields)  # type: ignore[arg-type]


def test_a_barrier_pairs_all_threads_in_both_directions() -> None:
    (found,) = phases([sync()], [sync()])
    assert found == Rendezvous(synchronized=frozenset({(0, 1), (1, 0)}))


def test_an_arrival_is_paired_in_one_direction() -> None:
    (found,) = phases([BarrierUse("cta", 1, "arrive", 2)], [sync(1, 2)])
    assert found.synchronized == {(0, 1)}
    assert not found.blocked


def test_a_thread_that_has_exited_is_not_awaited_and_one_at_another_barrier_is() -> None:
    (found,) = phases([sync()], [])
    assert not found.blocked
    (found,) = phases([sync(0)], [sync(1)])
    assert found.blocked == {0, 1}


def test_two_of_three_threads_complete_a_phase_of_two_and_the_third_waits() -> None:
    found = phases([sync(1, 2)], [sync(1, 2)], [sync(1, 2)])
    assert {each.blocked for each in found} == {frozenset({at}) for at in range(3)}


def test_a_wait_of_a_cluster_barrier_observes_each_arrival() -> None:
    uses = [BarrierUse("cluster", 0, "arrive"), BarrierUse("cluster", 0, "wait")]
    (found,) = phases(uses, uses, places=[Placement(0, 0, 0), Placement(1, 0, 0)])
    assert found.observed == {(0, 1), (2, 1), (0, 3), (2, 3)}


def test_a_wait_observes_the_arrivals_of_the_phase_that_completes() -> None:
    first = [mbarrier("init", count=1), mbarrier("arrive", count=1)]
    (found,) = phases(first, [mbarrier("wait", phase=0)])
    assert found.observed == {(1, 2)}
    (before,) = phases([mbarrier("init", count=1), mbarrier("wait", phase=1)])
    assert not before.observed


def test_a_phase_lacks_bytes_until_they_are_complete() -> None:
    first = [mbarrier("init", count=1), mbarrier("arrive", count=1, size=64), mbarrier("wait", phase=0)]
    (found,) = phases(first)
    assert found.blocked == {2}
    (found,) = phases([*first[:2], mbarrier("complete", size=64), first[2]])
    assert found.observed == {(1, 3), (2, 3)}


def test_a_forbidden_operation_on_the_object_is_undefined() -> None:
    assert phases([mbarrier("arrive", count=1)])[0].undefined
    assert phases([mbarrier("init", count=1), mbarrier("init", count=1)])[0].undefined
    assert phases([mbarrier("init", count=1), *[mbarrier("arrive", count=1)] * 2])[0].undefined
    assert not phases([mbarrier("init", count=1), mbarrier("inval"), mbarrier("init", count=1)])[0].undefined
