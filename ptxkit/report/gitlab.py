"""GitLab's Code Quality report: a subset of Code Climate's issues, which a merge request shows."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ptxkit.baseline import fingerprints
from ptxkit.diagnostic_groups import fault_notes
from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.report.paths import from_root
from ptxkit.report.program_source import ProgramSources, locate_in_repository
from ptxkit.report.readable_names import with_readable_names
from ptxkit.results import FileResult
from ptxkit.untrusted_text import escape_lines, escape_path

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def gitlab_report(results: Iterable[FileResult]) -> str:
    """One array of issues. A fingerprint is the same as long as the finding is, wherever its line moves to.

    Where the program that the PTX was compiled from is in the repository, the issue is at its line.
    """
    import json

    root = os.environ.get("CI_PROJECT_DIR")
    sources = ProgramSources()
    issues = [
        _issue(with_readable_names(item), mark, root, sources)
        for result in results
        for item, mark in zip(result.diagnostics, fingerprints(result), strict=True)
    ]
    return json.dumps(issues, indent=2) + "\n"


def _issue(item: Diagnostic, fingerprint: str, root: str | None, sources: ProgramSources) -> dict[str, object]:
    found = locate_in_repository(item, sources, root)
    source, span = (item.source, item.span) if found is None else (found.at.source, found.at.span)
    places = []
    for offset in (span.start, span.end):
        line, column = source.position(offset)
        places.append({"line": line, "column": column})
    message, notes = (item.message, fault_notes(item)) if found is None else (found.message, found.notes)
    return {
        "description": escape_lines(f"{item.code}: {'; '.join((message, *notes))}"),
        "check_name": item.code,
        "fingerprint": fingerprint,
        "severity": "critical" if item.code == ptx1xx.NO_VERDICT else _SEVERITIES[item.severity],
        "location": {
            "path": escape_path(from_root(source.path, root)),
            "positions": {"begin": places[0], "end": places[1]},
        },
    }
