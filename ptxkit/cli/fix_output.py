"""Output of `ptxkit lint --fix` and `--diff` for one text."""

from __future__ import annotations

import sys

from ptxkit.batch.job import Job, JobMode, JobResult, without_proposals
from ptxkit.cli.lint_options import LintOptions
from ptxkit.linter import lint_source
from ptxkit.results import FileResult


def job_mode(options: LintOptions) -> JobMode:
    """The job mode for the given options."""
    if options.fixes is None:
        return "judge" if options.obligations else "find"
    if options.fixes == "show":
        return "offer"
    return "fix unsafely" if options.unsafe_fixes else "fix"


def write_fixed(question: Job, answer: JobResult, options: LintOptions) -> FileResult:
    """Writes the fixed text, or prints the difference, and returns the result after that.

    A text inside another file is reported and not changed.
    """
    if answer.fixed_text is None:
        return answer.result
    from ptxkit.cli.file_replacement import encode, render_diff, rewrite_file

    source = question.source
    if options.fixes == "diff":
        sys.stdout.buffer.write(encode(render_diff(source, answer.fixed_text, "fixed")))
        return answer.result
    failure = rewrite_file(source.origin, answer.fixed_text)
    if failure is None:
        return answer.result
    failure.report(source.path)
    return without_proposals(lint_source(source, question.settings))
