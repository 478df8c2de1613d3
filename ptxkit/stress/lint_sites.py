"""The delay sites that the linter's findings and open questions concern."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptxkit.diagnostics import Verdict
from ptxkit.source import Span
from ptxkit.stress.delay_sites import DelaySite


def sites_of_verdict(sites: Iterable[DelaySite], verdict: Verdict) -> tuple[int, ...]:
    """Returns the numbers of the sites at which the linter has a question or a finding, or which one of them names."""
    spans = list(_spans(verdict))
    return tuple(each.number for each in sites if any(span.start <= each.start < span.end for span in spans))


def _spans(verdict: Verdict) -> Iterator[Span]:
    for question in verdict.undecided:
        yield question.span
        yield from (each.span for each in question.others)
    for finding in verdict.diagnostics:
        yield finding.span
        yield from (each.span for each in finding.labels)
        yield from (each.span for each in finding.copies)
