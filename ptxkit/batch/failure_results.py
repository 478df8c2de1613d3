"""Results of texts whose check did not complete, with messages that do not depend on where it ran."""

from __future__ import annotations

from ptxkit.batch.job import JobResult
from ptxkit.linter import unchecked_result
from ptxkit.source import SourceFile

_REPORT_REMEDY = "this is a bug in ptxkit, not in the file; please report it with the file"


def timeout_result(source: SourceFile, seconds: float, stack: str = "") -> JobResult:
    """Returns the result of a check that was terminated. seconds: its time limit. stack: its last stack trace."""
    return _failure_result(
        source,
        f"the check of this file took longer than {seconds:g} seconds, and was terminated",
        "increase the limit with --timeout, or report it with the file",
        stack,
    )


def out_of_memory_result(source: SourceFile) -> JobResult:
    """Returns the result of a check that exceeded its memory limit."""
    return _failure_result(source, "the check of this file ran out of memory", _REPORT_REMEDY)


def process_ended_result(source: SourceFile, how: str, stack: str = "") -> JobResult:
    """Returns the result of a check whose process ended. how: `signal SIGSEGV` or `status 1`. stack: its last
    output.
    """
    return _failure_result(source, f"the process that checked this file ended with {how}", _REPORT_REMEDY, stack)


def _failure_result(source: SourceFile, message: str, remedy: str, stack: str = "") -> JobResult:
    return JobResult(
        unchecked_result(source.path, message, remedy=remedy, properties={"stack": stack} if stack.strip() else None)
    )
