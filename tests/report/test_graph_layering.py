"""The layout of control-flow graphs: blocks never overlap, edges end at their blocks and cross none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ptxkit.report.graph_layering import find_back_edges, layout_graph, longest_path_ranks
from ptxkit.report.graph_routing import EdgeRoute, GraphLayout, NodeBox
from ptxkit.report.limits import MAX_RANKS_CROSSED

DIAMOND = [(0, 1), (0, 2), (1, 3), (2, 3)]
LOOPS = [(0, 1), (1, 2), (2, 2), (2, 3), (3, 1), (3, 4), (0, 4)]
LONG = [*((at, at + 1) for at in range(12)), (0, 12), (0, 3), (11, 2)]


def make_sizes(count: int) -> list[tuple[float, float]]:
    """Sizes that differ."""
    return [(110 + 17.0 * (at % 5), 41 + 19.0 * (at % 2)) for at in range(count)]


def lay_out(edges: Sequence[tuple[int, int]]) -> GraphLayout:
    return layout_graph(make_sizes(1 + max(max(edge) for edge in edges)), edges)


def points(route: EdgeRoute) -> Iterator[tuple[float, float]]:
    """Yields the corners and points between them; a curve is between the heights of its ends, and so are these
    points."""
    for (x, y), (to_x, to_y) in zip(route.points, route.points[1:], strict=False):
        for part in range(11):
            yield x + (to_x - x) * part / 10, y + (to_y - y) * part / 10


def inside(box: NodeBox, x: float, y: float) -> bool:
    return box.x + 0.5 < x < box.x + box.width - 0.5 and box.y + 0.5 < y < box.y + box.height - 0.5


def overlap(one: NodeBox, other: NodeBox) -> bool:
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )


def check(edges: Sequence[tuple[int, int]], layout: GraphLayout) -> None:
    for number, one in enumerate(layout.boxes):
        assert one.x >= 0
        assert one.y >= 0
        assert one.x + one.width <= layout.width
        assert one.y + one.height <= layout.height
        assert not [other for other in layout.boxes[:number] if overlap(one, other)]
    for (source, target), route in zip(edges, layout.routes, strict=True):
        (x, y), (to_x, to_y) = route.points[0], route.points[-1]
        one, other = layout.boxes[source], layout.boxes[target]
        assert y == one.y + one.height
        assert one.x <= x <= one.x + one.width
        assert to_y == other.y
        assert other.x <= to_x <= other.x + other.width
        for at in points(route):
            assert 0 <= at[0] <= layout.width
            assert 0 <= at[1] <= layout.height
            assert not [box for box in layout.boxes if inside(box, *at)], (source, target, at)


@pytest.mark.parametrize("edges", [DIAMOND, LOOPS, LONG, [(0, 0)], [(0, 1), (0, 1)]])
def test_blocks_are_separate_and_edges_go_from_lower_to_upper_sides(edges: list[tuple[int, int]]) -> None:
    check(edges, lay_out(edges))


def test_a_forward_edge_goes_down_and_a_back_edge_goes_up_at_the_left() -> None:
    layout = lay_out(LOOPS)
    backs = [edge for edge, route in zip(LOOPS, layout.routes, strict=True) if route.is_back]
    assert backs == [(2, 2), (3, 1)]
    for (source, target), route in zip(LOOPS, layout.routes, strict=True):
        if route.is_back:
            assert min(x for x, _ in route.points) < min(layout.boxes[source].x, layout.boxes[target].x)
        else:
            assert layout.boxes[source].y < layout.boxes[target].y


def test_nested_loops_have_back_edges_in_separate_lanes() -> None:
    layout = lay_out(LOOPS)
    lanes = [min(x for x, _ in route.points) for route in layout.routes if route.is_back]
    assert len(set(lanes)) == len(lanes)


def test_an_edge_over_many_ranks_is_at_the_right_side() -> None:
    layout = lay_out(LONG)
    route = layout.routes[LONG.index((0, 12))]
    assert longest_path_ranks(13, [edge for edge in LONG if edge != (11, 2)])[12] > MAX_RANKS_CROSSED
    assert max(x for x, _ in route.points) > max(box.x + box.width for box in layout.boxes)
    near = layout.routes[LONG.index((0, 3))]
    assert max(x for x, _ in near.points) <= max(x for x, _ in route.points)


def test_a_rank_is_the_longest_path() -> None:
    assert longest_path_ranks(4, DIAMOND) == [0, 1, 1, 2]
    assert longest_path_ranks(4, [*DIAMOND, (1, 2)]) == [0, 1, 2, 3]


def test_back_edges_are_those_to_unfinished_nodes() -> None:
    assert find_back_edges(4, DIAMOND) == set()
    assert find_back_edges(2, [(0, 1), (1, 0), (1, 1)]) == {1, 2}


def test_avoidable_crossings_are_removed() -> None:
    edges = [(0, 1), (0, 2), (0, 3), (1, 6), (2, 5), (3, 4)]
    layout = lay_out(edges)
    places = [layout.boxes[node].x for node in (1, 2, 3)]
    below = [layout.boxes[node].x for node in (6, 5, 4)]
    assert sorted(range(3), key=places.__getitem__) == sorted(range(3), key=below.__getitem__)


def test_no_block_and_a_single_block_have_a_layout() -> None:
    assert layout_graph([], []).boxes == ()
    assert len(layout_graph([(100, 40)], []).boxes) == 1


graphs = st.integers(1, 14).flatmap(
    lambda count: st.tuples(
        st.just(count),
        st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=30),
    )
)


@given(graphs)
@settings(max_examples=150, deadline=None)
def test_any_graph_is_laid_out_without_overlaps(graph: tuple[int, list[tuple[int, int]]]) -> None:
    count, edges = graph
    check(edges, layout_graph(make_sizes(count), edges))


def test_two_thousand_blocks_have_a_fast_layout() -> None:
    edges = [(at, at + 1) for at in range(1999)] + [(at, at - 7) for at in range(7, 1999, 11)]
    edges += [(at, at + 3) for at in range(0, 1990, 2)]
    layout = layout_graph(make_sizes(2000), edges)
    assert len(layout.boxes) == 2000
    assert layout.height < 300_000
