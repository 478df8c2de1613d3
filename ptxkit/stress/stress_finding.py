"""Words a failure under stress as a finding at the delayed sites."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptxkit.analysis.ir.source_lines import DebugLocations
from ptxkit.diagnostics import Diagnostic, Label, Severity, Verdict
from ptxkit.source import Span
from ptxkit.stress.delay_sites import DelaySite
from ptxkit.stress.limits import PREFETCHES
from ptxkit.stress.stress_session import StressReport
from ptxkit.stress.stress_trial import FAILED, StressSubject
from ptxkit.syntax import parse, statement_spans
from ptxkit.syntax.tree import Module

CODE = "stress"
"""The word in the place of a code: a failure in a run is evidence, and no rule of the linter."""

NOTHING_SHOWN = "nothing was shown, which proves nothing: a fault may need another launch, device or order of events"


def stress_finding(report: StressReport, subject: StressSubject, path: str, verdict: Verdict) -> Diagnostic | None:
    """Returns the finding of a report, or None. path: of the file. verdict: of the linter on the same text."""
    failure = report.failure
    if failure is None:
        return None
    module = parse(subject.text, path)
    assert module.source is not None
    lines = DebugLocations(module)
    sites = _delayed_sites(report, subject)
    spans = [statement_spans(module.source, each.start).statement for each in sites]
    spans = spans or [_entry_span(module, subject.launch.name)]
    is_fault = failure.outcome.kind == FAILED
    poisons = failure.trial.plan is not None and failure.trial.plan.poisons
    labels = tuple(Label(span, "this is delayed as well", lines.locations_at(span.start)) for span in spans[1:])
    return Diagnostic(
        code=CODE,
        severity=Severity.ERROR,
        message=_message(sites, is_fault=is_fault, poisons=poisons),
        source=module.source,
        span=spans[0],
        labels=labels,
        notes=(
            ("the run: " if is_fault else "the difference: ") + failure.outcome.description,
            _conditions(report),
            *_lint_notes(module, spans, verdict),
        ),
        origin=lines.locations_at(spans[0].start),
        wording=CODE,
    )


def _delayed_sites(report: StressReport, subject: StressSubject) -> list[DelaySite]:
    plan = report.failure.trial.plan if report.failure is not None else None
    if plan is None or subject.delayed is None:
        return []
    return [each for each in subject.delayed.sites if each.number in plan.delays]


def _entry_span(module: Module, name: str) -> Span:
    """Returns the span of the line on which a kernel begins."""
    assert module.source is not None
    start = next(at for item, at in module.with_offsets() if getattr(item, "name", None) == name)
    line, _ = module.source.position(start)
    return module.source.line_span(line)


def _message(sites: Sequence[DelaySite], *, is_fault: bool, poisons: bool) -> str:
    happens = "the kernel fails" if is_fault else "the results differ"
    exits = "the last thread of a CTA writes over its shared memory when it exits"
    if not sites:
        return f"{happens} if {exits}" if poisons else f"{happens} without any delay"
    delayed = f"{happens} if warps are delayed before this instruction"
    more = f" and {len(sites) - 1} more" if len(sites) > 1 else ""
    return f"{delayed}{more}" + (f", and {exits}" if poisons else "")


def _conditions(report: StressReport) -> str:
    """What the trial did, and how often it failed."""
    failure = report.failure
    assert failure is not None
    plan = failure.trial.plan
    contention = " while other CTAs contended for memory" if failure.trial.contends else ""
    if plan is None:
        return f"seen in a run of the original kernel{contention}"
    delays = f"delays of up to {plan.longest / 1000:.0f} us ({plan.style})" if plan.delays else "no delays"
    if plan.prefetched and plan.delays:
        delays += f", and {PREFETCHES} prefetches of {plan.prefetched} bytes before each delayed bulk copy"
    share = f"{failure.failing} of {failure.repeated} runs fail" if failure.repeated else "one run failed"
    return f"seen with {delays}{contention}: {share}"


def _lint_notes(module: Module, spans: Iterable[Span], verdict: Verdict) -> list[str]:
    """What the linter reports or leaves open at the delayed instructions."""
    assert module.source is not None
    lines = {module.source.position(span.start)[0] for span in spans}
    stated = [(each.code, each.span, each.message) for each in verdict.diagnostics]
    stated += [(each.code, each.span, f"undecided: {each.reason}") for each in verdict.undecided]
    found = [
        f"the linter, at line {line}: {code}: {text}"
        for code, span, text in stated
        if (line := module.source.position(span.start)[0]) in lines
    ]
    return list(dict.fromkeys(found))
