"""`ptxkit run`: run a kernel once on the reference machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy

from ptxkit.cli import shell_completion
from ptxkit.cli.input_files import read_text
from ptxkit.cli.input_settings import InputSettings
from ptxkit.cli.launch_options import launch_options, unique_arguments
from ptxkit.cli.limits import MAX_SHOWN_ELEMENTS
from ptxkit.cli.lint_options import LintOptions
from ptxkit.cli.number_params import SECONDS, SEED
from ptxkit.cli.output import write_lines
from ptxkit.diagnostics import Diagnostic, Severity, Verdict
from ptxkit.emulator import POLICIES, InvalidLaunchError, RunBudget, RunResult
from ptxkit.emulator import run as run_kernel
from ptxkit.emulator.driver.uninitialized_dependence import find_significant_reads
from ptxkit.linter import apply_overrides, apply_settings
from ptxkit.module_overrides import LaunchConflictError
from ptxkit.report import diagnostic_lines, full_report
from ptxkit.results import ExitStatus, FileResult
from ptxkit.settings.errors import SettingsError
from ptxkit.suppressions import apply_suppressions as hidden_by_comments
from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.untrusted_text import escape_text
from ptxkit.verifier import ArgumentSpec
from ptxkit.verifier.launch_inference import LaunchPlan, VerifierRun
from ptxkit.verifier.violation_diagnostics import make_diagnostic


@click.command(short_help="Run a kernel on the CPU with given arguments.")
@click.argument("path", metavar="FILE", shell_complete=shell_completion.complete_paths)
@click.option("--entry", help="Kernel to run; required if the file has several.")
@click.option(
    "--out",
    "outputs",
    multiple=True,
    metavar="NAME[=FILE.npy]",
    help="Print an array argument after the run, or save it to a file (repeatable).",
)
@click.option(
    "--policy",
    type=click.Choice(POLICIES),
    default="eager",
    show_default=True,
    help="Schedule of asynchronous operations: when they take effect.",
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Random seed.")
@click.option(
    "--seconds", type=SECONDS, default=600.0, show_default=True, help="CPU-time limit of the run, in seconds."
)
@click.option("--config", type=click.Path(dir_okay=False), metavar="FILE", help="Use only this settings file.")
@click.option("--isolated", is_flag=True, help="Ignore all settings files.")
@launch_options
@click.pass_context
def run(  # noqa: PLR0913 (options)
    ctx: click.Context,
    path: str,
    *,
    entry: str | None,
    outputs: tuple[str, ...],
    policy: str,
    seed: int,
    seconds: float,
    config: str | None,
    isolated: bool,
    grid: tuple[int, ...] | None,
    block: tuple[int, ...] | None,
    cluster: tuple[int, ...] | None,
    shared: int | None,
    arguments: tuple[tuple[str, ArgumentSpec], ...],
) -> None:
    """Run a kernel of a PTX file on the reference machine; - reads standard input.

    Every kernel parameter needs an `--arg`. Errors that the run finds are reported with the threads and accesses
    involved. The settings files of lint and suppression comments apply.

    Exit status: 0 completed without findings, 1 errors or warnings found, 2 not run, or not to completion.
    """
    source = read_text(path)
    if isinstance(source, FileResult):
        write_lines(full_report([source]), error=True)
        ctx.exit(ExitStatus.COULD_NOT_RUN)
    try:
        settings = InputSettings(LintOptions(config=config, isolated=isolated)).settings_for(path, source.path)
        written = parse(source.text, source.path)
        _, module = apply_overrides(written, settings)
    except PTXSyntaxError as error:
        write_lines(diagnostic_lines(error.diagnostics), error=True)
        ctx.exit(ExitStatus.COULD_NOT_RUN)
    except (SettingsError, LaunchConflictError) as error:
        click.echo(f"ptxkit: {escape_text(str(error))}", err=True)
        ctx.exit(ExitStatus.COULD_NOT_RUN)
    kernels = [each for each in module.functions() if each.kind == "entry" and each.body is not None]
    names = [each.name for each in kernels]
    if entry is None and len(names) != 1:
        raise click.UsageError(f"{path} has {len(names)} kernels: choose one by --entry: {', '.join(names)}")
    name = entry or names[0]
    if name not in names:
        raise click.UsageError(f"there is no kernel {name!r} in {path}; there are: {', '.join(names) or 'none'}")
    parameters = [each.name for declared in kernels[names.index(name)].parameters for each in declared.declarators]
    given = unique_arguments(arguments)
    kept = _output_targets(outputs, parameters)
    try:
        passed = _bind_arguments(name, parameters, given, seed)
    except MemoryError as error:
        raise click.UsageError(f"an argument does not fit into memory: {error}") from error
    if block is None and kernels[names.index(name)].directive("reqntid") is None:
        raise click.UsageError(f"{name} has no .reqntid: give the number of threads of a CTA, such as --block 128")
    try:
        launch: dict[str, Any] = {
            "grid": grid or 1,
            "block": block,
            "cluster": cluster,
            "shared": shared or 0,
            "arguments": passed,
            "policy": policy,
            "seed": seed,
            "budget": RunBudget(steps=1 << 62, seconds=seconds),
        }
        outcome = run_kernel(module, name, **launch)
        reads = outcome.uninitialized_reads if outcome.is_clean else ()
        unset = find_significant_reads(module, name, reads, **launch)
    except InvalidLaunchError as error:
        raise click.UsageError(str(error)) from error
    plan = LaunchPlan(grid or (1,), block or (), cluster or (1,), shared or 0, is_specified=True)
    texts = tuple(f"{key}={value.text}" for key, value in given.items())
    trial = VerifierRun(tuple(passed), texts, policy, seed)
    found = [make_diagnostic(each, source, name, plan, trial) for each in (*outcome.findings, *unset.violations)]
    # A single run does not show whether a comment is of use.
    reported, _ = hidden_by_comments(apply_settings(Verdict(tuple(found)), settings), written, lambda _: False)
    ctx.exit(_print_outcome(outcome, name, parameters, reported.diagnostics, kept))


def _bind_arguments(kernel: str, parameters: list[str], given: dict[str, ArgumentSpec], seed: int) -> list[Any]:
    """The arguments in the order of the parameters. The machine gets a copy; `--out` shows the final contents."""
    chance = numpy.random.default_rng(seed)
    unknown = [key for key in given if key not in parameters and key not in {f"#{n}" for n in range(len(parameters))}]
    if unknown:
        raise click.UsageError(f"{kernel} has no parameter {unknown[0]!r}; it has: {', '.join(parameters) or 'none'}")
    missing = [name for n, name in enumerate(parameters) if name not in given and f"#{n}" not in given]
    if missing:
        raise click.UsageError(f"{kernel} requires an argument for {', '.join(missing)}: --arg {missing[0]}=VALUE")
    return [(given.get(name) or given[f"#{n}"]).make_value(chance) for n, name in enumerate(parameters)]


def _output_targets(outputs: tuple[str, ...], parameters: list[str]) -> dict[int, Path | None]:
    """The output of each argument: a file to save it to, or None to print it."""
    found: dict[int, Path | None] = {}
    for text in outputs:
        name, _, file = text.partition("=")
        numbered = {**{f"#{n}": n for n in range(len(parameters))}, **{each: n for n, each in enumerate(parameters)}}
        if name not in numbered:
            raise click.UsageError(f"--out {name}: there is no such parameter; there are: {', '.join(parameters)}")
        found[numbered[name]] = Path(file) if file else None
    return found


def _print_outcome(
    outcome: RunResult, kernel: str, parameters: list[str], found: Sequence[Diagnostic], kept: dict[int, Path | None]
) -> ExitStatus:
    """Prints the output of the kernel, the findings, and the requested arrays."""
    for text in outcome.printed_texts:
        click.echo(text, nl=False)
    write_lines(diagnostic_lines(found))
    for number, file in kept.items():
        if number not in outcome.outputs:
            raise click.UsageError(f"--out {parameters[number]}: the argument is not an array")
        array = numpy.asarray(outcome.outputs[number])  # the arrays of a table have one shape, and follow each other
        if file is not None:
            try:
                numpy.save(file, array)
            except OSError as error:
                raise click.UsageError(f"--out {file} cannot be written: {error.strerror}") from error
        else:
            click.echo(numpy.array2string(array, threshold=MAX_SHOWN_ELEMENTS))
    if outcome.unsupported_reason or outcome.incomplete_reason:
        click.echo(
            f"ptxkit: {kernel} did not run to completion: {outcome.unsupported_reason or outcome.incomplete_reason}",
            err=True,
        )
        return ExitStatus.COULD_NOT_RUN
    return ExitStatus.FINDINGS if any(each.severity is not Severity.NOTE for each in found) else ExitStatus.CLEAN
