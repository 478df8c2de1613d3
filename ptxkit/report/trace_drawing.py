"""The drawing of a trace: threads in columns, steps in rows, barriers as lines, operations in flight as bars."""

from __future__ import annotations

import os
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from ptxkit.fast_dataclasses import dataclass
from ptxkit.model.trace import FindingRole, FindingTrace, StepKind, ThreadColumn, TraceBar, TraceStep
from ptxkit.report.limits import MAX_LABEL_CHARS
from ptxkit.report.markup import escape_markup, tag
from ptxkit.report.text_metrics import text_width

TOP, ROW, GAP = 66, 42, 24
"""Heights in pixels: of the head, of a step, of omitted steps."""
EDGE, MIN_COLUMN_WIDTH, LANE_WIDTH, TEXT_WIDTH = 12, 78, 26, 300
SIZE, SMALL_SIZE = 12.0, 11.0
"""Pixels: widths, and fonts as in trace_style."""
MISSING_WIDTH, MISSING_LINE_HEIGHT, MISSING_LINE_LETTERS = 20, 16, 56
"""Of the box with the missing ordering: its frame, each line, and the characters of a line."""

HEADING, IN_FLIGHT = "step, line", "in flight"
_CHIPS = {StepKind.FENCE: "fence", StepKind.COMMIT: "commit", StepKind.WAIT: "wait"}


@dataclass(frozen=True, slots=True)
class _DrawingLayout:
    """Positions. lines_x: left edge of the lines; left: right edge of the column with them. centers: of columns; lanes:
    of bars; text_x: left edge of the text; step_centers: of steps. missing_top: the top of the box with the missing
    ordering, None without one; lines: of its text."""

    trace: FindingTrace
    lines_x: float
    left: float
    centers: tuple[float, ...]
    lanes: tuple[float, ...]
    text_x: float
    step_centers: tuple[float, ...]
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
        *(tag("line", class_="life", x1=x, x2=x, y1=TOP - 6, y2=plan.height - 8) for x in plan.centers),
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
    numbers = [text_width(str(step.number), SMALL_SIZE) for step in trace.steps]
    lines_x = EDGE + max([*numbers, 20]) + 10
    names = [text_width(name, size, is_mono=True) for step in trace.steps for name, size in _line_names(step)]
    left = at = max(lines_x + max([*names, 0]) + 12, EDGE + text_width(HEADING, SMALL_SIZE) + 12)
    centers = []
    columns_of_cta = Counter(column.cta for column in trace.columns)
    for column in trace.columns:
        width = max(MIN_COLUMN_WIDTH, text_width(column.label, SIZE, is_mono=True) + 18)
        width = max(width, text_width(_thread_count(column), SMALL_SIZE) + 12)
        if columns_of_cta[column.cta] == 1:
            width = max(width, text_width(_cta_text(column.cta), SMALL_SIZE) + 12)
        centers.append(at + width / 2)
        at += width
    at += 12
    lanes = [at + LANE_WIDTH * (number + 0.5) for number in range(len(trace.bars))]
    if lanes:
        at += max(text_width(IN_FLIGHT, SMALL_SIZE) - LANE_WIDTH * len(lanes), 0) / 2
        lanes = [at + LANE_WIDTH * (number + 0.5) for number in range(len(lanes))]
        at += max(text_width(IN_FLIGHT, SMALL_SIZE) - LANE_WIDTH * len(lanes), 0) / 2
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
    widths = [text_width(step.instruction, SIZE, is_mono=True) for step in trace.steps]
    widths += [text_width(step.text, SMALL_SIZE) for step in trace.steps]
    widths += [text_width(line, SIZE, is_strong=True) for line in lines]
    width = words + max([TEXT_WIDTH, *(24 + each for each in widths)])
    return _DrawingLayout(
        trace, lines_x, left, tuple(centers), tuple(lanes), words, tuple(middles), box, tuple(lines), width, down + 12
    )


def _line_names(step: TraceStep) -> Iterator[tuple[str, float]]:
    """The line of a step in the PTX, and that in the program, with the sizes of their fonts."""
    if step.line:
        yield f"line {step.line}", SIZE
    if step.line and step.origin is not None:
        yield f"{os.path.basename(step.origin.file)}:{step.origin.line}"[-MAX_LABEL_CHARS:], SMALL_SIZE


def _thread_count(column: ThreadColumn) -> str:
    return "1 thread" if column.count == 1 else f"{column.count} threads"


def _cta_text(cta: object) -> str:
    return f"CTA {cta}"


# --------------------------------------------------------------------------------------------------------- head


def _head(plan: _DrawingLayout) -> Iterator[str]:
    """The names of columns, below those of their CTAs."""
    pairs = list(zip(plan.trace.columns, plan.centers, strict=True))
    for cta, members in groupby(pairs, key=lambda pair: pair[0].cta):
        places = [x for _, x in members]
        middle = (places[0] + places[-1]) / 2
        yield tag("text", escape_markup(_cta_text(cta)), class_="soft", x=middle, y=18, text_anchor="middle")
    for column, x in pairs:
        weight = f"strong {column.role}" if column.role else ""
        yield tag("text", escape_markup(column.label), class_=f"mono {weight}", x=x, y=38, text_anchor="middle")
        yield tag("text", escape_markup(_thread_count(column)), class_="soft", x=x, y=53, text_anchor="middle")
    if plan.lanes:
        x = (plan.lanes[0] + plan.lanes[-1]) / 2
        yield tag("text", IN_FLIGHT, class_="soft", x=x, y=38, text_anchor="middle")
    yield tag("text", HEADING, class_="soft", x=EDGE, y=53)
    yield tag("text", "what happens", class_="soft", x=plan.text_x, y=53)


