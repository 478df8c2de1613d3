"""The format for machines. README.md documents the schema; `version` changes when a reader would have to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite

from ptxkit.diagnostics import Diagnostic, Fix, Label, Severity, Undecided
from ptxkit.grouping import group_names
from ptxkit.results import FileResult, Run, Status, Tally
from ptxkit.source import Place, SourceFile, Span

VERSION = 1


def json_report(results: Iterable[FileResult]) -> str:
    """The document, as ASCII text with a final line end."""
    import json  # here, as the other formats do without

    counted = Tally()
    files = [_file(counted.add(result)) for result in results]
    summary = counted.summary
    document = {
        "version": VERSION,
        "files": files,
        "summary": {
            "files": summary.files,
            **{str(status): summary.statuses[status] for status in Status},
            "diagnostics": {str(severity): summary.severities[severity] for severity in Severity},
            "undecided_questions": summary.undecided,
            "suppressed": summary.suppressed,
            "known": summary.known,
            "fixed": summary.fixed,
        },
    }
    return json.dumps(cleaned(document), indent=2) + "\n"


def json_lines(results: Iterable[FileResult]) -> Iterator[str]:
    """One object a line, as results arrive: each diagnostic, as the document has it."""
    import json

    for result in results:
        for item in _diagnostics(result):
            yield json.dumps(cleaned(item)) + "\n"


def _file(result: FileResult) -> dict[str, object]:
    document: dict[str, object] = {
        "path": result.path,
        "status": str(result.status),
        "diagnostics": _diagnostics(result),
        "undecided": [_undecided(item) for item in result.undecided],
    }
    if result.runs:
        document["runs"] = [_run(item) for item in result.runs]
    return document


def _diagnostics(result: FileResult) -> list[dict[str, object]]:
    """All diagnostics of a file; those that are one fault have the name of a group in common."""
    names = group_names(result.diagnostics)
    return [{**diagnostic_object(item), "group": name} for item, name in zip(result.diagnostics, names, strict=True)]


def _run(item: Run) -> dict[str, object]:
    return {
        "kernel": item.kernel,
        "launch": item.launch,
        "arguments": list(item.arguments),
        "runs": item.runs,
        "whole": item.whole,
        "steps": item.steps,
        "reached": item.reached,
        "instructions": item.instructions,
    }


def diagnostic_object(item: Diagnostic) -> dict[str, object]:
    """A diagnostic as every document shows it."""
    return {
        "code": item.code,
        "severity": str(item.severity),
        "message": item.message,
        "path": item.source.path,
        **_place(item.source, item.span),
        "labels": [_label(item.source, label) for label in item.labels],
        "notes": list(item.notes),
        "help": item.help,
        "isa": list(item.isa),
        "source": _places(item.origin),
        "fix": None if item.fix is None else _fix(item.source, item.fix),
        "properties": dict(item.properties),
    }


def _undecided(item: Undecided) -> dict[str, object]:
    return {"code": item.code, "message": item.reason, "path": item.source.path, **_place(item.source, item.span)}


def _label(source: SourceFile, label: Label) -> dict[str, object]:
    line, column = source.position(label.span.start)
    return {"line": line, "column": column, "message": label.message, "source": _places(label.origin)}


def _fix(source: SourceFile, fix: Fix) -> dict[str, object]:
    edits = [{**_place(source, edit.span), "text": edit.replacement} for edit in fix.edits]
    return {"message": fix.message, "safe": fix.safe, "edits": edits}


def _places(origin: Sequence[Place]) -> list[dict[str, object]]:
    return [{"file": place.file, "line": place.line} for place in origin]


def _place(source: SourceFile, span: Span) -> dict[str, int]:
    line, column = source.position(span.start)
    end_line, end_column = source.position(span.end)
    return {"line": line, "column": column, "end_line": end_line, "end_column": end_column}


def cleaned(value: object) -> object:
    """The value with lone surrogates (bytes of a path or text that were not UTF-8) spelt out: many readers reject them.

    Properties may hold any mapping, sequence, or a value with a text form; JSON knows lists and objects only.
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {str(cleaned(key)): cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [cleaned(item) for item in value]
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and isfinite(value)):
        return value
    return str(value)
