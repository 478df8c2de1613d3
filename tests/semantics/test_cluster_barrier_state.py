"""The transitions of the barrier of a cluster, and the invariants after each."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ptxkit.semantics.cluster_barrier_state import ClusterBarrierOutcome, ClusterBarrierState

PENDING, PHASE_COMPLETE = ClusterBarrierOutcome.PENDING, ClusterBarrierOutcome.PHASE_COMPLETE


def test_a_phase_completes_when_all_threads_have_arrived() -> None:
    state = ClusterBarrierState(0b11)
    assert [state.arrive(0b01), state.complete_if_ready(), state.wait(0b01)] == [PENDING] * 3
    assert (state.arrived_count, state.expected_count) == (1, 2)
    assert [state.arrive(0b10), state.complete_if_ready()] == [PENDING, PHASE_COMPLETE]
    assert [state.wait(0b01), state.wait(0b10)] == [PHASE_COMPLETE] * 2
    assert (state.completed_phases, state.unwaited) == (1, 0)


def test_threads_wait_before_they_arrive_again() -> None:
    state = ClusterBarrierState(0b11)
    state.arrive(0b01)
    assert state.arrive(0b11) is ClusterBarrierOutcome.REPEATED_ARRIVAL
    state.arrive(0b10)
    state.complete_if_ready()
    assert state.arrive(0b01) is ClusterBarrierOutcome.REPEATED_ARRIVAL
    state.wait(0b01)
    assert state.arrive(0b01) is PENDING


def test_threads_arrive_before_they_wait() -> None:
    state = ClusterBarrierState(0b11)
    assert state.wait(0b01) is ClusterBarrierOutcome.WAIT_WITHOUT_ARRIVAL


def test_a_phase_does_not_wait_for_exited_threads() -> None:
    state = ClusterBarrierState(0b11)
    state.arrive(0b01)
    state.exit(0b10)
    assert state.complete_if_ready() is PHASE_COMPLETE


def test_the_arrival_of_an_exited_thread_does_not_count_for_another() -> None:
    state = ClusterBarrierState(0b111)
    state.arrive(0b011)
    state.exit(0b001)
    assert (state.arrived_count, state.expected_count) == (1, 2)
    assert state.complete_if_ready() is PENDING
    state.arrive(0b100)
    assert state.complete_if_ready() is PHASE_COMPLETE


def test_nothing_completes_without_an_arrival() -> None:
    state = ClusterBarrierState(0b1)
    state.exit(0b1)
    assert state.complete_if_ready() is PENDING


@given(st.lists(st.tuples(st.sampled_from(["arrive", "wait", "exit"]), st.integers(1, 15)), max_size=30))
def test_no_phase_completes_before_all_have_waited_for_the_previous_one(
    operations: list[tuple[str, int]],
) -> None:
    state = ClusterBarrierState(0b1111)
    for operation, some in operations:
        threads, before = some & state.members, (state.arrived, state.unwaited, state.completed_phases)
        if operation == "exit":
            state.exit(threads)
        else:
            outcome = state.arrive(threads) if operation == "arrive" else state.wait(threads)
            assert not outcome.is_error or before == (state.arrived, state.unwaited, state.completed_phases)
        missing, arrived = state.members & ~state.arrived, state.arrived
        outcome = state.complete_if_ready()
        assert (outcome is PHASE_COMPLETE) == bool(arrived and not missing)
        assert state.completed_phases - before[2] == (outcome is PHASE_COMPLETE)
        assert not state.arrived & ~state.unwaited
        if outcome is PHASE_COMPLETE:
            assert not state.unwaited & state.members & ~arrived  # a thread in it has waited for the previous phase
