"""The format for editors and for grep: one line for each fault, and one of counts at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.diagnostics import Diagnostic, Undecided
from ptxkit.report.full import condition_lines, header_line, program_header, summary_lines, undecided_header
from ptxkit.report.options import DEFAULT_OPTIONS, ReportOptions
from ptxkit.report.program_source import ProgramSources
from ptxkit.report.shown_findings import shown_findings, shown_questions
from ptxkit.report.style import Line, TextRole
from ptxkit.results import FileResult, ResultCounter
from ptxkit.untrusted_text import escape_path


def concise_report(results: Iterable[FileResult], options: ReportOptions = DEFAULT_OPTIONS) -> Iterator[Line]:
    """`k.ptx:3:2: PTX401 error: ...`, the open questions where asked for, and counts.

    Where `.loc` leads to a program, the place is in that program, and the one in the PTX ends the line.
    """
    counted = ResultCounter()
    sources = ProgramSources()
    for result in results:
        counted.add(result)
        for item, found in shown_findings(result.diagnostics, options, sources):
            line = header_line(item) if found is None else program_header(item, found)
            yield (*line, *_other_codes(item), *(() if found is None else _ptx_place(item, options)))
        for question, at in shown_questions(result.undecided, options, sources):
            line = undecided_header(question, at)
            yield line if at is None else (*line, *_ptx_place(question, options))
        yield from condition_lines(result, options)
        if result.obligations is not None:
            from ptxkit.report.obligation_list import obligation_lines

            yield from obligation_lines(result)
    yield from summary_lines(counted.summary, options)


def _other_codes(item: Diagnostic) -> Line:
    """The codes of the findings with the same cause."""
    codes = dict.fromkeys(each.code for each in item.related if each.code != item.code)
    return ((f" (also {', '.join(codes)})", TextRole.PLAIN),) if codes else ()


def _ptx_place(item: Diagnostic | Undecided, options: ReportOptions) -> Line:
    if options.show == "source":
        return ()
    line, column = item.source.position(item.span.start)
    return ((f" [{escape_path(item.source.path)}:{line}:{column}]", TextRole.DIM),)
