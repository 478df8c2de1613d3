"""GitLab's Code Quality report: a subset of Code Climate's issues, which a merge request shows."""

from __future__ import annotations

import os
from collections.abc import Iterable

from ptxkit.baseline import fingerprints
from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.report.paths import from_root
from ptxkit.results import FileResult
from ptxkit.untrusted_text import escape_lines, escape_path

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}


def gitlab_report(results: Iterable[FileResult]) -> str:
    """One array of issues. A fingerprint is the same as long as the finding is, wherever its line moves to."""
    import json

    root = os.environ.get("CI_PROJECT_DIR")
    issues = [
        _issue(item, mark, root)
        for result in results
        for item, mark in zip(result.diagnostics, fingerprints(result), strict=True)
    ]
    return json.dumps(issues, indent=2) + "\n"


def _issue(item: Diagnostic, fingerprint: str, root: str | None) -> dict[str, object]:
    places = []
    for offset in (item.span.start, item.span.end):
        line, column = item.source.position(offset)
        places.append({"line": line, "column": column})
    return {
        "description": escape_lines(f"{item.code}: {item.message}"),
        "check_name": item.code,
        "fingerprint": fingerprint,
        "severity": "critical" if item.code == ptx1xx.NO_VERDICT else _SEVERITIES[item.severity],
        "location": {
            "path": escape_path(from_root(item.source.path, root)),
            "positions": {"begin": places[0], "end": places[1]},
        },
    }
