"""The result of each input: data that the command line fills in and every renderer reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

from ptxkit.diagnostic_groups import group_by_fault
from ptxkit.diagnostics import Diagnostic, Severity, Undecided, Verdict
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.source import TextOrigin

if TYPE_CHECKING:
    from ptxkit.model.trace import FindingTrace


class Status(StrEnum):
    """How one file came out; the first that applies, in the order failed, findings, undecided, clean."""

    CLEAN = "clean"
    """Nothing at `error` or `warning`, no question left open; notes are allowed."""
    FINDINGS = "findings"
    """At least one diagnostic at `error` or `warning`. A syntax error is a finding."""
    UNDECIDED = "undecided"
    """Nothing found, and at least one question that the analysis could not answer."""
    FAILED = "failed"
    """The file could not be read, is not text, or broke the analysis: no verdict."""


class ExitStatus(IntEnum):
    """The exit statuses of a command."""

    CLEAN = 0
    FINDINGS = 1
    COULD_NOT_RUN = 2


@dataclass(frozen=True, slots=True)
class CodePage:
    """The documentation of a code, for reports that print it. headline: what is wrong. parts: titles and texts."""

    code: str
    name: str
    headline: str
    parts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class KernelRun:
    """What the reference machine ran of one kernel.

    launch: the geometry, in words. arguments: all that were passed, each once. runs: how many; whole: those that came
    to their end without a fault of the arguments. steps: thread-instructions. reached: how many of the kernel's
    instructions were executed with arguments that fit; instructions: how many it has.
    """

    kernel: str
    launch: str
    arguments: tuple[str, ...]
    runs: int
    whole: int
    steps: int
    reached: int = 0
    instructions: int = 0


@dataclass(frozen=True, slots=True)
class FileResult:
    """One input's outcome. `path` is as the user named it, or `<stdin>`. runs: of a verification, by kernel.

    origin: where the text was read, for the code that rewrites it; the reader sets it.

    suppressed: findings that comments hide. known: those that are in the baseline. fixed: those that were fixed.

    traces: pictures of what these runs found, where they were asked for.
    """

    path: str
    status: Status
    diagnostics: tuple[Diagnostic, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    runs: tuple[KernelRun, ...] = ()
    traces: tuple[FindingTrace, ...] = ()
    suppressed: int = 0
    known: int = 0
    fixed: int = 0
    origin: TextOrigin = field(default=TextOrigin(), compare=False, repr=False)

    @classmethod
    def of(cls, path: str, verdict: Verdict) -> FileResult:
        """The result that a verdict amounts to."""
        if any(found.severity is not Severity.NOTE for found in verdict.diagnostics):
            status = Status.FINDINGS
        else:
            status = Status.UNDECIDED if verdict.undecided else Status.CLEAN
        return cls(path, status, verdict.diagnostics, verdict.undecided)


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over all inputs: files by status, and diagnostics by severity (without the failed files' own).

    faults: the same, with diagnostics that are one fault counted once.

    suppressed: findings that comments hide. known: those that are in a baseline. questions: the open ones, by
    what to type where that may answer them, else by why they are open.
    """

    files: int
    statuses: Counter[Status]
    severities: Counter[Severity]
    undecided: int
    suppressed: int = 0
    known: int = 0
    fixed: int = 0
    undecided_by_remedy: Counter[str] = field(default_factory=Counter)
    faults: Counter[Severity] = field(default_factory=Counter)

    @classmethod
    def of(cls, results: Iterable[FileResult]) -> Summary:
        counted = ResultCounter()
        for result in results:
            counted.add(result)
        return counted.summary

    @property
    def exit_status(self) -> ExitStatus:
        """2 where any input failed, else 1 where any has findings, else 0."""
        if self.statuses[Status.FAILED]:
            return ExitStatus.COULD_NOT_RUN
        return ExitStatus.FINDINGS if self.statuses[Status.FINDINGS] else ExitStatus.CLEAN


class ResultCounter:
    """Counts results as they pass, and keeps none of them: their texts would fill the memory."""

    def __init__(self) -> None:
        self.summary = Summary(0, Counter(), Counter(), 0)

    def add(self, result: FileResult) -> FileResult:
        """Counts a result, and gives it back."""
        before = self.summary
        before.statuses[result.status] += 1
        findings = [item for item in result.diagnostics if item.code != ptx1xx.NO_VERDICT]
        before.severities.update(item.severity for item in findings)
        before.faults.update(group[0].severity for group in group_by_fault(findings))
        before.undecided_by_remedy.update(each.remedy or each.reason for each in result.undecided)
        self.summary = Summary(
            before.files + 1,
            before.statuses,
            before.severities,
            before.undecided + len(result.undecided),
            before.suppressed + result.suppressed,
            before.known + result.known,
            before.fixed + result.fixed,
            before.undecided_by_remedy,
            before.faults,
        )
        return result
