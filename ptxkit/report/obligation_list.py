"""The obligations of the kernels of a file, each with its verdict, and their number by code."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from ptxkit.diagnostics.obligation import JudgedObligation, ObligationVerdict, count_verdicts
from ptxkit.report.style import Line, TextRole
from ptxkit.results import FileResult
from ptxkit.untrusted_text import escape_path, escape_text

_ROLES = {
    ObligationVerdict.VIOLATED: TextRole.ERROR,
    ObligationVerdict.DISCHARGED: TextRole.PLAIN,
    ObligationVerdict.OPEN: TextRole.NOTE,
}


def obligation_lines(result: FileResult) -> Iterator[Line]:
    """The lines of a file: each kernel's obligations in the order of the text, then their number by code."""
    for kernel, group in groupby(result.obligations or (), key=lambda each: each.kernel):
        listed = list(group)
        for item in sorted(listed, key=lambda each: (each.span.start, each.code)):
            yield _obligation_line(item)
        verdicts = ((each, sum(item.verdict is each for item in listed)) for each in ObligationVerdict)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts)
        yield ((f"{escape_text(kernel)}: {len(listed)} obligations: {counts}", TextRole.LOCATION),)
        for code, found in count_verdicts(listed).items():
            by_verdict = ", ".join(f"{found[verdict]} {verdict}" for verdict in ObligationVerdict)
            yield ((f"  {code} {found.total():>5}: {by_verdict}", TextRole.PLAIN),)
        yield ()


def _obligation_line(item: JudgedObligation) -> Line:
    """`k.ptx:12:2: PTX301 discharged: [%r3]: ...`"""
    line, column = item.source.position(item.span.start)
    subject = f"{item.subject}: " if item.subject else ""
    return (
        (f"{escape_path(item.source.path)}:{line}:{column}:", TextRole.LOCATION),
        (f" {item.code} {item.verdict}: ", _ROLES[item.verdict]),
        (escape_text(f"{subject}{item.words}".replace("\t", " ")), TextRole.PLAIN),
    )
