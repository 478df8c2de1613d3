"""Places the blocks of a control-flow graph: rank under rank, the ways back at the left side, long ways at the right.

Ways back are found by a search in depth and left out; a block's rank is then the longest path to it. Ways over several
ranks get a place in each that they pass, so that none runs through a block; the order within ranks follows the mean of
neighbours (the barycentre heuristic), and places follow it as near as the order and the widths allow (a least-squares
fit by pooling adjacent violators). Coordinates are pixels, y downwards.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Sequence

from ptxkit.records import dataclass, field

Point = tuple[float, float]
Size = tuple[float, float]

GAP, ROW, TRACK, LANE, MARGIN = 26.0, 34.0, 7.0, 9.0, 14.0
"""Between blocks of a rank; between ranks, without what sideways ways add; of a way in a gap, and in a side channel."""
SLOT = 14.0
"""The width that a way takes where it passes a rank."""
LONGEST = 5
"""Ranks that a way passes between blocks; a longer one goes along the right side."""
SWEEPS, FITS = 8, 6


@dataclass(frozen=True, slots=True)
class Box:
    """Where a block is: left, top, width and height."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Route:
    """A way. points: corners from the lower edge of its source to the upper edge of its target; is_back: it closes a
    loop. is_straight: its parts are level or upright; else parts between ranks are to be drawn as curves."""

    points: tuple[Point, ...]
    is_back: bool
    is_straight: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """boxes: of the nodes; routes: of the edges, in their order."""

    boxes: tuple[Box, ...]
    routes: tuple[Route, ...]
    width: float
    height: float


def layered(sizes: Sequence[Size], edges: Sequence[tuple[int, int]]) -> Layout:
    """The layout of a graph whose node 0 is the entry. sizes: (width, height) of each node."""
    return _Layering(sizes, edges).layout()


def ways_back(count: int, edges: Sequence[tuple[int, int]]) -> set[int]:
    """The edges, by number, that lead to a node which a search in depth from node 0 has not finished."""
    after: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for number, (source, target) in enumerate(edges):
        after[source].append((number, target))
    found: set[int] = set()
    state = [0] * count  # 1: on the path, 2: done
    for root in range(count):
        if state[root]:
            continue
        state[root] = 1
        stack = [(root, iter(after[root]))]
        while stack:
            node, rest = stack[-1]
            for number, other in rest:
                if state[other] == 1:
                    found.add(number)
                elif state[other] == 0:
                    state[other] = 1
                    stack.append((other, iter(after[other])))
                    break
            else:
                state[node] = 2
                stack.pop()
    return found


