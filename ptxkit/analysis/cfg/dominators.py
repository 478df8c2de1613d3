"""Computes the dominators of a graph's nodes, or the post-dominators if the graph is reversed.

Immediate dominators are computed by the algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm"),
which requires neither a reducible graph nor recursion.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property


class DominatorTree:
    """Dominance in a graph that is given by the successors of each node.

    roots: the entry nodes, anywhere in the graph. parents: the immediate dominator of each node; None for roots, for
    nodes reached from several roots without a common dominator, and for unreachable nodes.
    """

    def __init__(self, after: Sequence[Sequence[int]], roots: Iterable[int]) -> None:
        count = len(after)
        self._virtual_root = count  # a predecessor of all roots, so that there is one tree
        self._successors: list[Sequence[int]] = [*after, tuple(dict.fromkeys(roots))]
        self._order = self._postorder()
        self._parents: list[int | None] = [None] * len(self._successors)
        self._compute_immediate()
        self.parents = [None if parent in (None, count) else parent for parent in self._parents[:count]]

    def is_reachable(self, node: int) -> bool:
        return self._parents[node] is not None

    def dominates(self, first: int, node: int) -> bool:
        """Returns whether every path from a root to a node passes the first node.

        An unreachable node is dominated by itself only.
        """
        if first == node:
            return True
        if not self.is_reachable(first) or not self.is_reachable(node):
            return False
        (low, high), (at, _) = self._spans[first], self._spans[node]
        return low <= at < high

    def _postorder(self) -> list[int]:
        """Returns the postorder number of each node in a depth-first search; -1 for unreachable nodes."""
        order = [-1] * len(self._successors)
        seen = {self._virtual_root}
        stack = [(self._virtual_root, iter(self._successors[self._virtual_root]))]
        done = 0
        while stack:
            node, following = stack[-1]
            fresh = next((other for other in following if other not in seen), None)
            if fresh is not None:
                seen.add(fresh)
                stack.append((fresh, iter(self._successors[fresh])))
                continue
            stack.pop()
            order[node] = done
            done += 1
        return order

    def _compute_immediate(self) -> None:
        """Computes the immediate dominators of all nodes."""
        order = self._order
        nodes = sorted((node for node, at in enumerate(order) if at >= 0), key=order.__getitem__, reverse=True)
        before: list[list[int]] = [[] for _ in self._successors]
        for node in nodes:
            for other in self._successors[node]:
                before[other].append(node)
        self._parents[self._virtual_root] = self._virtual_root
        changed = True
        while changed:
            changed = False
            for node in nodes[1:]:
                found: int | None = None
                for other in before[node]:
                    if self._parents[other] is not None:
                        found = other if found is None else self._intersect(found, other)
                if self._parents[node] != found:
                    self._parents[node] = found
                    changed = True

    def _intersect(self, first: int, second: int) -> int:
        order, parents = self._order, self._parents
        while first != second:
            while order[first] < order[second]:
                first = parents[first]  # type: ignore[assignment]
            while order[second] < order[first]:
                second = parents[second]  # type: ignore[assignment]
        return first

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        """The preorder number of each node in the tree, and the number after those of its subtree."""
        below: list[list[int]] = [[] for _ in self._successors]
        for node, parent in enumerate(self._parents):
            if parent is not None and node != self._virtual_root:
                below[parent].append(node)
        spans = [(-1, -1)] * len(self._successors)
        stack = [(self._virtual_root, False)]
        count = 0
        while stack:
            node, is_done = stack.pop()
            if is_done:
                spans[node] = (spans[node][0], count)
                continue
            spans[node] = (count, count)
            count += 1
            stack.append((node, True))
            stack.extend((child, False) for child in below[node])
        return spans


def reverse_graph(after: Sequence[Sequence[int]]) -> list[tuple[int, ...]]:
    """Returns the predecessors of each node."""
    found: list[list[int]] = [[] for _ in after]
    for node, following in enumerate(after):
        for other in following:
            found[other].append(node)
    return [tuple(each) for each in found]
