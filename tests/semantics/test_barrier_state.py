"""The transitions of a barrier of a CTA or a warp, and the invariants after each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.semantics.barrier_state import BarrierOutcome, BarrierState
from ptxkit.semantics.thread_sets import lanes_of, thread_range, warps_of
from ptxkit.syntax.constants import WARP_SIZE

PENDING, PHASE_COMPLETE = BarrierOutcome.PENDING, BarrierOutcome.PHASE_COMPLETE
FIRST, SECOND, THIRD = (thread_range(warp * WARP_SIZE, WARP_SIZE) for warp in range(3))


def come(state: BarrierState, threads: int, aligned_warps: int = 0) -> BarrierOutcome:
    """Threads arrive; returns the warps that are complete now."""
    outcome = state.arrive(threads)
    if outcome.is_error:
        return outcome
    state.count_arrived_warps(aligned_warps)
    return state.complete_if_ready()


def test_a_barrier_of_all_threads_completes_with_the_last() -> None:
    state = BarrierState(FIRST | SECOND)
    assert (state.expected_count, come(state, FIRST), state.arrived_count) == (64, PENDING, 32)
    assert come(state, SECOND) is PHASE_COMPLETE
    assert (state.completed_phases, state.arrived) == (1, 0)


def test_a_barrier_does_not_wait_for_exited_threads() -> None:
    state = BarrierState(FIRST | SECOND)
    come(state, FIRST)
    state.exit(SECOND)
    assert (state.expected_count, state.complete_if_ready()) == (32, PHASE_COMPLETE)


def test_a_barrier_without_waiting_threads_does_not_complete() -> None:
    state = BarrierState(FIRST)
    state.exit(FIRST)
    assert state.complete_if_ready() is PENDING


def test_threads_arrive_once_in_a_phase() -> None:
    state = BarrierState(FIRST | SECOND)
    come(state, FIRST)
    assert come(state, FIRST | SECOND) is BarrierOutcome.REPEATED_ARRIVAL
    assert state.arrived == FIRST


def test_a_declared_thread_count_completes_a_phase() -> None:
    state = BarrierState(FIRST | SECOND | THIRD)
    assert state.declare(64) is PENDING
    assert [come(state, FIRST), come(state, THIRD)] == [PENDING, PHASE_COMPLETE]
    assert state.declare(96) is PENDING  # another phase may wait for another count
    assert state.expected_count == 96


@pytest.mark.parametrize(("first", "second"), [(64, 96), (64, None), (None, 64)])
def test_a_phase_has_one_thread_count(first: int | None, second: int | None) -> None:
    state = BarrierState(FIRST | SECOND | THIRD)
    state.declare(first)
    come(state, FIRST)
    assert state.declare(second) is BarrierOutcome.COUNT_MISMATCH
    assert state.declared_count == first


def test_threads_of_a_phase_without_a_count_may_count_toward_one() -> None:
    state = BarrierState(FIRST | SECOND | THIRD)
    state.arrive(FIRST)
    assert state.declare(64, counts_earlier=True) is PENDING
    assert state.arrived_count == 32
    state.count_warp()
    assert state.complete_if_ready() is PHASE_COMPLETE


def test_lanes_of_an_earlier_phase_keep_its_count() -> None:
    state = BarrierState(FIRST)
    state.declare(32)
    assert state.declare(64, has_partial_warps=True) is BarrierOutcome.COUNT_MISMATCH


def test_more_threads_than_declared_are_an_error() -> None:
    state = BarrierState(FIRST | SECOND)
    state.declare(32)
    assert come(state, FIRST | SECOND) is BarrierOutcome.EXCESS_ARRIVALS
    assert state.completed_phases == 1


def test_a_warp_counts_as_a_whole() -> None:
    half = thread_range(0, 16)
    state = BarrierState(FIRST | SECOND)
    state.declare(64)
    assert come(state, half, aligned_warps=1) is PENDING
    assert (state.arrived_count, state.partial_warps) == (0, 1)
    assert come(state, FIRST & ~half, aligned_warps=1) is PENDING
    assert (state.arrived_count, state.partial_warps) == (32, 0)


def test_a_warp_counts_as_a_whole_once_its_other_lanes_have_exited() -> None:
    state = BarrierState(FIRST | SECOND)
    state.declare(32)
    come(state, thread_range(0, 5), aligned_warps=1)
    state.exit(FIRST & ~thread_range(0, 5))
    state.count_arrived_warps(1)
    assert (state.arrived_count, state.complete_if_ready()) == (32, PHASE_COMPLETE)


def test_lanes_at_an_unaligned_instruction_count_one_by_one_until_the_warp_is_whole() -> None:
    state = BarrierState(FIRST | SECOND)
    state.declare(64)
    come(state, thread_range(0, 5))
    assert state.arrived_count == 5


ARRIVALS = st.lists(
    st.tuples(st.sampled_from(["arrive", "exit"]), st.sets(st.integers(0, 95), min_size=1)), max_size=12
)


@given(ARRIVALS, st.sampled_from([None, 32, 64, 96]), st.booleans())
def test_a_phase_completes_exactly_when_enough_threads_have_arrived(
    operations: list[tuple[str, set[int]]], declared: int | None, aligned: bool
) -> None:
    members = FIRST | SECOND | THIRD
    state = BarrierState(members)
    state.declare(declared)
    for operation, numbers in operations:
        threads, before = sum(1 << each for each in numbers), state.completed_phases
        if operation == "exit":
            state.exit(threads & ~state.arrived)
        elif state.arrive(threads & state.members) is not PENDING:
            continue
        state.count_arrived_warps(warps_of(members) if aligned else 0)
        arrived, alive, counted = state.arrived, state.members, state.arrived_count
        outcome = state.complete_if_ready()
        assert 0 <= counted <= 96
        assert outcome is PENDING or state.arrived == state.counted == 0
        assert state.completed_phases - before == (outcome is not PENDING)
        if declared is None:
            assert (outcome is PHASE_COMPLETE) == bool(arrived and not alive & ~arrived)
        else:
            assert (outcome is not PENDING) == (counted >= declared)
            assert (outcome is BarrierOutcome.EXCESS_ARRIVALS) == (counted > declared)
            if aligned:
                assert counted % WARP_SIZE == 0
                assert counted == 32 * sum(
                    bool(arrived & lanes) and not alive & lanes & ~arrived for lanes in (FIRST, SECOND, THIRD)
                )


@given(st.sets(st.integers(0, 95)), st.sets(st.integers(0, 95)))
def test_the_partial_warps_have_arrived_and_missing_lanes(came: set[int], gone: set[int]) -> None:
    state = BarrierState(FIRST | SECOND | THIRD)
    state.arrive(sum(1 << each for each in came))
    state.exit(sum(1 << each for each in gone - came))
    for warp, lanes in enumerate((FIRST, SECOND, THIRD)):
        is_partial = bool(state.arrived & lanes) and bool(state.members & lanes & ~state.arrived)
        assert bool(state.partial_warps >> warp * WARP_SIZE & 1) == is_partial
    assert not state.partial_warps & ~warps_of(lanes_of(state.partial_warps))
