"""The loops of a graph and their nesting, including irreducible loops with several entries.

A loop is a strongly connected component. Its nested loops are the strongly connected components that remain without the
back edges to its entries (Steensgaard's loop forest). Where each loop has one entry, these are the natural loops.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from ptxkit.analysis.cfg.dominators import reverse_graph
from ptxkit.analysis.ir.worklist import Worklist
from ptxkit.fast_dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class CfgLoop:
    """A strongly connected set of nodes.

    nodes: all nodes, including those of nested loops. entries: the nodes where control enters; the loop is irreducible
    if there are several. outer: the innermost loop that contains this one.
    """

    nodes: frozenset[int]
    entries: frozenset[int]
    outer: CfgLoop | None = None


class LoopForest:
    """All loops reachable from node 0 in a graph given by the successors of each node; outer loops come first."""

    def __init__(self, after: Sequence[Sequence[int]]) -> None:
        self._successors = after
        reached = reachable_nodes(after, (0,) if after else ())
        self._predecessors = [[other for other in before if other in reached] for before in reverse_graph(after)]
        self.loops = tuple(self._find_loops(reached))

    def innermost_loop(self, node: int) -> CfgLoop | None:
        """Returns the innermost loop that contains a node."""
        return self._innermost_loops.get(node)

    def exit_edges(self, loop: CfgLoop) -> list[tuple[int, int]]:
        """Returns the exit edges of a loop: (node inside, node outside)."""
        return [(n, other) for n in sorted(loop.nodes) for other in self._successors[n] if other not in loop.nodes]

    @cached_property
    def _innermost_loops(self) -> dict[int, CfgLoop]:
        return {node: loop for loop in self.loops for node in loop.nodes}

    def _find_loops(self, reached: frozenset[int]) -> Iterator[CfgLoop]:
        waiting: deque[tuple[CfgLoop | None, frozenset[int], frozenset[int]]] = deque([(None, reached, frozenset())])
        while waiting:
            outer, nodes, cut = waiting.popleft()
            for part in _strongly_connected_components(self._successors, nodes, cut):
                if len(part) == 1 and not self._is_on_cycle(next(iter(part)), cut):
                    continue
                entries = frozenset(n for n in part if n == 0 or not part.issuperset(self._predecessors[n]))
                loop = CfgLoop(part, entries, outer)
                yield loop
                waiting.append((loop, part, entries))

    def _is_on_cycle(self, node: int, cut: Collection[int]) -> bool:
        return node in self._successors[node] and node not in cut


def reachable_nodes(after: Sequence[Sequence[int]], roots: Iterable[int]) -> frozenset[int]:
    """Returns the roots and all nodes reachable from them.

    after: the successors of each node.
    """
    nodes = Worklist(roots)
    for node in nodes:
        nodes.add(after[node])
    return frozenset(nodes.seen)


def _strongly_connected_components(
    after: Sequence[Sequence[int]], nodes: Collection[int], cut: Collection[int]
) -> Iterator[frozenset[int]]:
    """Yields the strongly connected components of some nodes, without the edges to `cut` nodes (Tarjan's algorithm)."""
    numbers: dict[int, int] = {}
    lowest: dict[int, int] = {}
    held: list[int] = []
    is_held: set[int] = set()
    for first in sorted(nodes):
        if first in numbers:
            continue
        stack = [(first, iter(after[first]))]
        numbers[first] = lowest[first] = len(numbers)
        held.append(first)
        is_held.add(first)
        while stack:
            node, following = stack[-1]
            fresh = None
            for other in following:
                if other not in nodes or other in cut:
                    continue
                if other not in numbers:
                    fresh = other
                    break
                if other in is_held:
                    lowest[node] = min(lowest[node], numbers[other])
            if fresh is not None:
                numbers[fresh] = lowest[fresh] = len(numbers)
                held.append(fresh)
                is_held.add(fresh)
                stack.append((fresh, iter(after[fresh])))
                continue
            stack.pop()
            if stack:
                lowest[stack[-1][0]] = min(lowest[stack[-1][0]], lowest[node])
            if lowest[node] == numbers[node]:
                part: set[int] = set()
                while node not in part:
                    part.add(held.pop())
                is_held -= part
                yield frozenset(part)
