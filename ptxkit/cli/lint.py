"""`ptxkit lint`: check PTX, print what was found."""

from __future__ import annotations

import click

from ptxkit.cli import shell_completion
from ptxkit.cli.input_files import STDIN, cache_folder_paths
from ptxkit.cli.lint_options import SECONDS, LintOptions
from ptxkit.cli.lint_run import run_lint
from ptxkit.cli.number_params import SECONDS as TIME_LIMIT
from ptxkit.cli.settings_options import layer_of, settings_options
from ptxkit.inputs.compiler_caches import CACHES
from ptxkit.report.formats import FORMATS


@click.command(short_help="Check PTX and print what is wrong with it.")
@click.argument("paths", nargs=-1, metavar="PATH...", shell_complete=shell_completion.complete_paths)
@click.option("--format", "form", type=click.Choice(FORMATS), default="full", show_default=True, help="How to print.")
@settings_options
@click.option("--show-undecided", is_flag=True, help="Print the questions that could not be answered, too.")
@click.option("--statistics", is_flag=True, help="Print how many findings there are of each code, and none of them.")
@click.option(
    "--show-settings", is_flag=True, help="Print what counts for each PATH, and where it is said; check nothing."
)
@click.option(
    "--write-baseline", is_flag=True, help="Keep all that is found as known, in the baseline; print none of it."
)
@click.option("--add-ignores", is_flag=True, help="Write a comment beside each finding that hides it.")
@click.option("--reason", default="", metavar="TEXT", help="What the comments of --add-ignores say behind the code.")
@click.option(
    "--fix", "write_fixes", is_flag=True, help="Mend what can be mended, where a check shows that it is; rewrite files."
)
@click.option("--unsafe-fixes", is_flag=True, help="Mend, too, by what may change the meaning of a correct program.")
@click.option(
    "--diff", "show_diff", is_flag=True, help="Write nothing; print what --fix would change, and exit with 1."
)
@click.option("--show-fixes", is_flag=True, help="Say beside each finding what mend would settle it, if one does.")
@click.option("--binaries", is_flag=True, help="Look into the libraries, programs and archives of folders, too.")
@click.option(
    "--cache",
    "caches",
    type=click.Choice(CACHES),
    multiple=True,
    help="Check what a compiler keeps in its cache, too: Triton, PyTorch's inductor, CuTe DSL.",
)
@click.option(
    "--stdin-filename", metavar="PATH", help="What standard input is called, and whose settings count for it."
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Check N texts beside each other [default: one a core; none for few and small ones].",
)
@click.option(
    "--timeout",
    type=TIME_LIMIT,
    default=SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="Give up a text after so much processor time; the others are checked.",
)
@click.option(
    "--cluster", metavar="ADDRESS", help="Check on workers of dask.distributed: tcp://HOST:8786; local:2 is --jobs 2."
)
@click.option("--no-cache", is_flag=True, help="Use no results of earlier runs, and keep none.")
@click.option("--cache-dir", type=click.Path(file_okay=False), metavar="DIR", help="Keep results there.")
@click.pass_context
def lint(  # noqa: PLR0913 (options)
    ctx: click.Context,
    /,
    paths: tuple[str, ...],
    *,
    form: str,
    config: str | None,
    isolated: bool,
    show_undecided: bool,
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
    """Check PTX files, every *.ptx in folders, and the PTX inside of fat binaries, objects, libraries, programs and
    wheels; - is standard input.

    Settings are those of the nearest ptxkit.toml, or pyproject.toml with [tool.ptxkit], above each file, and options
    stand over them. CODE is a code (PTX401), the beginning of one (PTX4) or a name (missing-proxy-fence); of several
    that fit a finding the longest counts. Comments such as // ptxkit: ignore[PTX401] why hide findings of a line, of
    a function, before which they stand, or with ignore-file of the file.

    Exit status: 0 clean, 1 errors or warnings found, 2 something could not be read or checked.
    """
    paths = (*paths, *cache_folder_paths(caches))
    if not paths and not show_settings:
        raise click.UsageError("Missing argument 'PATH...': name files, folders, or - for standard input.")
    if config is not None and isolated:
        raise click.UsageError("--config names a settings file, and --isolated wants none. Give one or the other.")
    if write_baseline and add_ignores:
        raise click.UsageError(
            "--write-baseline and --add-ignores are two ways to keep findings. Give one or the other."
        )
    if reason and not add_ignores:
        raise click.UsageError("--reason is for the comments of --add-ignores: add that")
    if unsafe_fixes and not (write_fixes or show_diff):
        raise click.UsageError("--unsafe-fixes says which mends to apply: add --fix or --diff")
    if write_fixes and not show_diff and STDIN in paths:
        raise click.UsageError("standard input cannot be rewritten in place; --diff prints what would change")
    if statistics and form not in ("full", "concise", "json"):
        raise click.UsageError(f"--statistics is printed as full or json, not as {form}")
    if cluster is not None and jobs is not None:
        raise click.UsageError("--jobs is for this machine; a --cluster has workers of its own. Give one or the other.")
    if no_cache and cache_dir is not None:
        raise click.UsageError("--cache-dir says where to keep results; --no-cache keeps none. Give one or the other.")
    options = LintOptions(
        form=form,
        level=layer_of(given),
        config=config,
        isolated=isolated,
        show_undecided=show_undecided,
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
