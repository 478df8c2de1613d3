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
from ptxkit.cli.launch_check import find_broken_conditions
from ptxkit.cli.launch_options import LAUNCH_NAMES, launch_options, unique_arguments
from ptxkit.cli.limits import MAX_SHOWN_ELEMENTS
from ptxkit.cli.lint_options import LintOptions
from ptxkit.cli.option_groups import GroupedOptionsCommand
from ptxkit.cli.output import write_lines
from ptxkit.cli.refusals import write_error, write_refusal
from ptxkit.cli.settings_options import CONFIGURATION_NAMES, settings_file_options
from ptxkit.cli.usage_errors import CommandLineError
from ptxkit.cli.value_types import Seconds, WordChoice, join_choices, seed_option
from ptxkit.diagnostics import Diagnostic, Severity, Verdict
from ptxkit.emulator import POLICIES, InvalidLaunchError, RunBudget, RunResult
from ptxkit.emulator import run as run_kernel
from ptxkit.emulator.driver.uninitialized_dependence import find_significant_reads
from ptxkit.exit_status import ExitStatus
from ptxkit.linter import apply_overrides, apply_settings
from ptxkit.mangled_names import distinct_short_names, names_meant, short_name
from ptxkit.module_overrides import LaunchConflictError
from ptxkit.report import diagnostic_lines, full_report
from ptxkit.results import FileResult
from ptxkit.settings.errors import SettingsError
from ptxkit.suppressions import apply_suppressions as hidden_by_comments
from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.syntax.tree import Function, Module
from ptxkit.untrusted_text import escape_text
from ptxkit.verifier import ArgumentSpec
from ptxkit.verifier.argument_choice import VerifierRun
from ptxkit.verifier.launch_inference import LaunchPlan, find_declared_extents
from ptxkit.verifier.parameter_names import (
    by_parameter,
    choose_parameter,
    display_names,
    find_parameter,
    parameter_names,
)
from ptxkit.verifier.violation_diagnostics import make_diagnostic

_GROUPS = {
    "Run": ("--entry", "--policy", "--seed", "--seconds"),
    "Launch": LAUNCH_NAMES,
    "Output": ("--out",),
    "Configuration": CONFIGURATION_NAMES,
}
_EXAMPLES = (
    ("ptxkit run --block 64 --arg x=f32[64]:iota --out x k.ptx", "Run a kernel, and print an array."),
    ("ptxkit run --arg x=in.npy --out x=out.npy k.ptx", "Read and write an array of numpy."),
)
_EXIT_STATUSES = {
    0: "The kernel ran to completion without errors and warnings.",
    1: "There are errors or warnings.",
    2: "The command line, the settings or FILE cannot be used, or the kernel did not run to completion.",
}


@click.command(
    cls=GroupedOptionsCommand,
    option_groups=_GROUPS,
    examples=_EXAMPLES,
    exit_statuses=_EXIT_STATUSES,
)
@click.argument("path", metavar="FILE", shell_complete=shell_completion.complete_paths)
@click.option("--entry", metavar="NAME", help="Kernel to run; required if the file has several.")
@click.option(
    "--out",
    "outputs",
    multiple=True,
    metavar="NAME[=FILE.npy]",
    help="Print an array argument after the run, or save it to a file (repeatable).",
)
@click.option(
    "--policy",
    type=WordChoice(POLICIES),
    metavar="POLICY",
    default="eager",
    show_default=True,
    help=f"When asynchronous operations take effect: {join_choices(POLICIES)}.",
)
@seed_option
@click.option(
    "--seconds",
    type=Seconds(),
    metavar="TIME",
    default="600",
    show_default=True,
    help="CPU-time limit of the run, in seconds, or as 10m or 2h.",
)
@settings_file_options
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

    Every kernel parameter needs an --arg. Errors that the run finds are reported with the threads and accesses
    involved, and what it leaves undecided on standard error, with the conditions of `ptxkit contract` that the launch
    does not satisfy. The settings files of lint and suppression comments apply.
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
    except SettingsError as error:
        ctx.exit(write_error(error))
    except LaunchConflictError as error:
        raise CommandLineError(str(error), "change the launch in the settings, or write `--isolated`") from error
    kernel = _choose_kernel(module, entry, path)
    name = kernel.name
    parameters = parameter_names(kernel)
    given = unique_arguments(arguments)
    kept = _output_targets(outputs, kernel)
    try:
        passed = _bind_arguments(kernel, given, seed)
    except MemoryError as error:
        raise CommandLineError(f"an argument does not fit into memory: {error}", "write a smaller shape") from error
    if block is None and kernel.directive("reqntid") is None:
        what = f"the kernel `{name}` has no .reqntid, so the number of threads of a CTA is unknown"
        raise CommandLineError(what, "write `--block 128`, for example")
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
        raise CommandLineError(str(error)) from error
    threads = block or find_declared_extents(kernel, "reqntid") or (1,)
    ctas = cluster or find_declared_extents(kernel, "reqnctapercluster") or (1,)
    plan = LaunchPlan(grid or (1,), threads, ctas, shared or 0, is_specified=True)
    texts = tuple(f"{key}={value.text}" for key, value in given.items())
    trial = VerifierRun(tuple(passed), texts, policy, seed)
    found = [make_diagnostic(each, source, name, plan, trial) for each in (*outcome.findings, *unset.violations)]
    # A single run does not show whether a comment is of use.
    reported, _ = hidden_by_comments(apply_settings(Verdict(tuple(found)), settings), written, lambda _: False)
    for condition in find_broken_conditions(
        module, kernel, block=block, cluster=cluster, shared=shared or 0, arguments=passed
    ):
        click.echo(f"ptxkit: warning: {escape_text(condition)}", err=True)
    for question in (*outcome.unchecked_reasons, *unset.open_questions("registers")):
        click.echo(f"ptxkit: undecided: kernel `{escape_text(name)}`: {escape_text(question)}", err=True)
    ctx.exit(_print_outcome(outcome, name, parameters, reported.diagnostics, kept))


