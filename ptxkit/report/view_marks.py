"""The marks of the chart: one shape for each kind of instruction, defined once and referenced everywhere."""

from __future__ import annotations

from ptxkit.model.view import AsyncOpCategory
from ptxkit.report.markup import tag

SVG = "http://www.w3.org/2000/svg"

_SHAPES = {
    AsyncOpCategory.ISSUE: tag("path", d="M3 1 L11 6 L3 11 Z"),
    AsyncOpCategory.COMMIT: tag("path", d="M6 1 L11 6 L6 11 L1 6 Z"),
    AsyncOpCategory.WAIT: tag("path", d="M2 1 H10 V3 L7 6 L10 9 V11 H2 V9 L5 6 L2 3 Z"),
    AsyncOpCategory.FENCE: tag("path", d="M1 3 H11 V5 H1 Z M1 7 H11 V9 H1 Z"),
    AsyncOpCategory.BARRIER: tag("path", d="M1 1 H4 V5 H8 V1 H11 V11 H8 V7 H4 V11 H1 Z"),
    AsyncOpCategory.ARRIVE: tag("path", d="M1 2 H11 L6 11 Z"),
    AsyncOpCategory.SETUP: tag("path", d="M6 1 A5 5 0 1 0 6 11 A5 5 0 1 0 6 1 Z M6 4 A2 2 0 1 1 6 8 A2 2 0 1 1 6 4 Z"),
}
CATEGORY_WORDS = {
    AsyncOpCategory.ISSUE: "issues an asynchronous operation",
    AsyncOpCategory.COMMIT: "commits a group, or makes an mbarrier track completion",
    AsyncOpCategory.WAIT: "waits",
    AsyncOpCategory.FENCE: "fence",
    AsyncOpCategory.BARRIER: "barrier: threads synchronize",
    AsyncOpCategory.ARRIVE: "arrives at an mbarrier, or sets its expected bytes",
    AsyncOpCategory.SETUP: "initializes, allocates or frees mbarriers, Tensor Memory, registers",
}


def definitions() -> str:
    """The shapes, and the arrow heads; included once in a page."""
    shapes = [tag("symbol", shape, id=f"m-{sort}", viewBox="0 0 12 12") for sort, shape in _SHAPES.items()]
    arrows = [
        tag(
            "marker",
            tag("path", d="M0 0 L8 4 L0 8 Z"),
            id=f"a-{name}",
            class_=f"head {name}",
            viewBox="0 0 8 8",
            refX=7,
            refY=4,
            markerWidth=9,
            markerHeight=9,
            markerUnits="userSpaceOnUse",
            orient="auto",
        )
        for name in ("way", "back")
    ]
    inner = tag("defs", *shapes, *arrows)
    return tag("svg", inner, xmlns=SVG, class_="defs", width=0, height=0, aria_hidden="true")


def draw_mark(sort: AsyncOpCategory, x: float = 0, y: float = 0) -> str:
    """A mark inside a drawing, by its upper left corner."""
    return tag("use", href=f"#m-{sort}", class_=f"k {sort}", x=_number(x), y=_number(y), width=12, height=12)


def inline_mark(sort: AsyncOpCategory) -> str:
    """A mark as a separate drawing, in a line of text."""
    return tag(
        "svg", draw_mark(sort), xmlns=SVG, class_="sign", width=12, height=12, viewBox="0 0 12 12", aria_hidden="true"
    )


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
