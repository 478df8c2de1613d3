"""Converts violations to diagnostics: with the witness as a label, and the launch among the properties."""

from __future__ import annotations

from ptxkit.diagnostics import Diagnostic, OpenLinesText, Place, Severity, Undecided
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.emulator import Violation, Witness
from ptxkit.emulator.driver.finding_diagnostics import finding_diagnostic, locate_witnesses
from ptxkit.source import SourceFile
from ptxkit.verifier.argument_choice import VerifierRun
from ptxkit.verifier.launch_inference import LaunchPlan

ARGUMENTS_NOTE = "these arguments were chosen: if no host passes such arguments, give --arg, --block or --shared"
GRID_NOTE = "the grid was chosen, because the kernel is written for several CTAs: if only one runs it, give --grid 1"


def make_diagnostic(
    finding: Violation, source: SourceFile, kernel: str, plan: LaunchPlan, trial: VerifierRun, *, chosen: str = ""
) -> Diagnostic:
    """Returns the diagnostic of a violation in one run.

    chosen: the description of a chosen launch, for which the diagnostic is a warning; empty for a launch that the
    kernel must support.
    """
    is_error = not chosen and finding.severity == "error"
    return finding_diagnostic(
        finding,
        source,
        Severity.ERROR if is_error else Severity.WARNING,
        (_describe_run(kernel, plan, trial), *([chosen] if chosen else [])),
        {"witness": witness_properties(finding, plan, trial), "kernel": kernel},
    )


def make_undecided(
    finding: Violation, source: SourceFile, kernel: str, plan: LaunchPlan, trial: VerifierRun, reason: str
) -> Undecided:
    """Returns the open question about a violation in one run that may only result from chosen inputs.

    reason: which inputs these are, and what would decide the question.
    """
    text, others = locate_witnesses(finding)
    whole = OpenLinesText((*text.pieces, f"; but {reason}: {_describe_run(kernel, plan, trial)}"))
    return Undecided(
        finding.code,
        whole.at_lines([finding.line, *(each.line for each in others)]),
        source,
        source.statement_span(finding.offset),
        cause=f"{kernel}: {reason}",
        text=whole,
        others=tuple(Place(source.line_span(each.line)) for each in others),
    )


def _describe_run(kernel: str, plan: LaunchPlan, trial: VerifierRun) -> str:
    arguments = ", ".join(trial.assumptions) or "no arguments"
    return f"seen in a run of {kernel}: {launch_text(plan)}, {arguments}, policy {trial.policy}, seed {trial.seed}"


def witness_properties(finding: Violation, plan: LaunchPlan, trial: VerifierRun) -> dict[str, object]:
    """Returns the accesses, and what is needed to reproduce them; JSON values only."""
    return {
        "accesses": [_access_properties(each) for each in finding.witnesses],
        "missing": finding.missing,
        "grid": list(plan.grid),
        "block": list(plan.block),
        "cluster": list(plan.cluster),
        "shared": plan.shared,
        "arguments": list(trial.assumptions),
        "policy": trial.policy,
        "seed": trial.seed,
    }


def launch_text(plan: LaunchPlan) -> str:
    """Returns `grid 2, block 128`, and other extents if there are any; `grid 4 or 2` where the grids of runs differ."""
    grids = " or ".join(_shape_text(each) for each in (plan.grid, plan.other_grid) if each is not None)
    parts = [f"grid {grids}", f"block {_shape_text(plan.block)}"]
    if _shape_text(plan.cluster) != "1":
        parts.append(f"cluster {_shape_text(plan.cluster)}")
    if plan.shared:
        parts.append(f"{plan.shared} bytes of dynamic shared memory")
    return ", ".join(parts)


def _shape_text(extents: tuple[int, ...]) -> str:
    return "x".join(str(each) for each in extents)


def _access_properties(access: Witness) -> dict[str, object]:
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


def is_of_strict_policy(finding: Violation) -> bool:
    """Returns whether the manual does not state that a violation is wrong.

    It does not say that the shared memory of a CTA which exits must not be read by a copy.
    """
    return finding.content.template is ptx3xx.COPY_READS_EXITED_CTA
