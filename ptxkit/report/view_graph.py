"""The drawing of the control-flow graph of a function: blocks that link to their lines, and edges with their
conditions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from ptxkit.fast_dataclasses import dataclass
from ptxkit.model.view import AsyncOpCategory, BlockView, ControlFlowEdge, FunctionView
from ptxkit.report.graph_layering import layout_graph
from ptxkit.report.graph_routing import EdgeRoute, GraphLayout, NodeBox
from ptxkit.report.limits import MAX_DRAWN_NODES, MAX_GUARD_CHARS, MAX_LABEL_CHARS
from ptxkit.report.markup import escape_markup, tag
from ptxkit.report.view_marks import CATEGORY_WORDS, SVG, draw_mark, inline_mark
from ptxkit.untrusted_text import escape_text

COLLAPSE_THRESHOLD = 120
"""The number of blocks from which on chains of them are merged."""
LETTER_WIDTH, SMALL_LETTER_WIDTH, LINE_HEIGHT, PADDING = 7.3, 6.4, 16.0, 9.0


@dataclass(frozen=True, slots=True)
class GraphNode:
    """Blocks that are merged, in execution order. entry: the entry of the function."""

    blocks: tuple[BlockView, ...]
    is_entry: bool

    @property
    def first(self) -> int:
        return self.blocks[0].first

    @property
    def last(self) -> int:
        return self.blocks[-1].last


def draw_graph(function: FunctionView) -> str:
    """The drawing, or a sentence about why there is none."""
    if function.no_graph_reason:
        return tag("p", escape_markup(function.no_graph_reason), class_="left")
    nodes, edges = nodes_of(function)
    if len(nodes) > MAX_DRAWN_NODES:
        return tag("p", escape_markup(_too_large(function, nodes)), class_="left")
    layout = layout_graph([_size(node) for node in nodes], [(edge.source, edge.target) for edge in edges])
    description = _graph_description(function, nodes)
    what = f"Control-flow graph of {escape_text(function.name)}: {description}"
    inner = [*_draw_edges(edges, layout), *_boxes(nodes, layout), *_guards(edges, layout)]
    width, height = f"{layout.width:.0f}", f"{layout.height:.0f}"
    drawing = tag(
        "svg",
        *inner,
        xmlns=SVG,
        class_="cfg",
        role="group",
        aria_label=what,
        width=width,
        height=height,
        viewBox=f"0 0 {width} {height}",
    )
    return tag("p", escape_markup(f"{description}."), class_="how") + tag("div", drawing, class_="canvas")


def graph_legend() -> str:
    """The legend of the lines, which can be expanded."""
    rows = [tag("li", _sample(sort), words) for sort, words in _EDGE_KINDS]
    rows += [tag("li", inline_mark(sort), escape_markup(meaning)) for sort, meaning in CATEGORY_WORDS.items()]
    return tag("details", tag("summary", "What the marks mean"), tag("ul", *rows, class_="legend"), class_="key")


_EDGE_KINDS = (
    ("way next", "falls through: to the next block"),
    ("way taken", "a branch, taken where its predicate holds"),
    ("way jump", "a branch without a predicate"),
    ("way indexed", "one of several targets"),
    ("way taken back", "back to the beginning of a loop, along the left side"),
)


def _sample(sort: str) -> str:
    head = "url(#a-back)" if sort.endswith("back") else "url(#a-way)"
    line = tag("path", class_=sort, d="M2 6 H34", marker_end=head)
    return tag("svg", line, xmlns=SVG, class_="cfg", width=38, height=12, viewBox="0 0 38 12", aria_hidden="true")


def nodes_of(function: FunctionView) -> tuple[list[GraphNode], list[ControlFlowEdge]]:
    """The contents of the drawing: the blocks (of a large function, chains of blocks), and the edges between them."""
    blocks, edges = function.blocks, function.edges
    follower = _chains(blocks, edges) if len(blocks) > COLLAPSE_THRESHOLD else {}
    inside = set(follower.values())
    nodes: list[GraphNode] = []
    number: dict[int, int] = {}
    for block in range(len(blocks)):
        if block in inside:
            continue
        members = [block]
        while members[-1] in follower:
            members.append(follower[members[-1]])
        number.update(dict.fromkeys(members, len(nodes)))
        nodes.append(GraphNode(tuple(blocks[each] for each in members), is_entry=block == 0))
    kept = [edge for edge in edges if follower.get(edge.source) != edge.target]
    return nodes, [ControlFlowEdge(number[each.source], number[each.target], each.kind, each.guard) for each in kept]


def _chains(blocks: Sequence[BlockView], edges: Sequence[ControlFlowEdge]) -> dict[int, int]:
    """By block: its only successor, if that is further down and has no other predecessor."""
    after: dict[int, list[int]] = defaultdict(list)
    before = Counter(edge.target for edge in edges)
    for edge in edges:
        after[edge.source].append(edge.target)
    return {
        block: found[0]
        for block, found in after.items()
        if len(found) == 1 and before[found[0]] == 1 and found[0] > block and not blocks[block].exit_kind
    }


def _graph_description(function: FunctionView, nodes: Sequence[GraphNode]) -> str:
    count = len(function.blocks)
    words = f"{count:,} block{'' if count == 1 else 's'}, {len(function.edges):,} ways, {len(function.loops):,} loops"
    if len(nodes) < count:
        words += f"; straight chains of blocks are drawn as one, {len(nodes):,} in all"
    return words


def _too_large(function: FunctionView, nodes: Sequence[GraphNode]) -> str:
    size = _graph_description(function, nodes)
    return f"The graph is not drawn: it has {size}, and up to {MAX_DRAWN_NODES:,} are drawn."


# -------------------------------------------------------------------------------------------------------- blocks


def _title(node: GraphNode) -> str:
    label = escape_text(node.blocks[0].label)
    words = label if len(label) <= MAX_LABEL_CHARS else f"{label[: MAX_LABEL_CHARS - 1]}\u2026"
    return words or ("entry" if node.is_entry else "")


def _lines(node: GraphNode) -> str:
    low, high = min(each.first for each in node.blocks), max(each.last for each in node.blocks)
    return f"line {low}" if low == high else f"lines {low}\u2013{high}"


def _hidden_lines_note(node: GraphNode) -> str:
    steps = sum(each.steps for each in node.blocks)
    chain = f", {len(node.blocks)} blocks" if len(node.blocks) > 1 else ""
    ends = f", {node.blocks[-1].exit_kind}" if node.blocks[-1].exit_kind else ""
    return f"{steps} instruction{'' if steps == 1 else 's'}{chain}{ends}"


def _counts(node: GraphNode) -> list[tuple[AsyncOpCategory, int]]:
    found = Counter(sort for each in node.blocks for sort in each.categories)
    return [(sort, found[sort]) for sort in AsyncOpCategory if found[sort]]


def _size(node: GraphNode) -> tuple[float, float]:
    head = len(_title(node)) * LETTER_WIDTH + (10 if _title(node) else 0) + len(_lines(node)) * SMALL_LETTER_WIDTH
    chips = sum(22 + SMALL_LETTER_WIDTH * len(str(count)) for _, count in _counts(node))
    width = max(head, len(_hidden_lines_note(node)) * SMALL_LETTER_WIDTH, chips) + 2 * PADDING
    return max(width, 110), 2 * LINE_HEIGHT + 9 + (LINE_HEIGHT + 3 if _counts(node) else 0)


def _boxes(nodes: Sequence[GraphNode], layout: GraphLayout) -> Iterator[str]:
    for node, box in zip(nodes, layout.boxes, strict=True):
        yield _box(node, box)


def _box(node: GraphNode, box: NodeBox) -> str:
    parts = [
        tag("title", escape_markup(_accessible_text(node))),
        tag(
            "rect",
            x=_format_number(box.x),
            y=_format_number(box.y),
            width=_format_number(box.width),
            height=_format_number(box.height),
            rx=5,
        ),
    ]
    x, y = box.x + PADDING, box.y + LINE_HEIGHT
    if _title(node):
        parts.append(
            tag("text", escape_markup(_title(node)), class_="mono strong", x=_format_number(x), y=_format_number(y))
        )
    right = box.x + box.width - PADDING
    parts.append(
        tag(
            "text",
            escape_markup(_lines(node)),
            class_="soft",
            x=_format_number(right),
            y=_format_number(y),
            text_anchor="end",
        )
    )
    parts.append(
        tag(
            "text",
            escape_markup(_hidden_lines_note(node)),
            class_="soft",
            x=_format_number(x),
            y=_format_number(y + LINE_HEIGHT),
        )
    )
    at = x
    for sort, count in _counts(node):
        parts.append(draw_mark(sort, at, y + LINE_HEIGHT + 8))
        parts.append(
            tag("text", str(count), class_="soft", x=_format_number(at + 15), y=_format_number(y + LINE_HEIGHT + 18))
        )
        at += 22 + SMALL_LETTER_WIDTH * len(str(count))
    low, high = min(each.first for each in node.blocks), max(each.last for each in node.blocks)
    kind = "block entry" if node.is_entry else "block exit" if node.blocks[-1].exit_kind else "block"
    return tag("a", *parts, href=f"#L{node.first}", class_=kind, data_from=low, data_to=high)


def _accessible_text(node: GraphNode) -> str:
    sorts = ", ".join(f"{count} {sort}" for sort, count in _counts(node))
    return " ".join(
        filter(None, (escape_text(node.blocks[0].label), f"{_lines(node)}: {_hidden_lines_note(node)}", sorts))
    )


# ---------------------------------------------------------------------------------------------------------- ways


def _draw_edges(edges: Sequence[ControlFlowEdge], layout: GraphLayout) -> Iterator[str]:
    for edge, route in zip(edges, layout.routes, strict=True):
        sort = f"way {edge.kind}{' back' if route.is_back else ''}"
        head = "url(#a-back)" if route.is_back else "url(#a-way)"
        yield tag("path", class_=sort, d=_edge_path(route), marker_end=head)


def _edge_path(route: EdgeRoute) -> str:
    first, *rest = route.points
    parts = [f"M{_format_number(first[0])} {_format_number(first[1])}"]
    before = first
    for x, y in rest:
        if route.is_straight or x == before[0]:
            parts.append(f"L{_format_number(x)} {_format_number(y)}")
        else:
            middle = (before[1] + y) / 2
            parts.append(
                f"C{_format_number(before[0])} {_format_number(middle)} {_format_number(x)} "
                f"{_format_number(middle)} {_format_number(x)} {_format_number(y)}"
            )
        before = (x, y)
    return " ".join(parts)


def _guards(edges: Sequence[ControlFlowEdge], layout: GraphLayout) -> Iterator[str]:
    """The predicates at the sources of branch edges."""
    for edge, route in zip(edges, layout.routes, strict=True):
        if edge.guard:
            words = escape_text(edge.guard)
            words = words if len(words) <= MAX_GUARD_CHARS else f"{words[: MAX_GUARD_CHARS - 1]}\u2026"
            x, y = route.points[0]
            yield tag(
                "text", escape_markup(words), class_="guard mono", x=_format_number(x + 4), y=_format_number(y + 12)
            )


def _format_number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
