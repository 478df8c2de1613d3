"""`ptxkit verify`: the static rules, and runs of each kernel on the reference machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import click

from ptxkit.cli import shell_completion
from ptxkit.cli.input_files import expand_paths, read_texts
from ptxkit.cli.input_settings import InputSettings
from ptxkit.cli.launch_options import LAUNCH_NAMES, launch_options, unique_arguments
from ptxkit.cli.limits import MAX_LISTED_KERNELS
from ptxkit.cli.lint_options import LintOptions
from ptxkit.cli.option_groups import GroupedOptionsCommand
from ptxkit.cli.page_files import write_atomically
from ptxkit.cli.progress_bars import progress_bar
from ptxkit.cli.refusals import write_error
from ptxkit.cli.report_options import OPTION_NAMES, report_options
from ptxkit.cli.reporting import write_report
from ptxkit.cli.settings_options import CONFIGURATION_NAMES, MODULE_NAMES, RULE_NAMES, layer_of, settings_options
from ptxkit.cli.usage_errors import BadPageNameError, CommandLineError
from ptxkit.cli.value_types import Seconds, WholeNumber, format_option, seed_option
from ptxkit.emulator import InvalidLaunchError
from ptxkit.fast_dataclasses import replace
from ptxkit.report.formats import FORMATS
from ptxkit.report.options import ReportOptions, ShownCode
from ptxkit.report.progress import ProgressBar
from ptxkit.results import FileResult, Summary
from ptxkit.settings.errors import SettingsError
from ptxkit.source import SourceFile
from ptxkit.syntax import PTXSyntaxError, parse
from ptxkit.syntax.tree import Function
from ptxkit.untrusted_text import escape_path
from ptxkit.verifier import ArgumentSpec, VerifyRequest, verify_source
from ptxkit.verifier.parameter_names import choose_parameter, find_parameter

_GROUPS = {
    "Runs": ("--entry", "--schedules", "--seed", "--seconds"),
    "Launch": LAUNCH_NAMES,
    "Rule selection": RULE_NAMES,
    "Module": MODULE_NAMES,
    "Output": ("--format", *OPTION_NAMES, "--trace"),
    "Configuration": CONFIGURATION_NAMES,
}
_EXAMPLES = (
    ("ptxkit verify k.ptx", "Run every kernel; launches are chosen automatically."),
    ("ptxkit verify --block 256 --arg n=1000 k.ptx", "Run with another launch and argument."),
    ("ptxkit verify --trace page.html k.ptx", "Show how the threads came to each finding."),
)
_EXIT_STATUSES = {
    0: "There are no errors and no warnings.",
    1: "There are errors or warnings.",
    2: "The command line, the settings or an input cannot be used, or a kernel cannot be run.",
}


@click.command(
    cls=GroupedOptionsCommand,
    option_groups=_GROUPS,
    examples=_EXAMPLES,
    exit_statuses=_EXIT_STATUSES,
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=shell_completion.complete_paths)
@click.option("--entry", "entries", metavar="NAME", multiple=True, help="Kernel to run (repeatable).  [default: all]")
@click.option(
    "--schedules",
    type=WholeNumber(1),
    metavar="N",
    default=20,
    show_default=True,
    help="Number of runs of each kernel, each with another schedule.",
)
@seed_option
@click.option(
    "--seconds",
    type=Seconds(),
    metavar="TIME",
    help="CPU-time limit per kernel, in seconds, or as 10m or 2h; the results then depend on the computer.  [default: "
    "none; see --effort]",
)
@format_option(FORMATS)
@report_options
@click.option("--trace", metavar="PAGE", help="Write an HTML page (.html) that shows the findings of the runs.")
@settings_options
@launch_options
@click.pass_context
def verify(  # noqa: PLR0913 (options)
    ctx: click.Context,
    /,
    paths: tuple[str, ...],
    *,
    entries: tuple[str, ...],
    schedules: int,
    seed: int,
    seconds: float | None,
    form: str,
    config: str | None,
    isolated: bool,
    show: ShownCode,
    show_undecided: bool,
    all_places: bool,
    verbose: bool,
    trace: str | None,
    grid: tuple[int, ...] | None,
    block: tuple[int, ...] | None,
    cluster: tuple[int, ...] | None,
    shared: int | None,
    arguments: tuple[tuple[str, ArgumentSpec], ...],
    **given: object,
) -> None:
    """Check PTX files as lint does, and run their kernels on the CPU under the weakest behavior that the ISA allows.

    Asynchronous copies take effect as late, as early and in as small parts as the ISA allows, threads are interleaved
    at random, and uninitialized memory is poison. Each finding is reported with the accesses, threads and bytes
    involved and the seed that reproduces it. Missing launch options are chosen automatically and printed; a finding
    that depends on such a choice is a warning.

    --trace writes one self-contained HTML page. For each finding of a run it shows the threads, their recent
    operations, the copies in flight and the missing ordering.

    Settings files, options and suppression comments apply as for lint, to the findings of runs as well. Launches in
    the settings are used unless --block or --cluster overrides them.
    """
    if trace is not None and not trace.endswith((".html", ".htm")):
        raise BadPageNameError("--trace", trace)
    request = VerifyRequest(
        entries,
        schedules,
        seed,
        "isa",
        seconds,
        grid,
        block,
        cluster,
        shared,
        unique_arguments(arguments),
        trace is not None,
    )
    configured = InputSettings(LintOptions(level=layer_of(given), config=config, isolated=isolated))
    results: list[FileResult] = []
    unknown = set(request.arguments)
    kernels: list[Function] = []
    try:
        options = ReportOptions(show, show_undecided, all_places, verbose)
        write_report(_verify_inputs(paths, request, configured, (unknown, kernels), results, form), form, options)
        configured.check_launches()
        if unknown and any(result.runs for result in results):
            name = min(unknown)
            raise SettingsError(f"`--arg`: no input has a parameter `{name}`", remedy=choose_parameter(kernels))
    except InvalidLaunchError as error:
        raise CommandLineError(str(error)) from error
    except SettingsError as error:
        ctx.exit(write_error(error))
    if trace is not None:
        _write_page(trace, results)
    ctx.exit(Summary.of(results).exit_status)


def _write_page(path: str, results: list[FileResult]) -> None:
    """Writes the page with the traces of all findings of runs."""
    from ptxkit.report.trace_page import trace_page

    page = trace_page([each for result in results for each in result.traces])
    failure = write_atomically(path, page.encode())
    if failure is not None:
        raise CommandLineError(f"`--trace {path}` cannot be written: {failure}", "name another file")


def _verify_inputs(
    paths: tuple[str, ...],
    request: VerifyRequest,
    configured: InputSettings,
    named: tuple[set[str], list[Function]],
    results: list[FileResult],
    form: str,
) -> Iterator[FileResult]:
    """Yields the result of each input as soon as it is known, and appends it to `results`.

    named: the parameters of `--arg` that no kernel has had so far, and the first kernels. Raises SettingsError.
    """
    inputs = list(expand_paths(paths))
    bar = progress_bar("verified", len(inputs), form)
    try:
        for number, given in enumerate(inputs):
            for found in [given] if isinstance(given, FileResult) else read_texts(given):
                if isinstance(found, FileResult):
                    result = found
                else:
                    configured.note_kernels(found)
                    if named[0]:
                        _note_parameters(found, request, *named)
                    settings = configured.settings_for(str(given.path), found.path)
                    asked = replace(request, policy=settings.policy, settings=settings)
                    result = verify_source(found, asked, _count_runs(found, request, bar, number))
                    result = configured.remove_known(result, settings)
                results.append(result)
                bar.advance(number + 1)
                yield result
    finally:
        bar.hide()


def _note_parameters(source: SourceFile, request: VerifyRequest, unknown: set[str], kernels: list[Function]) -> None:
    """Removes the parameters that the kernels of a text have from the unknown ones, and adds the first kernels."""
    try:
        declared = request.select_kernels(parse(source.text, source.path))
    except PTXSyntaxError:
        return
    kernels += declared[: MAX_LISTED_KERNELS - len(kernels)]
    unknown -= {name for name in unknown for each in declared if find_parameter(name, each) is not None}


def _count_runs(source: SourceFile, request: VerifyRequest, bar: ProgressBar, number: int) -> Callable[[], None]:
    """The callback after each run. number: of the input; a run is the part of it that the schedules make it."""
    total = (len(request.entries) or source.text.count(".entry")) * request.schedules
    runs = 0

    def count() -> None:
        nonlocal runs
        runs += 1
        bar.update(number + min(runs / max(total, 1), 1), f"{escape_path(source.path)}, run {runs}")

    return count
