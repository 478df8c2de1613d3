"""Findings and open questions as reports for people show them: each fault once, short names, places in the program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.diagnostic_groups import fold_groups, split_places
from ptxkit.diagnostics import Diagnostic, Undecided
from ptxkit.report.options import ReportOptions
from ptxkit.report.program_source import (
    ProgramFinding,
    ProgramLabel,
    ProgramSources,
    locate_in_program,
    locate_question,
)
from ptxkit.report.readable_names import question_with_readable_names, with_readable_names


def shown_findings(
    diagnostics: Iterable[Diagnostic], options: ReportOptions, sources: ProgramSources
) -> Iterator[tuple[Diagnostic, ProgramFinding | None]]:
    """Each fault, and in terms of the program where it is to be shown and a `.loc` leads to it."""
    split = (each for item in diagnostics for each in split_places(item))
    for item in split if options.all_places else fold_groups(diagnostics):
        shown = item if options.verbose else with_readable_names(item)
        yield shown, None if options.show == "ptx" else locate_in_program(shown, sources)


def shown_questions(
    undecided: Iterable[Undecided], options: ReportOptions, sources: ProgramSources
) -> Iterator[tuple[Undecided, ProgramLabel | None]]:
    """Each open question where they are asked for, with the line of the program, as for findings."""
    for item in undecided if options.show_undecided else ():
        shown = item if options.verbose else question_with_readable_names(item)
        yield shown, None if options.show == "ptx" else locate_question(shown, sources)
