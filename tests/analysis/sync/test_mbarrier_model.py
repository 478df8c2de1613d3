"""Phases of mbarriers in a simulation."""

from __future__ import annotations

import pytest

from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.mbarrier_model import MbarrierModel
from ptxkit.analysis.sync.thread_classes import ThreadClass
from ptxkit.isa.effects import MbarrierArrive, MbarrierWait
from ptxkit.isa.expressions import ConstantExpr
from tests.analysis.support import module_of, program_of

(STEP, *_) = program_of(module_of("bar.sync 0;")).steps
PLACE = (0, 1024)
ARRIVE = MbarrierArrive("bar", ConstantExpr(1))


def arrival(expect: int | None = None) -> TraceEvent:
    effect = ARRIVE if expect is None else MbarrierArrive("bar", ConstantExpr(1), ConstantExpr(expect))
    return TraceEvent(STEP, 0, effect, PLACE[1], amount=1, expect=expect)


def wait(parity: int) -> tuple[MbarrierWait, TraceEvent]:
    effect = MbarrierWait("bar", "phase", "parity", "p", blocking=False)
    return effect, TraceEvent(STEP, 0, effect, PLACE[1], amount=parity)


def objects(count: int, threads: int = 1) -> MbarrierModel:
    made = MbarrierModel([ThreadClass(tuple(range(threads)), (), "exit", None)])
    made.initialize(PLACE, count)
    return made


def arrive(played: MbarrierModel, expect: int | None = None) -> None:
    known = played.live.get(PLACE)
    assert known is not None
    played.arrive(0, arrival(expect), PLACE, known)


def test_a_phase_ends_with_its_last_arrival() -> None:
    played = objects(2)
    arrive(played)
    known = played.live.get(PLACE)
    assert known is not None
    assert (known.state.completed_phases, known.state.pending_arrivals) == (0, 1)
    arrive(played)
    assert (known.state.completed_phases, known.state.pending_arrivals) == (1, 2)
    assert not played.excess_arrivals


def test_each_thread_of_an_actor_arrives() -> None:
    played = objects(128, threads=128)
    arrive(played)
    known = played.live.get(PLACE)
    assert known is not None
    assert known.state.completed_phases == 1


def test_a_phase_waits_for_the_bytes_that_it_expects() -> None:
    played = objects(1)
    arrive(played, expect=32)
    known = played.live.get(PLACE)
    assert known is not None
    assert (known.state.completed_phases, known.state.expected_bytes, played.unbalanced_locations()) == (0, 32, [PLACE])
    played.end_copy(known, 32, 1)
    assert (known.state.completed_phases, known.state.expected_bytes, played.unbalanced_locations()) == (1, 0, [])


@pytest.mark.parametrize(("parity", "passes"), [(1, True), (0, False)])
def test_the_phase_before_the_first_counts_as_complete(parity: int, passes: bool) -> None:
    played = objects(1)
    known = played.live.get(PLACE)
    assert known is not None
    assert played.test_wait(0, *wait(parity), PLACE, known) == passes


def test_an_arrival_before_any_thread_has_observed_the_last_phase_is_excessive() -> None:
    played = objects(1)
    arrive(played)
    arrive(played)
    (excess,) = played.excess_arrivals
    assert (excess.phase, excess.is_unobserved, excess.location) == (2, True, PLACE)


def test_an_arrival_in_a_phase_that_a_thread_has_observed_is_not() -> None:
    played = objects(1)
    arrive(played)
    known = played.live.get(PLACE)
    assert known is not None
    assert played.test_wait(0, *wait(0), PLACE, known)
    arrive(played)
    assert not played.excess_arrivals


def test_in_an_incomplete_execution_no_arrival_is_excessive() -> None:
    played = objects(1)
    played.is_truncated = True
    arrive(played)
    arrive(played)
    assert not played.excess_arrivals


def test_unknown_counts_are_recorded() -> None:
    played = objects(1)
    known = played.live.get(PLACE)
    assert known is not None
    assert not played.is_approximate
    played.expect_tx(known, arrival(), None, 1)
    assert played.is_approximate


def test_a_reinitialized_mbarrier_continues_the_count_of_phases() -> None:
    played = objects(1)
    arrive(played)
    arrive(played)
    played.initialize(PLACE, 2)
    again = played.live.get(PLACE)
    assert again is not None
    assert (again.state.completed_phases, again.earlier_phases) == (0, 2)
    arrive(played)
    played.initialize(PLACE, 2)
    last = played.live.get(PLACE)
    assert last is not None
    assert last.earlier_phases == 3  # an arrival in the incomplete phase belongs to no later one


def test_a_token_of_an_ended_mbarrier_does_not_block_a_wait_on_the_next_one() -> None:
    played = objects(1)
    arrive(played)
    arrive(played)
    played.initialize(PLACE, 1)
    known = played.live.get(PLACE)
    assert known is not None
    by_state = MbarrierWait("bar", "state", "state", "p", blocking=False)
    assert not played.test_wait(0, by_state, TraceEvent(STEP, 0, by_state, PLACE[1]), PLACE, known)
    arrive(played)
    assert played.test_wait(0, by_state, TraceEvent(STEP, 0, by_state, PLACE[1]), PLACE, known)
