"""Annotations of GitHub Actions: one workflow command a line, which GitHub shows at the lines of a change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.diagnostic_groups import fold_groups
from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.report.paths import from_root
from ptxkit.results import FileResult
from ptxkit.untrusted_text import escape_lines, escape_path

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def github_report(results: Iterable[FileResult]) -> Iterator[str]:
    """`::error title=PTX401,file=k.ptx,line=3,...::k.ptx:3:2: PTX401 ...` for each fault."""
    for result in results:
        for item in fold_groups(result.diagnostics):
            yield _annotation(item)


def _annotation(item: Diagnostic) -> str:
    line, column = item.source.position(item.span.start)
    end_line, end_column = item.source.position(item.span.end)
    path = escape_path(from_root(item.source.path))
    given: list[tuple[str, object]] = [("title", f"ptxkit {item.code}"), ("file", path)]
    place = path
    if item.code != ptx1xx.NO_VERDICT:
        given += [("line", line), ("endLine", end_line)]
        if line == end_line:  # GitHub takes columns for one line only
            given += [("col", column), ("endColumn", end_column)]
        place = f"{path}:{line}:{column}"
    properties = ",".join(f"{key}={_property(str(value))}" for key, value in given)
    text = f"{place}: {item.code} {escape_lines(item.message)}"
    if item.help:
        text += f"\n{escape_lines(item.help)}"
    return f"::{_COMMANDS[item.severity]} {properties}::{_data(text)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
