"""Dominators compared with their definition: the nodes that are unreachable without a node."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ptxkit.analysis.cfg.dominators import DominatorTree, reverse_graph
from tests.analysis.graphs import dominates, graphs, reachable

DIAMOND = [(1, 2), (3,), (3,), (4,), ()]
TWO_ENTRIES = [(1, 2), (2,), (1, 3), ()]


def test_at_the_join_of_two_paths_neither_dominates() -> None:
    found = DominatorTree(DIAMOND, (0,))
    assert found.parents == [None, 0, 0, 0, 3]
    assert found.dominates(0, 4)
    assert found.dominates(3, 4)
    assert not found.dominates(1, 3)


def test_loops_with_two_entries_are_supported() -> None:
    assert DominatorTree(TWO_ENTRIES, (0,)).parents == [None, 0, 0, 2]


def test_an_unreachable_node_is_dominated_by_itself_only() -> None:
    found = DominatorTree([(2,), (2,), ()], (0,))
    assert not found.is_reachable(1)
    assert found.dominates(1, 1)
    assert not found.dominates(0, 1)
    assert not found.dominates(1, 2)


def test_several_roots_have_no_common_dominator() -> None:
    found = DominatorTree([(2,), (2,), ()], (0, 1))
    assert found.parents == [None, None, None]


def test_long_chains_need_no_recursion() -> None:
    count = 20_000
    found = DominatorTree([(node + 1,) if node + 1 < count else () for node in range(count)], (0,))
    assert found.dominates(0, count - 1)
    assert not found.dominates(count - 1, 0)


@given(graphs(), st.data())
def test_dominance_agrees_with_its_definition(after: list[tuple[int, ...]], data: st.DataObject) -> None:
    roots = data.draw(st.lists(st.integers(0, len(after) - 1), min_size=1, max_size=2, unique=True))
    found = DominatorTree(after, roots)
    for first in range(len(after)):
        assert found.is_reachable(first) == (first in reachable(after, roots))
        for node in range(len(after)):
            assert found.dominates(first, node) == dominates(after, roots, first, node)


@given(graphs())
def test_an_immediate_dominator_is_dominated_by_all_the_others(after: list[tuple[int, ...]]) -> None:
    found = DominatorTree(after, (0,))
    for node in range(len(after)):
        own = {first for first in range(len(after)) if first != node and dominates(after, [0], first, node)}
        parent = found.parents[node]
        assert (parent is None) == (not own)
        if parent is not None:
            assert parent in own
            assert all(dominates(after, [0], first, parent) for first in own)


@given(graphs())
def test_on_the_reversed_graph_the_tree_has_post_dominators(after: list[tuple[int, ...]]) -> None:
    ends = [node for node, following in enumerate(after) if not following]
    later_part = DominatorTree(reverse_graph(after), ends)
    for node in range(len(after)):
        for last in range(len(after)):
            if node != last and later_part.is_reachable(node):
                to_end = reachable(after, [node], {last}) & set(ends)
                assert later_part.dominates(last, node) == (not to_end)
