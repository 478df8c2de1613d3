"""`ptxkit lint`: check PTX files and report diagnostics."""

from __future__ import annotations

import click

from ptxkit.cli import shell_completion
from ptxkit.cli.input_files import STDIN, cache_folder_paths
from ptxkit.cli.limits import DEFAULT_CHECK_SECONDS
from ptxkit.cli.lint_options import SERVER_ACTIONS, LintOptions
from ptxkit.cli.lint_run import run_lint
from ptxkit.cli.option_groups import GroupedOptionsCommand
from ptxkit.cli.report_options import OPTION_NAMES, report_options
from ptxkit.cli.settings_options import CONFIGURATION_NAMES, MODULE_NAMES, RULE_NAMES, layer_of, settings_options
from ptxkit.cli.usage_errors import CommandLineError, exclusive
from ptxkit.cli.value_types import Seconds, WholeNumber, WordChoice, format_option, join_choices
from ptxkit.inputs.compiler_caches import CACHES
from ptxkit.refusal import RefusedError
from ptxkit.report.formats import FORMATS
from ptxkit.report.options import ReportOptions, ShownCode

_GROUPS = {
    "Rule selection": (*RULE_NAMES, "--diff-base"),
    "File selection": ("--binaries", "--cache", "--stdin-filename"),
    "Module": MODULE_NAMES,
    "Output": ("--format", *OPTION_NAMES, "--statistics", "--obligations", "--show-fixes", "--show-settings"),
    "Fixing": ("--fix", "--unsafe-fixes", "--diff", "--add-ignores", "--reason", "--write-baseline"),
    "Performance": ("--jobs", "--timeout", "--cluster", "--no-cache", "--cache-dir", "--server"),
    "Configuration": CONFIGURATION_NAMES,
}
"""The options by the headings of `ptxkit lint --help`."""

_EXAMPLES = (
    ("ptxkit lint k.ptx", "Check one file."),
    ("nvcc -ptx -lineinfo k.cu -o - | ptxkit lint -", "Check what a compiler writes."),
    ("ptxkit lint --format github build/", "Check a folder, and annotate a pull request."),
    ("ptxkit lint --fix k.ptx", "Apply the safe fixes."),
)

_EXIT_STATUSES = {
    0: "There are no errors and no warnings.",
    1: "There are errors or warnings.",
    2: "The command line, the settings or an input cannot be used.",
}


