"""The format for people: a line for each diagnostic, a code frame, what to do, and where the manual says so."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from ptxkit.diagnostic_groups import fold_groups
from ptxkit.diagnostics import Diagnostic, Label, Severity, Undecided
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.fast_dataclasses import replace
from ptxkit.report.code_frame import code_frame
from ptxkit.report.limits import MAX_REASONS
from ptxkit.report.style import Line, TextRole
from ptxkit.results import FileResult, KernelRun, ResultCounter, Status, Summary
from ptxkit.source import SourceFile, SourceLine, Span
from ptxkit.untrusted_text import escape_path, escape_text

_ROLES = {Severity.ERROR: TextRole.ERROR, Severity.WARNING: TextRole.WARNING, Severity.NOTE: TextRole.NOTE}


def full_report(results: Iterable[FileResult], *, show_undecided: bool = False) -> Iterator[Line]:
    """Every fault with its frame, the open questions where asked for, and at the end a line of counts."""
    counted = ResultCounter()
    for result in results:
        counted.add(result)
        yield from diagnostic_lines(fold_groups(result.diagnostics))
        if show_undecided:
            for question in result.undecided:
                yield from _undecided_lines(question)
        yield from (_run_line(run) for run in result.runs)
    yield from summary_lines(counted.summary)


def diagnostic_lines(diagnostics: Iterable[Diagnostic]) -> Iterator[Line]:
    """The lines of some diagnostics, each followed by an empty one."""
    for item in diagnostics:
        yield header_line(item)
        if item.source.text:
            yield from code_frame(item.source, item.span, [_with_origin(label) for label in item.labels])
        if item.origin:
            yield _field("source", _origin_chain(item.origin))
        for note in item.notes:
            yield _field("note", note)
        if item.help:
            yield _field("help", item.help)
        if item.fix is not None:
            option = "--fix" if item.fix.safe else "--fix --unsafe-fixes"
            yield _field("fix", f"{item.fix.message} (`ptxkit lint {option}` does)")
        if item.isa:
            yield _field("isa", "; ".join(item.isa))
        yield ()


def severity_role(severity: Severity) -> TextRole:
    """How a severity looks."""
    return _ROLES[severity]


def header_line(item: Diagnostic) -> Line:
    """`k.ptx:3:2: PTX401 error: ...`"""
    return _header(item.source, item.span, item.code, str(item.severity), _ROLES[item.severity], item.message)


def undecided_header(item: Undecided) -> Line:
    """`k.ptx:3:2: PTX501 undecided: ...`"""
    return _header(item.source, item.span, item.code, "undecided", TextRole.NOTE, item.reason)


def summary_lines(summary: Summary) -> Iterator[Line]:
    """The counts, and in front of them why questions are open, the most frequent reasons first."""
    asked = summary.undecided_by_remedy.most_common()
    for reason, count in asked[:MAX_REASONS]:
        yield ((f"{count} undecided: {escape_text(reason)}", TextRole.LOCATION),)
    left = sum(count for _, count in asked[MAX_REASONS:])
    if left:
        yield ((f"{left} undecided for other reasons (--show-undecided prints them)", TextRole.LOCATION),)
    yield summary_line(summary)


def summary_line(summary: Summary) -> Line:
    """`checked 3 files: 1 error, 0 warnings, 2 undecided`, and what else there is to count."""
    failed = summary.statuses[Status.FAILED]
    errors, warnings, notes = (summary.faults[severity] for severity in Severity)
    counts = [_count(errors, "error"), _count(warnings, "warning")]
    if notes:
        counts.append(_count(notes, "note"))
    counts.append(f"{summary.undecided} undecided")
    if summary.fixed:
        counts.append(f"{summary.fixed} fixed")
    if summary.suppressed:
        counts.append(f"{summary.suppressed} suppressed")
    if summary.known:
        counts.append(f"{summary.known} known")
    if failed:
        counts.append(f"{failed} not checked")
    role = TextRole.ERROR if errors or failed else TextRole.WARNING if warnings else TextRole.LOCATION
    return ((f"checked {_count(summary.files - failed, 'file')}: {', '.join(counts)}", role),)


def _run_line(run: KernelRun) -> Line:
    """`ran k 20 times, 97 of 97 instructions: grid 2, block 128; n=256/1, x=1 MiB random`."""
    values: dict[str, list[str]] = {}
    for name, _, value in (each.partition("=") for each in run.arguments):
        values.setdefault(name, []).append(value)
    arguments = ", ".join(f"{name}={'/'.join(each)}" for name, each in values.items()) or "no arguments"
    ended = "" if run.whole == run.runs else f" ({run.whole} completed)"
    times = _count(run.runs, "time")
    much = f", {run.reached} of {_count(run.instructions, 'instruction')}"
    return (
        (
            f"ran {escape_text(run.kernel)} {times}{ended}{much}: {run.launch}; {escape_text(arguments)}",
            TextRole.LOCATION,
        ),
    )


def _undecided_lines(item: Undecided) -> Iterator[Line]:
    yield undecided_header(item)
    yield from code_frame(item.source, item.span)
    if item.remedy:
        yield _field("help", item.remedy)
    yield ()


def _header(source: SourceFile, span: Span, code: str, word: str, role: TextRole, message: str) -> Line:
    line, column = source.position(span.start)
    path = escape_path(source.path)
    place = f"{path}:{line}:{column}:" if code != ptx1xx.NO_VERDICT else f"{path}:"
    return ((place, TextRole.LOCATION), (f" {code} {word}: ", role), (_one_line(message), TextRole.PLAIN))


def _field(name: str, text: str) -> Line:
    return ((f"  = {name}: ", TextRole.FIELD), (_one_line(text), TextRole.PLAIN))


def _with_origin(label: Label) -> Label:
    """The label with the line that its place was compiled from, of inlined code that of the outermost call."""
    if not label.origin:
        return label
    place = label.origin[-1]
    return replace(label, message=f"{label.message} ({os.path.basename(place.file)}:{place.line})")


def _origin_chain(origin: Sequence[SourceLine]) -> str:
    """`lib.h:50, inlined at k.cu:7`."""
    return ", inlined at ".join(f"{place.file}:{place.line}" for place in origin)


def _one_line(text: str) -> str:
    return escape_text(text.replace("\t", " "))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
