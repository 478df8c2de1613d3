"""Bytes expected after the arrival, or the copy, that may end their phase."""

from __future__ import annotations

from ptxkit.analysis.sync.late_expect_tx import find_late_expect_tx
from tests.analysis.support import module_of, walk

HEAD = """.shared .align 8 .b64 bars[2]; .shared .align 128 .b8 tile[128]; mov.u32 %r5, bars; mov.u32 %r6, tile;
mov.u64 %rd1, 4096;\n"""
ARRIVE = "mbarrier.arrive.shared::cta.b64 _, [%r5];"
EXPECT = "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r5], 64;"
BOTH = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r5], 64;"
COPY = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r6], [%rd1], 64, [%r5];"


def late(body: str, *, single: bool = True) -> int:
    """Returns how many expect-tx operations of a thread are too late."""
    trace = walk(module_of(HEAD + body)).trace
    objects = {event.address for event in trace.events if isinstance(event.address, int)}  # type: ignore[union-attr]
    return len(list(find_late_expect_tx(trace, objects if single else set())))


def test_an_expect_tx_after_the_only_arrival_is_late() -> None:
    assert late(ARRIVE + EXPECT) == 1
    assert late(EXPECT + ARRIVE) == 0


def test_bytes_expected_before_keep_the_phase_open() -> None:
    assert late(BOTH + EXPECT) == 0
    assert late(EXPECT + ARRIVE + EXPECT) == 0


def test_operations_of_others_may_occur_in_between() -> None:
    assert late(ARRIVE + "bar.sync 0;" + EXPECT) == 0


def test_other_arrivals_may_be_pending() -> None:
    assert late(ARRIVE + EXPECT, single=False) == 0


def test_an_expect_tx_after_a_copy_of_all_expected_bytes_is_late() -> None:
    assert late(BOTH + COPY + EXPECT + COPY) == 1
    assert late(EXPECT + COPY + ARRIVE + EXPECT) == 1
    assert late(BOTH + EXPECT + COPY + EXPECT + COPY) == 0
    assert late(EXPECT + COPY + EXPECT + ARRIVE) == 0


def test_an_arrival_after_the_end_of_a_phase_begins_the_next_one() -> None:
    assert late(ARRIVE + BOTH + EXPECT + COPY + COPY) == 0
    assert late(ARRIVE + BOTH + COPY + EXPECT + COPY) == 1


def test_a_reinitialized_mbarrier_starts_in_a_new_phase() -> None:
    again = "mbarrier.inval.shared::cta.b64 [%r5]; mbarrier.init.shared::cta.b64 [%r5], 1;"
    assert late(BOTH + COPY + again + EXPECT + ARRIVE + COPY) == 0
