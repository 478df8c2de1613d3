"""The drawing of the control-flow graph of a function: blocks that link to their lines, and edges with their
conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ptxkit.model.view import AsyncOpCategory, ControlFlowEdge, FunctionView
from ptxkit.report.graph_labels import place_labels
from ptxkit.report.graph_layering import layout_graph
from ptxkit.report.graph_nodes import GraphNode, collapsed_nodes, nodes_of
from ptxkit.report.graph_routing import EdgeRoute, GraphLayout, NodeBox
from ptxkit.report.limits import MAX_DRAWN_LOOPS, MAX_DRAWN_NODES, MAX_GUARD_CHARS, MAX_LABEL_CHARS
from ptxkit.report.markup import escape_markup, tag
from ptxkit.report.text_metrics import text_width
from ptxkit.report.view_marks import CATEGORY_WORDS, SVG, draw_mark, inline_mark
from ptxkit.untrusted_text import escape_text

TITLE_SIZE, SMALL_SIZE, GUARD_SIZE, LINE_HEIGHT, PADDING = 12.0, 11.0, 10.5, 16.0, 9.0
"""Pixels: fonts as in view.css, and distances."""


def draw_graph(function: FunctionView, name: str = "g") -> str:
    """The drawings: of all blocks, of the function with its loops as one block each, and of each loop; or a sentence
    about why none exists. name: makes the names of the drawings unique."""
    if function.no_graph_reason:
        return tag("p", escape_markup(function.no_graph_reason), class_="left")
    whole = _level(function, *nodes_of(function), name, "all")
    if not 0 < len(function.loops) <= MAX_DRAWN_LOOPS:
        return whole
    choice = tag(
        "p",
        tag("a", "all blocks", href=f"#{name}-all"),
        tag("a", "loops collapsed", href=f"#{name}-top"),
        class_="levels scripted",
    )
    parts = [_level(function, *collapsed_nodes(function, None), name, "top")]
    parts += [
        _level(function, *collapsed_nodes(function, number), name, f"loop{number}")
        for number in range(len(function.loops))
    ]
    return choice + whole + "".join(parts)


def _level(
    function: FunctionView, nodes: Sequence[GraphNode], edges: Sequence[ControlFlowEdge], name: str, level: str
) -> str:
    drawing = _drawing(function, nodes, edges, name)
    return tag("div", drawing, id=f"{name}-{level}", class_="level" if level == "all" else "level part")


def _drawing(function: FunctionView, nodes: Sequence[GraphNode], edges: Sequence[ControlFlowEdge], name: str) -> str:
    if len(nodes) > MAX_DRAWN_NODES:
        return tag("p", escape_markup(_too_large(function, nodes)), class_="left")
    layout = layout_graph([_size(node) for node in nodes], [(edge.source, edge.target) for edge in edges])
    description = _graph_description(function, nodes)
    what = f"Control-flow graph of {escape_text(function.name)}: {description}"
    inner = [*_draw_edges(edges, layout), *_boxes(nodes, layout, name), *_guards(edges, layout)]
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


def _graph_description(function: FunctionView, nodes: Sequence[GraphNode]) -> str:
    count = sum(len(node.blocks) for node in nodes)
    if count < len(function.blocks):
        words = f"The loop at {_span(nodes)}, {count:,} block{'' if count == 1 else 's'}"
    else:
        words = (
            f"{count:,} block{'' if count == 1 else 's'}, {len(function.edges):,} edges, {len(function.loops):,} loops"
        )
    if any(len(node.blocks) > 1 and node.loop is None for node in nodes):
        words += f"; straight chains of blocks are drawn as one, {len(nodes):,} in all"
    if any(node.loop is not None for node in nodes):
        words += "; a loop is drawn as one block, which leads to its own drawing"
    return words


def _span(nodes: Sequence[GraphNode]) -> str:
    blocks = [block for node in nodes for block in node.blocks]
    return _line_range(min(each.first for each in blocks), max(each.last for each in blocks))


def _too_large(function: FunctionView, nodes: Sequence[GraphNode]) -> str:
    size = _graph_description(function, nodes)
    return f"The graph is not drawn: it has {size}, and up to {MAX_DRAWN_NODES:,} are drawn."


# -------------------------------------------------------------------------------------------------------- blocks


def _title(node: GraphNode) -> str:
    label = escape_text(node.blocks[0].label)
    words = label if len(label) <= MAX_LABEL_CHARS else f"{label[: MAX_LABEL_CHARS - 1]}\u2026"
    if node.loop is not None:
        return f"loop {words}".rstrip()
    return words or ("entry" if node.is_entry else "")


def _lines(node: GraphNode) -> str:
    return _line_range(min(each.first for each in node.blocks), max(each.last for each in node.blocks))


def _line_range(low: int, high: int) -> str:
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
    title = text_width(_title(node), TITLE_SIZE, is_mono=True)
    head = title + (10 if title else 0) + text_width(_lines(node), SMALL_SIZE)
    chips = sum(_chip_width(count) for _, count in _counts(node))
    width = max(head, text_width(_hidden_lines_note(node), SMALL_SIZE), chips) + 2 * PADDING
    return max(width, 110), 2 * LINE_HEIGHT + 9 + (LINE_HEIGHT + 3 if _counts(node) else 0)


def _chip_width(count: int) -> float:
    return 22 + text_width(str(count), SMALL_SIZE)


def _boxes(nodes: Sequence[GraphNode], layout: GraphLayout, name: str) -> Iterator[str]:
    for node, box in zip(nodes, layout.boxes, strict=True):
        yield _box(node, box, f"#L{node.first}" if node.loop is None else f"#{name}-loop{node.loop}")


def _box(node: GraphNode, box: NodeBox, target: str) -> str:
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
        at += _chip_width(count)
    low, high = min(each.first for each in node.blocks), max(each.last for each in node.blocks)
    kind = "block entry" if node.is_entry else "block exit" if node.blocks[-1].exit_kind else "block"
    kind += " looped" if node.loop is not None else ""
    return tag("a", *parts, href=target, class_=kind, data_from=low, data_to=high)


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
        title = tag("title", escape_markup(_guard(edge))) if edge.guard else ""
        yield tag("path", title, class_=sort, d=_edge_path(route), marker_end=head)


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
    """The predicates at the sources of branch edges, where there is room; a tooltip of the edge has them, too."""
    widths = [text_width(_guard(edge), GUARD_SIZE, is_mono=True) for edge in edges]
    for edge, place in zip(edges, place_labels(layout, widths), strict=True):
        if place is not None:
            x, y = _format_number(place.x), _format_number(place.y + GUARD_SIZE)
            yield tag("text", escape_markup(_guard(edge)), class_="guard mono", x=x, y=y)


def _guard(edge: ControlFlowEdge) -> str:
    words = escape_text(edge.guard)
    return words if len(words) <= MAX_GUARD_CHARS else f"{words[: MAX_GUARD_CHARS - 1]}\u2026"


def _format_number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
