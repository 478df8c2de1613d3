"""The drawing of a control-flow graph: which blocks are one, what it says of them, and what is too large."""

from __future__ import annotations

import re

from ptxkit.model.view import AsyncOpCategory, BlockView, ControlFlowEdge, EdgeKind, FunctionView
from ptxkit.report.limits import MAX_DRAWN_NODES
from ptxkit.report.view_graph import COLLAPSE_THRESHOLD, draw_graph, nodes_of


def function(blocks: list[BlockView], edges: list[ControlFlowEdge], name: str = "k") -> FunctionView:
    return FunctionView(name, "entry", 1, 9, blocks=tuple(blocks), edges=tuple(edges))


def chain(count: int) -> FunctionView:
    """Blocks one behind the other; the first one branches over the second."""
    blocks = [BlockView(10 * at + 1, 10 * at + 9, 5, f"L{at}") for at in range(count)]
    edges = [ControlFlowEdge(at, at + 1, EdgeKind.NEXT) for at in range(count - 1)]
    return function(blocks, [*edges, ControlFlowEdge(0, 2, EdgeKind.TAKEN, "@%p1")])


def test_a_small_function_has_a_node_for_each_block() -> None:
    nodes, edges = nodes_of(chain(COLLAPSE_THRESHOLD))
    assert len(nodes) == COLLAPSE_THRESHOLD
    assert len(edges) == COLLAPSE_THRESHOLD


def test_straight_chains_of_a_large_one_are_one_node_and_are_said_to_be() -> None:
    nodes, edges = nodes_of(chain(COLLAPSE_THRESHOLD + 1))
    assert [len(node.blocks) for node in nodes] == [1, 1, COLLAPSE_THRESHOLD - 1]
    assert [(each.source, each.target) for each in edges] == [(0, 1), (1, 2), (0, 2)]
    page = draw_graph(chain(COLLAPSE_THRESHOLD + 1))
    assert "straight chains of blocks are drawn as one, 3 in all" in page
    assert f"{5 * (COLLAPSE_THRESHOLD - 1)} instructions, {COLLAPSE_THRESHOLD - 1} blocks" in page


def test_what_is_too_large_is_told_and_not_drawn() -> None:
    count = 2 * MAX_DRAWN_NODES
    blocks = [BlockView(at, at, 1) for at in range(1, count + 1)]
    edges = [ControlFlowEdge(at, at + step, EdgeKind.TAKEN, "@p") for at in range(count - 2) for step in (1, 2)]
    page = draw_graph(function(blocks, edges))
    assert "<svg" not in page
    assert f"up to {MAX_DRAWN_NODES:,} are drawn" in page


def test_a_block_says_its_label_lines_instructions_and_end() -> None:
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


def test_long_labels_and_predicates_are_cut() -> None:
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
