"""Loops of control flow, including those with several entries."""

from __future__ import annotations

from hypothesis import assume, given

from ptxkit.analysis.cfg.loops import LoopForest
from tests.analysis.graphs import graphs, is_reducible, natural_loops, reachable


def test_a_loop_has_one_entry_and_an_exit() -> None:
    loops = LoopForest([(1,), (2,), (1, 3), ()])
    (loop,) = loops.loops
    assert loop.nodes == {1, 2}
    assert loop.entries == {1}
    assert len(loop.entries) == 1
    assert loops.exit_edges(loop) == [(2, 3)]


def test_a_nested_loop_is_found() -> None:
    loops = LoopForest([(1,), (2,), (2, 3), (1, 4), ()])
    outer, inner = loops.loops
    assert (outer.nodes, inner.nodes) == ({1, 2, 3}, {2})
    assert inner.outer is outer
    assert loops.innermost_loop(2) is inner
    assert loops.innermost_loop(3) is outer
    assert loops.innermost_loop(4) is None


def test_a_loop_with_two_entries_is_not_natural() -> None:
    (loop,) = LoopForest([(1, 2), (2,), (1, 3), ()]).loops
    assert loop.nodes == {1, 2}
    assert loop.entries == {1, 2}
    assert len(loop.entries) > 1


def test_straight_code_has_no_loops() -> None:
    assert LoopForest([(1, 2), (3,), (3,), ()]).loops == ()
    assert LoopForest([]).loops == ()


def test_unreachable_nodes_are_in_no_loop() -> None:
    assert LoopForest([(), (1,)]).loops == ()
    (loop,) = LoopForest([(1,), (2,), (1,), (2,)]).loops
    assert loop.entries == {1}


def test_long_loops_need_no_recursion() -> None:
    count = 20_000
    loops = LoopForest([((node + 1) % count,) for node in range(count)])
    assert len(loops.loops[0].nodes) == count


@given(graphs())
def test_loops_with_one_entry_each_are_the_natural_loops(after: list[tuple[int, ...]]) -> None:
    assume(is_reducible(after))
    loops = LoopForest(after)
    assert all(len(loop.entries) == 1 for loop in loops.loops)
    assert {min(loop.entries): set(loop.nodes) for loop in loops.loops} == natural_loops(after)


@given(graphs())
def test_a_node_is_in_a_loop_exactly_when_it_reaches_itself(after: list[tuple[int, ...]]) -> None:
    loops = LoopForest(after)
    for node in reachable(after, [0]):
        assert (loops.innermost_loop(node) is not None) == (node in reachable(after, after[node]))


@given(graphs())
def test_each_loop_is_a_cycle_that_is_entered_at_its_entries_only(after: list[tuple[int, ...]]) -> None:
    reached = reachable(after, [0])
    for loop in LoopForest(after).loops:
        outside = set(range(len(after))) - loop.nodes
        for node in loop.nodes:
            assert loop.nodes <= reachable(after, after[node], outside)
        entered = {other for node in outside & reached for other in after[node]} | {0}
        assert loop.entries == entered & loop.nodes
        assert loop.outer is None or loop.nodes < loop.outer.nodes


@given(graphs())
def test_a_graph_has_a_loop_of_two_entries_exactly_when_it_is_irreducible(after: list[tuple[int, ...]]) -> None:
    assert all(len(loop.entries) == 1 for loop in LoopForest(after).loops) == is_reducible(after)
