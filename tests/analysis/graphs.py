"""Small graphs for tests of control flow, and their properties by exhaustive search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import strategies as st

Graph = Sequence[Sequence[int]]


@st.composite
def graphs(draw: st.DrawFn, most: int = 9) -> list[tuple[int, ...]]:
    """The successors of each node: up to two, as after a branch."""
    count = draw(st.integers(1, most))
    node = st.integers(0, count - 1)
    return [tuple(dict.fromkeys(draw(st.lists(node, max_size=2)))) for _ in range(count)]


def reachable(after: Graph, roots: Iterable[int], without: Iterable[int] = ()) -> set[int]:
    """Returns the nodes that some root reaches in a graph without some nodes."""
    gone = set(without)
    seen = {root for root in roots if root not in gone}
    waiting = list(seen)
    while waiting:
        for other in after[waiting.pop()]:
            if other not in seen and other not in gone:
                seen.add(other)
                waiting.append(other)
    return seen


def dominates(after: Graph, roots: Iterable[int], first: int, node: int) -> bool:
    """Returns, by definition, whether no root reaches the node without the first one."""
    roots = list(roots)
    if first == node:
        return True
    reached = reachable(after, roots)
    return {first, node} <= reached and node not in reachable(after, roots, {first})


def is_reducible(after: Graph, root: int = 0) -> bool:
    """Returns whether the graph without the back edges to dominators has no cycle."""
    reached = reachable(after, [root])
    forward = [
        tuple(other for other in following if node in reached and not dominates(after, [root], other, node))
        for node, following in enumerate(after)
    ]
    return not any(node in reachable(forward, forward[node]) for node in reached)


def natural_loops(after: Graph, root: int = 0) -> dict[int, set[int]]:
    """Returns by header the nodes that reach a back edge to it without passing it."""
    reached = reachable(after, [root])
    found: dict[int, set[int]] = {}
    for node in reached:
        for header in after[node]:
            if dominates(after, [root], header, node):
                body = {n for n in reached if node in reachable(after, [n], {header})}
                found.setdefault(header, {header}).update(body)
    return found
