"""The contents of the drawings of a control-flow graph: blocks, chains of blocks, and loops as one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence

from ptxkit.fast_dataclasses import dataclass
from ptxkit.model.view import BlockView, ControlFlowEdge, FunctionView

COLLAPSE_THRESHOLD = 120
"""The number of blocks from which on chains of them are merged."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """Blocks that are merged, in execution order. is_entry: it contains the entry of the function. loop: the number of
    the loop that it is."""

    blocks: tuple[BlockView, ...]
    is_entry: bool
    loop: int | None = None

    @property
    def first(self) -> int:
        return self.blocks[0].first

    @property
    def last(self) -> int:
        return self.blocks[-1].last


def nodes_of(function: FunctionView) -> tuple[list[GraphNode], list[ControlFlowEdge]]:
    """All blocks (of a large function, chains of blocks), and the edges between them."""
    return _merge(function, range(len(function.blocks)), ())


def collapsed_nodes(function: FunctionView, within: int | None) -> tuple[list[GraphNode], list[ControlFlowEdge]]:
    """The blocks of a loop, or of the function, with the loops inside of it as one node each, and the edges between
    them. within: the number of the loop; None for the function."""
    members = range(len(function.blocks)) if within is None else function.loops[within].blocks
    return _merge(function, members, inner_loops(function, within))


def inner_loops(function: FunctionView, within: int | None) -> tuple[int, ...]:
    """The outermost of the loops inside of a loop, or of the function."""
    around = set(range(len(function.blocks))) if within is None else set(function.loops[within].blocks)
    found: list[int] = []
    taken: set[int] = set()
    inside = [
        number for number, loop in enumerate(function.loops) if number != within and around.issuperset(loop.blocks)
    ]
    for number in sorted(inside, key=lambda each: -len(function.loops[each].blocks)):
        own = set(function.loops[number].blocks)
        if not own & taken and (within is None or own != around):
            found.append(number)
            taken |= own
    return tuple(sorted(found))


def _merge(
    function: FunctionView, members: Collection[int], loops: Sequence[int]
) -> tuple[list[GraphNode], list[ControlFlowEdge]]:
    blocks = function.blocks
    loop_of = {block: number for number in loops for block in function.loops[number].blocks}
    edges = [each for each in function.edges if each.source in members and each.target in members]
    follower = _chains(blocks, edges, loop_of) if len(members) > COLLAPSE_THRESHOLD else {}
    inside = set(follower.values())
    nodes: list[GraphNode] = []
    numbers: dict[int, int] = {}
    for block in members:
        if block in inside or block in numbers:
            continue
        if block in loop_of:
            parts = list(function.loops[loop_of[block]].blocks)
        else:
            parts = [block]
            while parts[-1] in follower:
                parts.append(follower[parts[-1]])
        numbers.update(dict.fromkeys(parts, len(nodes)))
        nodes.append(GraphNode(tuple(blocks[each] for each in parts), 0 in parts, loop_of.get(block)))
    kept = [edge for edge in edges if follower.get(edge.source) != edge.target]
    return nodes, list(_edges_between(kept, numbers, loop_of))


def _edges_between(
    edges: Sequence[ControlFlowEdge], numbers: dict[int, int], loop_of: dict[int, int]
) -> Iterator[ControlFlowEdge]:
    """The edges between nodes, without those inside of a loop that is one node; several between two are one."""
    seen: set[tuple[int, int]] = set()
    for each in edges:
        ends = numbers[each.source], numbers[each.target]
        if each.source in loop_of or each.target in loop_of:
            if ends[0] == ends[1] or ends in seen:
                continue
            seen.add(ends)
        yield ControlFlowEdge(*ends, each.kind, each.guard)


def _chains(blocks: Sequence[BlockView], edges: Sequence[ControlFlowEdge], apart: Collection[int]) -> dict[int, int]:
    """By block: its only successor, if that is further down and has no other predecessor. apart: blocks of no chain."""
    after: dict[int, list[int]] = defaultdict(list)
    before = Counter(edge.target for edge in edges)
    for edge in edges:
        after[edge.source].append(edge.target)
    return {
        block: found[0]
        for block, found in after.items()
        if len(found) == 1
        and before[found[0]] == 1
        and found[0] > block
        and not blocks[block].exit_kind
        and block not in apart
        and found[0] not in apart
    }
