"""One text with the requested action, and its result, which does not depend on where the job runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, Protocol, TypeAlias

from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.linter import crash_result, lint_source
from ptxkit.results import FileResult
from ptxkit.settings.model import Settings
from ptxkit.source import SourceFile

JobMode: TypeAlias = Literal["find", "judge", "offer", "fix", "fix unsafely"]
"""`find`: report the findings. `judge`: report them, and the obligations with the verdict on each.

`offer`: report the findings, with a verified fix for each finding that has one.

`fix`: apply the safe fixes, and report the remaining findings. `fix unsafely`: apply all fixes.
"""


@dataclass(frozen=True, slots=True)
class Job:
    """One text. key: the cache key of the result; empty without a cache."""

    source: SourceFile
    settings: Settings
    mode: JobMode = "find"
    key: str = ""


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of one text. fixed_text: the text after its fixes, to which the result refers; None without fixes."""

    result: FileResult
    fixed_text: str | None = None


@dataclass(frozen=True, slots=True)
class JobSlot:
    """One place in the order of the inputs. result: if it is known without a check. error: raised at this place.

    number: of the input that it belongs to. is_earlier: whether the text is an earlier one of the next place, whose
    findings are known there. is_unchanged: whether it is the same as its earlier text.
    """

    number: int
    job: Job | None = None
    result: JobResult | None = None
    error: Exception | None = None
    is_earlier: bool = False
    is_unchanged: bool = False


class JobRunner(Protocol):
    """Runs jobs and returns their results."""

    def run_all(self, items: Iterable[JobSlot]) -> Iterator[tuple[JobSlot, JobResult]]:
        """Yields the result of each job, in order; raises an error in its place in the order."""

    def close(self) -> None:
        """Releases all resources."""


def run_job(question: Job) -> JobResult:
    """Runs a job in this process. Raises NotationError if the instruction table is invalid, and MemoryError."""
    source, settings = question.source, question.settings
    try:
        if question.mode in ("find", "judge"):
            found = lint_source(source, settings, obligations=question.mode == "judge")
            return JobResult(without_proposals(found))
        from ptxkit.fixes import fix_source, with_verified_fixes

        if question.mode == "offer":
            return JobResult(with_verified_fixes(source, lint_source(source, settings), settings))
        fixed = fix_source(source, settings, unsafe=question.mode == "fix unsafely")
    except MemoryError:
        raise
    except Exception as error:  # an error of ptxkit: the other files are still checked
        return JobResult(crash_result(source.path, error))
    result = replace(fixed.result, fixed=len(fixed.applied))
    return JobResult(result, fixed.source.text if fixed.applied else None)


def without_proposals(result: FileResult) -> FileResult:
    """Removes fixes that were not verified from a result: they are not offered."""
    if all(item.fix is None for item in result.diagnostics):
        return result
    return replace(result, diagnostics=tuple(replace(item, fix=None) for item in result.diagnostics))
