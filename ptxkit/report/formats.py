"""The output formats by name: `full` and `concise` yield styled lines as results arrive, the others text. A renderer is
imported when its format is selected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, TypeAlias, get_args

from ptxkit.report.options import DEFAULT_OPTIONS, ReportOptions
from ptxkit.report.style import Line
from ptxkit.results import CodePage, FileResult

Format: TypeAlias = Literal["full", "concise", "json", "json-lines", "github", "gitlab", "junit", "sarif"]
FORMATS: tuple[Format, ...] = get_args(Format)
STYLED: tuple[Format, ...] = ("full", "concise")
"""The formats of styled lines, which a terminal shows in color."""


def styled_report(form: str, results: Iterable[FileResult], options: ReportOptions = DEFAULT_OPTIONS) -> Iterator[Line]:
    """The lines of a styled format, as results arrive."""
    if form == "concise":
        from ptxkit.report.concise import concise_report

        return concise_report(results, options)
    from ptxkit.report.full import full_report

    return full_report(results, options)


def text_report(
    form: str, results: Iterable[FileResult], pages: Callable[[], Sequence[CodePage]] = tuple
) -> Iterator[str]:
    """The text of any other format, in pieces. pages: returns the documentation of the codes.

    JSON is ASCII; other formats leave the encoding to the stream.
    """
    if form == "json":
        from ptxkit.report.as_json import json_report

        yield json_report(results)
    elif form == "json-lines":
        from ptxkit.report.as_json import json_lines

        yield from json_lines(results)
    elif form == "github":
        from ptxkit.report.github import github_report

        yield from github_report(results)
    elif form == "gitlab":
        from ptxkit.report.gitlab import gitlab_report

        yield gitlab_report(results)
    elif form == "junit":
        from ptxkit.report.junit import junit_report

        yield junit_report(list(results))
    elif form == "sarif":
        from ptxkit.report.sarif import sarif_report

        yield sarif_report(list(results), pages())
    else:
        raise ValueError(f"there is no text format {form!r}")
