"""The drawing of a control-flow graph: merged blocks, their labels, and the limits of its size."""

from __future__ import annotations

import re

from ptxkit.fast_dataclasses import replace
from ptxkit.model.view import AsyncOpCategory, BlockView, ControlFlowEdge, EdgeKind, FunctionView, LoopView
from ptxkit.report.graph_nodes import COLLAPSE_THRESHOLD, collapsed_nodes, inner_loops, nodes_of
from ptxkit.report.limits import MAX_DRAWN_NODES
from ptxkit.report.view_graph import draw_graph


def function(blocks: list[BlockView], edges: list[ControlFlowEdge], name: str = "k") -> FunctionView:
    return FunctionView(name, "entry", 1, 9, blocks=tuple(blocks), edges=tuple(edges))


def chain(count: int) -> FunctionView:
    """Consecutive blocks; the first one branches over the second."""
    blocks = [BlockView(10 * at + 1, 10 * at + 9, 5, f"L{at}") for at in range(count)]
    edges = [ControlFlowEdge(at, at + 1, EdgeKind.NEXT) for at in range(count - 1)]
    return function(blocks, [*edges, ControlFlowEdge(0, 2, EdgeKind.TAKEN, "@%p1")])


def test_a_small_function_has_a_node_for_each_block() -> None:
    nodes, edges = nodes_of(chain(COLLAPSE_THRESHOLD))
    assert len(nodes) == COLLAPSE_THRESHOLD
    assert len(edges) == COLLAPSE_THRESHOLD


def test_straight_chains_of_a_large_one_are_one_labeled_node() -> None:
    nodes, edges = nodes_of(chain(COLLAPSE_THRESHOLD + 1))
    assert [len(node.blocks) for node in nodes] == [1, 1, COLLAPSE_THRESHOLD - 1]
    assert [(each.source, each.target) for each in edges] == [(0, 1), (1, 2), (0, 2)]
    page = draw_graph(chain(COLLAPSE_THRESHOLD + 1))
    assert "straight chains of blocks are drawn as one, 3 in all" in page
    assert f"{5 * (COLLAPSE_THRESHOLD - 1)} instructions, {COLLAPSE_THRESHOLD - 1} blocks" in page


def test_an_oversized_graph_is_reported_and_not_drawn() -> None:
    count = 2 * MAX_DRAWN_NODES
    blocks = [BlockView(at, at, 1) for at in range(1, count + 1)]
    edges = [ControlFlowEdge(at, at + step, EdgeKind.TAKEN, "@p") for at in range(count - 2) for step in (1, 2)]
    page = draw_graph(function(blocks, edges))
    assert "<svg" not in page
    assert f"up to {MAX_DRAWN_NODES:,} are drawn" in page


def test_a_block_has_its_label_lines_instructions_and_end() -> None:
    block = BlockView(
        3, 7, 4, "$L__BB0_1", (AsyncOpCategory.WAIT, AsyncOpCategory.ISSUE, AsyncOpCategory.WAIT), "return"
    )
    page = draw_graph(function([block], []))
    words = re.findall(r"<text[^>]*>([^<]*)</text>", page)
    assert words == ["$L__BB0_1", "lines 3–7", "4 instructions, return", "1", "2"]
    assert re.findall(r'href="#(m-\w+)"', page) == ["m-issue", "m-wait"]
    assert 'href="#L3"' in page
    assert re.findall(r"<text[^>]*>([^<]*)</text>", draw_graph(function([BlockView(3, 3, 1)], []))) == [
        "entry",
        "line 3",
        "1 instruction",
    ]


def test_long_labels_and_predicates_are_truncated() -> None:
    blocks = [BlockView(1, 1, 1, "L" * 300), BlockView(2, 2, 1)]
    page = draw_graph(
        function(
            blocks, [ControlFlowEdge(0, 1, EdgeKind.TAKEN, "@%" + "p" * 300), ControlFlowEdge(0, 1, EdgeKind.NEXT)]
        )
    )
    assert all(len(words) < 40 for words in re.findall(r"<text[^>]*>([^<]*)</text>", page))


def test_names_are_text() -> None:
    page = draw_graph(function([BlockView(1, 1, 1, "<b>&")], [], name='"<i>'))
    assert "<b>" not in page
    assert "<i>" not in page
    assert "&lt;b&gt;&amp;" in page


def nested_view() -> FunctionView:
    """A loop in a loop: 0, (1, (2), 3), 4; the outer loop also has an exit from the inner one."""
    blocks = [BlockView(10 * at + 1, 10 * at + 9, 5, f"L{at}") for at in range(5)]
    pairs = [(0, 1), (1, 2), (2, 2), (2, 3), (2, 4), (3, 1), (3, 4)]
    edges = tuple(ControlFlowEdge(*pair, EdgeKind.TAKEN, "@%p1") for pair in pairs)
    loops = (LoopView((1, 2, 3), 11, 39), LoopView((2,), 21, 29))
    return replace(function(blocks, []), edges=edges, loops=loops)


def test_a_loop_is_one_node_of_the_function_and_has_separate_nodes() -> None:
    seen = nested_view()
    assert (inner_loops(seen, None), inner_loops(seen, 0), inner_loops(seen, 1)) == ((0,), (1,), ())
    nodes, edges = collapsed_nodes(seen, None)
    assert [(node.first, node.last, node.loop) for node in nodes] == [(1, 9, None), (11, 39, 0), (41, 49, None)]
    assert [(each.source, each.target) for each in edges] == [(0, 1), (1, 2)]
    nodes, edges = collapsed_nodes(seen, 0)
    assert [(node.first, node.loop) for node in nodes] == [(11, None), (21, 1), (31, None)]
    assert [(each.source, each.target) for each in edges] == [(0, 1), (1, 2), (2, 0)]
    nodes, edges = collapsed_nodes(seen, 1)
    assert [(each.source, each.target) for each in edges] == [(0, 0)]


def test_a_function_with_loops_has_a_drawing_of_each() -> None:
    page = draw_graph(nested_view(), "g1")
    assert re.findall(r'<div id="(g1-\w+)"', page) == ["g1-all", "g1-top", "g1-loop0", "g1-loop1"]
    assert re.findall(r'href="#(g1-\w+)" class="block looped"', page) == ["g1-loop0", "g1-loop1"]
    assert "The loop at lines 11\u201339, 3 blocks; a loop is drawn as one block" in page
    assert "g1-top" not in draw_graph(replace(nested_view(), loops=()), "g1")
