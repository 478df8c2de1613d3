"""What the machine found, as diagnostics: the witness beside the place, the launch among the properties."""

from __future__ import annotations

from ptxkit.diagnostics import Diagnostic, Label, Severity, Undecided
from ptxkit.emulate import Finding, Witness
from ptxkit.source import SourceFile
from ptxkit.verifier.choice import Plan, Trial

STOPPED = "PTX650"
"""The code of what ends a kernel though no rule is broken: a trap, a failed assertion, a stack that is too small."""


ARGUMENTS = "these arguments were chosen: where no host passes such, give --arg, --block or --shared"
GRID = "the grid was chosen, as the kernel's code shows that several CTAs run it: where one alone does, give --grid 1"


def diagnostic(
    finding: Finding, source: SourceFile, kernel: str, plan: Plan, trial: Trial, *, chosen: str = ""
) -> Diagnostic:
    """A finding of one run. chosen: what to say of a launch that was chosen, with which it is a warning; empty for one
    that the kernel must stand.
    """
    span = source.statement_span(finding.offset)
    others = [each for each in finding.witnesses[1:] if each.line and each.line != finding.line]
    labels = tuple(Label(source.line_span(each.line), str(each)) for each in others)
    notes = [str(each) for each in finding.witnesses[:1]]
    if finding.missing:
        notes.append(f"missing: {finding.missing}")
    notes.append(_seen(kernel, plan, trial))
    if chosen:
        notes.append(chosen)
    return Diagnostic(
        code=finding.code if finding.code.startswith("PTX") else STOPPED,
        severity=Severity.ERROR if not chosen and finding.severity == "error" else Severity.WARNING,
        message=finding.message,
        source=source,
        span=span,
        labels=labels,
        notes=tuple(notes),
        properties={"witness": witness(finding, plan, trial), "kernel": kernel},
    )


def question(finding: Finding, source: SourceFile, kernel: str, plan: Plan, trial: Trial, reason: str) -> Undecided:
    """A finding of one run that may come only of what was chosen for it. reason: of what, and what would tell."""
    code = finding.code if finding.code.startswith("PTX") else STOPPED
    text = f"{finding.message}; but {reason}: {_seen(kernel, plan, trial)}"
    return Undecided(code, text, source, source.statement_span(finding.offset))


def _seen(kernel: str, plan: Plan, trial: Trial) -> str:
    arguments = ", ".join(trial.told) or "no arguments"
    return f"seen in a run of {kernel}: {launch_text(plan)}, {arguments}, policy {trial.policy}, seed {trial.seed}"


def witness(finding: Finding, plan: Plan, trial: Trial) -> dict[str, object]:
    """The accesses, and what is needed to see them again; JSON values only."""
    return {
        "accesses": [_object(each) for each in finding.witnesses],
        "missing": finding.missing,
        "grid": list(plan.grid),
        "block": list(plan.block),
        "cluster": list(plan.cluster),
        "shared": plan.shared,
        "arguments": list(trial.told),
        "policy": trial.policy,
        "seed": trial.seed,
    }


def launch_text(plan: Plan) -> str:
    """`grid 2, block 128`, and what else there is."""
    parts = [f"grid {_shape(plan.grid)}", f"block {_shape(plan.block)}"]
    if _shape(plan.cluster) != "1":
        parts.append(f"cluster {_shape(plan.cluster)}")
    if plan.shared:
        parts.append(f"{plan.shared} bytes of dynamic shared memory")
    return ", ".join(parts)


def _shape(extents: tuple[int, ...]) -> str:
    return "x".join(str(each) for each in extents)


def _object(access: Witness) -> dict[str, object]:
    return {
        "instruction": access.action,
        "line": access.line,
        "thread": list(access.thread),
        "cta": list(access.cta),
        "space": access.space,
        "start": access.start,
        "size": access.size,
        "old": access.old,
        "new": access.new,
    }
