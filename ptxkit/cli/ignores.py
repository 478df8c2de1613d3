"""`ptxkit lint --add-ignores`: a comment beside each finding that hides it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ptxkit.cli.rewriting import rewrite
from ptxkit.diagnostics import Diagnostic
from ptxkit.report import diagnostic_lines, plain
from ptxkit.report.style import visible
from ptxkit.results import ExitStatus, FileResult, Status
from ptxkit.source import SourceFile
from ptxkit.suppressions import UNHIDEABLE, comment_ends


def add_ignores(results: Sequence[FileResult], reason: str) -> int:
    """Write the comments into the files that were linted, and print how many; the exit status."""
    status = ExitStatus.CLEAN
    for result in results:
        hideable = [item for item in result.diagnostics if item.code not in UNHIDEABLE]
        left = [item for item in result.diagnostics if item.code in UNHIDEABLE]
        if left:
            sys.stdout.write(plain(diagnostic_lines(left)))
            status = ExitStatus.COULD_NOT_RUN if result.status is Status.FAILED else status or ExitStatus.FINDINGS
        if not hideable:
            continue
        source = hideable[0].source
        failure = rewrite(source.path, with_ignores(source, hideable, reason))
        if failure is not None:
            sys.stderr.write(f"{visible(source.path)}: cannot be rewritten: {failure}; it is as it was\n")
            status = ExitStatus.COULD_NOT_RUN
        else:
            count = len(hideable)
            sys.stdout.write(f"{visible(source.path)}: {count} finding{'' if count == 1 else 's'} hidden\n")
    return status


def with_ignores(source: SourceFile, found: Sequence[Diagnostic], reason: str) -> str:
    """The text with a comment at the end of each line that has findings; one that is there already gets their codes."""
    codes: dict[int, list[str]] = {}
    for item in found:
        here = codes.setdefault(source.position(item.span.start)[0], [])
        if item.code not in here:
            here.append(item.code)
    ends = comment_ends(source)
    lines = source.text.split("\n")
    for number, new in sorted(codes.items(), reverse=True):
        line, end = lines[number - 1], ""
        if line.endswith("\r"):
            line, end = line[:-1], "\r"
        close = ends.get(number)
        if close is not None:  # a comment that names codes: let it name these, too
            lines[number - 1] = f"{line[:close]}, {', '.join(new)}{line[close:]}{end}"
            continue
        comment = " ".join([f"// ptxkit: ignore[{', '.join(new)}]", *reason.split()])
        if number in ends:  # what is added to the line would be part of another comment
            lines.insert(number - 1, comment + end)
        else:
            lines[number - 1] = f"{line.rstrip()}  {comment}{end}"
    return "\n".join(lines)
