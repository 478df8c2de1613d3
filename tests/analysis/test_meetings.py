"""Who comes to barriers, and when they open, as a rehearsal plays them."""

from __future__ import annotations

import pytest

from ptxkit.analysis.actors import Actor
from ptxkit.analysis.meetings import Meetings
from ptxkit.analysis.trace import Event
from ptxkit.isa.effects import Barrier
from ptxkit.isa.expressions import Const
from tests.analysis.support import module_of, program_of

(STEP, *_) = program_of(module_of("bar.sync 0;")).steps


def actor(*tids: int, rank: int = 0) -> Actor:
    return Actor(tids, (), "exit", None, rank)


def meet(meetings: Meetings, who: int, effect: Barrier, number: int | None = 0, threads: int | None = None) -> bool:
    """Comes to a barrier; whether the actor must wait."""
    waits = meetings.meet(who, effect, Event(STEP, 0, effect, size=threads, amount=number))
    return waits is not None and waits[0].opened < waits[1]


SYNC, ARRIVES, WAITS = Barrier("cta", "sync"), Barrier("cluster", "arrive"), Barrier("cluster", "wait")


def test_each_cta_has_a_barrier_of_its_own() -> None:
    meetings = Meetings([actor(0), actor(1), actor(0, rank=1)], lambda _: False)
    assert meet(meetings, 0, SYNC)
    assert meet(meetings, 2, SYNC) is False  # the only thread of its CTA
    assert meet(meetings, 1, SYNC) is False


def test_all_ctas_share_the_barrier_of_the_cluster() -> None:
    meetings = Meetings([actor(0), actor(0, rank=1)], lambda _: False)
    assert not meet(meetings, 0, ARRIVES, None)
    assert meet(meetings, 0, WAITS, None)
    assert not meet(meetings, 1, ARRIVES, None)
    assert not meet(meetings, 1, WAITS, None)
    assert (len(meetings.opened), meetings.vague) == (1, False)


def test_a_barrier_opens_without_those_that_have_left() -> None:
    left: set[int] = set()
    meetings = Meetings([actor(0), actor(1)], left.__contains__)
    waits = meetings.meet(0, SYNC, Event(STEP, 0, SYNC, amount=0))
    assert waits is not None
    assert not meetings.open_all()
    left.add(1)
    meetings.somebody_left()
    assert meetings.open_all()
    assert waits[0].opened == waits[1]


def test_a_barrier_of_a_number_of_threads_takes_warps_as_a_whole() -> None:
    counted = Barrier("cta", "sync", Const(1), Const(64))
    meetings = Meetings([actor(0), actor(32), actor(64)], lambda _: False)
    assert meet(meetings, 0, counted, 1, 64)
    assert not meet(meetings, 1, counted, 1, 64)
    assert meet(meetings, 2, counted, 1, 64)


def test_lanes_of_one_warp_wait_for_each_other_at_a_barrier_of_a_number_of_threads() -> None:
    counted = Barrier("cta", "sync", Const(1), Const(32))
    meetings = Meetings([actor(0), actor(1, 2)], lambda _: False)
    assert meet(meetings, 0, counted, 1, 32)
    assert not meet(meetings, 1, counted, 1, 32)
    assert not meetings.take_parts()
    assert (len(meetings.opened), meetings.vague) == (1, False)


def test_lanes_whose_warp_does_not_come_count_for_it_when_nobody_else_moves() -> None:
    counted = Barrier("cta", "sync", Const(1), Const(32))
    meetings = Meetings([actor(0), actor(1, 2)], lambda _: False)
    waits = meetings.meet(0, counted, Event(STEP, 0, counted, size=32, amount=1))
    assert waits is not None
    assert waits[0].opened < waits[1]
    assert meetings.take_parts()
    assert waits[0].opened == waits[1]


def test_different_numbers_of_threads_in_one_round_are_told() -> None:
    first, second = (Barrier("cta", "sync", Const(1), Const(threads)) for threads in (64, 96))
    meetings = Meetings([actor(0), actor(32)], lambda _: False)
    meet(meetings, 0, first, 1, 64)
    meet(meetings, 1, second, 1, 96)
    assert [(one.size, other.size) for one, other in meetings.uneven] == [(64, 96)]


@pytest.mark.parametrize("effects", [(WAITS,), (ARRIVES, ARRIVES)])
def test_halves_of_the_cluster_s_barrier_take_turns(effects: tuple[Barrier, ...]) -> None:
    meetings = Meetings([actor(0), actor(0, rank=1)], lambda _: False)
    for effect in effects:
        meet(meetings, 0, effect, None)
    assert meetings.vague