def ranks(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The length of the longest path to each node of a graph without circles."""
    after: list[list[int]] = [[] for _ in range(count)]
    missing = [0] * count
    for source, target in edges:
        after[source].append(target)
        missing[target] += 1
    found = [0] * count
    waiting = [node for node in range(count) if not missing[node]]
    while waiting:
        node = waiting.pop()
        for other in after[node]:
            found[other] = max(found[other], found[node] + 1)
            missing[other] -= 1
            if not missing[other]:
                waiting.append(other)
    return found


@dataclass(slots=True)
class _Rank:
    """Its nodes in their order (those past the graph's own are slots of passing ways), and where it is."""

    nodes: list[int] = field(default_factory=list)
    top: float = 0.0
    height: float = 0.0


class _Layering:
    def __init__(self, sizes: Sequence[Size], edges: Sequence[tuple[int, int]]) -> None:
        self._count = len(sizes)
        self._edges = edges
        self._back = ways_back(len(sizes), edges)
        forward = [edge for number, edge in enumerate(edges) if number not in self._back]
        self._rank = ranks(len(sizes), forward)
        self._sizes = list(sizes)
        self._ranks = [_Rank() for _ in range(max(self._rank, default=-1) + 1)]
        for node, rank in enumerate(self._rank):
            self._ranks[rank].nodes.append(node)
        self._aside: list[int] = []
        self._chains: dict[int, list[int]] = {}
        self._above: dict[int, list[int]] = defaultdict(list)
        self._below: dict[int, list[int]] = defaultdict(list)
        for number, (source, target) in enumerate(edges):
            if number in self._back:
                continue
            if self._rank[target] - self._rank[source] > LONGEST:
                self._aside.append(number)
            else:
                self._chain(number, source, target)
        self._centres = [0.0] * len(self._sizes)

    def _chain(self, number: int, source: int, target: int) -> None:
        """Slots for an edge in the ranks that it passes."""
        chain = [source]
        for rank in range(self._rank[source] + 1, self._rank[target]):
            slot = len(self._sizes)
            self._sizes.append((SLOT, 0.0))
            self._rank.append(rank)
            self._ranks[rank].nodes.append(slot)
            chain.append(slot)
        chain.append(target)
        self._chains[number] = chain
        for upper, lower in itertools.pairwise(chain):
            self._below[upper].append(lower)
            self._above[lower].append(upper)

    def layout(self) -> Layout:
        if not self._ranks:
            return Layout((), (), 2 * MARGIN, 2 * MARGIN)
        self._order()
        self._place()
        return _Routing(self).layout()

    # ------------------------------------------------------------------------------------------------ order

    def _order(self) -> None:
        """Fewer crossings: each rank sorted by where its neighbours are, down and up in turns; the best is kept."""
        best = [list(rank.nodes) for rank in self._ranks]
        fewest = self._crossings()
        for sweep in range(SWEEPS):
            if not fewest:
                break
            down = sweep % 2 == 0
            neighbours = self._above if down else self._below
            ordered = self._ranks if down else self._ranks[::-1]
            for before, rank in itertools.pairwise(ordered):
                places = {node: place for place, node in enumerate(before.nodes)}
                own = {node: place for place, node in enumerate(rank.nodes)}
                rank.nodes.sort(key=lambda node: (_mean(neighbours[node], places, own[node]), own[node]))
            crossings = self._crossings()
            if crossings < fewest:
                fewest, best = crossings, [list(rank.nodes) for rank in self._ranks]
        for rank, nodes in zip(self._ranks, best, strict=True):
            rank.nodes = nodes

    def _crossings(self) -> int:
        total = 0
        for upper, lower in zip(self._ranks, self._ranks[1:], strict=False):
            places = {node: place for place, node in enumerate(lower.nodes)}
            seen: list[int] = []
            for node in upper.nodes:
                ends = sorted(places[other] for other in self._below[node])
                total += sum(len(seen) - bisect_left(seen, end + 1) for end in ends)
                for end in ends:
                    insort(seen, end)
        return total

    # ----------------------------------------------------------------------------------------------- places

    def _place(self) -> None:
        """Centres: near those of neighbours, in the order, no two too near."""
        for rank in self._ranks:
            self._fit(rank.nodes, [0.0] * len(rank.nodes))
        for sweep in range(FITS):
            down = sweep % 2 == 0
            for rank in self._ranks if down else self._ranks[::-1]:
                wanted = [self._wanted(node, down=down, both=sweep >= FITS - 2) for node in rank.nodes]
                self._fit(rank.nodes, wanted)
        left = min(self._centres[node] - self._sizes[node][0] / 2 for rank in self._ranks for node in rank.nodes)
        self._centres = [centre - left for centre in self._centres]

    def _wanted(self, node: int, *, down: bool, both: bool) -> float:
        near = [*self._above[node], *self._below[node]] if both else (self._above if down else self._below)[node]
        return sum(self._centres[other] for other in near) / len(near) if near else self._centres[node]

    def _fit(self, nodes: Sequence[int], wanted: Sequence[float]) -> None:
        """The centres nearest to those wanted that keep the order and the distances."""
        offsets = [0.0]
        for one, other in itertools.pairwise(nodes):
            offsets.append(offsets[-1] + (self._sizes[one][0] + self._sizes[other][0]) / 2 + GAP)
        pools: list[tuple[float, int]] = []
        for want, offset in zip(wanted, offsets, strict=False):
            total, count = want - offset, 1
            while pools and pools[-1][0] / pools[-1][1] >= total / count:
                more, members = pools.pop()
                total, count = total + more, count + members
            pools.append((total, count))
        fitted = [total / count for total, count in pools for _ in range(count)]
        for node, base, offset in zip(nodes, fitted, offsets, strict=False):
            self._centres[node] = base + offset

    # ------------------------------------------------------------------------------------- for the routing

    @property
    def back(self) -> set[int]:
        return self._back

    @property
    def aside(self) -> list[int]:
        return self._aside

    @property
    def chains(self) -> dict[int, list[int]]:
        return self._chains

    @property
    def edges(self) -> Sequence[tuple[int, int]]:
        return self._edges

    @property
    def by_rank(self) -> list[_Rank]:
        return self._ranks

    @property
    def count(self) -> int:
        return self._count

    def rank_of(self, node: int) -> int:
        return self._rank[node]

    def size_of(self, node: int) -> Size:
        return self._sizes[node]

    def centre_of(self, node: int) -> float:
        return self._centres[node]


def _mean(neighbours: Sequence[int], places: dict[int, int], own: int) -> float:
    return sum(places[other] for other in neighbours) / len(neighbours) if neighbours else float(own)


class _Routing:
    """Heights of ranks and gaps, ports of blocks, and the corners of ways."""

    def __init__(self, graph: _Layering) -> None:
        self._graph = graph
        self._sideways = [*graph.aside, *sorted(graph.back)]
        self._tracks = self._find_tracks()
        self._heights()
        self._shift = MARGIN + self._channels()
        self._ports()

    def _find_tracks(self) -> dict[tuple[int, bool], tuple[int, int]]:
        """By edge and end (True: where it leaves): the gap (0 is above the first rank), and which track of it."""
        used: dict[int, int] = defaultdict(int)
        found: dict[tuple[int, bool], tuple[int, int]] = {}
        for number in self._sideways:
            source, target = self._graph.edges[number]
            for leaves, gap in ((True, self._graph.rank_of(source) + 1), (False, self._graph.rank_of(target))):
                found[(number, leaves)] = (gap, used[gap])
                used[gap] += 1
        self._used = used
        return found

    def _heights(self) -> None:
        graph = self._graph
        y = MARGIN + self._used[0] * TRACK
        for number, rank in enumerate(graph.by_rank):
            rank.top = y
            rank.height = max(graph.size_of(node)[1] for node in rank.nodes)
            y += rank.height + (ROW if number + 1 < len(graph.by_rank) else 0) + self._used[number + 1] * TRACK
        self._height = y + MARGIN

    def _channels(self) -> float:
        """Gives each sideways edge a place beside the ranks that it passes, shorter ones nearer; returns how far left
        of the blocks those at the left reach."""
        graph = self._graph
        edges_of = [
            [
                (graph.centre_of(node) - graph.size_of(node)[0] / 2, graph.centre_of(node) + graph.size_of(node)[0] / 2)
                for node in rank.nodes
            ]
            for rank in graph.by_rank
        ]
        lefts = [min(left for left, _ in edges) for edges in edges_of]
        rights = [max(right for _, right in edges) for edges in edges_of]
        self._beside: dict[int, float] = {}
        for numbers, ends, sign in ((graph.back, lefts, -1), (graph.aside, rights, 1)):
            taken: dict[float, list[tuple[int, int]]] = defaultdict(list)
            for number in sorted(numbers, key=lambda each: (self._reach(each), each)):
                low, high = self._span(number)
                passed = ends[low:high] or ends[max(low - 1, 0) : high + 1]
                near = min(passed) if sign < 0 else max(passed)
                place = math.ceil(sign * near / LANE) + 1
                while any(low <= end and start <= high for start, end in taken[place]):
                    place += 1
                taken[place].append((low, high))
                self._beside[number] = sign * place * LANE
        return max(0.0, -min(self._beside.values(), default=0.0))

    def _span(self, number: int) -> tuple[int, int]:
        source, target = self._graph.edges[number]
        gaps = (self._graph.rank_of(source) + 1, self._graph.rank_of(target))
        return min(gaps), max(gaps)

    def _reach(self, number: int) -> int:
        low, high = self._span(number)
        return high - low

    def _ports(self) -> None:
        """Where edges leave and reach blocks: side by side in the order of their other ends."""
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
                there, here = graph.centre_of(chain[1]), graph.centre_of(chain[-2])
            leaving[source].append((there, number))
            coming[target].append((here, number))
        self._leaves = self._spread(leaving)
        self._comes = self._spread(coming)

    def _spread(self, ends: dict[int, list[tuple[float, int]]]) -> dict[int, float]:
        found: dict[int, float] = {}
        for node, edges in ends.items():
            width = self._graph.size_of(node)[0]
            step = min(22.0, (width - 16) / max(len(edges) - 1, 1))
            start = self._graph.centre_of(node) - step * (len(edges) - 1) / 2
            for place, (_, number) in enumerate(sorted(edges)):
                found[number] = start + step * place + self._shift
        return found

    def layout(self) -> Layout:
        graph = self._graph
        boxes = []
        for node in range(graph.count):
            width, height = graph.size_of(node)
            x = graph.centre_of(node) - width / 2 + self._shift
            boxes.append(Box(x, graph.by_rank[graph.rank_of(node)].top, width, height))
        ends = [graph.centre_of(node) + graph.size_of(node)[0] / 2 for rank in graph.by_rank for node in rank.nodes]
        routes = [self._route(number, boxes) for number in range(len(graph.edges))]
        width = max([*ends, *self._beside.values()]) + self._shift + MARGIN
        return Layout(tuple(boxes), tuple(routes), width, self._height)

    def _route(self, number: int, boxes: Sequence[Box]) -> Route:
        source, target = self._graph.edges[number]
        start = (self._leaves[number], boxes[source].y + boxes[source].height)
        end = (self._comes[number], boxes[target].y)
        if number not in self._graph.chains:
            return self._aside(number, start, end)
        points = [start]
        chain = self._graph.chains[number]
        for place, node in enumerate(chain[:-1]):
            rank = self._graph.by_rank[self._graph.rank_of(node)]
            x = start[0] if not place else self._graph.centre_of(node) + self._shift
            if place:
                points.append((x, rank.top))
            points.append((x, rank.top + rank.height))
        points.append(end)
        return Route(tuple(dict.fromkeys(points)), is_back=False, is_straight=False)

    def _aside(self, number: int, start: Point, end: Point) -> Route:
        is_back = number in self._graph.back
        x = self._beside[number] + self._shift
        below, above = self._level(number, leaves=True), self._level(number, leaves=False)
        points = (start, (start[0], below), (x, below), (x, above), (end[0], above), end)
        return Route(points, is_back, is_straight=True)

    def _level(self, number: int, *, leaves: bool) -> float:
        """The height of an edge's track: next to the rank above where it leaves, to the one below where it ends."""
        gap, track = self._tracks[(number, leaves)]
        ranks = self._graph.by_rank
        if gap == 0:
            return ranks[0].top - TRACK * (track + 1) - 2
        above = ranks[gap - 1]
        return above.top + above.height + TRACK * (track + 1) + 4
