"""Converts violations of a run to diagnostics: other accesses become labels, and the access itself a note."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ptxkit.diagnostics import Diagnostic, DiagnosticTexts, Label, OpenLinesText, Place, Severity
from ptxkit.emulator.core.findings import Violation, Witness
from ptxkit.source import SourceFile


def finding_diagnostic(
    finding: Violation,
    source: SourceFile,
    severity: Severity,
    notes: Sequence[str],
    properties: Mapping[str, object] = MappingProxyType({}),
) -> Diagnostic:
    """Returns the diagnostic of a violation.

    notes: about the run, after those about the access and about the missing synchronization.
    """
    text, others = locate_witnesses(finding)
    labels = tuple(Label(source.line_span(each.line), str(each)) for each in others)
    missing = [f"missing: {finding.missing}"] if finding.missing else []
    return Diagnostic(
        code=finding.code,
        severity=severity,
        message=finding.message,
        source=source,
        span=source.statement_span(finding.offset),
        labels=labels,
        notes=(*map(str, finding.witnesses[:1]), *missing, *notes),
        texts=DiagnosticTexts(text, tuple(OpenLinesText((each.message,)) for each in labels)),
        properties=properties,
        wording=finding.content.template.text,
        subject=str(finding.content.fields.get("variable", "")),
        isa=finding.code.sections,
        lacks=tuple(
            tuple(Place(source.statement_span(finding.witnesses[each].offset)) for each in order)
            for order in finding.lacks
        ),
    )


def locate_witnesses(finding: Violation) -> tuple[OpenLinesText, list[Witness]]:
    """Returns the message of a violation with the lines left open, and the witnesses at other lines than its own, whose
    lines it may name.
    """
    others: list[Witness] = []
    places = [0]
    for each in finding.witnesses[1:]:
        if each.line in (0, finding.line):
            places.append(0)
        else:
            others.append(each)
            places.append(len(others))
    return finding.content.with_open_lines().with_indices(places), others
