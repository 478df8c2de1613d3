"""Places the labels of edges so that none of them overlaps a block or another label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.report.graph_routing import EdgeRoute, GraphLayout, NodeBox

LABEL_HEIGHT, DISTANCE, SHORTEST = 13.0, 4.0, 30.0
"""Pixels: of a label, between it and its edge, and below a block, which belong to its edges in any case."""


def place_labels(layout: GraphLayout, widths: Sequence[float]) -> list[NodeBox | None]:
    """The rectangles of the labels, by edge; None for an edge without one, or without room for it.

    widths: of the labels, by edge, 0 for none.
    """
    taken = list(layout.boxes)
    found: list[NodeBox | None] = []
    for route, width in zip(layout.routes, widths, strict=True):
        place = None
        if width:
            place = next((each for each in _places(route, width, layout) if not _is_over_any(each, taken)), None)
        if place is not None:
            taken.append(place)
        found.append(place)
    return found


def _places(route: EdgeRoute, width: float, layout: GraphLayout) -> Iterator[NodeBox]:
    """Places for a label next to its edge, the best first: near the block that the edge leaves, on the right."""
    (x, y), end = route.points[0], route.points[1]
    for down in (2.0, LABEL_HEIGHT + 3, 2 * (LABEL_HEIGHT + 2)):
        if y + down + LABEL_HEIGHT > max(end[1], y + SHORTEST):
            return
        for left in (x + DISTANCE, x - DISTANCE - width):
            if left >= 0 and left + width <= layout.width:
                yield NodeBox(left, y + down, width, LABEL_HEIGHT)


def _is_over_any(place: NodeBox, others: Sequence[NodeBox]) -> bool:
    return any(is_over(place, other) for other in others)


def is_over(one: NodeBox, other: NodeBox) -> bool:
    """Whether two rectangles overlap."""
    return (
        one.x < other.x + other.width
        and other.x < one.x + one.width
        and one.y < other.y + other.height
        and other.y < one.y + one.height
    )
