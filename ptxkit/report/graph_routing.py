"""Routes the edges of a control-flow graph whose blocks have their order and horizontal positions: heights, ports and
corners.

Edges between neighboring ranks are curves; back edges pass to the left of the blocks in their loop, and long forward
edges to the right. Each horizontal part of such an edge has its own track between two ranks.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from ptxkit.fast_dataclasses import dataclass

Point = tuple[float, float]
Size = tuple[float, float]

SPACE, TRACK, LANE, MARGIN = 34.0, 7.0, 9.0, 14.0
"""Pixels between ranks, without tracks; of an edge in a gap, and next to the ranks; around the drawing."""


@dataclass(frozen=True, slots=True)
class NodeBox:
    """The rectangle of a block: left, top, width and height."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class EdgeRoute:
    """The route of an edge. points: corners from the lower side of its source to the upper side of its target; is_back:
    it closes a loop. is_straight: its parts are horizontal or vertical; otherwise parts between ranks are drawn as
    curves."""

    points: tuple[Point, ...]
    is_back: bool
    is_straight: bool


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """boxes: of the nodes; routes: of the edges, in order."""

    boxes: tuple[NodeBox, ...]
    routes: tuple[EdgeRoute, ...]
    width: float
    height: float


@dataclass(slots=True)
class GraphRank:
    """A rank: its nodes in order, and its position."""

    nodes: Sequence[int]
    top: float = 0.0
    height: float = 0.0


@dataclass(frozen=True, slots=True)
class LayeredGraph:
    """The input of the routing. sizes, rank, centers: by node; those past `count` are slots of edges. back: the edges
    that close loops; aside: those that pass too many ranks. chains: by any other edge, its nodes and the slots between
    them."""

    sizes: Sequence[Size]
    edges: Sequence[tuple[int, int]]
    count: int
    rank: Sequence[int]
    rows: Sequence[GraphRank]
    centers: Sequence[float]
    back: frozenset[int]
    long_edges: Sequence[int]
    chains: Mapping[int, Sequence[int]]


def route_edges(plan: LayeredGraph) -> GraphLayout:
    """The finished layout."""
    return _Routing(plan).layout()


