"""The result of each input: data that the command line fills in and every renderer reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING

from ptxkit.diagnostic_groups import fold_groups
from ptxkit.diagnostics import Diagnostic, Severity, Undecided, Verdict
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.exit_status import ExitStatus
from ptxkit.fast_dataclasses import dataclass, field
from ptxkit.source import TextOrigin

if TYPE_CHECKING:
    from ptxkit.diagnostics.obligation import JudgedObligation
    from ptxkit.model.trace import FindingTrace


class Status(StrEnum):
    """The status of one file; the first that applies, in the order failed, findings, undecided, conditional, clean."""

    CLEAN = "clean"
    """No finding at `error` or `warning`, and no undecided question; notes are allowed."""
    FINDINGS = "findings"
    """At least one diagnostic at `error` or `warning`. A syntax error is a finding."""
    UNDECIDED = "undecided"
    """No finding, and at least one question that the analysis could not decide."""
    CONDITIONAL = "conditional"
    """No finding, and each question is decided in all launches that satisfy known conditions."""
    FAILED = "failed"
    """The file could not be read, is not text, or crashed the analysis, so there is no verdict."""


@dataclass(frozen=True, slots=True)
class CodePage:
    """The documentation of a code, for reports that print it. headline: the violation. parts: titles and texts."""

    code: str
    name: str
    headline: str
    parts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class KernelRun:
    """The runs of one kernel on the reference machine.

    launch: a description of the geometry. arguments: all that were passed, each once. runs: their number; whole: those
    that ended without an error in the arguments. steps: thread-instructions. reached: the number of the kernel's
    instructions that were executed with valid arguments; instructions: their total number. questions: the number of
    instructions about which the rules have an open question; asked: that of those that were executed. limits: a limit
    of time that the user gave.
    """

    kernel: str
    launch: str
    arguments: tuple[str, ...]
    runs: int
    whole: int
    steps: int
    reached: int = 0
    instructions: int = 0
    questions: int = 0
    asked: int = 0
    limits: str = ""


@dataclass(frozen=True, slots=True)
class FileResult:
    """The result of one input. `path` is the name that the user gave, or `<stdin>`. runs: of a verification, by kernel.

    origin: where the text was read, for the code that rewrites it; the reader sets it.

    suppressed: findings that comments suppress. known: those that are in the baseline. fixed: those that were fixed.

    traces: traces of the findings of these runs, if they were requested. obligations: what the instructions demand,
    with the verdict on each; None if they were not requested.
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
    obligations: tuple[JudgedObligation, ...] | None = None

    @classmethod
    def of(cls, path: str, verdict: Verdict) -> FileResult:
        """Returns the result of a verdict."""
        if any(found.severity is not Severity.NOTE for found in verdict.diagnostics):
            status = Status.FINDINGS
        else:
            status = Status.CONDITIONAL if verdict.undecided else Status.CLEAN
            if not all(each.conditions for each in verdict.undecided):
                status = Status.UNDECIDED
        return cls(path, status, verdict.diagnostics, verdict.undecided)


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts over all inputs: files by status, and diagnostics by severity (without those of failed files).

    severities: each location counts. faults: each fault counts once.

    undecided: questions without known conditions. conditional: those with conditions. suppressed: findings that
    comments suppress. known: those that are in a baseline. undecided_by_remedy: the undecided questions, by the option
    that may decide them, or else by the reason.
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
    conditional: int = 0

    @classmethod
    def of(cls, results: Iterable[FileResult]) -> Summary:
        counted = ResultCounter()
        for result in results:
            counted.add(result)
        return counted.summary

    @property
    def exit_status(self) -> ExitStatus:
        """The exit status: 2 if any input failed, else 1 if any has findings, else 0."""
        if self.statuses[Status.FAILED]:
            return ExitStatus.COULD_NOT_RUN
        return ExitStatus.FINDINGS if self.statuses[Status.FINDINGS] else ExitStatus.CLEAN


class ResultCounter:
    """Counts results without storing them, because their texts would fill the memory."""

    def __init__(self) -> None:
        self.summary = Summary(0, Counter(), Counter(), 0)

    def add(self, result: FileResult) -> FileResult:
        """Counts a result, and returns it."""
        before = self.summary
        before.statuses[result.status] += 1
        findings = [item for item in result.diagnostics if item.code != ptx1xx.NO_VERDICT]
        for each in findings:
            before.severities[each.severity] += 1 + len(each.copies)
        before.faults.update(each.severity for each in fold_groups(findings))
        left = [each for each in result.undecided if not each.conditions]
        before.undecided_by_remedy.update(each.remedy or each.cause or each.reason for each in left)
        self.summary = Summary(
            before.files + 1,
            before.statuses,
            before.severities,
            before.undecided + len(left),
            before.suppressed + result.suppressed,
            before.known + result.known,
            before.fixed + result.fixed,
            before.undecided_by_remedy,
            before.faults,
            before.conditional + len(result.undecided) - len(left),
        )
        return result
