"""SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"), which code hosts and editors read.

The names of the properties are those of the standard. Columns count characters from 1, as `columnKind` states.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from ptxkit.baseline import fingerprints
from ptxkit.diagnostic_groups import fault_notes
from ptxkit.diagnostics import Diagnostic, Fix, Severity
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.report.as_json import replace_surrogates
from ptxkit.report.paths import from_root
from ptxkit.report.program_source import ProgramSources, locate_in_repository
from ptxkit.results import CodePage, FileResult, Status
from ptxkit.source import SourceFile, SourceLine, Span

VERSION = "2.1.0"
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}

JsonObject = dict[str, object]


def sarif_report(results: Sequence[FileResult], pages: Sequence[CodePage] = ()) -> str:
    """The log as ASCII text with a final line end. pages: of the codes; those with findings are described."""
    import json

    found = [item for result in results for item in result.diagnostics if item.code != ptx1xx.NO_VERDICT]
    codes = sorted({item.code for item in found})
    about = {page.code: page for page in pages}
    index = {code: place for place, code in enumerate(codes)}
    sources = ProgramSources()
    run: JsonObject = {
        "tool": {"driver": _driver([_rule(code, about.get(code)) for code in codes])},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(results)],
        "artifacts": [{"location": {"uri": _uri(result.path)}} for result in results],
        "results": [
            _result(item, index[item.code], mark, sources)
            for result in results
            for item, mark in zip(result.diagnostics, fingerprints(result), strict=True)
            if item.code != ptx1xx.NO_VERDICT
        ],
    }
    log = {"$schema": SCHEMA, "version": VERSION, "runs": [run]}
    return json.dumps(replace_surrogates(log), indent=2) + "\n"


def _driver(rules: list[JsonObject]) -> JsonObject:
    from importlib.metadata import PackageNotFoundError, version

    driver: JsonObject = {"name": "ptxkit", "rules": rules}
    try:
        driver["version"] = version("ptxkit")
    except PackageNotFoundError:  # run from a copy that is not installed
        return driver
    return driver


def _rule(code: str, page: CodePage | None) -> JsonObject:
    if page is None:
        return {"id": code}
    text = "\n\n".join(f"{title}\n{body}" for title, body in page.parts)
    shows = any(title == "Example" for title, _ in page.parts)
    marked = "\n\n".join(
        f"### {title}\n\n" + (f"```\n{body}\n```" if shows and title in ("Example", "Use instead") else body)
        for title, body in page.parts
    )
    return {
        "id": code,
        "name": "".join(word.capitalize() for word in page.name.split("-")),
        "shortDescription": {"text": page.headline},
        "fullDescription": {"text": dict(page.parts).get("What it does", page.headline)},
        "help": {"text": text, "markdown": marked},
    }


def _invocation(results: Sequence[FileResult]) -> JsonObject:
    """Whether the run completed; each file without a verdict is a notification."""
    failed = [item for result in results if result.status is Status.FAILED for item in result.diagnostics]
    invocation: JsonObject = {"executionSuccessful": not failed}
    if failed:
        invocation["toolExecutionNotifications"] = [
            {
                "level": "error",
                "message": {"text": ". ".join(filter(None, (item.message, item.help)))},
                "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(item.source.path)}}}],
            }
            for item in failed
        ]
    return invocation


def _result(item: Diagnostic, rule: int, fingerprint: str, sources: ProgramSources) -> JsonObject:
    """A finding: at the program's line where the program is in the repository, with the PTX among the other places."""
    found = locate_in_repository(item, sources)
    message, notes, remedy = (
        (item.message, fault_notes(item), item.help) if found is None else (found.message, found.notes, found.help)
    )
    texts = [message, *item.notes, *notes, *([f"help: {remedy}"] if remedy else [])]
    in_ptx = _physical_location(item.source, item.span)
    result: JsonObject = {
        "ruleId": item.code,
        "ruleIndex": rule,
        "level": _LEVELS[item.severity],
        "message": {"text": "\n".join(texts)},
        "locations": [
            {"physicalLocation": in_ptx if found is None else _physical_location(found.at.source, found.at.span)}
        ],
        "partialFingerprints": {"ptxkitStatement/v1": fingerprint},
    }
    related = [(in_ptx, "in the PTX")] if found is not None else []
    related += [(_physical_location(item.source, label.span), label.message) for label in item.labels]
    related += [(_physical_location(item.source, each.span), "the same holds here") for each in item.copies]
    related += [
        (_source_location(place), "compiled from" if n == 0 else "inlined at") for n, place in enumerate(item.origin)
    ]
    if related:
        result["relatedLocations"] = [
            {"id": number, "physicalLocation": place, "message": {"text": words}}
            for number, (place, words) in enumerate(related)
        ]
    if item.fix is not None:
        result["fixes"] = [_fix(item.source, item.fix)]
    properties: JsonObject = {"isa": list(item.isa), **dict(item.properties)}
    result["properties"] = properties
    return result


def _physical_location(source: SourceFile, span: Span) -> JsonObject:
    line, _ = source.position(span.start)
    text = source.line_text(line)
    region = {**_region(source, span), "snippet": {"text": text[:400]}} if source.text else {"startLine": 1}
    return {"artifactLocation": {"uri": _uri(source.path)}, "region": region}


def _region(source: SourceFile, span: Span) -> dict[str, object]:
    line, column = source.position(span.start)
    end_line, end_column = source.position(span.end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _source_location(place: SourceLine) -> JsonObject:
    return {"artifactLocation": {"uri": _uri(place.file)}, "region": {"startLine": place.line}}


def _fix(source: SourceFile, fix: Fix) -> JsonObject:
    edits = [
        {"deletedRegion": _region(source, edit.span), "insertedContent": {"text": edit.replacement}}
        for edit in fix.edits
    ]
    return {
        "description": {"text": fix.message},
        "artifactChanges": [{"artifactLocation": {"uri": _uri(source.path)}, "replacements": edits}],
    }


def _uri(path: str) -> str:
    """A reference relative to the working directory, or a `file:` URI for a path that is not below it."""
    shown = quote(from_root(path).encode("utf-8", "surrogateescape"), safe="/!$&'(*)+,;=@~-._")
    return f"file://{shown}" if shown.startswith("/") else shown
