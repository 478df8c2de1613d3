"""`ptxkit stress`: run a kernel many times on a GPU with delays, and report what changes its results."""

from __future__ import annotations

from contextlib import ExitStack

import click

from ptxkit.cli import shell_completion
from ptxkit.cli.input_files import read_text
from ptxkit.cli.kernel_choice import bind_arguments, choose_kernel, require_block
from ptxkit.cli.launch_options import LAUNCH_NAMES, launch_options, unique_arguments
from ptxkit.cli.option_groups import GroupedOptionsCommand
from ptxkit.cli.output import write_lines
from ptxkit.cli.usage_errors import CommandLineError
from ptxkit.cli.value_types import Seconds, WholeNumber, WordChoice, seed_option
from ptxkit.device import DeviceError
from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.emulator import InvalidLaunchError
from ptxkit.exit_status import ExitStatus
from ptxkit.linter import lint
from ptxkit.report import diagnostic_lines, full_report
from ptxkit.results import FileResult
from ptxkit.stress.delay_instrument import NoDelaysError, insert_delays
from ptxkit.stress.gpu_backend import GpuBackend
from ptxkit.stress.lint_sites import sites_of_verdict
from ptxkit.stress.machine_backend import MachineBackend
from ptxkit.stress.stress_finding import NOTHING_SHOWN, stress_finding
from ptxkit.stress.stress_session import StressEffort, StressReport, stress_kernel
from ptxkit.stress.stress_trial import StressBackend, StressSubject
from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.verifier import ArgumentSpec

GPU, MACHINE = "gpu", "machine"
_GROUPS = {
    "Run": ("--entry", "--on", "--seconds", "--runs", "--seed", "--sites-from-lint"),
    "Launch": LAUNCH_NAMES,
}
_EXAMPLES = (
    ("ptxkit stress --arg x=f32[64]:random --block 64 k.ptx", "Run a kernel for a minute."),
    ("ptxkit stress --sites-from-lint --seconds 10m --arg n=4 k.ptx", "Delay what lint leaves open, above all."),
)
_EXIT_STATUSES = {
    0: "No run differed, which proves nothing.",
    1: "A run differed from the expected results, faulted or hung.",
    2: "The command line or FILE cannot be used, or there is no GPU.",
}


@click.command(cls=GroupedOptionsCommand, option_groups=_GROUPS, examples=_EXAMPLES, exit_statuses=_EXIT_STATUSES)
@click.argument("path", metavar="FILE", shell_complete=shell_completion.complete_paths)
@click.option("--entry", metavar="NAME", help="Kernel to run; required if the file has several.")
@click.option(
    "--on",
    "where",
    type=WordChoice((GPU, MACHINE)),
    metavar="WHERE",
    default=GPU,
    show_default=True,
    help="Where it runs: gpu, or machine for policies of the reference machine in the place of delays.",
)
@click.option(
    "--seconds",
    type=Seconds(),
    metavar="TIME",
    default="60",
    show_default=True,
    help="Time of the runs, in seconds, or as 10m or 2h.",
)
@click.option("--runs", type=WholeNumber(1), metavar="N", help="Largest number of runs.")
@seed_option
@click.option(
    "--sites-from-lint",
    is_flag=True,
    help="Delay only the instructions that lint reports or leaves open in half of the runs.",
)
@launch_options
@click.pass_context
def stress(  # noqa: PLR0913 (options)
    ctx: click.Context,
    path: str,
    *,
    entry: str | None,
    where: str,
    seconds: float,
    runs: int | None,
    seed: int,
    sites_from_lint: bool,
    grid: tuple[int, ...] | None,
    block: tuple[int, ...] | None,
    cluster: tuple[int, ...] | None,
    shared: int | None,
    arguments: tuple[tuple[str, ArgumentSpec], ...],
) -> None:
    """Run a kernel of a PTX file on the GPU under random delays; - reads standard input.

    Delays before memory accesses, copies and synchronization, contention for memory, and other contents of unwritten
    shared memory change no result of a correct kernel. The results of each run are compared with those of the reference
    machine, bit for bit. The first run that differs is reduced to the fewest delayed instructions. Every kernel
    parameter needs an --arg.
    """
    source = read_text(path)
    if isinstance(source, FileResult):
        write_lines(full_report([source]), error=True)
        ctx.exit(ExitStatus.COULD_NOT_RUN)
    try:
        module = parse(source.text, source.path)
    except PTXSyntaxError as error:
        write_lines(diagnostic_lines(error.diagnostics), error=True)
        ctx.exit(ExitStatus.COULD_NOT_RUN)
    kernel = choose_kernel(module, entry, path)
    passed = bind_arguments(kernel, unique_arguments(arguments), seed)
    require_block(kernel, block)
    launch = DeviceLaunch(kernel.name, grid or 1, block, tuple(passed), cluster, shared or 0)
    notes: tuple[str, ...] = ()
    try:
        delayed = insert_delays(module)
    except NoDelaysError as error:
        delayed, notes = None, (error.message,)
    subject = StressSubject(source.text, launch, delayed)
    verdict = lint(source.text, path=source.path)
    preferred = sites_of_verdict(delayed.sites, verdict) if sites_from_lint and delayed is not None else ()
    effort = StressEffort(seconds, runs or 0, seed, preferred)
    try:
        with ExitStack() as stack:
            backend: StressBackend = MachineBackend() if where == MACHINE else stack.enter_context(GpuBackend())
            subject, report = stress_kernel(subject, backend, effort, notes)
    except InvalidLaunchError as error:
        raise CommandLineError(str(error)) from error
    except DeviceError as error:
        remedy = "write `--on machine` for the reference machine" if where == GPU else ""
        raise CommandLineError(
            f"the kernel `{kernel.name}` cannot run on the GPU: {str(error).splitlines()[0]}", remedy
        ) from error
    found = stress_finding(report, subject, source.path, verdict)
    write_lines(diagnostic_lines([found] if found is not None else []))
    for line in _summary(report, backend.name):
        click.echo(line)
    ctx.exit(ExitStatus.CLEAN if found is None else ExitStatus.FINDINGS)


def _summary(report: StressReport, backend: str) -> list[str]:
    """The number of runs, what they were compared with, and what no finding means."""
    counts = f"{report.plain} plain runs and {report.delayed} with delays on {backend}"
    lines = [f"note: no delays were inserted: {each}" for each in report.notes]
    lines.append(f"{counts}, compared with {report.reference}")
    return lines if report.failure is not None else [*lines, NOTHING_SHOWN]
