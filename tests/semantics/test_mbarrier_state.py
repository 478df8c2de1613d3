"""The transitions of an mbarrier object, and the invariants after each."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ptxkit.semantics.mbarrier_state import (
    MAX_ARRIVALS,
    MAX_TX_COUNT,
    MbarrierOutcome,
    MbarrierState,
    is_valid_arrival_count,
)

PENDING, PHASE_COMPLETE = MbarrierOutcome.PENDING, MbarrierOutcome.PHASE_COMPLETE


@pytest.mark.parametrize(("count", "valid"), [(0, False), (1, True), (MAX_ARRIVALS, True), (MAX_ARRIVALS + 1, False)])
def test_an_object_expects_at_least_one_arrival(count: int, valid: bool) -> None:
    assert is_valid_arrival_count(count) == valid


def test_the_last_arrival_completes_a_phase_and_begins_the_next() -> None:
    state = MbarrierState(3)
    assert [state.arrive(), state.arrive(2)] == [PENDING, PHASE_COMPLETE]
    assert (state.completed_phases, state.pending_arrivals) == (1, 3)


def test_the_phase_before_the_first_is_complete_with_parity_one() -> None:
    state = MbarrierState(1)
    assert (state.is_parity_complete(1), state.is_parity_complete(0)) == (True, False)
    state.arrive()
    assert (state.is_parity_complete(1), state.is_parity_complete(0)) == (False, True)


def test_a_wait_by_state_passes_once_the_phase_of_the_state_is_complete() -> None:
    state = MbarrierState(1)
    assert not state.is_phase_complete(0)
    state.arrive()
    assert (state.is_phase_complete(0), state.is_phase_complete(1)) == (True, False)


def test_an_arrival_needs_an_observed_phase_before_it() -> None:
    state = MbarrierState(1)
    state.arrive()
    assert state.arrive() is MbarrierOutcome.UNOBSERVED_PHASE
    assert (state.completed_phases, state.pending_arrivals) == (1, 1)
    state.observe()
    assert state.arrive() is PHASE_COMPLETE


def test_excess_arrivals_do_not_count() -> None:
    state = MbarrierState(2)
    assert state.arrive(3) is MbarrierOutcome.EXCESS_ARRIVALS
    assert state.pending_arrivals == 2


def test_an_arrival_that_must_not_complete_the_phase_does_not() -> None:
    state = MbarrierState(2)
    assert state.arrive(may_complete=False) is PENDING
    assert state.arrive(may_complete=False) is MbarrierOutcome.FORBIDDEN_COMPLETION
    state.expect_tx(16)
    assert state.arrive(may_complete=False) is PENDING  # the bytes are missing


def test_a_drop_lowers_the_count_of_further_phases_only() -> None:
    state = MbarrierState(3)
    state.drop()
    assert (state.count, state.pending_arrivals) == (2, 3)
    assert state.arrive(3) is PHASE_COMPLETE
    assert state.pending_arrivals == 2


def test_a_drop_leaves_no_negative_count() -> None:
    state = MbarrierState(1)
    state.drop(2)
    assert state.count == 0


def test_a_tracked_copy_adds_its_own_arrival() -> None:
    state = MbarrierState(1)
    assert state.add_pending(2) is PENDING
    assert [state.arrive(), state.arrive(2)] == [PENDING, PHASE_COMPLETE]
    assert state.pending_arrivals == 1
    assert state.add_pending(MAX_ARRIVALS) is MbarrierOutcome.PENDING_COUNT_OVERFLOW


def test_a_phase_completes_when_its_bytes_are_complete() -> None:
    state = MbarrierState(1)
    assert [state.expect_tx(32), state.arrive()] == [PENDING, PENDING]
    assert (state.expected_bytes, state.complete_tx(16)) == (32, PENDING)
    assert state.complete_tx(16) is PHASE_COMPLETE
    assert (state.expected_bytes, state.completed_bytes, state.tx_count) == (0, 0, 0)


@pytest.mark.parametrize("may_complete", [True, False])
def test_bytes_may_be_complete_before_they_are_expected(may_complete: bool) -> None:
    state = MbarrierState(1)
    assert [state.complete_tx(16), state.arrive()] == [PENDING, PENDING]
    assert state.tx_count == -16
    assert state.expect_tx(16, may_complete=may_complete) is (PHASE_COMPLETE if may_complete else PENDING)
    assert state.complete_tx(0) is (PENDING if may_complete else PHASE_COMPLETE)


def test_the_tx_count_has_a_range() -> None:
    state = MbarrierState(1)
    assert state.expect_tx(MAX_TX_COUNT) is PENDING
    assert state.expect_tx(1) is MbarrierOutcome.TX_COUNT_OVERFLOW
    state = MbarrierState(1)
    assert state.complete_tx(MAX_TX_COUNT) is PENDING
    assert state.complete_tx(1) is MbarrierOutcome.TX_COUNT_OVERFLOW
    assert state.completed_bytes == MAX_TX_COUNT + 1


def test_the_last_copy_of_unknown_size_completes_the_missing_bytes() -> None:
    state = MbarrierState(1)
    state.begin_unsized_copies(2)
    state.expect_tx(64)
    assert [state.arrive(), state.end_unsized_copies(), state.tx_count] == [PENDING, PENDING, 64]
    assert state.end_unsized_copies() is PHASE_COMPLETE
    assert state.tx_count == 0


def test_many_arrivals_complete_many_phases_at_once() -> None:
    state = MbarrierState(4)
    assert state.complete_phases(11) == 2
    assert (state.completed_phases, state.observed_phases, state.pending_arrivals) == (2, 1, 4)
    state.observe()
    state.arrive()
    assert state.complete_phases(11) == 0  # the phase has begun
    assert MbarrierState(4).complete_phases(3) == 0


OPERATIONS = st.one_of(
    st.tuples(st.just("arrive"), st.integers(1, 4)),
    st.tuples(st.just("drop"), st.integers(1, 4)),
    st.tuples(st.just("add"), st.integers(1, 4)),
    st.tuples(st.just("expect"), st.integers(1, 64)),
    st.tuples(st.just("complete"), st.integers(1, 64)),
    st.tuples(st.just("begin"), st.just(1)),
    st.tuples(st.just("end"), st.just(1)),
    st.tuples(st.just("observe"), st.just(0)),
)


def apply(state: MbarrierState, operation: str, number: int) -> MbarrierOutcome | None:
    match operation:
        case "arrive":
            return state.arrive(number)
        case "drop":
            return state.drop(min(number, state.count - 1))
        case "add":
            return state.add_pending(number)
        case "expect":
            return state.expect_tx(number)
        case "complete":
            return state.complete_tx(number)
        case "begin":
            return state.begin_unsized_copies(number)
        case "end":
            return state.end_unsized_copies(number) if state.unsized_copies else None
    return state.observe()


@given(st.integers(1, 6), st.lists(OPERATIONS, max_size=40))
def test_a_phase_completes_exactly_when_nothing_is_pending(count: int, operations: list[tuple[str, int]]) -> None:
    state, added = MbarrierState(count), 0
    for operation, number in operations:
        before = state.completed_phases, state.pending_arrivals, state.count
        outcome = apply(state, operation, number)
        added = 0 if state.completed_phases > before[0] else added + number * (operation == "add")
        assert state.completed_phases - before[0] == (outcome is PHASE_COMPLETE)
        assert state.pending_arrivals > 0 or state.tx_count or state.unsized_copies
        assert 0 <= state.pending_arrivals <= count + added
        assert 1 <= state.count <= before[2]
        assert state.tx_count == state.expected_bytes - state.completed_bytes or "end" in dict(operations)
        assert state.observed_phases <= state.completed_phases
        if outcome is PHASE_COMPLETE:
            assert (state.pending_arrivals, state.tx_count, state.expected_bytes) == (state.count, 0, 0)
        if outcome is not None and outcome.is_error:
            assert (state.completed_phases, state.pending_arrivals, state.count) == before


@given(st.integers(1, 5), st.integers(0, 60))
def test_several_phases_at_once_are_the_same_as_one_arrival_after_another(count: int, arrivals: int) -> None:
    at_once, one_by_one = MbarrierState(count), MbarrierState(count)
    left = arrivals - at_once.complete_phases(arrivals) * count
    for _ in range(arrivals - left):
        one_by_one.observe()
        one_by_one.arrive()
    assert at_once.completed_phases == one_by_one.completed_phases
    assert at_once.observed_phases in (one_by_one.observed_phases, 0)
    assert at_once.pending_arrivals == one_by_one.pending_arrivals
