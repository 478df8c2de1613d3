"""Small graphs for tests of control flow, and what can be said of them by trying every node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import strategies as st

Graph = Sequence[Sequence[int]]


@st.composite
def graphs(draw: st.DrawFn, most: int = 9) -> list[tuple[int, ...]]:
    """By node, what may come after it: up to two nodes, as after a branch."""
    count = draw(st.integers(1, most))
    node = st.integers(0, count - 1)
    return [tuple(dict.fromkeys(draw(st.lists(node, max_size=2)))) for _ in range(count)]


def reachable(after: Graph, roots: Iterable[int], without: Iterable[int] = ()) -> set[int]:
    """The nodes that some root reaches in a graph from which some were taken."""
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
    """By definition: without the first one, no root reaches the node."""
    roots = list(roots)
    if first == node:
        return True
    reached = reachable(after, roots)
    return {first, node} <= reached and node not in reachable(after, roots, {first})


def is_reducible(after: Graph, root: int = 0) -> bool:
    """Whether nothing goes in circles once the ways back to dominators are gone."""
    reached = reachable(after, [root])
    forward = [
        tuple(other for other in following if node in reached and not dominates(after, [root], other, node))
        for node, following in enumerate(after)
    ]
    return not any(node in reachable(forward, forward[node]) for node in reached)


def natural_loops(after: Graph, root: int = 0) -> dict[int, set[int]]:
    """By header: the nodes that come back to it without passing it, by any of the ways back."""
    reached = reachable(after, [root])
    found: dict[int, set[int]] = {}
    for node in reached:
        for header in after[node]:
            if dominates(after, [root], header, node):
                body = {n for n in reached if node in reachable(after, [n], {header})}
                found.setdefault(header, {header}).update(body)
    return found
