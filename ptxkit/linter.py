"""Lints one text: parses, validates and analyzes it, and returns one sorted verdict.

(The function is `ptxkit.lint`; a module of that name would hide it, so this one is `linter`.)
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ptxkit.diagnostics import Diagnostic, Severity, Undecided, Verdict
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.fast_dataclasses import replace
from ptxkit.results import FileResult, Status
from ptxkit.settings.model import DEFAULT, POLICIES, Policy, Settings
from ptxkit.source import SourceFile, Span

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from ptxkit.analysis.context.kernel_facts import KernelFacts
    from ptxkit.analysis.ir.budget import AnalysisBudget
    from ptxkit.diagnostics.obligation import JudgedObligation
    from ptxkit.syntax.tree import Module

__all__ = [
    "POLICIES",
    "Policy",
    "apply_suppressions",
    "apply_overrides",
    "crash_result",
    "apply_settings",
    "failure_result",
    "lint_module",
    "lint_incremental",
    "lint",
    "lint_source",
    "unchecked_result",
    "attach_debug_locations",
]


def lint(
    text_or_module: str | Module, *, path: str | None = None, policy: Policy = "isa", notes: bool = False
) -> Verdict:
    """Returns all findings of ptxkit in a module in the order of the text, and the questions that it left undecided.

    Syntax errors are diagnostics, too; then nothing else is checked. A built module has no text, so it is printed
    first, and the locations are those of the printed text. `path` is the name that diagnostics carry.

    notes: also report redundant instructions: fences that order nothing, waits for nothing (PTX9xx). Comments such as
    `// ptxkit: ignore[PTX401]` suppress findings, as on the command line.

    Raises ValueError for an unknown policy.
    """
    if policy not in POLICIES:
        raise ValueError(f"policy is {policy!r}; it must be one of {', '.join(POLICIES)}")
    settings = DEFAULT if policy == "isa" and not notes else Settings(policy=policy, notes=notes)
    return _lint_with_suppressions(text_or_module, path, settings)[0]


def lint_source(
    source: SourceFile,
    settings: Settings = DEFAULT,
    explored: dict[str, KernelFacts] | None = None,
    *,
    obligations: bool = False,
) -> FileResult:
    """Lints one file among many: a crash inside the analysis is this file's `failed`, and the run continues.

    explored: receives the explored kernels by name. obligations: whether the result lists what the instructions demand,
    with the verdict on each. Raises MemoryError, because the caller determines the memory of a
    text.
    """
    judged: list[JudgedObligation] | None = [] if obligations else None
    try:
        linted = _lint_with_suppressions(source.text, source.path, settings, explored, judged)
        result = _file_result(source.path, *linted)
        return replace(result, obligations=tuple(judged)) if judged is not None else result
    except Exception as error:
        return failure_result(source.path, error)


def lint_incremental(
    source: SourceFile, settings: Settings, first: tuple[str, str], budget: AnalysisBudget | None = None
) -> Generator[FileResult, None, None]:
    """Yields the results of `lint_source` so far, whenever a finding is added; the last one is complete.

    The findings of a result are in all following ones; only the last one has source lines. first: a function and a
    code, which is reported first. budget: of the analysis; it records the remaining budget. For texts with comments
    that suppress findings, only the complete result is yielded.
    """
    from ptxkit.suppressions import MARK
    from ptxkit.syntax import PTXSyntaxError

    verdict = Verdict(())
    try:
        module = _parsed_module(source.text, source.path)
        for verdict in _lint_module_incremental(module, settings, first, budget):
            if MARK not in source.text:
                yield FileResult.of(source.path, verdict)
        yield _file_result(source.path, *apply_suppressions(verdict, module, settings))
    except PTXSyntaxError as error:
        yield FileResult.of(source.path, Verdict(error.diagnostics))
    except Exception as error:
        yield failure_result(source.path, error)


def _file_result(path: str, verdict: Verdict, hidden: int) -> FileResult:
    result = FileResult.of(path, verdict)
    return replace(result, suppressed=hidden) if hidden else result


def failure_result(path: str, error: Exception) -> FileResult:
    """Returns the result of a file whose check failed with an exception: an impossible launch, or an error in
    ptxkit.
    """
    from ptxkit.module_overrides import LaunchConflictError

    if isinstance(error, LaunchConflictError):
        return unchecked_result(path, str(error), remedy="give the launch that the kernel has")
    return crash_result(path, error)


def _lint_with_suppressions(
    text_or_module: str | Module,
    path: str | None,
    settings: Settings,
    explored: dict[str, KernelFacts] | None = None,
    judged: list[JudgedObligation] | None = None,
) -> tuple[Verdict, int]:
    """Returns the verdict after settings and comments, and the number of findings that comments suppress."""
    from ptxkit.syntax import PTXSyntaxError

    try:
        module = _parsed_module(text_or_module, path)
    except PTXSyntaxError as error:
        return Verdict(error.diagnostics), 0
    return apply_suppressions(lint_module(module, settings, explored, judged), module, settings)


def apply_suppressions(
    verdict: Verdict, module: Module, settings: Settings, *, ran: bool = False
) -> tuple[Verdict, int]:
    """Returns the verdict after comments of the text, with source lines, and the number of findings that they suppress.

    ran: the verdict contains the findings of runs on the reference machine, too.
    """
    from ptxkit.suppressions import apply_suppressions

    stricter = None if settings.policy == "strict" else lambda: lint_module(module, replace(settings, policy="strict"))
    left, hidden = apply_suppressions(verdict, module, settings.is_enabled, stricter, ran=ran)
    return attach_debug_locations(left, module), hidden


def attach_debug_locations(verdict: Verdict, module: Module) -> Verdict:
    """Returns the verdict with the source lines of its locations, as far as `.loc` states them."""
    if module.source is None or ".loc" not in module.source.text or not (verdict.diagnostics or verdict.undecided):
        return verdict
    from ptxkit.analysis.ir.source_lines import DebugLocations

    origins = DebugLocations(module)
    return replace(
        verdict,
        diagnostics=tuple(
            replace(
                item,
                origin=origins.locations_at(item.span.start),
                labels=tuple(replace(label, origin=origins.locations_at(label.span.start)) for label in item.labels),
                copies=tuple(replace(each, origin=origins.locations_at(each.span.start)) for each in item.copies),
                lacks=tuple(
                    tuple(replace(each, origin=origins.locations_at(each.span.start)) for each in order)
                    for order in item.lacks
                ),
            )
            for item in verdict.diagnostics
        ),
        undecided=tuple(
            replace(
                item,
                origin=origins.locations_at(item.span.start),
                others=tuple(replace(each, origin=origins.locations_at(each.span.start)) for each in item.others),
            )
            for item in verdict.undecided
        ),
    )


def apply_overrides(module: Module, settings: Settings) -> tuple[Module, Module]:
    """Returns the module with the heading of the settings, and that with their launches, too. Raises
    LaunchConflictError.
    """
    if settings.target is not None or settings.ptx_version is not None:
        from ptxkit.module_overrides import override_heading

        module = override_heading(module, settings.target, settings.ptx_version)
    if not settings.launches:
        return module, module
    from ptxkit.module_overrides import apply_launches

    return module, apply_launches(module, settings.launches)


def lint_module(
    module: Module,
    settings: Settings,
    explored: dict[str, KernelFacts] | None = None,
    judged: list[JudgedObligation] | None = None,
) -> Verdict:
    """Returns the findings in a module that the settings enable, with their severities, without regard to comments.

    explored: as for `lint_source`. judged: receives the obligations with their verdicts. Raises LaunchConflictError.
    """
    from ptxkit.rules import analyze
    from ptxkit.validate import validate

    module, launched = apply_overrides(module, settings)
    shows = settings.is_enabled if settings.selections else None
    analyzed = analyze(
        launched,
        settings.policy,
        notes=settings.notes,
        shows=shows,
        explored=explored,
        judged=judged,
        effort=settings.effort,
    )
    return apply_settings(_merge(validate(module), analyzed), settings)


def _lint_module_incremental(
    module: Module, settings: Settings, first: tuple[str, str], budget: AnalysisBudget | None
) -> Iterator[Verdict]:
    """Yields the verdicts so far, as `lint_incremental` does."""
    from ptxkit.rules import analyze_incrementally
    from ptxkit.validate import validate

    module, launched = apply_overrides(module, settings)
    shows = settings.is_enabled if settings.selections else None
    validated = validate(module)
    yield apply_settings(validated, settings)
    held = analyze_incrementally(launched, settings.policy, first, notes=settings.notes, shows=shows, budget=budget)
    for verdict in held:
        yield apply_settings(_merge(validated, verdict), settings)


def apply_settings(verdict: Verdict, settings: Settings) -> Verdict:
    """Returns the part of a verdict that the settings enable, with their severities."""
    if not (settings.selections or settings.severities):
        return verdict
    return Verdict(
        tuple(_apply_severity(item, settings) for item in verdict.diagnostics if settings.is_enabled(item.code)),
        tuple(item for item in verdict.undecided if settings.is_enabled(item.code)),
    )


def _apply_severity(item: Diagnostic, settings: Settings) -> Diagnostic:
    severity = settings.severity(item.code, item.severity)
    return item if severity is item.severity else replace(item, severity=severity)


def crash_result(path: str, error: Exception) -> FileResult:
    """Returns the result of a file whose analysis raised `error`.

    Raises an error in the instruction table again, and MemoryError, which the caller who sets the limit reports.
    """
    from traceback import format_exception

    from ptxkit.isa.errors import NotationError

    if isinstance(error, NotationError | MemoryError):
        raise error  # the table is wrong for every file, or the memory is exhausted
    return unchecked_result(
        path,
        f"the analysis of this file broke: {_crash_summary(error)}",
        remedy="this is a fault in ptxkit, not in the file; please report it with the file",
        properties={"traceback": "".join(format_exception(error))},
    )


def unchecked_result(
    path: str, message: str, *, remedy: str | None = None, properties: dict[str, object] | None = None
) -> FileResult:
    """Returns the result of an input without a verdict, whose diagnostic states the reason and the remedy."""
    diagnostic = Diagnostic(
        code=ptx1xx.NO_VERDICT,
        severity=Severity.ERROR,
        message=message,
        source=SourceFile(path, ""),
        span=Span(0, 0),
        help=remedy,
        properties=properties or {},
    )
    return FileResult(path, Status.FAILED, (diagnostic,))


def _parsed_module(text_or_module: str | Module, path: str | None) -> Module:
    from ptxkit.syntax import parse

    if isinstance(text_or_module, str):
        return parse(text_or_module, path)
    if text_or_module.source is None:
        return parse(str(text_or_module), path or "<built>")
    return text_or_module


def _merge(*verdicts: Verdict) -> Verdict:
    """Merges verdicts in the order of the text, without duplicates."""
    unique = {_sort_key(item): item for verdict in verdicts for item in verdict.diagnostics}
    asked = {_sort_key(item): item for verdict in verdicts for item in verdict.undecided}
    return Verdict(
        tuple(unique[key] for key in sorted(unique)),
        tuple(asked[key] for key in sorted(asked)),
    )


def _sort_key(item: Diagnostic | Undecided) -> tuple[int, int, str, str]:
    text = item.message if isinstance(item, Diagnostic) else item.reason
    return item.span.start, item.span.end, item.code, text


def _crash_summary(error: Exception) -> str:
    """Returns `KeyError: 'x' (flow.py:12)`: the exception and the innermost location."""
    from traceback import extract_tb

    frames = extract_tb(error.__traceback__)
    place = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"
