"""The format for editors and for grep: one line for each fault, and one of counts at the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.diagnostic_groups import fold_groups
from ptxkit.report.full import header_line, summary_lines, undecided_header
from ptxkit.report.style import Line
from ptxkit.results import FileResult, ResultCounter


def concise_report(results: Iterable[FileResult], *, show_undecided: bool = False) -> Iterator[Line]:
    """`k.ptx:3:2: PTX401 error: ...`, the open questions where asked for, and counts."""
    counted = ResultCounter()
    for result in results:
        counted.add(result)
        yield from map(header_line, fold_groups(result.diagnostics))
        if show_undecided:
            yield from map(undecided_header, result.undecided)
    yield from summary_lines(counted.summary)
