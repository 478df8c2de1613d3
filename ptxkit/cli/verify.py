"""`ptxkit verify`: the static rules, and runs of each kernel on the reference machine."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from ptxkit.cli import shell_completion
from ptxkit.cli.input_files import expand_paths, read_texts
from ptxkit.cli.input_settings import InputSettings
from ptxkit.cli.launch_options import launch_options, unique_arguments
from ptxkit.cli.lint_options import LintOptions
from ptxkit.cli.number_params import SECONDS, SEED
from ptxkit.cli.page_files import write_atomically
from ptxkit.cli.report_options import report_options
from ptxkit.cli.reporting import write_report
from ptxkit.cli.settings_options import layer_of, settings_options
from ptxkit.emulator import InvalidLaunchError
from ptxkit.fast_dataclasses import replace
from ptxkit.report.formats import FORMATS
from ptxkit.report.options import ReportOptions, ShownCode
from ptxkit.results import ExitStatus, FileResult, Summary
from ptxkit.settings.errors import SettingsError
from ptxkit.source import SourceFile
from ptxkit.untrusted_text import escape_path
from ptxkit.verifier import ArgumentSpec, VerifyRequest, verify_source

_NAME = re.compile(r"[\w$%]+")


@click.command(short_help="Check PTX files and run their kernels on the reference machine to find errors.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=shell_completion.complete_paths)
@click.option("--entry", "entries", multiple=True, help="Kernel to run (repeatable). Default: all.")
@click.option(
    "--schedules",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Number of runs of each kernel, each with another schedule.",
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Random seed.")
@click.option("--seconds", type=SECONDS, default=60.0, show_default=True, help="CPU-time limit per kernel, in seconds.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="full", show_default=True, help="Output format.")
@report_options
@click.option(
    "--trace", type=click.Path(dir_okay=False), help="Write an HTML page (.html) that shows the findings of the runs."
)
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
    seconds: float,
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
    """Check PTX files as lint does, and run their kernels on the CPU under the weakest behaviour that the ISA allows.

    Asynchronous copies take effect as late, as early and in as small parts as the ISA allows, threads are interleaved
    at random, and uninitialized memory is poison. Each finding is reported with the accesses, threads and bytes
    involved and the seed that reproduces it. Missing launch options are chosen automatically and printed; a finding
    that depends on such a choice is a warning.

    --trace writes one self-contained HTML page. For each finding of a run it shows the threads, their recent
    operations, the copies in flight and the missing ordering.

    Settings files, options and suppression comments apply as for lint, to the findings of runs as well. Launches in
    the settings are used unless --block or --cluster overrides them.

    Exit status: 0 no errors or warnings, 1 errors or warnings found, 2 an input could not be read or run.
    """
    if trace is not None and not trace.endswith((".html", ".htm")):
        raise click.UsageError(f"--trace {trace}: the file name must end in .html, so that no input is overwritten")
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
    unknown = {name for name in request.arguments if not name.startswith("#")}
    try:
        options = ReportOptions(show, show_undecided, all_places, verbose)
        write_report(_verify_inputs(paths, request, configured, unknown, results), form, options)
        configured.check_launches()
        if unknown and any(result.runs for result in results):
            raise SettingsError(f"--arg: no input has a parameter `{min(unknown)}`")
    except InvalidLaunchError as error:
        raise click.UsageError(str(error)) from error
    except SettingsError as error:
        sys.stdout.flush()
        click.echo(f"ptxkit: {error}", err=True)
        ctx.exit(ExitStatus.COULD_NOT_RUN)
    if trace is not None:
        _write_page(trace, results)
    ctx.exit(Summary.of(results).exit_status)


def _write_page(path: str, results: list[FileResult]) -> None:
    """Writes the page with the traces of all findings of runs."""
    from ptxkit.report.trace_page import trace_page

    page = trace_page([each for result in results for each in result.traces])
    failure = write_atomically(path, page.encode())
    if failure is not None:
        raise click.UsageError(f"--trace {path} cannot be written: {failure}")


def _verify_inputs(
    paths: tuple[str, ...],
    request: VerifyRequest,
    configured: InputSettings,
    unknown: set[str],
    results: list[FileResult],
) -> Iterator[FileResult]:
    """Yields the result of each input as soon as it is known, and appends it to `results`.

    unknown: the parameters of `--arg` that no text has had so far. Raises SettingsError.
    """
    for given in expand_paths(paths):
        for found in [given] if isinstance(given, FileResult) else read_texts(given):
            if isinstance(found, FileResult):
                result = found
            else:
                configured.note_kernels(found)
                if unknown:
                    unknown.difference_update(_NAME.findall(found.text))
                settings = configured.settings_for(str(given.path), found.path)
                asked = replace(request, policy=settings.policy, settings=settings)
                with _progress(found, request) as step:
                    result = verify_source(found, asked, step)
                result = configured.remove_known(result, settings)
            results.append(result)
            yield result


@contextmanager
def _progress(source: SourceFile, request: VerifyRequest) -> Iterator[Callable[[], None]]:
    """The callback after each run: on a terminal, a progress bar on standard error."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    kernels = len(request.entries) or source.text.count(".entry")
    with click.progressbar(length=kernels * request.schedules, label=escape_path(source.path), file=sys.stderr) as bar:
        yield lambda: bar.update(1)
