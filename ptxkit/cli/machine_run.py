"""A run of `ptxkit run` on the reference machine."""

from __future__ import annotations

from typing import Any

import click

from ptxkit.cli.output import write_lines
from ptxkit.cli.refusals import write_refusal
from ptxkit.cli.run_subject import RunSubject, warn_of_conditions, write_arrays
from ptxkit.cli.usage_errors import CommandLineError
from ptxkit.diagnostics import Severity, Verdict
from ptxkit.emulator import InvalidLaunchError, RunBudget, RunResult
from ptxkit.emulator import run as run_kernel
from ptxkit.emulator.driver.uninitialized_dependence import find_significant_reads
from ptxkit.exit_status import ExitStatus
from ptxkit.linter import apply_settings
from ptxkit.report import diagnostic_lines
from ptxkit.suppressions import apply_suppressions as hidden_by_comments
from ptxkit.untrusted_text import escape_text
from ptxkit.verifier.argument_choice import VerifierRun
from ptxkit.verifier.violation_diagnostics import make_diagnostic


def run_on_machine(subject: RunSubject, policy: str, seed: int, seconds: float) -> tuple[RunResult, ExitStatus]:
    """Runs the kernel on the reference machine, and prints its output, the findings and the requested arrays. Raises
    CommandLineError."""
    name = subject.kernel.name
    given: dict[str, Any] = {
        "grid": subject.grid,
        "block": subject.block,
        "cluster": subject.cluster,
        "shared": subject.shared,
        "arguments": list(subject.arguments),
        "policy": policy,
        "seed": seed,
        "budget": RunBudget(steps=1 << 62, seconds=seconds),
    }
    try:
        outcome = run_kernel(subject.module, name, **given)
        reads = outcome.uninitialized_reads if outcome.is_clean else ()
        unset = find_significant_reads(subject.module, name, reads, **given)
    except InvalidLaunchError as error:
        raise CommandLineError(str(error)) from error
    trial = VerifierRun(subject.arguments, subject.texts, policy, seed)
    violations = (*outcome.findings, *unset.violations)
    found = [make_diagnostic(each, subject.source, name, subject.plan, trial) for each in violations]
    # A single run does not show whether a comment is of use.
    settled = apply_settings(Verdict(tuple(found)), subject.settings)
    reported, _ = hidden_by_comments(settled, subject.written, lambda _: False)
    warn_of_conditions(subject)
    for question in (*outcome.unchecked_reasons, *unset.open_questions("registers")):
        click.echo(f"ptxkit: undecided: kernel `{escape_text(name)}`: {escape_text(question)}", err=True)
    for text in outcome.printed_texts:
        click.echo(text, nl=False)
    write_lines(diagnostic_lines(reported.diagnostics))
    write_arrays(subject, outcome.outputs)
    if outcome.unsupported_reason or outcome.incomplete_reason:
        what = f"the kernel `{name}` did not run to completion: "
        what += outcome.unsupported_reason or outcome.incomplete_reason or ""
        remedy = "remove the unsupported instruction" if outcome.unsupported_reason else "raise `--seconds`"
        return outcome, ExitStatus(write_refusal(what, remedy))
    is_found = any(each.severity is not Severity.NOTE for each in reported.diagnostics)
    return outcome, ExitStatus.FINDINGS if is_found else ExitStatus.CLEAN


def is_comparable(outcome: RunResult) -> bool:
    """Returns whether the machine ran to the end without an error, so that its arrays are the kernel's results."""
    is_faulty = any(each.severity is Severity.ERROR for each in outcome.findings)
    return not (is_faulty or outcome.unsupported_reason or outcome.incomplete_reason)
