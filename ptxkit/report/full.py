"""The format for people: a line for each diagnostic, a code frame, the remedy, and the section of the manual.

Where `.loc` leads to the program that the PTX was compiled from, the header and the first frame are of that program,
and the PTX is below them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from ptxkit.diagnostic_groups import fault_notes
from ptxkit.diagnostics import Diagnostic, Label, Severity, Undecided
from ptxkit.diagnostics.catalogue import contract_words, ptx1xx
from ptxkit.fast_dataclasses import replace
from ptxkit.mangled_names import short_names, with_short_names
from ptxkit.model.kernel_conditions import conditions_by_kernel, describe_question
from ptxkit.report.code_frame import code_frame
from ptxkit.report.limits import MAX_REASONS
from ptxkit.report.options import DEFAULT_OPTIONS, ReportOptions
from ptxkit.report.program_source import ProgramFinding, ProgramLabel, ProgramSources
from ptxkit.report.shown_findings import shown_findings, shown_questions
from ptxkit.report.style import Line, TextRole
from ptxkit.results import FileResult, KernelRun, ResultCounter, Status, Summary
from ptxkit.source import origin_chain
from ptxkit.untrusted_text import escape_path, escape_text

_ROLES = {Severity.ERROR: TextRole.ERROR, Severity.WARNING: TextRole.WARNING, Severity.NOTE: TextRole.NOTE}


def full_report(results: Iterable[FileResult], options: ReportOptions = DEFAULT_OPTIONS) -> Iterator[Line]:
    """Every fault with its frame, the open questions where asked for, and at the end a line of counts."""
    counted = ResultCounter()
    sources = ProgramSources()
    for result in results:
        counted.add(result)
        yield from diagnostic_lines(result.diagnostics, options, sources)
        for question, at in shown_questions(result.undecided, options, sources):
            yield from _undecided_lines(question, at, options)
        yield from condition_lines(result, options)
        yield from (_run_line(run, options) for run in result.runs)
        if result.obligations is not None:
            from ptxkit.report.obligation_list import obligation_lines

            yield from obligation_lines(result)
    yield from summary_lines(counted.summary, options)


def diagnostic_lines(
    diagnostics: Iterable[Diagnostic],
    options: ReportOptions = DEFAULT_OPTIONS,
    sources: ProgramSources | None = None,
) -> Iterator[Line]:
    """The lines of some diagnostics, each followed by an empty one."""
    for item, found in shown_findings(diagnostics, options, sources or ProgramSources()):
        if found is None:
            yield header_line(item)
            yield from _ptx_frame(item)
            notes, remedy = (*item.notes, *fault_notes(item)), item.help
        else:
            yield program_header(item, found)
            if found.at.source.text or options.show == "source":
                yield from _program_frames(found)
            if options.show == "both":
                yield from _frame_below(item, is_dimmed=bool(found.at.source.text))
            notes, remedy = (*item.notes, *found.notes), found.help
        if item.origin and (found is None or options.verbose or not found.at.source.text):
            yield _field("source", origin_chain(item.origin))
        for note in notes:
            yield _field("note", note)
        if remedy:
            yield _field("help", remedy)
        if item.fix is not None:
            option = "--fix" if item.fix.safe else "--fix --unsafe-fixes"
            yield _field("fix", f"{item.fix.message} (`ptxkit lint {option}` does)")
        if item.isa:
            yield _field("isa", "; ".join(item.isa))
        yield ()


def _ptx_frame(item: Diagnostic) -> Sequence[Line]:
    if not item.source.text:
        return ()
    return code_frame(item.source, item.span, [_with_origin(label) for label in item.labels])


def _frame_below(item: Diagnostic, *, is_dimmed: bool) -> Iterator[Line]:
    """Where in the PTX a finding about a program is, and these lines: in short, if a frame of the program is shown."""
    line, column = item.source.position(item.span.start)
    yield _field("ptx", f"{escape_path(item.source.path)}:{line}:{column}")
    if not is_dimmed:
        yield from _ptx_frame(item)
    elif item.source.text:
        yield from _dim(code_frame(item.source, item.span, [replace(label, message="") for label in item.labels]))


def _dim(lines: Iterable[Line]) -> Iterator[Line]:
    return (tuple((text, TextRole.DIM) for text, _ in line) for line in lines)


def _program_frames(found: ProgramFinding) -> Iterator[Line]:
    """The lines of the program: a frame of the finding's file, and one of each other file that has a label."""
    labels = [*found.callers, *found.labels]
    for path in dict.fromkeys(each.source.path for each in (found.at, *labels)):
        here = [each for each in labels if each.source.path == path]
        first = found.at if path == found.at.source.path else here[0]
        if not first.source.text:
            yield from (_field("at", f"{escape_path(path)}:{each.place.line}: {each.message}") for each in here)
            continue
        if first is not found.at:
            yield _field("in", f"{escape_path(path)}:{first.place.line}")
        yield from code_frame(first.source, first.span, [Label(each.span, each.message) for each in here])


def severity_role(severity: Severity) -> TextRole:
    """The color and the marks of a severity."""
    return _ROLES[severity]


