"""The drawing of a trace: threads in columns, steps in rows, barriers as lines, operations in flight as bars."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby

from ptxkit.fast_dataclasses import dataclass
from ptxkit.model.trace import FindingRole, FindingTrace, StepKind, TraceBar, TraceStep
from ptxkit.report.markup import escape_markup, tag

LEFT, TOP, ROW, GAP = 106, 66, 42, 24
"""Widths and heights in pixels: of the column with steps and lines, of the head, of a step, of omitted steps."""
MIN_COLUMN_WIDTH, LETTER_WIDTH, LANE_WIDTH, TEXT_WIDTH = 78, 7.3, 26, 300
MISSING_WIDTH, MISSING_LINE_HEIGHT, MISSING_LINE_LETTERS = 20, 16, 56
"""Of the box with the missing ordering: its frame, each line, and the characters of a line."""

_CHIPS = {StepKind.FENCE: "fence", StepKind.COMMIT: "commit", StepKind.WAIT: "wait"}


@dataclass(frozen=True, slots=True)
class _DrawingLayout:
    """Positions. centres: of columns; lanes: of bars; words: left edge of the text; middles: of steps. box: the top of
    the box with the missing ordering, None without one; lines: of its text."""

    trace: FindingTrace
    centres: tuple[float, ...]
    lanes: tuple[float, ...]
    text_x: float
    step_centres: tuple[float, ...]
    missing_top: float | None
    lines: tuple[str, ...]
    width: float
    height: float


def draw_trace(trace: FindingTrace) -> str:
    """The drawing as an SVG element."""
    plan = _lay_out(trace)
    inner = [
        *_head(plan),
        *_bands(plan),
        *(tag("line", class_="life", x1=x, x2=x, y1=TOP - 6, y2=plan.height - 8) for x in plan.centres),
        *_draw_missing(plan),
        *(_draw_bar(plan, at, bar) for at, bar in enumerate(trace.bars)),
        *_rows(plan),
    ]
    what = f"{trace.code}: threads in columns, steps of the run in rows"
    size = {"width": f"{plan.width:.0f}", "height": f"{plan.height:.0f}"}
    box = f"0 0 {size['width']} {size['height']}"
    space = "http://www.w3.org/2000/svg"
    return tag("svg", *inner, xmlns=space, role="img", aria_label=what, viewBox=box, **size)


def _lay_out(trace: FindingTrace) -> _DrawingLayout:
    at: float = LEFT
    centres = []
    for column in trace.columns:
        width = max(MIN_COLUMN_WIDTH, len(column.label) * LETTER_WIDTH + 18)
        centres.append(at + width / 2)
        at += width
    at += 12
    lanes = [at + LANE_WIDTH * (number + 0.5) for number in range(len(trace.bars))]
    words = at + LANE_WIDTH * len(lanes) + 14
    lines = textwrap.wrap(f"missing: {trace.missing_ordering}", MISSING_LINE_LETTERS) if trace.missing_ordering else []
    fault = next((number for number, step in enumerate(trace.steps) if step.role is FindingRole.FAULT), None)
    middles, box = [], None
    down: float = TOP
    for number, step in enumerate(trace.steps):
        down += GAP if step.omitted_before else 0
        if number == fault and lines:
            box = down + 4
            down += MISSING_WIDTH + MISSING_LINE_HEIGHT * len(lines)
        middles.append(down + ROW / 2)
        down += ROW
    if fault is None and lines:
        lines = []
    texts = [each for step in trace.steps for each in (step.instruction, step.text)] + lines
    width = words + max(TEXT_WIDTH, 24 + LETTER_WIDTH * max(map(len, texts), default=0))
    return _DrawingLayout(
        trace, tuple(centres), tuple(lanes), words, tuple(middles), box, tuple(lines), width, down + 12
    )


# --------------------------------------------------------------------------------------------------------- head


def _head(plan: _DrawingLayout) -> Iterator[str]:
    """The names of columns, below those of their CTAs."""
    pairs = list(zip(plan.trace.columns, plan.centres, strict=True))
    for cta, members in groupby(pairs, key=lambda pair: pair[0].cta):
        places = [x for _, x in members]
        middle = (places[0] + places[-1]) / 2
        yield tag("text", escape_markup(f"CTA {cta}"), class_="soft", x=middle, y=18, text_anchor="middle")
    for column, x in pairs:
        weight = f"strong {column.role}" if column.role else ""
        yield tag("text", escape_markup(column.label), class_=f"mono {weight}", x=x, y=38, text_anchor="middle")
        count = "1 thread" if column.count == 1 else f"{column.count} threads"
        yield tag("text", escape_markup(count), class_="soft", x=x, y=53, text_anchor="middle")
    if plan.lanes:
        x = (plan.lanes[0] + plan.lanes[-1]) / 2
        yield tag("text", "in flight", class_="soft", x=x, y=38, text_anchor="middle")
    yield tag("text", "step, line", class_="soft", x=12, y=53)
    yield tag("text", "what happens", class_="soft", x=plan.text_x, y=53)


# --------------------------------------------------------------------------------------------------------- rows


def _bands(plan: _DrawingLayout) -> Iterator[str]:
    """The background of each step, below all other marks."""
    for step, y in zip(plan.trace.steps, plan.step_centres, strict=True):
        sort = f"band {step.role}".strip()
        yield tag("rect", class_=sort, x=0, y=y - ROW / 2, width=plan.width, height=ROW, data_line=step.line or None)


def _rows(plan: _DrawingLayout) -> Iterator[str]:
    for step, y in zip(plan.trace.steps, plan.step_centres, strict=True):
        if step.omitted_before:
            above = y - ROW / 2 - GAP / 2 + 4
            if step.role is FindingRole.FAULT and plan.missing_top is not None:
                above = plan.missing_top - GAP / 2
            count = "1 step is" if step.omitted_before == 1 else f"{step.omitted_before} steps are"
            yield tag("text", f"{count} left out here", class_="soft", x=LEFT, y=above)
        parts = [
            tag("title", escape_markup(_accessible_text(step))),
            *_step_text(plan, step, y),
            *_marks(plan, step, y),
        ]
        yield tag("g", *parts, class_="row", data_line=step.line or None)


def _accessible_text(step: TraceStep) -> str:
    where = f", line {step.line}" if step.line else ""
    return f"step {step.number}{where}: {step.instruction} {step.text}".strip()


def _step_text(plan: _DrawingLayout, step: TraceStep, y: float) -> Iterator[str]:
    number = tag("text", escape_markup(step.number), class_="soft", x=12, y=y + 4)
    line = tag("text", escape_markup(f"line {step.line}"), class_=f"mono {step.role}".strip(), x=42, y=y + 4)
    yield number + (line if step.line else "")
    weight = f"strong {step.role}" if step.role else ""
    if step.instruction:
        yield tag("text", escape_markup(step.instruction), class_=f"mono {weight}".strip(), x=plan.text_x, y=y - 3)
    yield tag("text", escape_markup(step.text), class_="soft", x=plan.text_x, y=y + (13 if step.instruction else 4))


def _marks(plan: _DrawingLayout, step: TraceStep, y: float) -> Iterator[str]:
    places = [plan.centres[at] for at in step.columns]
    match step.kind:
        case StepKind.JOIN:
            if len(places) > 1:
                yield tag("line", class_="join", x1=places[0], x2=places[-1], y1=y, y2=y)
            yield from (tag("circle", class_="joint", cx=x, cy=y, r=5) for x in places)
        case StepKind.ARRIVE:
            for x in places:
                yield tag("polygon", class_="arrive", points=f"{x - 6},{y - 6} {x + 6},{y - 6} {x},{y + 6}")
        case StepKind.PHASE if not places:
            yield tag("line", class_="phase", x1=LEFT, x2=plan.text_x - 10, y1=y, y2=y)
        case StepKind.PHASE:
            yield from (_draw_chip(x, y, "mbarrier", "") for x in places)
        case StepKind.FENCE | StepKind.COMMIT | StepKind.WAIT:
            yield from (_draw_chip(x, y, _CHIPS[step.kind], str(step.kind)) for x in places)
        case _:
            for at, x in zip(step.columns, places, strict=True):
                part = step.role and (plan.trace.columns[at].role or step.role)
                yield _access_mark(step, part, x, y, touches=at in step.touching)


def _draw_chip(x: float, y: float, word: str, sort: str) -> str:
    width = len(word) * LETTER_WIDTH + 12
    box = tag("rect", class_=f"chip {sort}".strip(), x=x - width / 2, y=y - 9, width=width, height=18, rx=9)
    return box + tag("text", word, class_="soft", x=x, y=y + 4, text_anchor="middle")


def _access_mark(step: TraceStep, part: FindingRole, x: float, y: float, *, touches: bool) -> str:
    """A round mark is a read, a square one a write, a pointed one both, or another operation."""
    half = 7 if touches else 4
    sort = "mark" + (f" {part}" if part else " touch") * touches
    if step.kind is StepKind.READ:
        return tag("circle", class_=sort, cx=x, cy=y, r=half)
    if step.kind is StepKind.WRITE:
        return tag("rect", class_=sort, x=x - half, y=y - half, width=2 * half, height=2 * half)
    half += 1
    return tag("polygon", class_=sort, points=f"{x - half},{y} {x},{y - half} {x + half},{y} {x},{y + half}")


# --------------------------------------------------------------------------------------------- bars and the lack


def _draw_bar(plan: _DrawingLayout, number: int, bar: TraceBar) -> str:
    """From issue to completion; without an observed completion, the bar continues below the drawing."""
    x, top = plan.lanes[number], plan.step_centres[bar.first]
    bottom = plan.step_centres[bar.last] if bar.last is not None else plan.height
    over = "until its completion is observed" if bar.last is not None else "continues after the end of the picture"
    over = over if bar.is_complete else "and its completion is not observed in the recorded part of the run"
    title = tag("title", escape_markup(f"{bar.instruction}, line {bar.line}: in flight from its issue, {over}"))
    sort = f" {bar.role}".rstrip()
    wire = tag("line", class_=f"wire{sort}", x1=plan.centres[bar.column], x2=x - 8, y1=top, y2=top)
    body = tag("rect", class_=f"copy{sort}", x=x - 8, y=top - 5, width=16, height=max(bottom - top + 10, 10), rx=4)
    return tag("g", title, wire, body, data_line=bar.line)


def _draw_missing(plan: _DrawingLayout) -> Iterator[str]:
    """The missing ordering between the two accesses, and the edge between them without it."""
    ends = _access_positions(plan)
    if len(ends) > 1:
        (x, y), (to_x, to_y) = ends[0], ends[-1]
        bend = 34 if abs(x - to_x) < 1 else 0
        middle = (y + to_y) / 2
        path = f"M {x + 9} {y} C {x + 9 + bend} {middle}, {to_x + 9 + bend} {middle}, {to_x + 9} {to_y}"
        yield tag("path", class_="lack", d=path)
    if plan.missing_top is None:
        return
    height = MISSING_WIDTH + MISSING_LINE_HEIGHT * len(plan.lines) - 8
    yield tag(
        "rect", class_="lackbox", x=LEFT - 8, y=plan.missing_top, width=plan.width - LEFT - 4, height=height, rx=6
    )
    for number, line in enumerate(plan.lines):
        y = plan.missing_top + 19 + MISSING_LINE_HEIGHT * number
        yield tag("text", escape_markup(line), class_="fault strong", x=plan.text_x, y=y)


def _access_positions(plan: _DrawingLayout) -> Sequence[tuple[float, float]]:
    """The positions of the accesses of the finding, the earlier one first."""
    found = []
    for step, y in zip(plan.trace.steps, plan.step_centres, strict=True):
        if step.role:
            named = [at for at in step.touching if plan.trace.columns[at].role]
            found += [(plan.centres[at], y) for at in (named or [*step.touching, *step.columns][:1])]
    return found
