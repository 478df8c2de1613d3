"""Merges the findings of the rules and of runs, and selects the traces of those that are reported."""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.diagnostic_groups import group_by_fault
from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.fast_dataclasses import replace
from ptxkit.model.trace import FindingTrace


def sort_traces(traces: Sequence[FindingTrace], found: Sequence[Diagnostic]) -> tuple[FindingTrace, ...]:
    """Returns one trace of each reported fault, with its severity, errors first."""
    faults = {
        (code, each.source.position(start)[0]): (number, each.severity)
        for number, fault in enumerate(group_by_fault(found))
        for each in fault
        for code, start in places_of(each)
    }
    known = [
        (faults[each.code, each.line][0], replace(each, severity=str(faults[each.code, each.line][1])))
        for each in traces
        if (each.code, each.line) in faults
    ]
    first: dict[int, FindingTrace] = {}
    for number, each in sorted(
        known, key=lambda item: (item[1].severity != Severity.ERROR, item[1].line, item[1].code)
    ):
        first.setdefault(number, each)
    return tuple(first.values())


def merge_diagnostics(static: Sequence[Diagnostic], seen: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Returns the diagnostics of both verifiers.

    Where both report the same for one instruction, or for another place of the static finding, it is the static
    diagnostic with the first witness.
    """
    shown = {(each.code, each.span.start): each for each in seen}
    found = []
    for each in static:
        witnesses = [shown.pop(place) for place in places_of(each) if place in shown]
        found.append(replace(each, properties={**each.properties, **witnesses[0].properties}) if witnesses else each)
    return tuple(sorted([*found, *shown.values()], key=lambda each: (each.span.start, each.code)))


def places_of(found: Diagnostic) -> tuple[tuple[str, int], ...]:
    """Returns the code and the offset of a finding, and of each other place of it."""
    return tuple((found.code, span.start) for span in (found.span, *(each.span for each in found.copies)))
