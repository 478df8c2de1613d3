"""`ptxkit verify`: the static rules, and runs of each kernel on the reference machine."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import click

from ptxkit.cli.inputs import sources
from ptxkit.cli.launch_options import launch_options
from ptxkit.cli.reporting import write_report
from ptxkit.emulate import LaunchError
from ptxkit.linter import POLICIES, Policy
from ptxkit.report.formats import FORMATS
from ptxkit.results import FileResult, Summary
from ptxkit.source import SourceFile
from ptxkit.verifier import Given, Request, verify_source


@click.command(short_help="Run kernels on the reference machine, and print what is wrong with them.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--entry", "entries", multiple=True, help="A kernel to run (repeatable); none: all of each file.")
@click.option("--schedules", type=click.IntRange(min=1), default=20, show_default=True, help="Runs of each kernel.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of all that chance decides.")
@click.option("--seconds", type=float, default=60.0, show_default=True, help="For the runs of each kernel.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="full", show_default=True, help="As for lint.")
@click.option("--policy", type=click.Choice(POLICIES), default="isa", show_default=True, help="As for lint.")
@click.option("--show-undecided", is_flag=True, help="Print the questions that could not be answered, too.")
@click.option("--trace", type=click.Path(dir_okay=False), help="Draw what was found by running: a page (.html).")
@launch_options
@click.pass_context
def verify(  # noqa: PLR0913 (options)
    ctx: click.Context,
    paths: tuple[str, ...],
    *,
    entries: tuple[str, ...],
    schedules: int,
    seed: int,
    seconds: float,
    form: str,
    policy: str,
    show_undecided: bool,
    trace: str | None,
    grid: tuple[int, ...] | None,
    block: tuple[int, ...] | None,
    cluster: tuple[int, ...] | None,
    shared: int | None,
    arguments: tuple[tuple[str, Given], ...],
) -> None:
    """Check PTX files as lint does, and run their kernels on the CPU, under the weakest behaviour the ISA allows.

    Asynchronous copies read and write as late, as early and as torn as they may, threads take turns by chance, and
    memory that nobody wrote is poison. What is found is shown with its witness: the accesses, the threads, the bytes,
    and the seed that shows it again. Where launch options are missing they are chosen, and printed; what hangs on
    such a choice is a warning.

    --trace writes one page that needs no other file: for each finding of a run the threads, what they did near it, the
    copies in flight and the ordering that is missing.

    Exit status: 0 clean, 1 errors or warnings found, 2 something could not be read or run.
    """
    if trace is not None and not trace.endswith((".html", ".htm")):
        raise click.UsageError(f"--trace {trace}: the page's name must end in .html, so that no input is overwritten")
    request = Request(
        entries,
        schedules,
        seed,
        cast("Policy", policy),
        seconds,
        grid,
        block,
        cluster,
        shared,
        dict(arguments),
        trace is not None,
    )
    results: list[FileResult] = []
    try:
        write_report(_results(paths, request, results), form, show_undecided=show_undecided)
    except LaunchError as error:
        raise click.UsageError(str(error)) from error
    if trace is not None:
        _write_page(trace, results)
    ctx.exit(Summary.of(results).exit_status)


def _write_page(path: str, results: list[FileResult]) -> None:
    """Write the pictures of all findings of runs."""
    from ptxkit.report.trace import trace_page

    page = trace_page([each for result in results for each in result.traces])
    try:
        Path(path).write_text(page, "utf-8")
    except OSError as error:
        raise click.UsageError(f"--trace {path} cannot be written: {error.strerror}") from error


def _results(paths: tuple[str, ...], request: Request, results: list[FileResult]) -> Iterator[FileResult]:
    """Each input's result as soon as there is one, also put into `results`."""
    for found in sources(paths):
        if isinstance(found, FileResult):
            result = found
        else:
            with _progress(found, request) as step:
                result = verify_source(found, request, step)
        results.append(result)
        yield result


@contextmanager
def _progress(source: SourceFile, request: Request) -> Iterator[Callable[[], None]]:
    """What to call after each run: on a terminal, a bar on standard error."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    kernels = len(request.entries) or source.text.count(".entry")
    with click.progressbar(length=kernels * request.schedules, label=source.path, file=sys.stderr) as bar:
        yield lambda: bar.update(1)
