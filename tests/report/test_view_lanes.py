"""The rows that a bar spans, its end, and its lane: from plain data, without an analysis."""

from __future__ import annotations

from ptxkit.model.transfer import Completion, Fence, KernelTransfers, Size, Transfer, Unit, Wait
from ptxkit.model.view import AsyncOp, AsyncOpCategory, FunctionView, LoopView
from ptxkit.report.limits import MAX_FENCE_DISTANCE, MAX_LANES, MAX_ROWS
from ptxkit.report.view_lanes import AsyncChart, build_chart


def copy(
    line: int, *waits: Wait, commits: tuple[int, ...] = (), fences: tuple[int, ...] = (), to: str = "a"
) -> Transfer:
    return Transfer(
        line,
        None,
        "copy",
        "global",
        "shared",
        Unit.LDGSTS,
        Size(16),
        Completion("group", None, commits),
        variable=to,
        waits=waits,
        fences=tuple(Fence(each, "generic and async") for each in fences),
    )


def happening(line: int, sort: AsyncOpCategory = AsyncOpCategory.WAIT, opcode: str = "") -> AsyncOp:
    return AsyncOp(line, sort, opcode or f"wait{line}")


def chart_lanes(
    transfers: list[Transfer],
    others: list[AsyncOp],
    loops: tuple[LoopView, ...] = (),
    *,
    elsewhere: tuple[int, ...] = (),
) -> AsyncChart:
    own = [happening(each.line, AsyncOpCategory.ISSUE, "cp.async") for each in transfers] + others
    function = FunctionView(
        "k",
        "entry",
        1,
        99,
        loops=loops,
        async_ops=tuple(own),
        transfers=KernelTransfers("k", "entry", tuple(transfers)),
    )
    return build_chart(function, {each.line: each for each in (*own, *(happening(line) for line in elsewhere))})


def test_a_bar_extends_from_its_issue_to_the_first_wait_and_faintly_to_the_last() -> None:
    drawn = chart_lanes([copy(10, Wait(12), Wait(14))], [happening(12), happening(14)])
    (bar,) = drawn.bars
    assert [row.first for row in drawn.rows] == [10, 12, 14]
    assert (bar.spans, bar.tails, bar.waits) == (((0, 1),), ((1, 2),), (1, 2))


def test_a_wait_that_releases_the_source_ends_a_bar_only_where_no_other_does() -> None:
    read = Wait(12, 0, reads_only=True)
    (bar,) = chart_lanes([copy(10, read)], [happening(12)]).bars
    assert (bar.spans, bar.waits, bar.reads, bar.is_open) == (((0, 1),), (), (1,), False)
    (bar,) = chart_lanes([copy(10, read, Wait(14))], [happening(12), happening(14)]).bars
    assert (bar.spans, bar.waits, bar.reads) == (((0, 2),), (2,), (1,))


def test_a_bar_without_a_wait_is_open() -> None:
    (bar,) = chart_lanes([copy(10)], [happening(12)]).bars
    assert bar.is_open
    assert bar.spans == ()


def test_an_earlier_wait_is_reached_by_the_smallest_loop_with_both_and_the_commit() -> None:
    loops = (LoopView((0, 1), 5, 40), LoopView((1,), 8, 12))
    others = [
        happening(6),
        happening(9),
        happening(12, AsyncOpCategory.COMMIT),
        happening(30, AsyncOpCategory.COMMIT),
        happening(50),
    ]
    (bar,) = chart_lanes([copy(10, Wait(9), commits=(12,))], others, loops).bars
    assert bar.spans == ((2, 3), (1, 1))
    (bar,) = chart_lanes([copy(10, Wait(9), commits=(30,))], others, loops).bars
    assert bar.spans == ((2, 4), (0, 1))


def test_an_earlier_wait_outside_of_loops_is_still_drawn() -> None:
    (bar,) = chart_lanes([copy(10, Wait(5))], [happening(5)]).bars
    assert bar.spans == ((0, 1),)


def test_equal_neighbors_are_one_row_and_others_are_not() -> None:
    same = [copy(10, Wait(20)), copy(11, Wait(20)), copy(12, Wait(20), to="b")]
    drawn = chart_lanes(same, [happening(20), happening(21, opcode="bar.sync"), happening(23, opcode="bar.sync")])
    assert [(row.first, row.last, row.count) for row in drawn.rows] == [
        (10, 11, 2),
        (12, 12, 1),
        (20, 20, 1),
        (21, 23, 2),
    ]
    assert [bar.count for bar in drawn.bars] == [2, 1]
    loops = (LoopView((1,), 11, 12),)
    assert [row.count for row in chart_lanes(same[:2], [happening(20)], loops).rows] == [1, 1, 1]


def test_parallel_bars_have_separate_lanes_and_later_ones_the_first_that_is_free() -> None:
    transfers = [copy(10, Wait(20), to="a"), copy(11, Wait(21), to="b"), copy(30, Wait(31), to="c")]
    drawn = chart_lanes(transfers, [happening(line) for line in (20, 21, 31)])
    assert [bar.lane for bar in drawn.bars] == [0, 1, 0]
    assert drawn.lanes == 2
    for number, one in enumerate(drawn.bars):
        for other in drawn.bars[:number]:
            apart = one.extent[1] < other.extent[0] or other.extent[1] < one.extent[0]
            assert apart or one.lane != other.lane


def test_a_distant_fence_is_not_drawn_at_the_bar() -> None:
    between = [happening(line) for line in range(30, 30 + 2 * MAX_FENCE_DISTANCE)]
    transfers = [copy(100, Wait(101), fences=(29, 99))]
    (bar,) = chart_lanes(
        transfers, [happening(29), *between, happening(99, AsyncOpCategory.FENCE), happening(101)]
    ).bars
    assert list(bar.fences) == [2 * MAX_FENCE_DISTANCE + 1]


def test_lines_of_called_functions_are_rows_where_a_bar_needs_them() -> None:
    drawn = chart_lanes([copy(10, Wait(200))], [happening(12)], elsewhere=(200, 201))
    assert [row.first for row in drawn.rows] == [10, 12, 200]


def test_omitted_items_are_counted() -> None:
    many = [happening(line) for line in range(1, MAX_ROWS + 8)]
    assert chart_lanes([], many).omitted_rows == 7
    wide = [copy(line, Wait(900), to=str(line)) for line in range(1, MAX_LANES + 4)]
    drawn = chart_lanes(wide, [happening(900)])
    assert (len(drawn.bars), drawn.omitted_bars, drawn.lanes) == (MAX_LANES, 3, MAX_LANES)
    assert chart_lanes([], []) == AsyncChart()
