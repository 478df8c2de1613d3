"""Arrivals at barriers and their completion in a simulation."""

from __future__ import annotations

import pytest

from ptxkit.analysis.symexec.trace import TraceEvent
from ptxkit.analysis.sync.barrier_model import BarrierModel
from ptxkit.analysis.sync.thread_classes import ThreadClass
from ptxkit.isa.effects import Barrier
from ptxkit.isa.expressions import ConstantExpr
from tests.analysis.support import module_of, program_of

(STEP, *_) = program_of(module_of("bar.sync 0;")).steps


def actor(*tids: int, rank: int = 0) -> ThreadClass:
    return ThreadClass(tids, (), "exit", None, rank)


def meet(meetings: BarrierModel, who: int, effect: Barrier, number: int | None = 0, threads: int | None = None) -> bool:
    """Arrives at a barrier; returns whether the actor must wait."""
    waits = meetings.arrive(who, effect, TraceEvent(STEP, 0, effect, size=threads, amount=number))
    return waits is not None and waits[0].state.completed_phases < waits[1]


SYNC, ARRIVES, WAITS = Barrier("cta", "sync"), Barrier("cluster", "arrive"), Barrier("cluster", "wait")


def test_each_cta_has_separate_barriers() -> None:
    meetings = BarrierModel([actor(0), actor(1), actor(0, rank=1)], lambda _: False)
    assert meet(meetings, 0, SYNC)
    assert meet(meetings, 2, SYNC) is False  # the only thread of its CTA
    assert meet(meetings, 1, SYNC) is False


def test_all_ctas_share_the_barrier_of_the_cluster() -> None:
    meetings = BarrierModel([actor(0), actor(0, rank=1)], lambda _: False)
    assert not meet(meetings, 0, ARRIVES, None)
    assert meet(meetings, 0, WAITS, None)
    assert not meet(meetings, 1, ARRIVES, None)
    assert not meet(meetings, 1, WAITS, None)
    assert (len(meetings.released_barriers), meetings.is_approximate) == (1, False)


def test_a_barrier_completes_without_exited_threads() -> None:
    left: set[int] = set()
    meetings = BarrierModel([actor(0), actor(1)], left.__contains__)
    waits = meetings.arrive(0, SYNC, TraceEvent(STEP, 0, SYNC, amount=0))
    assert waits is not None
    assert not meetings.release_all()
    left.add(1)
    meetings.note_exit(1)
    assert meetings.release_all()
    assert waits[0].state.completed_phases == waits[1]


def test_a_barrier_with_a_thread_count_counts_whole_warps() -> None:
    counted = Barrier("cta", "sync", ConstantExpr(1), ConstantExpr(64))
    meetings = BarrierModel([actor(0), actor(32), actor(64)], lambda _: False)
    assert meet(meetings, 0, counted, 1, 64)
    assert not meet(meetings, 1, counted, 1, 64)
    assert meet(meetings, 2, counted, 1, 64)


def test_lanes_of_one_warp_wait_for_each_other_at_a_barrier_with_a_thread_count() -> None:
    counted = Barrier("cta", "sync", ConstantExpr(1), ConstantExpr(32))
    meetings = BarrierModel([actor(0), actor(1, 2)], lambda _: False)
    assert meet(meetings, 0, counted, 1, 32)
    assert not meet(meetings, 1, counted, 1, 32)
    assert not meetings.count_partial_warp()
    assert (len(meetings.released_barriers), meetings.is_approximate) == (1, False)


def test_lanes_count_for_their_diverged_warp_when_no_other_thread_moves() -> None:
    counted = Barrier("cta", "sync", ConstantExpr(1), ConstantExpr(32))
    meetings = BarrierModel([actor(0), actor(1, 2)], lambda _: False)
    waits = meetings.arrive(0, counted, TraceEvent(STEP, 0, counted, size=32, amount=1))
    assert waits is not None
    assert waits[0].state.completed_phases < waits[1]
    assert meetings.count_partial_warp()
    assert waits[0].state.completed_phases == waits[1]


def test_different_thread_counts_in_one_phase_are_reported() -> None:
    first, second = (Barrier("cta", "sync", ConstantExpr(1), ConstantExpr(threads)) for threads in (64, 96))
    meetings = BarrierModel([actor(0), actor(32)], lambda _: False)
    meet(meetings, 0, first, 1, 64)
    meet(meetings, 1, second, 1, 96)
    assert [(one.size, other.size) for one, other in meetings.count_mismatches] == [(64, 96)]


@pytest.mark.parametrize("effects", [(WAITS,), (ARRIVES, ARRIVES)])
def test_arrive_and_wait_of_the_cluster_barrier_alternate(effects: tuple[Barrier, ...]) -> None:
    meetings = BarrierModel([actor(0), actor(0, rank=1)], lambda _: False)
    for effect in effects:
        meet(meetings, 0, effect, None)
    assert meetings.is_approximate
