"""Layout of a control-flow graph in layers: each block is placed near its predecessors and successors.

Back edges are found by a depth-first search and omitted; the rank of a block is then the longest path to it. Edges over
several ranks get a slot in each rank that they pass, so that none crosses a block; the order within ranks follows the
mean of neighbors (the barycenter heuristic), and positions are as near to that as the order and the widths allow (a
least-squares fit by pooling adjacent violators). Coordinates are pixels, y downwards.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Sequence

from ptxkit.report.graph_routing import MARGIN, GraphLayout, GraphRank, LayeredGraph, Size, route_edges
from ptxkit.report.limits import MAX_RANKS_CROSSED

GAP, SLOT = 26.0, 14.0
"""Pixels between blocks of a rank; the width of an edge that passes a rank."""
SWEEPS, FIT_PASSES = 8, 6
"""How often ranks are ordered, and positions are computed."""


def layout_graph(sizes: Sequence[Size], edges: Sequence[tuple[int, int]]) -> GraphLayout:
    """The layout of a graph whose node 0 is the entry. sizes: (width, height) of each node."""
    return _Layering(sizes, edges).layout()


def find_back_edges(count: int, edges: Sequence[tuple[int, int]]) -> set[int]:
    """The back edges, by number: those to a node that a depth-first search from node 0 has not finished."""
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


def longest_path_ranks(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The length of the longest path to each node of an acyclic graph."""
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


class _Layering:
    def __init__(self, sizes: Sequence[Size], edges: Sequence[tuple[int, int]]) -> None:
        self._count = len(sizes)
        self._edges = edges
        self._back = find_back_edges(len(sizes), edges)
        forward = [edge for number, edge in enumerate(edges) if number not in self._back]
        self._rank = longest_path_ranks(len(sizes), forward)
        self._sizes = list(sizes)
        self._ranks: list[list[int]] = [[] for _ in range(max(self._rank, default=-1) + 1)]
        for node, rank in enumerate(self._rank):
            self._ranks[rank].append(node)
        self._long_edges: list[int] = []
        self._chains: dict[int, list[int]] = {}
        self._above: dict[int, list[int]] = defaultdict(list)
        self._below: dict[int, list[int]] = defaultdict(list)
        for number, (source, target) in enumerate(edges):
            if number in self._back:
                continue
            if self._rank[target] - self._rank[source] > MAX_RANKS_CROSSED:
                self._long_edges.append(number)
            else:
                self._add_slots(number, source, target)
        self._centers = [0.0] * len(self._sizes)

    def _add_slots(self, number: int, source: int, target: int) -> None:
        """Slots for an edge in the ranks that it passes."""
        chain = [source]
        for rank in range(self._rank[source] + 1, self._rank[target]):
            slot = len(self._sizes)
            self._sizes.append((SLOT, 0.0))
            self._rank.append(rank)
            self._ranks[rank].append(slot)
            chain.append(slot)
        chain.append(target)
        self._chains[number] = chain
        for upper, lower in itertools.pairwise(chain):
            self._below[upper].append(lower)
            self._above[lower].append(upper)

    def layout(self) -> GraphLayout:
        if not self._ranks:
            return GraphLayout((), (), 2 * MARGIN, 2 * MARGIN)
        self._reduce_crossings()
        self._place_centers()
        return route_edges(self._layered_graph())

    # ------------------------------------------------------------------------------------------------ order

    def _reduce_crossings(self) -> None:
        """Reduces crossings: each rank is sorted by the positions of its neighbors, downwards and upwards in turn; the
        best order is kept."""
        best = [list(rank) for rank in self._ranks]
        fewest = self._count_crossings()
        for sweep in range(SWEEPS):
            if not fewest:
                break
            down = sweep % 2 == 0
            neighbors = self._above if down else self._below
            ordered = self._ranks if down else self._ranks[::-1]
            for before, rank in itertools.pairwise(ordered):
                places = {node: place for place, node in enumerate(before)}
                own = {node: place for place, node in enumerate(rank)}
                rank.sort(key=lambda node: (_mean(neighbors[node], places, own[node]), own[node]))
            crossings = self._count_crossings()
            if crossings < fewest:
                fewest, best = crossings, [list(rank) for rank in self._ranks]
        for rank, nodes in zip(self._ranks, best, strict=True):
            rank[:] = nodes

    def _count_crossings(self) -> int:
        total = 0
        for upper, lower in zip(self._ranks, self._ranks[1:], strict=False):
            places = {node: place for place, node in enumerate(lower)}
            seen: list[int] = []
            for node in upper:
                ends = sorted(places[other] for other in self._below[node])
                total += sum(len(seen) - bisect_left(seen, end + 1) for end in ends)
                for end in ends:
                    insort(seen, end)
        return total

    # ----------------------------------------------------------------------------------------------- places

    def _place_centers(self) -> None:
        """Centers near those of neighbors, in the given order, with minimum distances."""
        for rank in self._ranks:
            self._fit_centers(rank, [0.0] * len(rank))
        for sweep in range(FIT_PASSES):
            down = sweep % 2 == 0
            for rank in self._ranks if down else self._ranks[::-1]:
                wanted = [self._preferred_center(node, down=down, both=sweep >= FIT_PASSES - 2) for node in rank]
                self._fit_centers(rank, wanted)
        left = min(self._centers[node] - self._sizes[node][0] / 2 for rank in self._ranks for node in rank)
        self._centers = [center - left for center in self._centers]

    def _preferred_center(self, node: int, *, down: bool, both: bool) -> float:
        near = [*self._above[node], *self._below[node]] if both else (self._above if down else self._below)[node]
        return sum(self._centers[other] for other in near) / len(near) if near else self._centers[node]

    def _fit_centers(self, nodes: Sequence[int], wanted: Sequence[float]) -> None:
        """The centers nearest to the wanted ones that keep the order and the distances."""
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
            self._centers[node] = base + offset

    def _layered_graph(self) -> LayeredGraph:
        return LayeredGraph(
            sizes=self._sizes,
            edges=self._edges,
            count=self._count,
            rank=self._rank,
            rows=[GraphRank(rank) for rank in self._ranks],
            centers=self._centers,
            back=frozenset(self._back),
            long_edges=tuple(self._long_edges),
            chains=self._chains,
        )


def _mean(neighbors: Sequence[int], places: dict[int, int], own: int) -> float:
    return sum(places[other] for other in neighbors) / len(neighbors) if neighbors else float(own)
