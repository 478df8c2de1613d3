"""Findings as boxes below their lines, and as a list that can be filtered; questions that were left open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ptxkit.diagnostics import Diagnostic, Label, Severity, Undecided
from ptxkit.foreign_text import visible
from ptxkit.report.trace_markup import tag, text
from ptxkit.results import NOT_CHECKED, CodePage
from ptxkit.source import Place, SourceFile

MOST_QUESTIONS = 500
"""Questions that were left open which are listed."""
MOST_STATEMENT = 90
_EXAMPLES = ("Example", "Use instead")
"""Titles of the parts of a code's page that show PTX; of pages without an example the second is words."""


def finding(item: Diagnostic, number: int, page: CodePage | None) -> str:
    """One finding, as lint words it, to stand below its line. page: of its code, to unfold."""
    line, column = item.source.position(item.span.start)
    labels = [tag("li", *_label(item.source, each)) for each in sorted(item.labels, key=lambda each: each.span)]
    fields = [_field("source", _chain(item.origin))] if item.origin else []
    fields += [_field("note", note) for note in item.notes]
    fields += [_field("help", item.help)] if item.help else []
    fields += [_field("isa", "; ".join(item.isa))] if item.isa else []
    return tag(
        "aside",
        tag("p", _code(item), text(f" {_words(item.message)}"), class_="said"),
        tag("ul", *labels) if labels else "",
        *fields,
        _page(page) if page is not None else "",
        id=f"d{number}",
        class_=f"finding {item.severity}",
        data_code=item.code,
        data_severity=item.severity,
        aria_label=f"{item.severity} {item.code} at line {line}, column {column}",
    )


def _code(item: Diagnostic) -> str:
    return tag("b", text(f"{item.code} {item.severity}:"), class_="code")


def _label(source: SourceFile, label: Label) -> Iterator[str]:
    line = source.position(label.span.start)[0]
    yield tag("a", f"line {line}", href=f"#L{line}")
    yield " " + tag("code", text(_cut(source.line_text(line))))
    place = f" ({_chain(label.origin[-1:])})" if label.origin else ""
    yield " " + tag("span", text(_words(label.message) + visible(place)))


def _field(name: str, words: str) -> str:
    return tag("p", tag("b", f"{name}: "), text(_words(words)), class_="field")


def _page(page: CodePage) -> str:
    return tag("details", tag("summary", text(f"{page.code}, {page.name}: {page.headline}")), *_parts(page))


def _parts(page: CodePage) -> Iterator[str]:
    """The parts of a code's page: titles, and texts; those that show PTX keep their lines."""
    shows = any(title == _EXAMPLES[0] for title, _ in page.parts)
    for title, words in page.parts:
        if shows and title in _EXAMPLES:
            content = tag("pre", text("\n".join(map(visible, words.split("\n")))))
        else:
            content = "".join(tag("p", text(_words(part))) for part in words.split("\n\n"))
        yield tag("h4", text(title)) + content


def whole_file(findings: Sequence[Diagnostic]) -> str:
    """What was found of a file that has no lines to show it below, or why it was not checked."""
    boxes = [
        tag(
            "aside",
            tag("p", _code(item), text(f" {_words(item.message)}"), class_="said"),
            _field("help", item.help) if item.help else "",
            class_=f"finding {item.severity}",
            data_code=item.code,
            data_severity=item.severity,
        )
        for item in findings
        if item.code == NOT_CHECKED
    ]
    return "".join(boxes)


def finding_list(findings: Sequence[Diagnostic], shown: int) -> str:
    """All findings in the order of the text, with what to filter them by. shown: how many stand below their lines."""
    if not findings:
        return tag("p", "Nothing was found.", class_="left")
    rows = []
    for number, item in enumerate(findings, 1):
        line, column = item.source.position(item.span.start)
        where = f"{line}:{column}" if item.code != NOT_CHECKED else "file"
        target = f"#d{number}" if number <= shown and item.code != NOT_CHECKED else f"#L{line}"
        rows.append(
            tag(
                "li",
                tag("a", text(where), href=target, class_="at"),
                tag("span", _code(item), text(f" {_words(item.message)}")),
                class_=str(item.severity),
                data_code=item.code,
                data_severity=item.severity,
            )
        )
    left = len(findings) - shown
    more = tag("p", text(f"{left:,} of them stand here only, and not below their lines."), class_="left")
    return _filter(findings) + tag("ul", *rows, class_="findings") + (more if left > 0 else "")


def _filter(findings: Iterable[Diagnostic]) -> str:
    """Check boxes for severities, a choice of codes. They do something where scripts run, and are hidden elsewhere."""
    severities = Counter(item.severity for item in findings)
    codes = Counter(item.code for item in findings)
    boxes = [
        tag(
            "label",
            tag("input", type="checkbox", checked="checked", value=severity),
            text(f" {severity} ({severities[severity]})"),
        )
        for severity in Severity
        if severities[severity]
    ]
    options = [tag("option", "all codes", value="")]
    options += [tag("option", text(f"{code} ({count})"), value=code) for code, count in sorted(codes.items())]
    choice = tag("label", "code ", tag("select", *options, id="code"))
    return tag("div", *boxes, choice, id="filter", class_="scripted")


def question_list(questions: Sequence[Undecided]) -> str:
    """What could not be decided, to unfold, equal questions together; empty where all was."""
    if not questions:
        return ""
    alike: dict[tuple[str, str], list[Undecided]] = {}
    for each in questions[:MOST_QUESTIONS]:
        alike.setdefault((each.code, each.reason), []).append(each)
    rows = [tag("li", _question(code, reason, each)) for (code, reason), each in alike.items()]
    left = len(questions) - MOST_QUESTIONS
    more = tag("p", text(f"Left out: {left:,} more questions."), class_="left") if left > 0 else ""
    count = f"{len(questions):,} question{'' if len(questions) == 1 else 's'} left open: no findings, and no clean bill"
    return tag("details", tag("summary", text(count)), tag("ul", *rows, class_="open"), more, class_="open")


def _question(code: str, reason: str, places: Sequence[Undecided]) -> str:
    lines = dict.fromkeys(each.source.position(each.span.start)[0] for each in places)
    links = ", ".join(tag("a", str(line), href=f"#L{line}") for line in lines)
    where = "line" if len(lines) == 1 else "lines"
    return tag("b", text(f"{code}: "), class_="code") + text(f"{_words(reason)} ({where} ") + links + ")"


def _chain(origin: Sequence[Place]) -> str:
    return ", inlined at ".join(f"{place.file}:{place.line}" for place in origin)


def _words(words: str) -> str:
    return visible(" ".join(words.split()))


def _cut(statement: str) -> str:
    words = " ".join(visible(statement).split())
    return words if len(words) <= MOST_STATEMENT else f"{words[: MOST_STATEMENT - 1]}\u2026"
