"""Communication between the lanes of a warp."""

from __future__ import annotations

import numpy
import pytest

from tests.emulator.support import compute_line, outcome

LANES = numpy.arange(64)
IN_WARP = LANES % 32


@pytest.mark.parametrize(
    ("mode", "by", "clamp", "source"),
    [
        ("up", 3, 0, lambda lane: numpy.where(lane >= 3, lane - 3, lane)),
        ("down", 5, 31, lambda lane: numpy.where(lane + 5 <= 31, lane + 5, lane)),
        ("bfly", 7, 31, lambda lane: lane ^ 7),
        ("idx", 9, 31, lambda lane: numpy.full_like(lane, 9)),
        ("down", 2, 0x1C03, lambda lane: numpy.where(lane % 4 + 2 <= 3, lane + 2, lane)),
        ("idx", 1, 0x181F, lambda lane: lane // 8 * 8 + 1),
        ("up", 1, 0x1000, lambda lane: numpy.where(lane % 16 >= 1, lane - 1, lane)),
    ],
)
def test_a_shuffle_returns_the_value_of_another_lane(mode: str, by: int, clamp: int, source: object) -> None:
    found = compute_line(
        f" mul.lo.u32 %r2, %r31, 10; shfl.sync.{mode}.b32 %r0|%p0, %r2, {by}, {clamp}, -1; selp.u32 %r1, 1, 0, %p0;",
        64,
        words=2,
    )
    wanted = source(IN_WARP)  # type: ignore[operator]
    assert (found[:, 0] == 10 * (wanted + LANES // 32 * 32)).all()
    moved = wanted != IN_WARP
    assert found[moved, 1].all()


def test_a_shuffle_waits_for_lanes_on_another_path() -> None:
    body = """
 and.b32 %r2, %r31, 1; setp.eq.u32 %p1, %r2, 0;
 @%p1 bra EVEN;
 shfl.sync.bfly.b32 %r0, %r31, 1, 31, -1;
 bra END;
EVEN:
 shfl.sync.bfly.b32 %r0, %r31, 1, 31, -1;
END:
"""
    assert (compute_line(body, 64) == LANES ^ 1).all()


def test_a_lane_that_its_mask_does_not_name_is_found() -> None:
    found = outcome(" mov.u32 %r1, 5; shfl.sync.idx.b32 %r0, %r1, 0, 31, 0xff;")
    assert [each.code for each in found.findings] == ["PTX607"]
    assert found.findings[0].witnesses[0].thread == (8, 0, 0)


@pytest.mark.parametrize(
    ("mode", "wanted"), [("all", 0), ("any", 1), ("uni", 0)], ids=["in all", "in any", "the same in all"]
)
def test_votes_combine_the_predicates_of_lanes(mode: str, wanted: int) -> None:
    body = f" setp.lt.u32 %p1, %r31, 7; vote.sync.{mode}.pred %p0, %p1, -1; selp.u32 %r0, 1, 0, %p0;"
    assert (compute_line(body) == wanted).all()


def test_a_ballot_shows_where_a_predicate_holds() -> None:
    assert (compute_line(" setp.lt.u32 %p1, %r31, 7; vote.sync.ballot.b32 %r0, %p1, -1;") == 0x7F).all()


def test_lanes_with_the_same_value_match() -> None:
    found = compute_line(" and.b32 %r1, %r31, 3; match.any.sync.b32 %r0, %r1, -1;")
    assert (found == (0x11111111 << (numpy.arange(32) % 4))).all()


def test_all_lanes_match_or_none() -> None:
    same = compute_line(" mov.u32 %r2, 5; match.all.sync.b32 %r0|%p0, %r2, -1; selp.u32 %r1, 1, 0, %p0;", words=2)
    assert (same == [0xFFFFFFFF, 1]).all()
    other = compute_line(" match.all.sync.b32 %r0|%p0, %r31, -1; selp.u32 %r1, 1, 0, %p0;", words=2)
    assert (other == 0).all()


@pytest.mark.parametrize(
    ("operation", "wanted"),
    [
        ("add.u32", 496),
        ("min.s32", 0),
        ("max.u32", 31),
        ("and.b32", 0),
        ("or.b32", 31),
        ("xor.b32", 0),
    ],
)
def test_a_reduction_combines_all_lanes(operation: str, wanted: int) -> None:
    assert (compute_line(f" redux.sync.{operation} %r0, %r31, -1;") == wanted).all()


def test_a_reduction_combines_some_lanes() -> None:
    body = """
 setp.ge.u32 %p1, %r31, 4;
 @%p1 bra END;
 redux.sync.add.u32 %r0, %r31, 0xf;
END:
"""
    assert list(compute_line(body)) == [6] * 4 + [0] * 28


def test_one_lane_is_elected() -> None:
    found = compute_line(" elect.sync %r0|%p0, -1; selp.u32 %r1, 1, 0, %p0;", 64, words=2)
    assert (found[:, 0] == 0).all()
    assert list(numpy.flatnonzero(found[:, 1])) == [0, 32]


def test_diverged_lanes_elect_among_themselves_or_deadlock() -> None:
    here = " mov.u32 %r2, %tid.x; setp.lt.u32 %p1, %r2, 5; @!%p1 bra SKIP; elect.sync %r0|%p0, {mask};"
    here += " selp.u32 %r1, 1, 0, %p0;\nSKIP: {behind}"
    found = compute_line(here.format(mask="0x1f", behind=""), words=2)
    assert list(numpy.flatnonzero(found[:, 1])) == [0]
    stuck = outcome(here.format(mask="-1", behind="bar.warp.sync -1;"))
    assert [each.code for each in stuck.findings][:1] == ["PTX601"]


def test_the_active_mask_names_the_present_lanes() -> None:
    assert (compute_line(" setp.lt.u32 %p1, %r31, 5; @%p1 activemask.b32 %r0;")[:5] == 0x1F).all()
