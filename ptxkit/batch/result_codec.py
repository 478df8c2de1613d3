"""Encodes results as plain data, without their texts, for the cache and for other processes.

Locations are offsets into the text, which the receiver has. `proposals`, which only fixes read, are omitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ptxkit.batch.job import JobResult
from ptxkit.diagnostics import (
    Diagnostic,
    DiagnosticTexts,
    Edit,
    Fix,
    Label,
    OpenLinesText,
    Place,
    Severity,
    Undecided,
)
from ptxkit.diagnostics.obligation import JudgedObligation, LaunchNeed, ObligationVerdict
from ptxkit.fast_dataclasses import fields, replace
from ptxkit.model.launch_contract import KINDS, ParameterPlace, Requirement
from ptxkit.results import FileResult, Status
from ptxkit.source import SourceFile, SourceLine, Span

EncodedResult: TypeAlias = "tuple[Any, ...]"
"""Numbers, strings, booleans, None, and tuples, lists and dictionaries of them."""
_REQUIREMENTS = {kind: made for made, kind in KINDS.items()}


def encode_result(answer: JobResult) -> EncodedResult:
    """Encodes a result as plain data."""
    result = answer.result
    return (
        str(result.status),
        tuple(map(_encode_diagnostic, result.diagnostics)),
        tuple(
            (
                str(each.code),
                each.reason,
                *_encode_span(each.span),
                each.missing,
                each.kernel,
                _encode_origin(each.origin),
                tuple(map(_encode_requirement, each.conditions)),
            )
            for each in result.undecided
        ),
        result.suppressed,
        result.fixed,
        answer.fixed_text,
        None if result.obligations is None else tuple(map(_encode_obligation, result.obligations)),
    )


def decode_result(data: EncodedResult, source: SourceFile) -> JobResult:
    """Decodes the result of a text. Raises ValueError, TypeError or KeyError for invalid data."""
    status, diagnostics, undecided, suppressed, fixed, fixed_source, obligations = data
    about = source if fixed_source is None else replace(source, text=fixed_source)
    result = FileResult(
        source.path,
        Status(status),
        tuple(_decode_diagnostic(each, about) for each in diagnostics),
        tuple(
            Undecided(
                code,
                reason,
                about,
                Span(start, end),
                missing,
                kernel,
                _decode_origin(origin),
                conditions=tuple(map(_decode_requirement, conditions)),
            )
            for code, reason, start, end, missing, kernel, origin, conditions in undecided
        ),
        suppressed=suppressed,
        fixed=fixed,
        obligations=None if obligations is None else tuple(_decode_obligation(each, about) for each in obligations),
    )
    return JobResult(result, fixed_source)


def _encode_requirement(item: Requirement) -> EncodedResult:
    """Returns the kind and the values of the fields."""
    return (KINDS[type(item)], *(_encode_field(getattr(item, each.name)) for each in fields(item)))


def _encode_field(value: Any) -> Any:
    """Returns a field of a requirement: a parameter is a tuple that begins with an empty string."""
    if isinstance(value, ParameterPlace):
        return ("", value.name, value.symbol, value.index, value.offset)
    return tuple(map(_encode_field, value)) if isinstance(value, tuple) else value


def _decode_requirement(data: EncodedResult) -> Requirement:
    kind, *values = data
    made: Requirement = _REQUIREMENTS[kind](*map(_decode_field, values))
    return made


def _decode_field(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return value
    return ParameterPlace(*value[1:]) if value[:1] == ("",) else tuple(map(_decode_field, value))


def _encode_obligation(item: JudgedObligation) -> EncodedResult:
    steps = tuple(map(_encode_span, item.steps))
    span = _encode_span(item.span)
    needs = tuple((each.subject, each.demand, each.amount, each.space, each.position) for each in item.needs)
    return (item.code, item.kernel, item.subject, span, str(item.verdict), item.words, item.evidence, steps, needs)


def _decode_obligation(data: EncodedResult, about: SourceFile) -> JudgedObligation:
    code, kernel, subject, span, verdict, words, evidence, steps, needs = data
    return JudgedObligation(
        code,
        kernel,
        subject,
        about,
        Span(*span),
        ObligationVerdict(verdict),
        words,
        evidence,
        tuple(Span(*step) for step in steps),
        tuple(LaunchNeed(*each) for each in needs),
    )


def _encode_diagnostic(item: Diagnostic) -> EncodedResult:
    return (
        str(item.code),
        str(item.severity),
        item.message,
        bool(item.source.text),
        *_encode_span(item.span),
        tuple((*_encode_span(label.span), label.message, _encode_origin(label.origin)) for label in item.labels),
        item.notes,
        item.help,
        item.isa,
        None if item.fix is None else _encode_fix(item.fix),
        _encode_property(item.properties),
        _encode_origin(item.origin),
        item.wording,
        item.subject,
        _encode_places(item.copies),
        tuple(map(_encode_places, item.lacks)),
        None if item.texts is None else _encode_texts(item.texts),
    )


def _decode_diagnostic(data: EncodedResult, source: SourceFile) -> Diagnostic:
    code, severity, message, placed, start, end, labels, notes, remedy, isa, fix, properties, *more = data
    origin, wording, subject, copies, lacks, texts = more
    return Diagnostic(
        code,
        Severity(severity),
        message,
        source if placed else SourceFile(source.path, ""),
        Span(start, end),
        tuple(Label(Span(first, last), text, _decode_origin(places)) for first, last, text, places in labels),
        tuple(notes),
        remedy,
        tuple(isa),
        None if fix is None else Fix(fix[0], tuple(Edit(Span(*each[:2]), each[2]) for each in fix[1]), fix[2]),
        properties,
        _decode_origin(origin),
        wording=wording,
        subject=subject,
        copies=_decode_places(copies),
        lacks=tuple(map(_decode_places, lacks)),
        texts=None if texts is None else _decode_texts(texts),
    )


def _encode_texts(texts: DiagnosticTexts) -> EncodedResult:
    remedy = None if texts.help is None else texts.help.pieces
    return texts.message.pieces, tuple(each.pieces for each in texts.labels), remedy


def _decode_texts(data: EncodedResult) -> DiagnosticTexts:
    message, labels, remedy = data
    return DiagnosticTexts(
        OpenLinesText(tuple(message)),
        tuple(OpenLinesText(tuple(each)) for each in labels),
        None if remedy is None else OpenLinesText(tuple(remedy)),
    )


def _encode_span(span: Span) -> tuple[int, int]:
    return span.start, span.end


def _encode_places(places: Sequence[Place]) -> EncodedResult:
    return tuple((*_encode_span(each.span), _encode_origin(each.origin)) for each in places)


def _decode_places(places: EncodedResult) -> tuple[Place, ...]:
    return tuple(Place(Span(first, last), _decode_origin(origin)) for first, last, origin in places)


def _encode_fix(fix: Fix) -> EncodedResult:
    return fix.message, tuple((*_encode_span(edit.span), edit.replacement) for edit in fix.edits), fix.safe


def _encode_origin(origin: Sequence[SourceLine]) -> EncodedResult:
    return tuple((place.file, place.line, place.column) for place in origin)


def _decode_origin(places: EncodedResult) -> tuple[SourceLine, ...]:
    return tuple(SourceLine(file, line, column) for file, line, column in places)


def _encode_property(value: object) -> Any:
    """Returns a property as all reports show it: members of enumerations are strings, and other values are converted to
    strings.
    """
    if isinstance(value, Mapping):
        return {str(key): _encode_property(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_encode_property(item) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return int(value)
    return float(value) if isinstance(value, float) else str(value)
