"""Lanes and the masks that should name them, as an execution detects them."""

from __future__ import annotations

import pytest

from tests.analysis.support import module_of, walk


def missing(line: str, tid: int = 0, bounds: str = ".reqntid 64") -> list[tuple[int, int]]:
    """Returns (lane, mask) of each instruction whose mask does not name the thread's lane."""
    trace = walk(module_of(line, bounds=bounds), tid).trace
    return [(misfit.value, misfit.required) for misfit in trace.operand_violations.values() if misfit.kind == "member"]


@pytest.mark.parametrize(
    "line",
    [
        "bar.warp.sync 0xfffe;",
        "shfl.sync.idx.b32 %r9, %r1, 0, 31, 0xfffe;",
        "vote.sync.all.pred %p1, %p2, 0xfffe;",
        "match.any.sync.b32 %r9, %r1, 0xfffe;",
        "redux.sync.add.u32 %r9, %r1, 0xfffe;",
        "elect.sync _|%p1, 0xfffe;",
    ],
)
def test_each_collective_has_a_mask(line: str) -> None:
    assert missing(line) == [(0, 0xFFFE)]
    assert missing(line, tid=1) == []
    assert missing(line, tid=33) == []
    assert missing(line, tid=40) == []


def test_a_mask_names_the_lanes_of_a_warp() -> None:
    assert missing("bar.warp.sync 0xff;", tid=32 + 7) == []
    assert missing("bar.warp.sync 0xff;", tid=32 + 8) == [(8, 0xFF)]
    assert missing("bar.warp.sync -1;", tid=31) == []


def test_an_unknown_mask_may_name_any_lane() -> None:
    assert missing("activemask.b32 %r1; bar.warp.sync %r1;") == []


def test_a_false_guard_excludes_a_lane() -> None:
    body = "mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 0; @%p1 bar.warp.sync 0xfffffffe;"
    assert missing(body) == []
    assert missing(body.replace("@%p1", "@!%p1")) == [(0, 0xFFFFFFFE)]


def test_only_the_first_thread_is_in_every_launch_of_any_size() -> None:
    for tid, mask, expected in ((8, 0xFF, (8, False)), (0, 0xFE, (0, True))):
        trace = walk(module_of(f"bar.warp.sync {mask};", bounds=""), tid).trace
        assert [(each.value, each.is_in_every_launch) for each in trace.operand_violations.values()] == [expected]