@click.command(
    cls=GroupedOptionsCommand,
    option_groups=_GROUPS,
    examples=_EXAMPLES,
    exit_statuses=_EXIT_STATUSES,
)
@click.argument("paths", nargs=-1, metavar="PATH...", shell_complete=shell_completion.complete_paths)
@format_option(FORMATS)
@settings_options
@report_options
@click.option(
    "--diff-base",
    metavar="REV",
    help="Report only findings that are new compared with the same files in a revision of git: main, HEAD~1.",
)
@click.option(
    "--statistics", is_flag=True, help="Print the number of diagnostics of each code instead of the diagnostics."
)
@click.option(
    "--obligations",
    is_flag=True,
    help="Also list what each instruction must satisfy, and whether it is violated, proven or open.",
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
@click.option("--unsafe-fixes", is_flag=True, help="Also apply unsafe fixes (may change behavior).")
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
    type=WordChoice(CACHES),
    metavar="COMPILER",
    multiple=True,
    help=f"Also check the cache of a compiler: {join_choices(CACHES)} (repeatable).",
)
@click.option(
    "--stdin-filename", metavar="PATH", help="File name of standard input, for diagnostics and to find its settings."
)
@click.option(
    "--jobs",
    type=WholeNumber(1),
    metavar="N",
    help="Number of parallel workers.  [default: CPU count; 1 for small inputs]",
)
@click.option(
    "--timeout",
    type=Seconds(),
    default=f"{DEFAULT_CHECK_SECONDS:g}",
    show_default=True,
    metavar="TIME",
    help="CPU-time limit per file, in seconds, or as 10m or 2h.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Check on the workers of a dask.distributed cluster: tcp://HOST:8786; local:2 is the same as --jobs 2.",
)
@click.option("--no-cache", is_flag=True, help="Neither read nor write the result cache.")
@click.option("--cache-dir", metavar="DIR", help="Folder of the result cache.")
@click.option(
    "--server",
    type=WordChoice(SERVER_ACTIONS),
    is_flag=False,
    flag_value=SERVER_ACTIONS[0],
    metavar="[ACTION]",
    help="Start a resident process that makes later checks start faster, or do something else with it: "
    f"{join_choices(SERVER_ACTIONS)}.",
)
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
    diff_base: str | None,
    statistics: bool,
    obligations: bool,
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
    server: str | None,
    **given: object,
) -> None:
    """Check PTX files and report diagnostics.

    PATH is a PTX file, a folder (every *.ptx file in it is checked), or a fat binary, object, library, program or wheel
    that contains PTX. - reads standard input.

    Settings come from the nearest ptxkit.toml, or pyproject.toml with a [tool.ptxkit] table, in the folder of each file
    or above it. Command-line options override them. CODES are separated by commas; each is a rule code (PTX401), a
    prefix of one (PTX4) or a rule name (missing-proxy-fence). If several match a diagnostic, the longest applies.

    A comment suppresses diagnostics: // ptxkit: ignore[PTX401] REASON on a line or before a function, or
    ignore-file[PTX401] for the whole file.
    """
    if server is not None:
        ctx.exit(_manage_server(server, paths))
    paths = (*paths, *cache_folder_paths(caches))
    if not paths and not show_settings:
        raise CommandLineError(
            "`ptxkit lint` requires the argument PATH", "name files, folders, or `-` for standard input"
        )
    if config is not None and isolated:
        raise exclusive("--config", "--isolated")
    _check_diff_base(diff_base, paths, stdin_filename, write_baseline=write_baseline)
    if write_baseline and add_ignores:
        raise exclusive("--write-baseline", "--add-ignores")
    if reason and not add_ignores:
        raise CommandLineError("`--reason` has no effect without `--add-ignores`", "add `--add-ignores`")
    _check_fixing(paths, write_fixes=write_fixes, unsafe_fixes=unsafe_fixes, show_diff=show_diff)
    if statistics and form not in ("full", "concise", "json"):
        raise CommandLineError(
            f"`--statistics` cannot be printed as `{form}`", "write `--format full` or `--format json`"
        )
    if obligations and form not in ("full", "concise", "json"):
        raise CommandLineError(
            f"`--obligations` cannot be printed as `{form}`", "write `--format full` or `--format json`"
        )
    if obligations and (statistics or write_baseline or add_ignores or write_fixes or show_diff or show_fixes):
        raise CommandLineError(
            "`--obligations` cannot be combined with other actions", "list the obligations in a separate run"
        )
    if cluster is not None and jobs is not None:
        raise exclusive("--jobs", "--cluster")
    if no_cache and cache_dir is not None:
        raise exclusive("--cache-dir", "--no-cache")
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
        obligations=obligations,
        jobs=jobs,
        timeout=timeout,
        cluster=cluster,
        is_cached=not no_cache,
        cache_folder=cache_dir,
        diff_base=diff_base,
    )
    if show_settings:
        from ptxkit.cli.show_settings import print_settings

        ctx.exit(print_settings(paths, options))
    ctx.exit(run_lint(paths, options))


def _manage_server(action: str, paths: tuple[str, ...]) -> int:
    """Raises CommandLineError."""
    from ptxkit.cli.lint_server import manage_server

    if paths:
        raise CommandLineError("`--server` checks no files", "check them in a separate run, which uses the server")
    try:
        return manage_server(action)
    except RefusedError as error:
        raise CommandLineError.of(error) from error


def _check_fixing(paths: tuple[str, ...], *, write_fixes: bool, unsafe_fixes: bool, show_diff: bool) -> None:
    """Raises CommandLineError for options of fixes that cannot be combined."""
    if unsafe_fixes and not (write_fixes or show_diff):
        raise CommandLineError("`--unsafe-fixes` has no effect without `--fix` or `--diff`", "add `--fix` or `--diff`")
    if write_fixes and not show_diff and STDIN in paths:
        raise CommandLineError("standard input cannot be rewritten in place", "`--diff` prints what would change")


def _check_diff_base(
    diff_base: str | None, paths: tuple[str, ...], stdin_filename: str | None, *, write_baseline: bool
) -> None:
    """Raises CommandLineError for what cannot be combined with `--diff-base`."""
    if diff_base is not None and write_baseline:
        raise exclusive("--write-baseline", "--diff-base")
    if diff_base is not None and STDIN in paths and stdin_filename is None:
        raise CommandLineError("standard input has no path in a revision", "write `--stdin-filename PATH`")
