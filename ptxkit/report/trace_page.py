"""Findings of the reference machine as an HTML page with drawings, in one file that loads nothing else.

The page is also valid XML. Without scripts it shows all findings, one below the other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from ptxkit.model.trace import FindingRole, FindingTrace, TraceAccess
from ptxkit.report.limits import MAX_TRACE_FINDINGS, MAX_TRACE_LINES
from ptxkit.report.markup import content_security_policy, escape_markup, tag
from ptxkit.report.trace_drawing import draw_trace
from ptxkit.report.trace_style import SCRIPT, STYLE
from ptxkit.source import SourceLine

CONTEXT = 2
"""Lines that are shown before and after one."""

_NAMES = {FindingRole.FAULT: "at fault", FindingRole.OTHER: "conflicts with", FindingRole.NONE: ""}


def trace_page(traces: Sequence[FindingTrace]) -> str:
    """The page as text, to be written in UTF-8."""
    shown = traces[:MAX_TRACE_FINDINGS]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=content_security_policy(STYLE, SCRIPT)),
        tag("meta", name="viewport", content="width=device-width"),
        tag("title", escape_markup(_title(traces))),
        tag("style", STYLE),
    )
    switch = tag("button", "light / dark", id="theme", type="button")
    body = tag(
        "body",
        tag("header", tag("h1", escape_markup(_title(traces))), switch),
        _finding_buttons(shown) if len(shown) > 1 else "",
        *(_article(each, number) for number, each in enumerate(shown, 1)),
        _omitted_note(len(traces) - len(shown)),
        tag("script", SCRIPT),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _title(traces: Sequence[FindingTrace]) -> str:
    if not traces:
        return "ptxkit verify: the reference machine found nothing"
    count = "1 finding" if len(traces) == 1 else f"{len(traces)} findings"
    return f"ptxkit verify: {count} of the reference machine"


def _omitted_note(count: int) -> str:
    return tag("p", escape_markup(f"Left out: {count} more findings."), class_="left") if count else ""


def _finding_buttons(traces: Sequence[FindingTrace]) -> str:
    buttons = [
        tag(
            "button",
            tag("b", escape_markup(each.code), class_=each.severity),
            escape_markup(f" {each.kernel}, {_origin(each.origin) or f'line {each.line}'}"),
            type="button",
            role="tab",
            aria_controls=f"finding-{number}",
        )
        for number, each in enumerate(traces, 1)
    ]
    return tag("nav", *buttons, role="tablist")


# ----------------------------------------------------------------------------------------------------- a finding


def _article(trace: FindingTrace, number: int) -> str:
    code = tag("span", escape_markup(f"{trace.code} {trace.severity}"), class_=f"code {trace.severity}")
    place = f"{trace.source.path}, line {trace.line}"
    if trace.origin is not None:
        place = f"{_origin(trace.origin)} ({place})"
    where = f"{place}; run of {trace.kernel}: {', '.join(trace.launch)}"
    missing = (
        tag("p", tag("b", "Missing: "), escape_markup(trace.missing_ordering), class_="missing")
        if trace.missing_ordering
        else ""
    )
    pictures = [
        tag("h3", "Threads in columns, time from top to bottom"),
        _legend(),
        tag("div", draw_trace(trace), class_="picture"),
    ]
    left = f"Left out: {'; '.join(trace.omissions)}." if trace.omissions else ""
    return tag(
        "article",
        tag("h2", code, escape_markup(f": {trace.message}")),
        tag("p", escape_markup(where), class_="how"),
        missing,
        tag("div", _accesses(trace.accesses), class_="wide") if trace.accesses else "",
        tag(
            "div",
            tag(
                "section",
                *(pictures if trace.steps else []),
                tag("p", escape_markup(left), class_="left") if left else "",
            ),
            tag("section", tag("h3", "PTX"), _excerpt(trace)),
            class_="both",
        ),
        id=f"finding-{number}",
    )


def _accesses(accesses: Sequence[TraceAccess]) -> str:
    """The accesses as a table: thread, location, and the old and new values."""
    heads = ["", "instruction", "PTX line", "program", "thread", "CTA", "place", "old value", "new value"]
    if not any(each.origin for each in accesses):
        heads.remove("program")
    rows = [tag("tr", *(tag("th", head, scope="col") for head in heads))]
    for each in accesses:
        octets = f"{each.space} 0x{each.start:x} to 0x{each.start + each.size - 1:x}" if each.size else ""
        cells = [
            (each.instruction, None),
            (each.line, None),
            (_origin(each.origin), each.origin and each.origin.file),
            (each.thread, None),
            (each.cta, None),
            (each.place or octets, octets),
            (each.old_value or each.old or "", each.old),
            (each.new_value or each.new or "", each.new),
        ]
        if "program" not in heads:
            del cells[2]
        shown = [tag("td", escape_markup(_NAMES[each.role]))]
        shown += [
            tag("td", escape_markup(cell), class_="mono", title=title, data_head=head)
            for head, (cell, title) in zip(heads[1:], cells, strict=True)
        ]
        rows.append(tag("tr", *shown, class_=each.role))
    return tag("table", *rows)


def _origin(place: SourceLine | None) -> str:
    return f"{os.path.basename(place.file)}:{place.line}" if place is not None else ""


def _legend() -> str:
    """The legend of the marks."""
    return tag("ul", *(tag("li", _legend_sign(drawing), word) for drawing, word in _SIGNS), class_="legend")


def _legend_sign(drawing: str) -> str:
    space = "http://www.w3.org/2000/svg"
    return tag("svg", drawing, xmlns=space, width=22, height=14, viewBox="0 0 22 14", aria_hidden="true")


_SIGNS = (
    (tag("circle", class_="mark touch", cx=11, cy=7, r=5), "reads the place in question"),
    (tag("rect", class_="mark touch", x=6, y=2, width=10, height=10), "writes it"),
    (
        tag("polygon", class_="mark touch", points="4,7 11,0 18,7 11,14"),
        "updates it, or issues or completes an operation",
    ),
    (tag("circle", class_="mark", cx=11, cy=7, r=4), "the same instruction at other places"),
    (tag("circle", class_="mark fault", cx=11, cy=7, r=5), "the access at fault"),
    (tag("circle", class_="mark other", cx=11, cy=7, r=5), "the access with which it conflicts"),
    (tag("line", class_="join", x1=3, x2=19, y1=7, y2=7), "a barrier synchronizes these threads"),
    (tag("polygon", class_="arrive", points="5,2 17,2 11,13"), "arrives at a barrier"),
    (tag("line", class_="phase", x1=1, x2=21, y1=7, y2=7), "a phase of an mbarrier is complete"),
    (tag("rect", class_="chip", x=1, y=2, width=20, height=10, rx=5), "a fence, commit or wait"),
    (tag("rect", class_="copy", x=3, y=2, width=16, height=10, rx=3), "in flight, from issue to completion"),
    (tag("line", class_="wire", x1=1, x2=21, y1=7, y2=7), "from the issue to its bar"),
    (tag("line", class_="lack", x1=1, x2=21, y1=7, y2=7), "nothing orders these accesses"),
)


# ------------------------------------------------------------------------------------------------------- excerpt


def _excerpt(trace: FindingTrace) -> str:
    """The PTX around the accesses of the drawing."""
    parts = {each.line: each.role for each in reversed(trace.accesses) if each.line}
    parts.setdefault(trace.line, FindingRole.FAULT)
    lines = []
    previous = 0
    for line in _lines(trace, parts):
        if line != previous + 1:
            lines.append(tag("span", "\u22ee", class_="cut"))
        number = tag("i", escape_markup(line))
        content = escape_markup(trace.source.line_text(line))
        lines.append(tag("span", number, content, class_=parts.get(line) or None, data_line=line))
        previous = line
    if previous < trace.source.line_count:
        lines.append(tag("span", "\u22ee", class_="cut"))
    return tag("pre", *lines)


def _lines(trace: FindingTrace, parts: dict[int, FindingRole]) -> list[int]:
    """The lines that are shown: those of the accesses first, up to the limit."""
    count = trace.source.line_count
    wanted: dict[int, None] = {}
    for line in _with_context([*parts, *(step.line for step in trace.steps if step.line)]):
        if 1 <= line <= count and len(wanted) < MAX_TRACE_LINES:
            wanted.setdefault(line)
    return sorted(wanted)


def _with_context(lines: Sequence[int]) -> Iterator[int]:
    yield from lines
    for line in lines:
        yield from range(line - CONTEXT, line + CONTEXT + 1)
