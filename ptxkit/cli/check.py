"""What `ptxkit lint` does, without the reading of its command line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from ptxkit.cli.inputs import sources
from ptxkit.cli.output import write_lines
from ptxkit.linter import Policy, lint_source
from ptxkit.report import full_report, json_report
from ptxkit.results import FileResult, Summary


def check(
    paths: Sequence[str],
    *,
    form: str = "full",
    policy: Policy = "isa",
    show_undecided: bool = False,
    notes: bool = False,
) -> int:
    """Lint what stands at these paths and print the report; the exit status (`ptxkit.results.ExitStatus`)."""
    results: list[FileResult] = []
    arriving = _results(paths, policy, notes, results)
    if form == "json":
        sys.stdout.write(json_report(list(arriving)))
    else:
        write_lines(full_report(arriving, show_undecided=show_undecided))
    return Summary.of(results).exit_status


def _results(paths: Sequence[str], policy: Policy, notes: bool, results: list[FileResult]) -> Iterator[FileResult]:
    """Each input's result as soon as there is one, also put into `results`."""
    for found in sources(paths):
        result = found if isinstance(found, FileResult) else lint_source(found, policy=policy, notes=notes)
        results.append(result)
        yield result
