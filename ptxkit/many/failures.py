"""Results of texts whose check did not come to its end, in words that do not depend on where it ran."""

from __future__ import annotations

from ptxkit.linter import not_checked
from ptxkit.many.question import Answer
from ptxkit.source import SourceFile

_REPORT = "this is a fault in ptxkit, not in the file; please report it with the file"


def took_too_long(source: SourceFile, seconds: float, stack: str = "") -> Answer:
    """Of a check that was ended. seconds: what it was given. stack: where it stood."""
    return _failed(
        source,
        f"the check of this file took longer than {seconds:g} seconds, and was ended",
        "give it more with --timeout, or report it with the file",
        stack,
    )


def out_of_memory(source: SourceFile) -> Answer:
    """Of a check that needs more memory than it may have."""
    return _failed(source, "the check of this file ran out of memory", _REPORT)


def process_ended(source: SourceFile, how: str, stack: str = "") -> Answer:
    """Of a check whose process is gone. how: `signal SIGSEGV`, `status 1`. stack: the last that it said."""
    return _failed(source, f"the process that checked this file ended with {how}", _REPORT, stack)


def _failed(source: SourceFile, message: str, remedy: str, stack: str = "") -> Answer:
    return Answer(
        not_checked(source.path, message, remedy=remedy, properties={"stack": stack} if stack.strip() else None)
    )
