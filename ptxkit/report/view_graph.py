"""The control-flow graph of a function: blocks that lead to their lines, ways that say how they are taken."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from ptxkit.foreign_text import visible
from ptxkit.records import dataclass
from ptxkit.report.trace_markup import tag, text
from ptxkit.report.view_layers import layered
from ptxkit.report.view_marks import MEANINGS, SVG, mark, sign
from ptxkit.report.view_routes import Box, Layout, Route
from ptxkit.views import Block, Edge, FunctionView, Sort

COLLAPSE_OVER = 120
"""Blocks of a function from which on straight chains of them are drawn as one."""
MOST_DRAWN = 2_500
"""Blocks drawn, chains counted as one."""
LETTER, SMALL, LINE, PAD = 7.3, 6.4, 16.0, 9.0
MOST_LABEL, MOST_GUARD = 26, 16


@dataclass(frozen=True, slots=True)
class Node:
    """Blocks that are drawn as one, in the order in which control passes them. entry: the function begins there."""

    blocks: tuple[Block, ...]
    is_entry: bool

    @property
    def first(self) -> int:
        return self.blocks[0].first

    @property
    def last(self) -> int:
        return self.blocks[-1].last


def graph(function: FunctionView) -> str:
    """The drawing, or a sentence that says why there is none."""
    if function.without_graph:
        return tag("p", text(function.without_graph), class_="left")
    nodes, edges = nodes_of(function)
    if len(nodes) > MOST_DRAWN:
        return tag("p", text(_too_large(function, nodes)), class_="left")
    layout = layered([_size(node) for node in nodes], [(edge.source, edge.target) for edge in edges])
    told = _told(function, nodes)
    what = f"Control-flow graph of {visible(function.name)}: {told}"
    inner = [*_routes(edges, layout), *_boxes(nodes, layout), *_guards(edges, layout)]
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
    return tag("p", text(f"{told}."), class_="how") + tag("div", drawing, class_="canvas")


def graph_legend() -> str:
    """What the lines mean, to unfold."""
    rows = [tag("li", _sample(sort), words) for sort, words in _WAYS]
    rows += [tag("li", sign(sort), text(meaning)) for sort, meaning in MEANINGS.items()]
    return tag("details", tag("summary", "What the marks mean"), tag("ul", *rows, class_="legend"), class_="key")


_WAYS = (
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


def nodes_of(function: FunctionView) -> tuple[list[Node], list[Edge]]:
    """What is drawn: the blocks, of a large function straight chains of blocks, and the ways between them."""
    blocks, edges = function.blocks, function.edges
    follower = _chains(blocks, edges) if len(blocks) > COLLAPSE_OVER else {}
    inside = set(follower.values())
    nodes: list[Node] = []
    number: dict[int, int] = {}
    for block in range(len(blocks)):
        if block in inside:
            continue
        members = [block]
        while members[-1] in follower:
            members.append(follower[members[-1]])
        number.update(dict.fromkeys(members, len(nodes)))
        nodes.append(Node(tuple(blocks[each] for each in members), is_entry=block == 0))
    kept = [edge for edge in edges if follower.get(edge.source) != edge.target]
    return nodes, [Edge(number[each.source], number[each.target], each.way, each.guard) for each in kept]


def _chains(blocks: Sequence[Block], edges: Sequence[Edge]) -> dict[int, int]:
    """By block: the one that always follows, and to which there is no other way; it stands further down."""
    after: dict[int, list[int]] = defaultdict(list)
    before = Counter(edge.target for edge in edges)
    for edge in edges:
        after[edge.source].append(edge.target)
    return {
        block: found[0]
        for block, found in after.items()
        if len(found) == 1 and before[found[0]] == 1 and found[0] > block and not blocks[block].ends
    }


def _told(function: FunctionView, nodes: Sequence[Node]) -> str:
    count = len(function.blocks)
    words = f"{count:,} block{'' if count == 1 else 's'}, {len(function.edges):,} ways, {len(function.loops):,} loops"
    if len(nodes) < count:
        words += f"; straight chains of blocks are drawn as one, {len(nodes):,} in all"
    return words


def _too_large(function: FunctionView, nodes: Sequence[Node]) -> str:
    return f"The graph is not drawn: it has {_told(function, nodes)}, and up to {MOST_DRAWN:,} are drawn."


# -------------------------------------------------------------------------------------------------------- blocks


def _title(node: Node) -> str:
    label = visible(node.blocks[0].label)
    words = label if len(label) <= MOST_LABEL else f"{label[: MOST_LABEL - 1]}\u2026"
    return words or ("entry" if node.is_entry else "")


def _lines(node: Node) -> str:
    low, high = min(each.first for each in node.blocks), max(each.last for each in node.blocks)
    return f"line {low}" if low == high else f"lines {low}\u2013{high}"


def _more(node: Node) -> str:
    steps = sum(each.steps for each in node.blocks)
    chain = f", {len(node.blocks)} blocks" if len(node.blocks) > 1 else ""
    ends = f", {node.blocks[-1].ends}" if node.blocks[-1].ends else ""
    return f"{steps} instruction{'' if steps == 1 else 's'}{chain}{ends}"


def _counts(node: Node) -> list[tuple[Sort, int]]:
    found = Counter(sort for each in node.blocks for sort in each.sorts)
    return [(sort, found[sort]) for sort in Sort if found[sort]]


def _size(node: Node) -> tuple[float, float]:
    head = len(_title(node)) * LETTER + (10 if _title(node) else 0) + len(_lines(node)) * SMALL
    chips = sum(22 + SMALL * len(str(count)) for _, count in _counts(node))
    width = max(head, len(_more(node)) * SMALL, chips) + 2 * PAD
    return max(width, 110), 2 * LINE + 9 + (LINE + 3 if _counts(node) else 0)


def _boxes(nodes: Sequence[Node], layout: Layout) -> Iterator[str]:
    for node, box in zip(nodes, layout.boxes, strict=True):
        yield _box(node, box)


def _box(node: Node, box: Box) -> str:
    parts = [
        tag("title", text(_spoken(node))),
        tag("rect", x=_n(box.x), y=_n(box.y), width=_n(box.width), height=_n(box.height), rx=5),
    ]
    x, y = box.x + PAD, box.y + LINE
    if _title(node):
        parts.append(tag("text", text(_title(node)), class_="mono strong", x=_n(x), y=_n(y)))
    right = box.x + box.width - PAD
    parts.append(tag("text", text(_lines(node)), class_="soft", x=_n(right), y=_n(y), text_anchor="end"))
    parts.append(tag("text", text(_more(node)), class_="soft", x=_n(x), y=_n(y + LINE)))
    at = x
    for sort, count in _counts(node):
        parts.append(mark(sort, at, y + LINE + 8))
        parts.append(tag("text", str(count), class_="soft", x=_n(at + 15), y=_n(y + LINE + 18)))
        at += 22 + SMALL * len(str(count))
    low, high = min(each.first for each in node.blocks), max(each.last for each in node.blocks)
    kind = "block entry" if node.is_entry else "block exit" if node.blocks[-1].ends else "block"
    return tag("a", *parts, href=f"#L{node.first}", class_=kind, data_from=low, data_to=high)


def _spoken(node: Node) -> str:
    sorts = ", ".join(f"{count} {sort}" for sort, count in _counts(node))
    return " ".join(filter(None, (visible(node.blocks[0].label), f"{_lines(node)}: {_more(node)}", sorts)))


# ---------------------------------------------------------------------------------------------------------- ways


def _routes(edges: Sequence[Edge], layout: Layout) -> Iterator[str]:
    for edge, route in zip(edges, layout.routes, strict=True):
        sort = f"way {edge.way}{' back' if route.is_back else ''}"
        head = "url(#a-back)" if route.is_back else "url(#a-way)"
        yield tag("path", class_=sort, d=_path(route), marker_end=head)


def _path(route: Route) -> str:
    first, *rest = route.points
    parts = [f"M{_n(first[0])} {_n(first[1])}"]
    before = first
    for x, y in rest:
        if route.is_straight or x == before[0]:
            parts.append(f"L{_n(x)} {_n(y)}")
        else:
            middle = (before[1] + y) / 2
            parts.append(f"C{_n(before[0])} {_n(middle)} {_n(x)} {_n(middle)} {_n(x)} {_n(y)}")
        before = (x, y)
    return " ".join(parts)


def _guards(edges: Sequence[Edge], layout: Layout) -> Iterator[str]:
    """The predicates, where branches leave their blocks."""
    for edge, route in zip(edges, layout.routes, strict=True):
        if edge.guard:
            words = visible(edge.guard)
            words = words if len(words) <= MOST_GUARD else f"{words[: MOST_GUARD - 1]}\u2026"
            x, y = route.points[0]
            yield tag("text", text(words), class_="guard mono", x=_n(x + 4), y=_n(y + 12))


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
