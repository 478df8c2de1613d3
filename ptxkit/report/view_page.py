"""The page of `ptxkit view`: a file's text, findings, control flow and transfers, in one file that loads nothing else.

Its style and interaction are in the files next to this one (`view.css`, `view.js`); the browser runs that script and
no other, by its hash. Without scripts the page shows everything, one below the other.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.mangled_names import short_name
from ptxkit.model.view import FileView, FunctionView
from ptxkit.report.limits import MAX_DRAWN_FUNCTIONS, MAX_FUNCTION_NAME_CHARS, MAX_INLINE_FINDINGS
from ptxkit.report.markup import content_security_policy, escape_markup, tag
from ptxkit.report.program_source import ProgramSources
from ptxkit.report.readable_names import question_with_readable_names, with_readable_names
from ptxkit.report.trace_style import PALETTE
from ptxkit.report.view_chart import FindingLink, transfers_chart
from ptxkit.report.view_findings import file_findings, finding_list, undecided_list
from ptxkit.report.view_graph import draw_graph, graph_legend
from ptxkit.report.view_listing import foldable_lines, listing
from ptxkit.report.view_marks import definitions
from ptxkit.report.view_program import ProgramLinks, link_program, program_section
from ptxkit.results import CodePage
from ptxkit.untrusted_text import escape_text


def view_page(
    view: FileView, pages: Mapping[str, CodePage] | None = None, sources: ProgramSources | None = None
) -> str:
    """The page, as text to be written in UTF-8. pages: the documentation of codes. sources: reads the program that the
    PTX was compiled from."""
    style, script = PALETTE + _asset("view.css"), _asset("view.js")
    title = f"{escape_text(os.path.basename(view.source.path) or view.source.path)} \u2013 ptxkit view"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=content_security_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width"),
        tag("title", escape_markup(title)),
        f"<style>{style}</style>",
    )
    sources = sources or ProgramSources()
    links = link_program(view, sources)
    main = _main(view, pages or {}, links, sources)
    body = tag("body", definitions(), _header(view, links), main, f"<script>{script}</script>")
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def _main(view: FileView, pages: Mapping[str, CodePage], links: ProgramLinks, sources: ProgramSources) -> str:
    findings = [with_readable_names(each) for each in view.result.diagnostics]
    below = [item for item in findings if item.code != ptx1xx.NO_VERDICT]
    numbered = [*below, *(item for item in findings if item.code == ptx1xx.NO_VERDICT)]
    text = listing(view, below, pages, links.places)
    lines = tag("section", text, id="listing", tabindex=0, aria_label="PTX with findings")
    program = program_section(links, below[:MAX_INLINE_FINDINGS], sources)
    return tag("main", program, lines, _panel(view, numbered, min(len(below), MAX_INLINE_FINDINGS)))


# -------------------------------------------------------------------------------------------------------- header


def _header(view: FileView, links: ProgramLinks) -> str:
    name = tag("h1", escape_markup(escape_text(view.source.path)))
    facts = [
        f".version {view.version}" if view.version else "no .version",
        f".target {escape_text(view.target)}" if view.target else "no .target",
        f"{view.source.line_count:,} lines",
    ]
    counts = [
        tag("a", escape_markup(words), href="#findings", class_=f"count {sort}")
        for words, sort in _counts(view)
        if words
    ]
    search = tag(
        "form",
        tag(
            "input",
            type="search",
            id="query",
            placeholder="search: text, %register or line  ( / )",
            aria_label="Search the listing",
        ),
        tag(
            "button",
            "\u2191",
            type="button",
            id="previous",
            title="previous (shift enter, N)",
            aria_label="Previous match",
        ),
        tag("button", "\u2193", type="submit", id="next", title="next (enter, n)", aria_label="Next match"),
        tag("output", id="matches"),
        id="search",
        role="search",
        class_="scripted",
    )
    panes = [("program", "Program")] if links.files else []
    panes += [("listing", "PTX"), ("panel", "Pictures")]
    switch = [tag("button", word, type="button", value=name, aria_controls=name) for name, word in panes]
    folded = len(foldable_lines(view))
    title = "declarations of registers, .loc, copies of registers, debugging information"
    words = escape_markup(f"{folded:,} routine lines")
    fold = tag("button", words, id="fold", type="button", class_="scripted", aria_pressed="false", title=title)
    theme = tag("button", "light / dark", id="theme", type="button", class_="scripted")
    return tag(
        "header",
        tag("div", name, tag("p", escape_markup(" \u00b7 ".join(facts)), class_="how"), class_="file"),
        tag("p", *counts, class_="counts"),
        search,
        fold if folded else "",
        theme,
        tag("div", *switch, id="panes", class_="scripted", role="group", aria_label="What to show"),
    )


def _counts(view: FileView) -> Iterator[tuple[str, str]]:
    findings: Sequence[Diagnostic] = view.result.diagnostics
    for severity in Severity:
        count = sum(item.severity is severity for item in findings)
        if count or severity is not Severity.NOTE:
            yield f"{count:,} {severity}{'' if count == 1 else 's'}", str(severity) if count else ""
    conditional = sum(bool(each.conditions) for each in view.result.undecided)
    if len(view.result.undecided) > conditional:
        yield f"{len(view.result.undecided) - conditional:,} undecided", ""
    if conditional:
        yield f"{conditional:,} conditional", ""
    if view.result.suppressed:
        yield f"{view.result.suppressed:,} suppressed", ""
    if view.result.known:
        yield f"{view.result.known:,} known", ""


# --------------------------------------------------------------------------------------------------------- panel


def _panel(view: FileView, findings: Sequence[Diagnostic], shown: int) -> str:
    tabs = [
        tag("button", word, type="button", role="tab", id=f"tab-{name}", aria_controls=name)
        for name, word in (
            ("transfers", "Transfers"),
            ("graph", "Control flow"),
            ("findings", f"Findings ({len(findings):,})"),
        )
    ]
    drawn = view.functions[:MAX_DRAWN_FUNCTIONS]
    everywhere = {each.line: each for function in view.functions for each in function.async_ops}
    links = _finding_links(findings[:shown])
    listed = tag(
        "section",
        tag("h2", "Findings"),
        file_findings(findings),
        finding_list(findings, shown),
        undecided_list([question_with_readable_names(each) for each in view.result.undecided]),
        id="findings",
        class_="tab",
        aria_labelledby="tab-findings",
    )
    parts = [tag("div", *tabs, role="tablist", class_="scripted", aria_label="What to show")]
    parts.append(_function_selector(drawn))
    if view.missing_functions_reason:
        parts.append(tag("p", escape_markup(view.missing_functions_reason), class_="left"))
    if len(view.functions) > len(drawn):
        parts.append(
            tag(
                "p",
                escape_markup(f"{len(view.functions):,} functions; the first {len(drawn):,} are drawn."),
                class_="left",
            )
        )
    facts = [_facts(function, number) for number, function in enumerate(drawn, 1)]
    charts = [
        _function_section(number, function, transfers_chart(view.source, function, everywhere, links, f"b{number}"))
        for number, function in enumerate(drawn, 1)
    ]
    graphs = [
        _function_section(number, function, draw_graph(function, f"g{number}"))
        for number, function in enumerate(drawn, 1)
    ]
    legend = graph_legend() if any(function.blocks for function in drawn) else ""
    empty = (
        tag("p", escape_markup(view.missing_functions_reason or "There is no function."), class_="left")
        if not drawn
        else ""
    )
    parts += facts
    parts.append(
        tag(
            "section",
            tag("h2", "Transfers"),
            *charts,
            empty,
            id="transfers",
            class_="tab",
            aria_labelledby="tab-transfers",
        )
    )
    parts.append(
        tag(
            "section",
            tag("h2", "Control flow"),
            legend,
            *graphs,
            empty,
            id="graph",
            class_="tab",
            aria_labelledby="tab-graph",
        )
    )
    parts.append(listed)
    return tag("section", *parts, id="panel", tabindex=0, aria_label="Kernels, transfers, control flow and findings")


def _finding_links(findings: Sequence[Diagnostic]) -> dict[int, list[FindingLink]]:
    """By line: what was found there."""
    found: dict[int, list[FindingLink]] = defaultdict(list)
    for number, item in enumerate(findings, 1):
        line = item.source.position(item.span.start)[0]
        found[line].append(FindingLink(f"{item.code} {item.severity}", str(item.severity), f"#d{number}"))
    return found


def _function_selector(functions: Sequence[FunctionView]) -> str:
    """The control that selects a function, if there are several."""
    if len(functions) < 2:
        return ""
    options = [
        tag("option", escape_markup(f"{number}. {_name(function)}"), value=number)
        for number, function in enumerate(functions, 1)
    ]
    return tag(
        "div",
        tag("label", tag("span", "function", class_="sr"), tag("select", *options, id="function")),
        tag(
            "button",
            "\u2039",
            type="button",
            id="before",
            title="previous function ( [ )",
            aria_label="Previous function",
        ),
        tag("button", "\u203a", type="button", id="after", title="next function ( ] )", aria_label="Next function"),
        id="choice",
        class_="scripted",
    )


def _facts(function: FunctionView, number: int) -> str:
    """The head of a function: its name, which leads to its line, and what is known before it runs."""
    pairs = [
        part
        for name, words in function.facts
        for part in (tag("dt", escape_markup(name)), tag("dd", escape_markup(words)))
    ]
    kind = ".entry" if function.kind == "entry" else ".func"
    name = tag("a", escape_markup(_name(function)), href=f"#L{function.line}", title=escape_text(function.name))
    return tag(
        "div",
        tag(
            "h3",
            escape_markup(f"{kind} "),
            name,
            tag("span", escape_markup(f" lines {function.line}\u2013{function.last}"), class_="soft"),
        ),
        tag("dl", *pairs) if pairs else "",
        id=f"f-{number}",
        class_="facts",
        data_function=number,
        data_from=function.line,
        data_to=function.last,
    )


def _function_section(number: int, function: FunctionView, content: str) -> str:
    """The sections of one function. Its name is above it where all are shown, one below the other."""
    return tag("div", tag("h3", escape_markup(_name(function)), class_="plain"), content, data_function=number)


def _name(function: FunctionView) -> str:
    name = escape_text(short_name(function.name))
    half = (MAX_FUNCTION_NAME_CHARS - 1) // 2
    return name if len(name) <= MAX_FUNCTION_NAME_CHARS else f"{name[:half]}\u2026{name[-half:]}"


# -------------------------------------------------------------------------------------------------------- assets


@cache
def _asset(name: str) -> str:
    """A file next to this one."""
    path = os.path.join(os.path.dirname(os.path.realpath(__file__)), name)
    with open(path, encoding="utf-8") as stream:
        return stream.read()