# --------------------------------------------------------------------------------------------------------- rows


def _bands(plan: _DrawingLayout) -> Iterator[str]:
    """The background of each step, below all other marks."""
    for step, y in zip(plan.trace.steps, plan.step_centers, strict=True):
        sort = f"band {step.role}".strip()
        yield tag("rect", class_=sort, x=0, y=y - ROW / 2, width=plan.width, height=ROW, data_line=step.line or None)


def _rows(plan: _DrawingLayout) -> Iterator[str]:
    for step, y in zip(plan.trace.steps, plan.step_centers, strict=True):
        if step.omitted_before:
            above = y - ROW / 2 - GAP / 2 + 4
            if step.role is FindingRole.FAULT and plan.missing_top is not None:
                above = plan.missing_top - GAP / 2
            count = "1 step is" if step.omitted_before == 1 else f"{step.omitted_before} steps are"
            yield tag("text", f"{count} left out here", class_="soft", x=plan.left, y=above)
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
    names = list(_line_names(step))
    yield tag("text", escape_markup(step.number), class_="soft", x=EDGE, y=y + 4)
    for down, sort, (name, _) in zip((-3 if len(names) > 1 else 4, 13), (step.role, "soft"), names, strict=False):
        yield tag("text", escape_markup(name), class_=f"mono {sort}".strip(), x=plan.lines_x, y=y + down)
    weight = f"strong {step.role}" if step.role else ""
    if step.instruction:
        yield tag("text", escape_markup(step.instruction), class_=f"mono {weight}".strip(), x=plan.text_x, y=y - 3)
    yield tag("text", escape_markup(step.text), class_="soft", x=plan.text_x, y=y + (13 if step.instruction else 4))


def _marks(plan: _DrawingLayout, step: TraceStep, y: float) -> Iterator[str]:
    places = [plan.centers[at] for at in step.columns]
    match step.kind:
        case StepKind.JOIN:
            if len(places) > 1:
                yield tag("line", class_="join", x1=places[0], x2=places[-1], y1=y, y2=y)
            yield from (tag("circle", class_="joint", cx=x, cy=y, r=5) for x in places)
        case StepKind.ARRIVE:
            for x in places:
                yield tag("polygon", class_="arrive", points=f"{x - 6},{y - 6} {x + 6},{y - 6} {x},{y + 6}")
        case StepKind.PHASE if not places:
            yield tag("line", class_="phase", x1=plan.left, x2=plan.text_x - 10, y1=y, y2=y)
        case StepKind.PHASE:
            yield from (_draw_chip(x, y, "mbarrier", "") for x in places)
        case StepKind.FENCE | StepKind.COMMIT | StepKind.WAIT:
            yield from (_draw_chip(x, y, _CHIPS[step.kind], str(step.kind)) for x in places)
        case _:
            for at, x in zip(step.columns, places, strict=True):
                part = step.role and (plan.trace.columns[at].role or step.role)
                yield _access_mark(step, part, x, y, touches=at in step.touching)


def _draw_chip(x: float, y: float, word: str, sort: str) -> str:
    width = text_width(word, SMALL_SIZE) + 12
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
    x, top = plan.lanes[number], plan.step_centers[bar.first]
    bottom = plan.step_centers[bar.last] if bar.last is not None else plan.height
    over = "until its completion is observed" if bar.last is not None else "continues after the end of the picture"
    over = over if bar.is_complete else "and its completion is not observed in the recorded part of the run"
    title = tag("title", escape_markup(f"{bar.instruction}, line {bar.line}: in flight from its issue, {over}"))
    sort = f" {bar.role}".rstrip()
    wire = tag("line", class_=f"wire{sort}", x1=plan.centers[bar.column], x2=x - 8, y1=top, y2=top)
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
        "rect",
        class_="lackbox",
        x=plan.left - 8,
        y=plan.missing_top,
        width=plan.width - plan.left - 4,
        height=height,
        rx=6,
    )
    for number, line in enumerate(plan.lines):
        y = plan.missing_top + 19 + MISSING_LINE_HEIGHT * number
        yield tag("text", escape_markup(line), class_="fault strong", x=plan.text_x, y=y)


def _access_positions(plan: _DrawingLayout) -> Sequence[tuple[float, float]]:
    """The positions of the accesses of the finding, the earlier one first."""
    found = []
    for step, y in zip(plan.trace.steps, plan.step_centers, strict=True):
        if step.role:
            named = [at for at in step.touching if plan.trace.columns[at].role]
            found += [(plan.centers[at], y) for at in (named or [*step.touching, *step.columns][:1])]
    return found
