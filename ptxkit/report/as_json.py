"""The JSON format. Its schema is in the documentation; `version` changes with every incompatible change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from ptxkit.diagnostic_groups import fault_notes, group_names, split_places
from ptxkit.diagnostics import Diagnostic, Fix, Label, Severity, Undecided
from ptxkit.fast_dataclasses import fields
from ptxkit.model.kernel_conditions import KernelConditions, conditions_by_kernel
from ptxkit.report.requirements_json import requirement_object
from ptxkit.results import FileResult, ResultCounter, Status
from ptxkit.source import SourceFile, SourceLine, Span
from ptxkit.user_code import user_frames

if TYPE_CHECKING:
    from ptxkit.diagnostics.obligation import JudgedObligation, LaunchNeed

VERSION = 1


def json_report(results: Iterable[FileResult]) -> str:
    """The document as ASCII text with a final line end."""
    import json  # imported here, because other formats do not need it

    counted = ResultCounter()
    files = [_file_object(counted.add(result)) for result in results]
    summary = counted.summary
    document = {
        "version": VERSION,
        "files": files,
        "summary": {
            "files": summary.files,
            **{str(status): summary.statuses[status] for status in Status},
            "diagnostics": {str(severity): summary.severities[severity] for severity in Severity},
            "undecided_questions": summary.undecided + summary.conditional,
            "conditional_questions": summary.conditional,
            "suppressed": summary.suppressed,
            "known": summary.known,
            "fixed": summary.fixed,
        },
    }
    return json.dumps(replace_surrogates(document), indent=2) + "\n"


def json_lines(results: Iterable[FileResult]) -> Iterator[str]:
    """One JSON object per line, as results arrive: each diagnostic as in the document."""
    import json

    for result in results:
        for item in _diagnostic_objects(result):
            yield json.dumps(replace_surrogates(item)) + "\n"


def _file_object(result: FileResult) -> dict[str, object]:
    document: dict[str, object] = {
        "path": result.path,
        "status": str(result.status),
        "diagnostics": _diagnostic_objects(result),
        "undecided": [_undecided_object(item) for item in result.undecided],
        "conditions": [_conditions_object(each) for each in conditions_by_kernel(result.undecided)],
    }
    if result.runs:
        document["runs"] = [record_object(item) for item in result.runs]
    if result.obligations is not None:
        document["obligations"] = [_obligation_object(item) for item in result.obligations]
    return document


def _diagnostic_objects(result: FileResult) -> list[dict[str, object]]:
    """All diagnostics of a file, one for each location; those of one fault have the same group."""
    names = group_names(result.diagnostics)
    return [
        {**diagnostic_object(place), "group": name}
        for item, name in zip(result.diagnostics, names, strict=True)
        for place in split_places(item)
    ]


def record_object(record: Any) -> dict[str, object]:
    """The fields of a record as a JSON object with their names."""
    return {each.name: getattr(record, each.name) for each in fields(record)}


def diagnostic_object(item: Diagnostic) -> dict[str, object]:
    """A diagnostic as a JSON object."""
    return {
        "code": item.code,
        "severity": str(item.severity),
        "message": item.message,
        "path": item.source.path,
        **_span_object(item.source, item.span),
        "labels": [_label_object(item.source, label) for label in item.labels],
        "notes": [*item.notes, *fault_notes(item)],
        "help": item.help,
        "isa": list(item.isa),
        "source": _origin_objects(item.origin),
        "program": next(iter(_origin_objects(user_frames(item.origin))), None),
        "fix": None if item.fix is None else _fix_object(item.source, item.fix),
        "properties": dict(item.properties),
    }


def _undecided_object(item: Undecided) -> dict[str, object]:
    return {
        "code": item.code,
        "message": item.reason,
        "path": item.source.path,
        **_span_object(item.source, item.span),
        "source": _origin_objects(item.origin),
        "conditional": bool(item.conditions),
        "runs": item.tested,
    }


def _conditions_object(item: KernelConditions) -> dict[str, object]:
    return {
        "kernel": item.kernel,
        "message": item.clause,
        "requirements": [requirement_object(each) for each in item.requirements],
        "questions": [_undecided_object(each) for each in item.questions],
    }


def _obligation_object(item: JudgedObligation) -> dict[str, object]:
    return {
        "code": item.code,
        "verdict": str(item.verdict),
        "kernel": item.kernel,
        "subject": item.subject,
        **_span_object(item.source, item.span),
        "message": item.words,
        "evidence": item.evidence or None,
        "steps": [_span_object(item.source, step) for step in item.steps],
        "needs": [_need_object(each) for each in item.needs],
    }


def _need_object(need: LaunchNeed) -> dict[str, object]:
    return {
        "subject": need.subject,
        "position": need.position,
        "demand": need.demand,
        "amount": need.amount,
        "space": need.space,
    }


def _label_object(source: SourceFile, label: Label) -> dict[str, object]:
    line, column = source.position(label.span.start)
    return {"line": line, "column": column, "message": label.message, "source": _origin_objects(label.origin)}


def _fix_object(source: SourceFile, fix: Fix) -> dict[str, object]:
    edits = [{**_span_object(source, edit.span), "text": edit.replacement} for edit in fix.edits]
    return {"message": fix.message, "safe": fix.safe, "edits": edits}


def _origin_objects(origin: Sequence[SourceLine]) -> list[dict[str, object]]:
    return [{"file": place.file, "line": place.line, "column": place.column} for place in origin]


def _span_object(source: SourceFile, span: Span) -> dict[str, int]:
    line, column = source.position(span.start)
    end_line, end_column = source.position(span.end)
    return {"line": line, "column": column, "end_line": end_line, "end_column": end_column}


def replace_surrogates(value: object) -> object:
    """Converts a value to JSON types, with lone surrogates (bytes of a path or text that are not UTF-8) escaped,
    because many parsers reject them.

    Properties may hold any mapping, sequence, or value that can be converted to a string.
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {str(replace_surrogates(key)): replace_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [replace_surrogates(item) for item in value]
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and isfinite(value)):
        return value
    return str(value)
