"""Synchronization without effect: waits, commits, fences."""

from __future__ import annotations

import pytest

from ptxkit.analysis.context.kernel_facts import KernelFacts
from ptxkit.analysis.memory.no_op_sync import (
    collect_group_usage,
    find_ordering_fences,
    find_shared_proxy_fences,
    has_external_communication,
    is_fully_executed,
    is_independent_of_loop_count,
    is_shared_only_fence,
)
from tests.analysis.support import kernel_of, module_of

START = (
    ".shared .align 16 .b8 tile[1024]; ld.param.u64 %rd1, [p]; mov.u32 %r1, tile; mov.u32 %r3, %tid.x;"
    "shl.b32 %r4, %r3, 2; add.u32 %r2, %r1, %r4; setp.ne.u32 %p1, %r3, 0;"
)
COPY = "cp.async.ca.shared.global [%r2], [%rd1], 4;"
STORE = "st.shared.u32 [%r2], %r3;"
FENCE = "fence.proxy.async.shared::cta;"
BULK = "@!%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 1024;"


def explore_lines(*lines: str, bounds: str = ".reqntid 256") -> KernelFacts:
    return kernel_of(module_of(START + "".join(lines), parameters=".param .u64 p", bounds=bounds))


def waits(*lines: str) -> list[bool]:
    """Maps each wait, in the order of the text, to whether it had anything to wait for."""
    groups = collect_group_usage(explore_lines(*lines))
    assert groups is not None
    return [useful for _, useful in sorted(groups.useful_waits.items(), key=lambda item: item[0].index)]


def commits(*lines: str) -> list[bool]:
    groups = collect_group_usage(explore_lines(*lines))
    assert groups is not None
    return [useful for _, useful in sorted(groups.useful_commits.items(), key=lambda item: item[0].index)]


def test_a_wait_is_for_pending_groups() -> None:
    assert waits(COPY, "cp.async.commit_group; cp.async.wait_group 0;") == [True]
    assert waits(COPY, "cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_group 0;") == [True, False]
    assert waits(COPY, "cp.async.wait_all; cp.async.wait_all;") == [True, False]
    assert waits(COPY, "cp.async.wait_group 0;") == [False]


def test_a_wait_leaves_the_latest_groups_pending() -> None:
    two = COPY + "cp.async.commit_group;" + COPY + "cp.async.commit_group;"
    assert waits(two, "cp.async.wait_group 1; cp.async.wait_group 1; cp.async.wait_group 0;") == [True, False, True]


def test_a_wait_for_reads_leaves_the_writes_pending() -> None:
    store = f"{STORE}{FENCE}bar.sync 0;{BULK}cp.async.bulk.commit_group;"
    read, all_ = "cp.async.bulk.wait_group.read 0;", "cp.async.bulk.wait_group 0;"
    assert waits(store, read, all_) == [True, True]
    assert waits(store, read, read) == [True, False]
    assert waits(store, all_, read) == [True, False]


def test_a_commit_closes_the_operations_since_the_last_one() -> None:
    assert commits(COPY, "cp.async.commit_group; cp.async.commit_group;") == [True, False]
    assert commits("cp.async.bulk.commit_group;", BULK, "cp.async.bulk.commit_group;") == [False, True]


def test_one_thread_with_operations_makes_a_commit_useful() -> None:
    assert commits("@!%p1 " + COPY, "cp.async.commit_group;") == [True]


def test_a_wait_that_leaves_some_groups_is_judged_without_loops_only() -> None:
    straight = explore_lines(COPY, "cp.async.commit_group; cp.async.wait_group 3;")
    rounds = explore_lines(
        f"mov.u32 %r9, 0; next: {COPY} cp.async.commit_group; cp.async.wait_group 3;",
        "add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 3; @%p2 bra next;",
    )
    for kernel, judged in ((straight, True), (rounds, False)):
        [wait] = collect_group_usage(kernel).useful_waits  # type: ignore[union-attr]
        assert is_independent_of_loop_count(wait, kernel) is judged


def test_a_kernel_that_depends_on_data_or_calls_other_code_is_not_fully_known() -> None:
    assert is_fully_executed(explore_lines(STORE))
    assert not is_fully_executed(
        explore_lines("ld.global.u32 %r9, [%rd1]; setp.eq.u32 %p2, %r9, 0; @%p2 bra on;", STORE, "on:")
    )
    assert not is_fully_executed(explore_lines("{ .reg .b64 f; call (), f, (); }"))


@pytest.mark.parametrize(
    ("lines", "useful"),
    [
        ((STORE, FENCE, "bar.sync 0;", BULK), True),
        ((FENCE, STORE, "bar.sync 0;", BULK), False),
        ((STORE, "bar.sync 0;", BULK, FENCE), False),
        ((STORE, "bar.sync 0;", FENCE, BULK), True),
        ((FENCE, "bar.sync 0;", BULK), False),
        ((STORE, FENCE), False),
        (("ld.shared.u32 %r9, [%r2];", FENCE, "bar.sync 0;", BULK), True),
    ],
)
def test_a_fence_orders_generic_accesses_before_it_and_async_ones_after_it(
    lines: tuple[str, ...], useful: bool
) -> None:
    kernel = explore_lines(*lines)
    [fence] = find_shared_proxy_fences(kernel)
    assert find_ordering_fences(kernel, [fence]) == ({fence} if useful else set())


def test_a_fence_names_spaces_or_is_for_all_memory() -> None:
    narrow, wide = find_shared_proxy_fences(explore_lines(FENCE, "fence.proxy.async;"))
    assert (is_shared_only_fence(narrow), is_shared_only_fence(wide)) == (True, False)
    assert find_shared_proxy_fences(explore_lines("fence.proxy.async.global; fence.proxy.alias;")) == []


def test_flags_and_clusters_extend_beyond_the_cta() -> None:
    assert not has_external_communication(explore_lines(STORE, BULK))
    assert has_external_communication(explore_lines("red.release.gpu.global.add.u32 [%rd1], 1;"))
    assert has_external_communication(explore_lines(STORE, bounds=".reqntid 256 .reqnctapercluster 2"))
