"""One text and what is wanted of it; and the answer, which no setting of the machinery around it changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, Protocol, TypeAlias

from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.linter import crash_result, lint_source
from ptxkit.results import FileResult
from ptxkit.settings.model import Settings
from ptxkit.source import SourceFile

JobMode: TypeAlias = Literal["find", "offer", "fix", "fix unsafely"]
"""`find`: report the findings. `offer`: report them, with a verified fix for each finding that has one.

`fix`: apply the safe fixes, and report what remains. `fix unsafely`: apply all fixes.
"""


@dataclass(frozen=True, slots=True)
class Job:
    """One text. key: what the answer is kept under; empty where it is not."""

    source: SourceFile
    settings: Settings
    mode: JobMode = "find"
    key: str = ""


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of one text. fixed_text: the text after its fixes, which the result is then about; None without
    any."""

    result: FileResult
    fixed_text: str | None = None


@dataclass(frozen=True, slots=True)
class JobSlot:
    """What is at one place of the order. answer: where it is known without asking. mistake: to be raised there.

    number: of the input that it belongs to.
    """

    number: int
    job: Job | None = None
    result: JobResult | None = None
    error: Exception | None = None


class JobRunner(Protocol):
    """What runs jobs and returns their results."""

    def run_all(self, items: Iterable[JobSlot]) -> Iterator[tuple[JobSlot, JobResult]]:
        """An answer to each, in their order; raises a mistake when its turn comes."""

    def close(self) -> None:
        """Ends what was begun."""


def run_job(question: Job) -> JobResult:
    """The answer, made here and now. Raises NotationError where the instruction table is wrong, and MemoryError."""
    source, settings = question.source, question.settings
    try:
        if question.mode == "find":
            return JobResult(without_proposals(lint_source(source, settings)))
        from ptxkit.fixes import fix_source, with_verified_fixes

        if question.mode == "offer":
            return JobResult(with_verified_fixes(source, lint_source(source, settings), settings))
        fixed = fix_source(source, settings, unsafe=question.mode == "fix unsafely")
    except MemoryError:
        raise
    except Exception as error:  # a fault of ours: the other files are checked all the same
        return JobResult(crash_result(source.path, error))
    result = replace(fixed.result, fixed=len(fixed.applied))
    return JobResult(result, fixed.source.text if fixed.applied else None)


def without_proposals(result: FileResult) -> FileResult:
    """The result without fixes that were not tried: those are not offered."""
    if all(item.fix is None for item in result.diagnostics):
        return result
    return replace(result, diagnostics=tuple(replace(item, fix=None) for item in result.diagnostics))
