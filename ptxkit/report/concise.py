"""The format for editors and for grep: one line for each fault, and one of counts at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.diagnostic_groups import fold_groups
from ptxkit.diagnostics import Diagnostic, Undecided
from ptxkit.report.full import header_line, program_header, summary_lines, undecided_header
from ptxkit.report.options import DEFAULT_OPTIONS, ReportOptions
from ptxkit.report.program_source import ProgramSources, locate_in_program, locate_question
from ptxkit.report.readable_names import with_readable_names
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
        found = result.diagnostics if options.all_places else fold_groups(result.diagnostics)
        for item in found if options.verbose else map(with_readable_names, found):
            place = None if options.show == "ptx" else locate_in_program(item, sources)
            yield header_line(item) if place is None else (*program_header(item, place), *_ptx_place(item, options))
        for question in result.undecided if options.show_undecided else ():
            at = None if options.show == "ptx" else locate_question(question, sources)
            line = undecided_header(question, at)
            yield line if at is None else (*line, *_ptx_place(question, options))
    yield from summary_lines(counted.summary)


def _ptx_place(item: Diagnostic | Undecided, options: ReportOptions) -> Line:
    if options.show == "source":
        return ()
    line, column = item.source.position(item.span.start)
    return ((f" [{escape_path(item.source.path)}:{line}:{column}]", TextRole.DIM),)
