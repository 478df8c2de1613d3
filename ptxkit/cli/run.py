"""`ptxkit run`: run a kernel once on the reference machine, on a GPU, or on both."""

from __future__ import annotations

from pathlib import Path

import click

from ptxkit.cli import shell_completion
from ptxkit.cli.input_files import read_text
from ptxkit.cli.input_settings import InputSettings
from ptxkit.cli.kernel_choice import bind_arguments, choose_kernel, require_block
from ptxkit.cli.launch_options import LAUNCH_NAMES, launch_options, unique_arguments
from ptxkit.cli.limits import DEFAULT_GPU_SECONDS, DEFAULT_MACHINE_SECONDS
from ptxkit.cli.lint_options import LintOptions
from ptxkit.cli.machine_run import is_comparable, run_on_machine
from ptxkit.cli.option_groups import GroupedOptionsCommand
from ptxkit.cli.output import write_lines
from ptxkit.cli.refusals import write_error
from ptxkit.cli.run_subject import RunSubject
from ptxkit.cli.settings_options import CONFIGURATION_NAMES, settings_file_options
from ptxkit.cli.usage_errors import CommandLineError
from ptxkit.cli.value_types import Seconds, WordChoice, join_choices, seed_option
from ptxkit.emulator import POLICIES, RunResult
from ptxkit.exit_status import ExitStatus
from ptxkit.linter import apply_overrides
from ptxkit.module_overrides import LaunchConflictError
from ptxkit.report import diagnostic_lines, full_report
from ptxkit.results import FileResult
from ptxkit.settings.errors import SettingsError
from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.syntax.tree import Function
from ptxkit.verifier import ArgumentSpec
from ptxkit.verifier.parameter_names import (
    choose_parameter,
    find_parameter,
)

_GROUPS = {
    "Run": ("--entry", "--on", "--policy", "--seed", "--seconds"),
    "Launch": LAUNCH_NAMES,
    "Output": ("--out", "--time"),
    "Configuration": CONFIGURATION_NAMES,
}
_EXAMPLES = (
    ("ptxkit run --block 64 --arg x=f32[64]:iota --out x k.ptx", "Run a kernel, and print an array."),
    ("ptxkit run --arg x=in.npy --out x=out.npy k.ptx", "Read and write an array of numpy."),
    ("ptxkit run --on both --arg x=in.npy k.ptx", "Compare the arrays with those of a GPU."),
)
_SIDES = ("machine", "gpu", "both")
_EXIT_STATUSES = {
    0: "The kernel ran to completion without errors and warnings.",
    1: "There are errors or warnings, or the GPU has other results than the reference machine.",
    2: "The command line, the settings or FILE cannot be used, or the kernel did not run to completion: on a GPU, it "
    "failed or did not end in time.",
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
    "--on",
    type=WordChoice(_SIDES),
    metavar="WHERE",
    default=_SIDES[0],
    show_default=True,
    help="Run on the reference machine, on the GPU of this computer, or on both, and compare all arrays: "
    f"{join_choices(_SIDES)}.",
)
@click.option("--time", "is_timed", is_flag=True, help="Print the time of a launch on the GPU, and bytes per second.")
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
    help="Time limit of the run, in seconds, or as 10m or 2h: CPU time on the machine [default: 600], time until the "
    "process is ended on a GPU [default: 20].",
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
    on: str,
    is_timed: bool,
    policy: str,
    seed: int,
    seconds: float | None,
    config: str | None,
    isolated: bool,
    grid: tuple[int, ...] | None,
    block: tuple[int, ...] | None,
    cluster: tuple[int, ...] | None,
    shared: int | None,
    arguments: tuple[tuple[str, ArgumentSpec], ...],
) -> None:
    """Run a kernel of a PTX file on the reference machine or on a GPU; - reads standard input.

    Every kernel parameter needs an --arg. Errors that the run finds are reported with the threads and accesses
    involved, and what it leaves undecided on standard error, with the conditions of `ptxkit contract` that the launch
    does not satisfy. The settings files of lint and suppression comments apply.

    --on gpu launches the kernel in a process that is ended if the kernel fails or hangs. --on both runs it on the
    machine first, and compares the arrays bit by bit. --out prints the arrays of the machine if it runs, else those of
    the GPU.
    """
    if is_timed and on == "machine":
        raise CommandLineError("`--time` has no effect on the reference machine", "add `--on gpu`")
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
    kernel = choose_kernel(module, entry, path)
    given = unique_arguments(arguments)
    kept = _output_targets(outputs, kernel)
    passed = bind_arguments(kernel, given, seed)
    require_block(kernel, block)
    texts = tuple(f"{key}={value.text}" for key, value in given.items())
    extents = (grid or (1,), block, cluster, shared or 0)
    subject = RunSubject(source, settings, written, module, kernel, *extents, tuple(passed), texts, kept)
    status = ExitStatus.CLEAN
    mine: RunResult | None = None
    if on != "gpu":
        mine, status = run_on_machine(subject, policy, seed, seconds or DEFAULT_MACHINE_SECONDS)
    if on == "both" and mine is not None and not is_comparable(mine):
        what = "the GPU did not run the kernel: the run on the machine has errors or is incomplete"
        click.echo(f"ptxkit: warning: {what}", err=True)
    elif on != "machine":
        from ptxkit.cli.gpu_run import run_on_gpu

        status = run_on_gpu(subject, mine, status, seconds or DEFAULT_GPU_SECONDS, is_timed=is_timed)
    ctx.exit(status)


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