def _choose_kernel(module: Module, entry: str | None, path: str) -> Function:
    """Returns the kernel of a name, or the only one. Raises CommandLineError."""
    kernels = {each.name: each for each in module.functions() if each.kind == "entry" and each.body is not None}
    names = list(kernels) if entry is None else names_meant(entry, kernels)
    if len(names) == 1:
        return kernels[names[0]]
    if entry is None:
        what = f"`{path}` has {len(names)} kernels, but one is required"
    elif names:
        what = f"`{path}` has several kernels `{entry}`"
    else:
        raise CommandLineError(
            f"there is no kernel `{entry}` in `{path}`", _choices("the kernels are", distinct_short_names(kernels))
        )
    raise CommandLineError(what, _choices("choose one by `--entry`", names))


def _choices(introduction: str, names: Sequence[str]) -> str:
    return f"{introduction} {', '.join(f'`{each}`' for each in names) or 'none'}"


def _bind_arguments(kernel: Function, given: dict[str, ArgumentSpec], seed: int) -> list[Any]:
    """The arguments in the order of the parameters. The machine gets a copy; `--out` shows the final contents."""
    chance = numpy.random.default_rng(seed)
    for text in given:
        if find_parameter(text, kernel) is None:
            what = f"the kernel `{short_name(kernel.name)}` has no parameter `{text}`"
            raise CommandLineError(what, choose_parameter([kernel]))
    bound = by_parameter(given, kernel)
    names = parameter_names(kernel)
    missing = [shown for name, shown in zip(names, display_names(kernel), strict=True) if name not in bound]
    if missing:
        what = _choices(f"the kernel `{short_name(kernel.name)}` requires a value for each of", missing)
        raise CommandLineError(what, f"write `--arg {missing[0]}=VALUE`")
    return [bound[name].make_value(chance) for name in names]


def _output_targets(outputs: tuple[str, ...], kernel: Function) -> dict[int, Path | None]:
    """The output of each argument: a file to save it to, or None to print it."""
    found: dict[int, Path | None] = {}
    for text in outputs:
        name, _, file = text.partition("=")
        at = find_parameter(name, kernel)
        if at is None:
            raise CommandLineError(f"`--out`: the kernel has no parameter `{name}`", choose_parameter([kernel]))
        found[at] = Path(file) if file else None
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
            what = f"`--out`: the argument of `{parameters[number]}` is not an array"
            raise CommandLineError(what, "name a parameter that is given an array")
        array = numpy.asarray(outcome.outputs[number])  # the arrays of a table have one shape, and follow each other
        if file is not None:
            try:
                numpy.save(file, array)
            except OSError as error:
                what = f"`--out`: the file `{file}` cannot be written: {error.strerror}"
                raise CommandLineError(what, "name another file") from error
        else:
            click.echo(numpy.array2string(array, threshold=MAX_SHOWN_ELEMENTS))
    if outcome.unsupported_reason or outcome.incomplete_reason:
        what = f"the kernel `{kernel}` did not run to completion: "
        what += outcome.unsupported_reason or outcome.incomplete_reason or ""
        remedy = "remove the unsupported instruction" if outcome.unsupported_reason else "raise `--seconds`"
        return ExitStatus(write_refusal(what, remedy))
    return ExitStatus.FINDINGS if any(each.severity is not Severity.NOTE for each in found) else ExitStatus.CLEAN
