"""`ptxkit lint`: check PTX files and report diagnostics."""

from __future__ import annotations

import click

from ptxkit.cli import shell_completion
from ptxkit.cli.input_files import STDIN, cache_folder_paths
from ptxkit.cli.limits import DEFAULT_CHECK_SECONDS
from ptxkit.cli.lint_options import LintOptions
from ptxkit.cli.lint_run import run_lint
from ptxkit.cli.number_params import SECONDS as TIME_LIMIT
from ptxkit.cli.option_groups import GroupedOptionsCommand
from ptxkit.cli.report_options import OPTION_NAMES, report_options
from ptxkit.cli.settings_options import layer_of, settings_options
from ptxkit.inputs.compiler_caches import CACHES
from ptxkit.report.formats import FORMATS
from ptxkit.report.options import ReportOptions, ShownCode

_GROUPS = {
    "Rule selection": ("--select", "--extend-select", "--ignore", "--severity", "--policy", "--notes"),
    "File selection": ("--binaries", "--cache", "--stdin-filename"),
    "Output": ("--format", *OPTION_NAMES, "--statistics", "--show-fixes", "--show-settings", "--help"),
    "Fixing": ("--fix", "--unsafe-fixes", "--diff", "--add-ignores", "--reason", "--write-baseline"),
    "Performance": ("--jobs", "--timeout", "--cluster", "--no-cache", "--cache-dir"),
    "Configuration": ("--config", "--isolated", "--baseline", "--target", "--version", "--launch"),
}
"""The options by the headings of `ptxkit lint --help`."""


@click.command(cls=GroupedOptionsCommand, option_groups=_GROUPS, short_help="Check PTX files and report diagnostics.")
@click.argument("paths", nargs=-1, metavar="PATH...", shell_complete=shell_completion.complete_paths)
@click.option("--format", "form", type=click.Choice(FORMATS), default="full", show_default=True, help="Output format.")
@settings_options
@report_options
@click.option(
    "--statistics", is_flag=True, help="Print the number of diagnostics of each code instead of the diagnostics."
)
@click.option(
    "--show-settings", is_flag=True, help="Print the effective settings of each PATH and their source, then exit."
)
@click.option(
    "--write-baseline", is_flag=True, help="Write all current findings to the baseline instead of printing them."
)
@click.option("--add-ignores", is_flag=True, help="Insert a suppression comment for each diagnostic; rewrites files.")
@click.option("--reason", default="", metavar="TEXT", help="Reason to write in the comments of --add-ignores.")
@click.option("--fix", "write_fixes", is_flag=True, help="Apply safe fixes that a re-check confirms; rewrites files.")
@click.option("--unsafe-fixes", is_flag=True, help="Also apply unsafe fixes (may change behaviour).")
@click.option(
    "--diff",
    "show_diff",
    is_flag=True,
    help="Print the changes of --fix as a diff without writing them; exit with 1 if there are any.",
)
@click.option("--show-fixes", is_flag=True, help="Show the available fix with each diagnostic.")
@click.option(
    "--binaries", is_flag=True, help="Also search folders for libraries, programs and archives that contain PTX."
)
@click.option(
    "--cache",
    "caches",
    type=click.Choice(CACHES),
    multiple=True,
    help="Also check the cache of a compiler: Triton, PyTorch Inductor or CuTe DSL (repeatable).",
)
@click.option(
    "--stdin-filename", metavar="PATH", help="File name of standard input, for diagnostics and to find its settings."
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of parallel workers [default: CPU count; 1 for small inputs].",
)
@click.option(
    "--timeout",
    type=TIME_LIMIT,
    default=DEFAULT_CHECK_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="CPU-time limit per file, in seconds.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Check on the workers of a dask.distributed cluster: tcp://HOST:8786; local:2 is the same as --jobs 2.",
)
@click.option("--no-cache", is_flag=True, help="Neither read nor write the result cache.")
@click.option("--cache-dir", type=click.Path(file_okay=False), metavar="DIR", help="Folder of the result cache.")
@click.pass_context
def lint(  # noqa: PLR0913 (options)
    ctx: click.Context,
    /,
    paths: tuple[str, ...],
    *,
    form: str,
    config: str | None,
    isolated: bool,
    show: ShownCode,
    show_undecided: bool,
    all_places: bool,
    verbose: bool,
    statistics: bool,
    show_settings: bool,
    write_baseline: bool,
    add_ignores: bool,
    reason: str,
    stdin_filename: str | None,
    write_fixes: bool,
    unsafe_fixes: bool,
    show_diff: bool,
    show_fixes: bool,
    binaries: bool,
    caches: tuple[str, ...],
    jobs: int | None,
    timeout: float,
    cluster: str | None,
    no_cache: bool,
    cache_dir: str | None,
    **given: object,
) -> None:
    """Check PTX files and report diagnostics.

    PATH is a PTX file, a folder (every *.ptx file in it is checked), or a fat binary, object, library, program or wheel
    that contains PTX. - reads standard input.

    Settings come from the nearest ptxkit.toml, or pyproject.toml with a [tool.ptxkit] table, in the folder of each file
    or above it. Command-line options override them. CODE is a rule code (PTX401), a prefix of one (PTX4) or a rule
    name (missing-proxy-fence); if several match a diagnostic, the longest applies.

    A comment suppresses diagnostics: // ptxkit: ignore[PTX401] REASON on a line or before a function, or
    ignore-file[PTX401] for the whole file.

    Exit status: 0 no errors or warnings, 1 errors or warnings found, 2 an input could not be read or checked.
    """
    paths = (*paths, *cache_folder_paths(caches))
    if not paths and not show_settings:
        raise click.UsageError("Missing argument 'PATH...': name files, folders, or - for standard input.")
    if config is not None and isolated:
        raise click.UsageError(
            "--config and --isolated exclude each other: --isolated reads no settings file. Give one of them."
        )
    if write_baseline and add_ignores:
        raise click.UsageError(
            "--write-baseline and --add-ignores exclude each other: both record known findings. Give one of them."
        )
    if reason and not add_ignores:
        raise click.UsageError("--reason requires --add-ignores")
    if unsafe_fixes and not (write_fixes or show_diff):
        raise click.UsageError("--unsafe-fixes requires --fix or --diff")
    if write_fixes and not show_diff and STDIN in paths:
        raise click.UsageError("standard input cannot be rewritten in place; --diff prints what would change")
    if statistics and form not in ("full", "concise", "json"):
        raise click.UsageError(f"--statistics supports --format full and json, not {form}")
    if cluster is not None and jobs is not None:
        raise click.UsageError(
            "--jobs and --cluster exclude each other: a cluster has its own workers. Give one of them."
        )
    if no_cache and cache_dir is not None:
        raise click.UsageError("--cache-dir and --no-cache exclude each other. Give one of them.")
    options = LintOptions(
        form=form,
        level=layer_of(given),
        config=config,
        isolated=isolated,
        report=ReportOptions(show, show_undecided, all_places, verbose),
        statistics=statistics,
        write_baseline=write_baseline,
        add_ignores=reason if add_ignores else None,
        stdin_name=stdin_filename,
        binaries=binaries,
        fixes="diff" if show_diff else "write" if write_fixes else "show" if show_fixes else None,
        unsafe_fixes=unsafe_fixes,
        jobs=jobs,
        timeout=timeout,
        cluster=cluster,
        is_cached=not no_cache,
        cache_folder=cache_dir,
    )
    if show_settings:
        from ptxkit.cli.show_settings import print_settings

        ctx.exit(print_settings(paths, options))
    ctx.exit(run_lint(paths, options))
