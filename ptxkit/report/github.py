"""Annotations of GitHub Actions: one workflow command per line, which GitHub shows at the changed lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.diagnostic_groups import fault_notes, fold_groups
from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.report.paths import from_root
from ptxkit.report.program_source import ProgramSources, locate_in_repository
from ptxkit.report.readable_names import with_readable_names
from ptxkit.results import FileResult
from ptxkit.untrusted_text import escape_lines, escape_path

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def github_report(results: Iterable[FileResult]) -> Iterator[str]:
    """`::error title=PTX401,file=k.ptx,line=3,...::k.ptx:3:2: PTX401 ...` for each fault.

    Where the program that the PTX was compiled from is in the repository, its line is annotated.
    """
    sources = ProgramSources()
    for result in results:
        for item in fold_groups(result.diagnostics):
            yield _annotation(with_readable_names(item), sources)


def _annotation(item: Diagnostic, sources: ProgramSources) -> str:
    found = locate_in_repository(item, sources)
    source, span = (item.source, item.span) if found is None else (found.at.source, found.at.span)
    message, notes, remedy = (
        (item.message, fault_notes(item), item.help) if found is None else (found.message, found.notes, found.help)
    )
    line, column = source.position(span.start)
    end_line, end_column = source.position(span.end)
    path = escape_path(from_root(source.path))
    given: list[tuple[str, object]] = [("title", f"ptxkit {item.code}"), ("file", path)]
    place = path
    if item.code != ptx1xx.NO_VERDICT:
        given += [("line", line), ("endLine", end_line)]
        if line == end_line:  # GitHub accepts columns within one line only
            given += [("col", column), ("endColumn", end_column)]
        place = f"{path}:{line}:{column}"
    properties = ",".join(f"{key}={_property(str(value))}" for key, value in given)
    text = f"{place}: {item.code} {escape_lines(message)}"
    text += "".join(f"\n{escape_lines(each)}" for each in (*notes, remedy) if each)
    if found is not None:
        ptx_line, ptx_column = item.source.position(item.span.start)
        text += f"\nin the PTX: {escape_path(from_root(item.source.path))}:{ptx_line}:{ptx_column}"
    return f"::{_COMMANDS[item.severity]} {properties}::{_data(text)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
