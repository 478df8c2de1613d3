"""Pending copies: the completions that commits and waits prove to the issuing thread."""

from __future__ import annotations

from ptxkit.analysis.sync.async_groups import AsyncCopy, async_copies_of
from tests.analysis.support import module_of, walk

HEAD = """.shared .align 128 .b8 tile[4096]; .shared .align 8 .b64 bars[2]; mov.u32 %r2, tile; mov.u32 %r5, bars;
ld.param.u64 %rd1, [in];"""
SMALL = "cp.async.cg.shared.global [%r2], [%rd1], 16;"
OUT = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 16;"
COMMIT, BULK_COMMIT = "cp.async.commit_group;", "cp.async.bulk.commit_group;"
FILL = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 16, "


def copies(body: str) -> list[AsyncCopy]:
    return async_copies_of(walk(module_of(HEAD + body, parameters=".param .u64 in")).trace)


def completed_groups(body: str) -> list[bool]:
    """Returns for each copy whether the thread has observed at the end that it is complete."""
    return [copy.completion_position is not None for copy in copies(body)]


def test_a_wait_completes_all_but_the_newest_groups() -> None:
    three = (SMALL + COMMIT) * 3
    for pending, expected in ((0, [True] * 3), (1, [True, True, False]), (2, [True, False, False]), (3, [False] * 3)):
        assert completed_groups(f"{three} cp.async.wait_group {pending};") == expected


def test_an_empty_group_counts_as_a_group() -> None:
    assert completed_groups(f"{SMALL}{COMMIT}{COMMIT} cp.async.wait_group 1;") == [True]
    assert completed_groups(f"{SMALL}{COMMIT} cp.async.wait_group 1;") == [False]


def test_a_wait_completes_nothing_that_was_not_committed() -> None:
    (copy,) = copies(f"{SMALL} cp.async.wait_group 0;")
    assert (copy.commit_position, copy.completion_position) == (None, None)
    (copy,) = copies(f"{SMALL}{COMMIT} cp.async.wait_group 0;")
    assert copy.commit_position is not None
    assert copy.completion_position is not None
    assert copy.position < copy.commit_position < copy.completion_position


def test_wait_all_includes_uncommitted_copies() -> None:
    assert completed_groups(f"{SMALL} cp.async.wait_all;") == [True]
    assert completed_groups(f"{SMALL} cp.async.wait_all; {SMALL}") == [True, False]


def test_groups_of_one_kind_are_not_waited_for_by_the_other() -> None:
    assert completed_groups(f"{SMALL}{COMMIT} cp.async.bulk.wait_group 0;") == [False]
    assert completed_groups(f"{OUT}{BULK_COMMIT} cp.async.wait_group 0;") == [False]
    both = copies(f"{SMALL}{OUT}{COMMIT}{BULK_COMMIT} cp.async.wait_group 0;")
    assert {copy.group: copy.completion_position is not None for copy in both} == {"cp.async": True, "bulk": False}


def test_one_kind_is_not_committed_by_the_other() -> None:
    assert [copy.commit_position for copy in copies(f"{SMALL}{BULK_COMMIT}")] == [None]
    assert [copy.commit_position is None for copy in copies(f"{OUT}{BULK_COMMIT}")] == [False]


def test_a_wait_for_reads_releases_the_source_and_completes_nothing() -> None:
    (copy,) = copies(f"{OUT}{BULK_COMMIT} cp.async.bulk.wait_group.read 0;")
    assert copy.source_free_position is not None
    assert copy.completion_position is None
    (copy,) = copies(f"{OUT}{BULK_COMMIT} cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;")
    assert copy.completion_position is not None
    assert copy.source_free_position is not None
    assert copy.source_free_position < copy.completion_position


def test_a_copy_on_an_mbarrier_is_complete_after_the_wait_for_that_mbarrier() -> None:
    wait = "more: mbarrier.try_wait.parity.shared::cta.b64 %p1, {}, 0; @!%p1 bra more;"
    assert completed_groups(f"{FILL} [%r5];" + wait.format("[%r5]")) == [True]
    assert completed_groups(f"{FILL} [%r5];" + wait.format("[%r5+8]")) == [False]
    assert completed_groups(f"{wait.format('[%r5]')} {FILL} [%r5];") == [False]


def test_an_arrival_that_tracks_copies_includes_those_before_it() -> None:
    body = f"{SMALL} cp.async.mbarrier.arrive.shared::cta.b64 [%r5]; {SMALL}"
    assert [copy.track_position is not None for copy in copies(body)] == [True, False]


def test_each_iteration_of_a_loop_issues_a_separate_copy() -> None:
    body = f"""mov.u32 %r7, 0; next: {SMALL}{COMMIT} cp.async.wait_group 1;
    add.u32 %r7, %r7, 1; setp.lt.u32 %p3, %r7, 4; @%p3 bra next;"""
    assert completed_groups(body) == [True, True, True, False]


def test_a_wait_on_a_reinitialized_mbarrier_completes_no_earlier_copy() -> None:
    wait = "more: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r5], 0; @!%p1 bra more;"
    assert completed_groups(f"{FILL}[%r5]; {wait}") == [True]
    assert completed_groups(
        f"{FILL}[%r5]; mbarrier.inval.shared::cta.b64 [%r5]; mbarrier.init.shared::cta.b64 [%r5], 1; {wait}"
    ) == [False]