def header_line(item: Diagnostic) -> Line:
    """`k.ptx:3:2: PTX401 error: ...`"""
    line, column = item.source.position(item.span.start)
    place = f":{line}:{column}" if item.code != ptx1xx.NO_VERDICT else ""
    return _header(
        item.source.path + place,
        item.code,
        str(item.severity),
        _ROLES[item.severity],
        item.message + _place_count(item, "places"),
    )


def program_header(item: Diagnostic, found: ProgramFinding) -> Line:
    """`k.cu:45:9: PTX401 error: ...`"""
    message = found.message + _place_count(item, "places in the PTX")
    return _header(_program_place(found.at), item.code, str(item.severity), _ROLES[item.severity], message)


def _place_count(item: Diagnostic, noun: str) -> str:
    """The number of places of a finding that has several: PTX does not show whether they are from unrolling."""
    return f" ({len(item.copies) + 1} {noun})" if item.copies else ""


def _program_place(label: ProgramLabel) -> str:
    column = f":{label.place.column}" if label.place.column else ""
    return f"{label.source.path}:{label.place.line}{column}"


def undecided_header(item: Undecided, at: ProgramLabel | None = None) -> Line:
    """`k.ptx:3:2: PTX501 undecided: ...`, or the place in the program."""
    line, column = item.source.position(item.span.start)
    place = f"{item.source.path}:{line}:{column}" if at is None else _program_place(at)
    if item.conditions:
        return _header(place, item.code, str(Status.CONDITIONAL), TextRole.NOTE, describe_question(item))
    return _header(place, item.code, "undecided", TextRole.NOTE, item.reason if at is None else at.message)


def condition_lines(result: FileResult, options: ReportOptions) -> Iterator[Line]:
    """`k.ptx: kernel gemm: clean if the cluster has 1 CTA`, for each kernel that has conditions."""
    words = contract_words.CLEAN_IF
    if result.status is not Status.CONDITIONAL:
        words = contract_words.OTHERWISE_CLEAN_IF
    texts = [words(kernel=each.kernel, clause=each.clause) for each in conditions_by_kernel(result.undecided)]
    names = {} if options.verbose else short_names(texts)
    for text in texts:
        shown = with_short_names(text, names)
        yield (
            (f"{escape_path(result.path)}: ", TextRole.LOCATION),
            (_one_line(shown), TextRole.PLAIN),
        )


def summary_lines(summary: Summary, options: ReportOptions) -> Iterator[Line]:
    """The counts, preceded by the reasons of undecided questions, the most frequent first."""
    asked = summary.undecided_by_remedy.most_common()
    for reason, count in asked[:MAX_REASONS]:
        shown = reason if options.verbose else with_short_names(reason, short_names([reason]))
        yield ((f"{count} undecided: {escape_text(shown)}", TextRole.LOCATION),)
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
    if summary.conditional:
        counts.append(f"{summary.conditional} conditional")
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


def _run_line(run: KernelRun, options: ReportOptions) -> Line:
    """`ran k 20 times, 97 of 97 instructions: grid 2, block 128; n=256/1, x=1 MiB random`."""
    values: dict[str, list[str]] = {}
    for name, _, value in (each.partition("=") for each in run.arguments):
        values.setdefault(name, []).append(value)
    arguments = ", ".join(f"{name}={'/'.join(each)}" for name, each in values.items()) or "no arguments"
    names = {} if options.verbose else short_names([run.kernel, arguments])
    ended = "" if run.whole == run.runs else f" ({run.whole} completed)"
    times = _count(run.runs, "time")
    much = f", {run.reached} of {_count(run.instructions, 'instruction')}"
    if run.questions:
        much += f", {run.asked} of {_count(run.questions, 'place')} with open questions"
    if run.limits:
        much += f", {run.limits}"
    return (
        (
            escape_text(with_short_names(f"ran {run.kernel} {times}{ended}{much}: {run.launch}; {arguments}", names)),
            TextRole.LOCATION,
        ),
    )


def _undecided_lines(item: Undecided, at: ProgramLabel | None, options: ReportOptions) -> Iterator[Line]:
    yield undecided_header(item, at)
    if at is not None and at.source.text:
        yield from code_frame(at.source, at.span)
    if at is None or options.show == "both":
        shown = code_frame(item.source, item.span)
        yield from shown if at is None else _dim(shown)
    if item.tested:
        yield _field("runs", item.tested)
    if item.remedy and not item.conditions:
        yield _field("help", item.remedy)
    yield ()


def _header(place: str, code: str, word: str, role: TextRole, message: str) -> Line:
    return (
        (f"{escape_path(place)}:", TextRole.LOCATION),
        (f" {code} {word}: ", role),
        (_one_line(message), TextRole.PLAIN),
    )


def _field(name: str, text: str) -> Line:
    return ((f"  = {name}: ", TextRole.FIELD), (_one_line(text), TextRole.PLAIN))


def _with_origin(label: Label) -> Label:
    """The label with the line that its place was compiled from, of inlined code that of the outermost call."""
    if not label.origin:
        return label
    place = label.origin[-1]
    return replace(label, message=f"{label.message} ({os.path.basename(place.file)}:{place.line})")


def _one_line(text: str) -> str:
    return escape_text(text.replace("\t", " "))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
