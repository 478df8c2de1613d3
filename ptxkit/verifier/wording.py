"""What the machine found, as diagnostics: the witness beside the place, the launch among the properties."""

from __future__ import annotations

from ptxkit.diagnostics import Diagnostic, Label, Severity
from ptxkit.emulate import Finding, Witness
from ptxkit.source import SourceFile
from ptxkit.verifier.choice import Plan, Trial

STOPPED = "PTX650"
"""The code of what ends a kernel though no rule is broken: a trap, a failed assertion, a stack that is too small."""


def diagnostic(
    finding: Finding, source: SourceFile, kernel: str, plan: Plan, trial: Trial, *, sure: bool
) -> Diagnostic:
    """A finding of one run. sure: the launch is one that the kernel must stand; else it was chosen, and it warns."""
    span = source.statement_span(finding.offset)
    others = [each for each in finding.witnesses[1:] if each.line and each.line != finding.line]
    labels = tuple(Label(source.line_span(each.line), str(each)) for each in others)
    notes = [str(each) for each in finding.witnesses[:1]]
    if finding.missing:
        notes.append(f"missing: {finding.missing}")
    notes.append(
        f"seen in a run of {kernel}: {launch_text(plan)}, {', '.join(trial.told) or 'no arguments'}, "
        f"policy {trial.policy}, seed {trial.seed}"
    )
    if not sure:
        notes.append("these arguments were chosen: where no host passes such, give --arg, --block or --shared")
    return Diagnostic(
        code=finding.code if finding.code.startswith("PTX") else STOPPED,
        severity=Severity.ERROR if sure and finding.severity == "error" else Severity.WARNING,
        message=finding.message,
        source=source,
        span=span,
        labels=labels,
        notes=tuple(notes),
        properties={"witness": witness(finding, plan, trial), "kernel": kernel},
    )


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
