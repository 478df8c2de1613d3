"""Findings as boxes below their lines, and as a list with filters; undecided questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from ptxkit.diagnostic_groups import fault_notes
from ptxkit.diagnostics import Diagnostic, Label, Severity, Undecided
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.model.kernel_conditions import describe_question
from ptxkit.report.limits import MAX_LISTED_QUESTIONS, MAX_STATEMENT_CHARS
from ptxkit.report.markup import escape_markup, tag
from ptxkit.results import CodePage
from ptxkit.source import SourceFile, origin_chain
from ptxkit.untrusted_text import escape_text

_EXAMPLES = ("Example", "Use instead")
"""Titles of the parts of a code's page that contain PTX; without an example, the second one is text."""


def finding_box(item: Diagnostic, number: int, page: CodePage | None) -> str:
    """One finding, to be shown below its line. page: of its code, which can be expanded."""
    line, column = item.source.position(item.span.start)
    labels = [tag("li", *_label(item.source, each)) for each in sorted(item.labels, key=lambda each: each.span)]
    fields = [_field("source", origin_chain(item.origin))] if item.origin else []
    fields += [_field("note", note) for note in (*item.notes, *fault_notes(item))]
    fields += [_field("help", item.help)] if item.help else []
    fields += [_field("isa", "; ".join(item.isa))] if item.isa else []
    return tag(
        "aside",
        tag("p", _code(item), escape_markup(f" {_inline_markup(item.message)}"), class_="message"),
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
    return tag("b", escape_markup(f"{item.code} {item.severity}:"), class_="code")


def _label(source: SourceFile, label: Label) -> Iterator[str]:
    line = source.position(label.span.start)[0]
    yield tag("a", f"line {line}", href=f"#L{line}")
    yield " " + tag("code", escape_markup(_truncate(source.line_text(line))))
    place = f" ({origin_chain(label.origin[-1:])})" if label.origin else ""
    yield " " + tag("span", escape_markup(_inline_markup(label.message) + escape_text(place)))


def _field(name: str, words: str) -> str:
    return tag("p", tag("b", f"{name}: "), escape_markup(_inline_markup(words)), class_="field")


def _page(page: CodePage) -> str:
    return tag("details", tag("summary", escape_markup(f"{page.code}, {page.name}: {page.headline}")), *_parts(page))


def _parts(page: CodePage) -> Iterator[str]:
    """The parts of a code's page: titles and texts; those with PTX keep their lines."""
    shows = any(title == _EXAMPLES[0] for title, _ in page.parts)
    for title, words in page.parts:
        if shows and title in _EXAMPLES:
            content = tag("pre", escape_markup("\n".join(map(escape_text, words.split("\n")))))
        else:
            content = "".join(tag("p", escape_markup(_inline_markup(part))) for part in words.split("\n\n"))
        yield tag("h4", escape_markup(title)) + content


def file_findings(findings: Sequence[Diagnostic]) -> str:
    """The findings of a file without lines, or the reason why it was not checked."""
    boxes = [
        tag(
            "aside",
            tag("p", _code(item), escape_markup(f" {_inline_markup(item.message)}"), class_="message"),
            _field("help", item.help) if item.help else "",
            class_=f"finding {item.severity}",
            data_code=item.code,
            data_severity=item.severity,
        )
        for item in findings
        if item.code == ptx1xx.NO_VERDICT
    ]
    return "".join(boxes)


def finding_list(findings: Sequence[Diagnostic], shown: int) -> str:
    """All findings in the order of the text, with filters. shown: the number of those shown below their lines."""
    if not findings:
        return tag("p", "There are no findings.", class_="left")
    rows = []
    for number, item in enumerate(findings, 1):
        line, column = item.source.position(item.span.start)
        where = f"{line}:{column}" if item.code != ptx1xx.NO_VERDICT else "file"
        target = f"#d{number}" if number <= shown and item.code != ptx1xx.NO_VERDICT else f"#L{line}"
        rows.append(
            tag(
                "li",
                tag("a", escape_markup(where), href=target, class_="at"),
                tag("span", _code(item), escape_markup(f" {_inline_markup(item.message)}")),
                class_=str(item.severity),
                data_code=item.code,
                data_severity=item.severity,
            )
        )
    left = len(findings) - shown
    more = tag(
        "p", escape_markup(f"{left:,} of them are listed here only, and not shown below their lines."), class_="left"
    )
    return _filter(findings) + tag("ul", *rows, class_="findings") + (more if left > 0 else "")


def _filter(findings: Iterable[Diagnostic]) -> str:
    """Check boxes for severities, and a selection of codes. They need scripts, and are hidden without them."""
    severities = Counter(item.severity for item in findings)
    codes = Counter(item.code for item in findings)
    boxes = [
        tag(
            "label",
            tag("input", type="checkbox", checked="checked", value=severity),
            escape_markup(f" {severity} ({severities[severity]})"),
        )
        for severity in Severity
        if severities[severity]
    ]
    options = [tag("option", "all codes", value="")]
    options += [tag("option", escape_markup(f"{code} ({count})"), value=code) for code, count in sorted(codes.items())]
    choice = tag("label", "code ", tag("select", *options, id="code"))
    return tag("div", *boxes, choice, id="filter", class_="scripted")


def undecided_list(questions: Sequence[Undecided]) -> str:
    """The undecided questions, which can be expanded, with equal ones merged; empty if none exist."""
    if not questions:
        return ""
    equal: dict[tuple[str, str], list[Undecided]] = {}
    for each in questions[:MAX_LISTED_QUESTIONS]:
        equal.setdefault((each.code, describe_question(each)), []).append(each)
    rows = [tag("li", _undecided_item(code, reason, each)) for (code, reason), each in equal.items()]
    left = len(questions) - MAX_LISTED_QUESTIONS
    more = tag("p", escape_markup(f"Left out: {left:,} more questions."), class_="left") if left > 0 else ""
    count = (
        f"{len(questions):,} undecided question{'' if len(questions) == 1 else 's'}: "
        "these places are neither reported nor proved correct"
    )
    return tag("details", tag("summary", escape_markup(count)), tag("ul", *rows, class_="open"), more, class_="open")


def _undecided_item(code: str, reason: str, places: Sequence[Undecided]) -> str:
    lines = dict.fromkeys(each.source.position(each.span.start)[0] for each in places)
    links = ", ".join(tag("a", str(line), href=f"#L{line}") for line in lines)
    where = "line" if len(lines) == 1 else "lines"
    return (
        tag("b", escape_markup(f"{code}: "), class_="code")
        + escape_markup(f"{_inline_markup(reason)} ({where} ")
        + links
        + ")"
    )


def _inline_markup(words: str) -> str:
    return escape_text(" ".join(words.split()))


def _truncate(statement: str) -> str:
    words = " ".join(escape_text(statement).split())
    return words if len(words) <= MAX_STATEMENT_CHARS else f"{words[: MAX_STATEMENT_CHARS - 1]}\u2026"
