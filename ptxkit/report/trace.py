"""Findings of the reference machine as a page of pictures: one file that asks nobody for anything.

The page is HTML that is XML, too. Without scripts it shows all findings, one below the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptxkit.report.trace_markup import policy, tag, text
from ptxkit.report.trace_picture import picture
from ptxkit.report.trace_style import SCRIPT, STYLE
from ptxkit.traces import Part, Trace, TracedAccess

MOST_FINDINGS = 20
MOST_LINES = 60
"""Lines of the PTX beside a picture."""
CONTEXT = 2
"""Lines above and below one that is shown."""

_NAMES = {Part.FAULT: "at fault", Part.OTHER: "conflicts with", Part.NONE: ""}


def trace_page(traces: Sequence[Trace]) -> str:
    """The page, as text to be written in UTF-8."""
    shown = traces[:MOST_FINDINGS]
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy(STYLE, SCRIPT)),
        tag("meta", name="viewport", content="width=device-width"),
        tag("title", text(_title(traces))),
        tag("style", STYLE),
    )
    switch = tag("button", "light / dark", id="theme", type="button")
    body = tag(
        "body",
        tag("header", tag("h1", text(_title(traces))), switch),
        _choice(shown) if len(shown) > 1 else "",
        *(_article(each, number) for number, each in enumerate(shown, 1)),
        _rest(len(traces) - len(shown)),
        tag("script", SCRIPT),
    )
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _title(traces: Sequence[Trace]) -> str:
    if not traces:
        return "ptxkit verify: the machine found nothing"
    count = "1 finding" if len(traces) == 1 else f"{len(traces)} findings"
    return f"ptxkit verify: {count} of the reference machine"


def _rest(count: int) -> str:
    return tag("p", text(f"Left out: {count} more findings."), class_="left") if count else ""


def _choice(traces: Sequence[Trace]) -> str:
    """A button for each finding."""
    buttons = [
        tag(
            "button",
            tag("b", text(each.code), class_=each.severity),
            text(f" {each.kernel}, line {each.line}"),
            type="button",
            role="tab",
            aria_controls=f"finding-{number}",
        )
        for number, each in enumerate(traces, 1)
    ]
    return tag("nav", *buttons, role="tablist")


# ----------------------------------------------------------------------------------------------------- a finding


def _article(trace: Trace, number: int) -> str:
    code = tag("span", text(f"{trace.code} {trace.severity}"), class_=f"code {trace.severity}")
    where = f"{trace.source.path}, line {trace.line}; run of {trace.kernel}: {', '.join(trace.launch)}"
    missing = tag("p", tag("b", "Missing: "), text(trace.missing), class_="missing") if trace.missing else ""
    pictures = [tag("h3", "Threads across, time down"), _legend(), tag("div", picture(trace), class_="picture")]
    left = f"Left out: {'; '.join(trace.left_out)}." if trace.left_out else ""
    return tag(
        "article",
        tag("h2", code, text(f": {trace.message}")),
        tag("p", text(where), class_="how"),
        missing,
        tag("div", _accesses(trace.accesses), class_="wide") if trace.accesses else "",
        tag(
            "div",
            tag("section", *(pictures if trace.steps else []), tag("p", text(left), class_="left") if left else ""),
            tag("section", tag("h3", "PTX"), _excerpt(trace)),
            class_="both",
        ),
        id=f"finding-{number}",
    )


def _accesses(accesses: Sequence[TracedAccess]) -> str:
    """The accesses as a table: whose, where, what they found and left there."""
    heads = ("", "instruction", "line", "thread", "CTA", "bytes", "old value", "new value")
    rows = [tag("tr", *(tag("th", head, scope="col") for head in heads))]
    for each in accesses:
        where = f"{each.space} 0x{each.start:x} to 0x{each.start + each.size - 1:x}" if each.size else ""
        cells = (each.instruction, each.line, each.thread, each.cta, where, each.old or "", each.new or "")
        shown = [tag("td", text(_NAMES[each.part])), *(tag("td", text(cell), class_="mono") for cell in cells)]
        rows.append(tag("tr", *shown, class_=each.part))
    return tag("table", *rows)


def _legend() -> str:
    """What the marks mean."""
    return tag("ul", *(tag("li", _sign(drawing), word) for drawing, word in _SIGNS), class_="legend")


def _sign(drawing: str) -> str:
    space = "http://www.w3.org/2000/svg"
    return tag("svg", drawing, xmlns=space, width=22, height=14, viewBox="0 0 22 14", aria_hidden="true")


_SIGNS = (
    (tag("circle", class_="mark touch", cx=11, cy=7, r=5), "reads the bytes"),
    (tag("rect", class_="mark touch", x=6, y=2, width=10, height=10), "writes them"),
    (tag("circle", class_="mark", cx=11, cy=7, r=4), "the same instruction on other bytes"),
    (tag("line", class_="join", x1=3, x2=19, y1=7, y2=7), "barrier that joins threads"),
    (tag("polygon", class_="arrive", points="5,2 17,2 11,13"), "arrives at a barrier"),
    (tag("rect", class_="copy", x=3, y=2, width=16, height=10, rx=3), "in flight, from issue to completion"),
    (tag("line", class_="lack", x1=1, x2=21, y1=7, y2=7), "nothing orders these"),
)


# ------------------------------------------------------------------------------------------------------- excerpt


def _excerpt(trace: Trace) -> str:
    """The PTX around what the picture shows."""
    parts = {each.line: each.part for each in reversed(trace.accesses) if each.line}
    parts.setdefault(trace.line, Part.FAULT)
    lines = []
    previous = 0
    for line in _lines(trace, parts):
        if line != previous + 1:
            lines.append(tag("span", "\u22ee", class_="cut"))
        number = tag("i", text(line))
        content = text(trace.source.line_text(line))
        lines.append(tag("span", number, content, class_=parts.get(line) or None, data_line=line))
        previous = line
    if previous < trace.source.line_count:
        lines.append(tag("span", "\u22ee", class_="cut"))
    return tag("pre", *lines)


def _lines(trace: Trace, parts: dict[int, Part]) -> list[int]:
    """The lines that are shown: those of the accesses first, as many as there may be."""
    count = trace.source.line_count
    wanted: dict[int, None] = {}
    for line in _with_context([*parts, *(step.line for step in trace.steps if step.line)]):
        if 1 <= line <= count and len(wanted) < MOST_LINES:
            wanted.setdefault(line)
    return sorted(wanted)


def _with_context(lines: Sequence[int]) -> Iterator[int]:
    yield from lines
    for line in lines:
        yield from range(line - CONTEXT, line + CONTEXT + 1)
