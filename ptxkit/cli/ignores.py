"""`ptxkit lint --add-ignores`: a suppression comment for each finding."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ptxkit.cli.file_replacement import rewrite_file
from ptxkit.exit_status import ExitStatus
from ptxkit.report import diagnostic_lines, plain
from ptxkit.results import FileResult, Status
from ptxkit.suppressions import UNSUPPRESSIBLE, add_ignore_comments
from ptxkit.untrusted_text import escape_path


def add_ignores(results: Sequence[FileResult], reason: str) -> int:
    """Writes suppression comments into the linted files and prints their number. Returns the exit status."""
    status = ExitStatus.CLEAN
    for result in results:
        hideable = [item for item in result.diagnostics if item.code not in UNSUPPRESSIBLE]
        left = [item for item in result.diagnostics if item.code in UNSUPPRESSIBLE]
        if left:
            sys.stdout.write(plain(diagnostic_lines(left)))
            status = ExitStatus.COULD_NOT_RUN if result.status is Status.FAILED else status or ExitStatus.FINDINGS
        if not hideable:
            continue
        source = hideable[0].source
        failure = rewrite_file(result.origin, add_ignore_comments(source, hideable, reason))
        if failure is not None:
            failure.report(source.path)
            status = ExitStatus.COULD_NOT_RUN
        else:
            count = len(hideable)
            sys.stdout.write(f"{escape_path(source.path)}: {count} finding{'' if count == 1 else 's'} suppressed\n")
    return status