class _Routing:
    """Heights of ranks and gaps, ports of blocks, and the corners of edges."""

    def __init__(self, graph: LayeredGraph) -> None:
        self._graph = graph
        self._side_edges = [*graph.long_edges, *sorted(graph.back)]
        self._tracks = self._find_tracks()
        self._place_ranks()
        self._shift = MARGIN + self._assign_channels()
        self._assign_ports()

    def _find_tracks(self) -> dict[tuple[int, bool], tuple[int, int]]:
        """By edge and end (True: the source): the gap (0 is above the first rank), and the track of it."""
        used: dict[int, int] = defaultdict(int)
        found: dict[tuple[int, bool], tuple[int, int]] = {}
        for number in self._side_edges:
            source, target = self._graph.edges[number]
            for leaves, gap in ((True, self._graph.rank[source] + 1), (False, self._graph.rank[target])):
                found[(number, leaves)] = (gap, used[gap])
                used[gap] += 1
        self._used_tracks = used
        return found

    def _place_ranks(self) -> None:
        graph = self._graph
        y = MARGIN + self._used_tracks[0] * TRACK
        for number, rank in enumerate(graph.rows):
            rank.top = y
            rank.height = max(graph.sizes[node][1] for node in rank.nodes)
            y += rank.height + (SPACE if number + 1 < len(graph.rows) else 0) + self._used_tracks[number + 1] * TRACK
        self._height = y + MARGIN

    def _assign_channels(self) -> float:
        """Assigns each edge at the side a position next to the ranks that it passes, shorter ones nearer; returns how
        far those at the left extend."""
        graph = self._graph
        edges_of = [
            [
                (graph.centers[node] - graph.sizes[node][0] / 2, graph.centers[node] + graph.sizes[node][0] / 2)
                for node in rank.nodes
            ]
            for rank in graph.rows
        ]
        lefts = [min(left for left, _ in edges) for edges in edges_of]
        rights = [max(right for _, right in edges) for edges in edges_of]
        self._side_offsets: dict[int, float] = {}
        for numbers, ends, sign in ((graph.back, lefts, -1), (graph.long_edges, rights, 1)):
            taken: dict[float, list[tuple[int, int]]] = defaultdict(list)
            for number in sorted(numbers, key=lambda each: (self._side_extent(each), each)):
                low, high = self._rank_span(number)
                passed = ends[low:high] or ends[max(low - 1, 0) : high + 1]
                near = min(passed) if sign < 0 else max(passed)
                place = math.ceil(sign * near / LANE) + 1
                while any(low <= end and start <= high for start, end in taken[place]):
                    place += 1
                taken[place].append((low, high))
                self._side_offsets[number] = sign * place * LANE
        return max(0.0, -min(self._side_offsets.values(), default=0.0))

    def _rank_span(self, number: int) -> tuple[int, int]:
        source, target = self._graph.edges[number]
        gaps = (self._graph.rank[source] + 1, self._graph.rank[target])
        return min(gaps), max(gaps)

    def _side_extent(self, number: int) -> int:
        low, high = self._rank_span(number)
        return high - low

    def _assign_ports(self) -> None:
        """Where edges leave and enter blocks: side by side in the order of their other ends."""
        graph = self._graph
        leaving: dict[int, list[tuple[float, int]]] = defaultdict(list)
        coming: dict[int, list[tuple[float, int]]] = defaultdict(list)
        for number, (source, target) in enumerate(graph.edges):
            if number in graph.back:
                there = here = float("-inf")
            elif number not in graph.chains:
                there = here = float("inf")
            else:
                chain = graph.chains[number]
                there, here = graph.centers[chain[1]], graph.centers[chain[-2]]
            leaving[source].append((there, number))
            coming[target].append((here, number))
        self._exit_ports = self._spread(leaving)
        self._entry_ports = self._spread(coming)

    def _spread(self, ends: dict[int, list[tuple[float, int]]]) -> dict[int, float]:
        found: dict[int, float] = {}
        for node, edges in ends.items():
            width = self._graph.sizes[node][0]
            step = min(22.0, (width - 16) / max(len(edges) - 1, 1))
            start = self._graph.centers[node] - step * (len(edges) - 1) / 2
            for place, (_, number) in enumerate(sorted(edges)):
                found[number] = start + step * place + self._shift
        return found

    def layout(self) -> GraphLayout:
        graph = self._graph
        boxes = []
        for node in range(graph.count):
            width, height = graph.sizes[node]
            x = graph.centers[node] - width / 2 + self._shift
            boxes.append(NodeBox(x, graph.rows[graph.rank[node]].top, width, height))
        ends = [graph.centers[node] + graph.sizes[node][0] / 2 for rank in graph.rows for node in rank.nodes]
        routes = [self._route_edge(number, boxes) for number in range(len(graph.edges))]
        width = max([*ends, *self._side_offsets.values()]) + self._shift + MARGIN
        return GraphLayout(tuple(boxes), tuple(routes), width, self._height)

    def _route_edge(self, number: int, boxes: Sequence[NodeBox]) -> EdgeRoute:
        source, target = self._graph.edges[number]
        start = (self._exit_ports[number], boxes[source].y + boxes[source].height)
        end = (self._entry_ports[number], boxes[target].y)
        if number not in self._graph.chains:
            return self._route_around(number, start, end)
        points = [start]
        chain = self._graph.chains[number]
        for place, node in enumerate(chain[:-1]):
            rank = self._graph.rows[self._graph.rank[node]]
            x = start[0] if not place else self._graph.centers[node] + self._shift
            if place:
                points.append((x, rank.top))
            points.append((x, rank.top + rank.height))
        points.append(end)
        return EdgeRoute(tuple(dict.fromkeys(points)), is_back=False, is_straight=False)

    def _route_around(self, number: int, start: Point, end: Point) -> EdgeRoute:
        is_back = number in self._graph.back
        x = self._side_offsets[number] + self._shift
        below, above = self._track_height(number, leaves=True), self._track_height(number, leaves=False)
        points = (start, (start[0], below), (x, below), (x, above), (end[0], above), end)
        return EdgeRoute(points, is_back, is_straight=True)

    def _track_height(self, number: int, *, leaves: bool) -> float:
        """The height of an edge's track: next to the rank above at its source, next to the rank below at its target."""
        gap, track = self._tracks[(number, leaves)]
        ranks = self._graph.rows
        if gap == 0:
            return ranks[0].top - TRACK * (track + 1) - 2
        above = ranks[gap - 1]
        return above.top + above.height + TRACK * (track + 1) + 4
