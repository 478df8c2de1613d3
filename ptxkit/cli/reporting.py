"""Prints results in any format."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ptxkit.cli.output import write_lines
from ptxkit.report.formats import STYLED, styled_report, text_report
from ptxkit.report.options import DEFAULT_OPTIONS, ReportOptions
from ptxkit.results import FileResult

if TYPE_CHECKING:
    from ptxkit.results import CodePage


def write_report(
    arriving: Iterable[FileResult], form: str, options: ReportOptions = DEFAULT_OPTIONS, *, statistics: bool = False
) -> None:
    """Prints results, as they arrive if the format allows it."""
    if statistics:
        _write_statistics(arriving, form)
    elif form in STYLED:
        write_lines(styled_report(form, arriving, options))
    else:
        for piece in text_report(form, arriving, _pages):
            sys.stdout.write(piece)


def _write_statistics(arriving: Iterable[FileResult], form: str) -> None:
    from ptxkit.report.statistics import statistics_json, statistics_report

    names = {page.code: page.name for page in _pages()}
    if form == "json":
        sys.stdout.write(statistics_json(arriving, names))
    else:
        write_lines(statistics_report(arriving, names))


def _pages() -> Sequence[CodePage]:
    from ptxkit.rules.docs_index import all_pages

    return all_pages()
