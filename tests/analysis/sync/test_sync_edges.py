"""The order of two threads: barriers in the same phase, warps, clusters, and phases of mbarriers."""

from __future__ import annotations

from ptxkit.analysis.sync.sync_edges import find_sync_edges, release_acquire_points
from ptxkit.isa.effects import Access
from tests.analysis.support import Walk, module_of, walk

HEAD = """.shared .align 128 .b8 tile[4096]; .shared .align 8 .b64 bars[2]; mov.u32 %r2, tile; mov.u32 %r5, bars;
mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; setp.lt.u32 %p2, %r1, 32;"""
STORE, LOAD = "@%p1 st.shared.u32 [%r2], %r1;", "@!%p1 ld.shared.u32 %r9, [%r2];"
WAIT = "{label}: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], {parity}; @!%p3 bra {label};"


def at(executed: Walk, which: int = 0) -> int:
    """The position of an access in a trace."""
    events = executed.trace.events
    return [number for number, event in enumerate(events) if isinstance(getattr(event, "effect", None), Access)][which]


def is_ordered(body: str, other: int = 32, bounds: str = "") -> bool:
    """Returns whether thread 0's store is before another thread's load."""
    module = module_of(HEAD + body, bounds=bounds)
    releaser, acquirer = walk(module, 0), walk(module, other)
    return any(
        find_sync_edges(
            release_acquire_points(releaser.trace), at(releaser), release_acquire_points(acquirer.trace), at(acquirer)
        )
    )


def test_a_barrier_orders_the_accesses_before_and_after_it() -> None:
    assert is_ordered(f"{STORE} bar.sync 0; {LOAD}")
    assert not is_ordered(f"{STORE} {LOAD} bar.sync 0;")
    assert not is_ordered(f"bar.sync 0; {STORE} {LOAD}")


def test_a_barrier_of_one_iteration_does_not_order_the_next() -> None:
    assert not is_ordered(f"bar.sync 0; {STORE} {LOAD} bar.sync 0;")
    assert is_ordered(f"bar.sync 0; {STORE} bar.sync 0; {LOAD}")


def test_barriers_of_different_numbers_are_different() -> None:
    assert is_ordered(f"{STORE} barrier.sync 3; {LOAD}")
    assert not is_ordered(f"{STORE} @%p2 barrier.sync 3, 32; @!%p2 barrier.sync 4, 96; {LOAD}")


def test_an_arrival_releases_and_does_not_acquire() -> None:
    assert is_ordered(f"{STORE} @%p2 barrier.arrive 3, 128; @!%p2 barrier.sync 3, 128; {LOAD}")
    assert not is_ordered(f"{STORE} @!%p2 barrier.arrive 3, 128; @%p2 barrier.sync 3, 128; {LOAD}")


def test_a_warp_barrier_orders_its_own_warp_only() -> None:
    assert is_ordered(f"{STORE} bar.warp.sync 0xffffffff; {LOAD}", other=1)
    assert not is_ordered(f"{STORE} bar.warp.sync 0xffffffff; {LOAD}", other=32)


def test_a_cluster_barrier_orders_from_arrival_to_wait() -> None:
    bounds = ".reqntid 128 .explicitcluster .reqnctapercluster 2, 1, 1"
    arrive, wait = "barrier.cluster.arrive.aligned;", "barrier.cluster.wait.aligned;"
    assert is_ordered(f"{STORE} {arrive} {wait} {LOAD}", bounds=bounds)
    assert not is_ordered(f"{arrive} {STORE} {wait} {LOAD}", bounds=bounds)
    assert not is_ordered(f"{STORE} {arrive} {LOAD} {wait}", bounds=bounds)


def test_an_mbarrier_orders_from_arrival_to_wait() -> None:
    arrive, wait = "@%p1 mbarrier.arrive.shared::cta.b64 %rd1, [%r5];", WAIT.format(label="a", parity=0)
    assert is_ordered(f"{STORE} {arrive} {wait} {LOAD}")
    assert not is_ordered(f"{arrive} {STORE} {wait} {LOAD}")
    assert not is_ordered(f"{STORE} {arrive} {LOAD} {wait}")
    assert not is_ordered(f"{STORE} @%p1 mbarrier.arrive.shared::cta.b64 %rd1, [%r5+8]; {wait} {LOAD}")


def test_parity_one_on_a_fresh_mbarrier_observes_no_phase() -> None:
    arrive = "@%p1 mbarrier.arrive.shared::cta.b64 %rd1, [%r5];"
    free, first = WAIT.format(label="a", parity=1), WAIT.format(label="b", parity=0)
    assert not is_ordered(f"{STORE} {arrive} {free} {LOAD}")
    assert is_ordered(f"{STORE} {arrive} {free} {first} {LOAD}")


def test_a_wait_for_an_earlier_phase_proves_nothing_about_a_later_one() -> None:
    arrive = "@%p1 mbarrier.arrive.shared::cta.b64 %rd1, [%r5];"
    first, second = WAIT.format(label="a", parity=0), WAIT.format(label="b", parity=1)
    assert not is_ordered(f"{arrive} {STORE} {arrive} {first} {LOAD}")
    assert is_ordered(f"{arrive} {STORE} {arrive} {first} {second} {LOAD}")


def test_a_wait_that_was_polled_once_orders_nothing() -> None:
    arrive = "@%p1 mbarrier.arrive.shared::cta.b64 %rd1, [%r5];"
    assert not is_ordered(f"{STORE} {arrive} mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r5], 0; {LOAD}")


def test_an_edge_names_the_locations_of_its_operations() -> None:
    module = module_of(f"{HEAD}{STORE} bar.sync 0; bar.sync 0; {LOAD}")
    releaser, acquirer = walk(module, 0), walk(module, 32)
    edges = list(
        find_sync_edges(
            release_acquire_points(releaser.trace), at(releaser), release_acquire_points(acquirer.trace), at(acquirer)
        )
    )
    assert {(edge.release_position, edge.acquire_position) for edge in edges} == {(1, 0), (2, 1)}
