"""Results of texts whose check did not complete, in words that do not depend on where it ran."""

from __future__ import annotations

from ptxkit.batch.job import JobResult
from ptxkit.linter import unchecked_result
from ptxkit.source import SourceFile

_REPORT_REMEDY = "this is a fault in ptxkit, not in the file; please report it with the file"


def timeout_result(source: SourceFile, seconds: float, stack: str = "") -> JobResult:
    """Of a check that was ended. seconds: what it was given. stack: where it was."""
    return _failure_result(
        source,
        f"the check of this file took longer than {seconds:g} seconds, and was ended",
        "give it more with --timeout, or report it with the file",
        stack,
    )


def out_of_memory_result(source: SourceFile) -> JobResult:
    """Of a check that needs more memory than it may have."""
    return _failure_result(source, "the check of this file ran out of memory", _REPORT_REMEDY)


def process_ended_result(source: SourceFile, how: str, stack: str = "") -> JobResult:
    """Of a check whose process is gone. how: `signal SIGSEGV`, `status 1`. stack: its last output."""
    return _failure_result(source, f"the process that checked this file ended with {how}", _REPORT_REMEDY, stack)


def _failure_result(source: SourceFile, message: str, remedy: str, stack: str = "") -> JobResult:
    return JobResult(
        unchecked_result(source.path, message, remedy=remedy, properties={"stack": stack} if stack.strip() else None)
    )
