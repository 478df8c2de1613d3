"""Answers as plain data, without the text that they are about: to be kept, and to be sent from process to process.

Places are offsets into the text, which whoever asked has. What only mending reads (`proposals`) is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ptxkit.diagnostics import Diagnostic, Edit, Fix, Label, Severity, Undecided
from ptxkit.many.question import Answer
from ptxkit.records import replace
from ptxkit.results import FileResult, Status
from ptxkit.source import Place, SourceFile, Span

Packed: TypeAlias = "tuple[Any, ...]"
"""Numbers, texts, booleans, None, and tuples, lists and dictionaries of them."""


def packed(answer: Answer) -> Packed:
    """The answer as plain data."""
    result = answer.result
    return (
        str(result.status),
        tuple(map(_diagnostic, result.diagnostics)),
        tuple((each.code, each.reason, *_span(each.span), each.missing, each.kernel) for each in result.undecided),
        result.suppressed,
        result.fixed,
        answer.mended,
    )


def unpacked(data: Packed, source: SourceFile) -> Answer:
    """The answer that `data` was made of, about a text. Raises ValueError, TypeError or KeyError where it is none."""
    status, diagnostics, undecided, suppressed, fixed, mended = data
    about = source if mended is None else replace(source, text=mended)
    result = FileResult(
        source.path,
        Status(status),
        tuple(_found(each, about) for each in diagnostics),
        tuple(
            Undecided(code, reason, about, Span(start, end), missing, kernel)
            for code, reason, start, end, missing, kernel in undecided
        ),
        suppressed=suppressed,
        fixed=fixed,
    )
    return Answer(result, mended)


def _diagnostic(item: Diagnostic) -> Packed:
    return (
        item.code,
        str(item.severity),
        item.message,
        bool(item.source.text),
        *_span(item.span),
        tuple((*_span(label.span), label.message, _places(label.origin)) for label in item.labels),
        item.notes,
        item.help,
        item.isa,
        None if item.fix is None else _fix(item.fix),
        _plain(item.properties),
        _places(item.origin),
        item.wording,
    )


def _found(data: Packed, source: SourceFile) -> Diagnostic:
    code, severity, message, placed, start, end, labels, notes, remedy, isa, fix, properties, origin, wording = data
    return Diagnostic(
        code,
        Severity(severity),
        message,
        source if placed else SourceFile(source.path, ""),
        Span(start, end),
        tuple(Label(Span(first, last), text, _origin(places)) for first, last, text, places in labels),
        tuple(notes),
        remedy,
        tuple(isa),
        None if fix is None else Fix(fix[0], tuple(Edit(Span(*each[:2]), each[2]) for each in fix[1]), fix[2]),
        properties,
        _origin(origin),
        wording=wording,
    )


def _span(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _fix(fix: Fix) -> Packed:
    return fix.message, tuple((*_span(edit.span), edit.replacement) for edit in fix.edits), fix.safe


def _places(origin: Sequence[Place]) -> Packed:
    return tuple((place.file, place.line) for place in origin)


def _origin(places: Packed) -> tuple[Place, ...]:
    return tuple(Place(file, line) for file, line in places)


def _plain(value: object) -> Any:
    """A property as every report shows it: names of an enumeration are texts, and what else is no JSON is its text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    return float(value) if isinstance(value, float) else str(value)
