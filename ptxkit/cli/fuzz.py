"""`ptxkit fuzz`: fuzzing campaigns over generated and mutated PTX, and replay of saved examples."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import SkipTest

import click

from ptxkit.cli.option_groups import GroupedOptionsCommand
from ptxkit.cli.progress_bars import progress_bar
from ptxkit.cli.refusals import write_error
from ptxkit.cli.settings_options import SettingParam
from ptxkit.cli.usage_errors import CommandLineError
from ptxkit.cli.value_types import ExistingFolder, Seconds, WholeNumber, join_choices, seed_option
from ptxkit.exit_status import ExitStatus
from ptxkit.refusal import RefusedError
from ptxkit.settings import parsers
from ptxkit.untrusted_text import escape_lines, escape_path, escape_text

if TYPE_CHECKING:
    from ptxkit.testing.fuzz.campaign_kinds import FuzzCampaign
    from ptxkit.testing.fuzz.scheduler import FuzzLimits, FuzzRunner
    from ptxkit.testing.fuzz.store import FuzzStore

_SECONDS_BY_DEFAULT = 60.0
_FILE_ORACLES = ("linter", "round-trip", "ptxas")
_ORACLES_WITHOUT_GPU = (*_FILE_ORACLES, "machine", "verdicts", "litmus")


@click.command(
    cls=GroupedOptionsCommand,
    option_groups={
        "Examples": ("--oracle", "--corpus", "--target", "--seed"),
        "Length": ("--time", "--count", "--hang"),
        "Performance": ("--jobs", "--cluster"),
        "Saved failures": ("--replay", "--folder"),
    },
    examples=(
        ("ptxkit fuzz --time 10m", "Run all oracles that need no GPU, on all cores."),
        ("ptxkit fuzz --oracle ptxas --corpus build/", "Compare ptxkit with ptxas on mutated files."),
        ("ptxkit fuzz --replay .ptxkit/fuzz/ptxas/1", "Run a saved failure again."),
    ),
    exit_statuses={
        0: "There are no failures.",
        1: "There are failures in this or an earlier run of the campaign.",
        2: "The command line cannot be used, or the campaign cannot be run.",
    },
)
@click.option("--oracle", "oracles", multiple=True, metavar="NAME", help="Oracle to run, see above (repeatable).")
@click.option(
    "--time",
    "seconds",
    type=Seconds(),
    metavar="TIME",
    help="Time limit of the campaign: 90 (seconds), 10m or 2h.  [default: 60 without --count]",
)
@click.option("--count", type=WholeNumber(1), metavar="N", help="Number of examples for each oracle.")
@seed_option
@click.option("--jobs", type=WholeNumber(1), metavar="N", help="Number of worker processes.  [default: CPU count]")
@click.option(
    "--corpus",
    type=ExistingFolder(),
    multiple=True,
    metavar="DIR",
    help="Mutate the PTX files of this folder instead of generating code (linter, round-trip, ptxas; repeatable).",
)
@click.option(
    "--target",
    type=SettingParam(parsers.parse_target_name, "SM"),
    help="Target of generated code.  [default: various; for kernels sm_90a]",
)
@click.option(
    "--hang",
    type=Seconds(),
    metavar="TIME",
    default="20",
    show_default=True,
    help="Time limit per example, in seconds, or as 10m or 2h.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Run on the workers of a dask.distributed cluster: tcp://HOST:8786; local:2 is the same as --jobs 2.",
)
@click.option(
    "--replay", type=click.Path(path_type=Path), metavar="DIR", help="Run the oracle again on a saved example."
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path(".ptxkit/fuzz"),
    show_default=True,
    help="Folder of the campaign database and the saved failures.",
)
@click.pass_context
def fuzz(  # noqa: PLR0913 (options)
    ctx: click.Context,
    *,
    oracles: tuple[str, ...],
    seconds: float | None,
    count: int | None,
    seed: int,
    jobs: int | None,
    corpus: tuple[str, ...],
    target: str | None,
    hang: float,
    cluster: str | None,
    replay: Path | None,
    folder: Path,
) -> None:
    """Test ptxkit, ptxas and the GPU against each other, on generated or mutated PTX, in separate processes.

    linter: parser, linter and printer do not crash on any text. round-trip: printed PTX parses back to the same module.
    ptxas: ptxkit and ptxas accept the same programs. machine: correct kernels run without findings on the reference
    machine. verdicts: lint and the reference machine agree on pipelines. litmus: both agree with the memory model.
    machine-device: a GPU computes the same results as the reference machine. optimisation: a GPU computes the same
    results at every optimization level. Default: all oracles that need no GPU. package.module:NAME names an oracle of
    your own (ptxkit.testing.fuzz.campaign_kinds.OracleKind).

    --replay runs only oracles of ptxkit. If the example belongs to an oracle of your own, name that oracle by --oracle.

    A campaign runs until --time or --count is reached. An interrupted one continues when it is started again with the
    same options. An example that hangs or crashes its process is recorded. The first failure of each cause is reduced
    and saved.
    """
    if find_spec("hypothesis") is None:
        raise CommandLineError("the package `hypothesis` is not installed", "run `pip install 'ptxkit[testing]'`")
    if replay is not None:
        ctx.exit(_replay(replay, oracles, hang))
    wanted = oracles or (_FILE_ORACLES if corpus else _ORACLES_WITHOUT_GPU)
    if seconds is None and count is None:
        seconds = _SECONDS_BY_DEFAULT
    from ptxkit.testing.fuzz.campaign_kinds import FuzzCampaign, find_kind, original_files
    from ptxkit.testing.fuzz.scheduler import FuzzLimits
    from ptxkit.testing.limits import MAX_MUTATED_CHARS

    _add_working_directory(wanted)
    for each in wanted:
        try:
            kind = find_kind(each)
        except RefusedError as error:
            raise CommandLineError(f"`--oracle`: {error.message}", error.remedy) from error
        if corpus and not kind.takes_corpus:
            what = f"`--corpus` cannot be used with the oracle `{each}`, which needs kernels with their launch"
            raise CommandLineError(what, f"write `--oracle` with {join_choices(_FILE_ORACLES)}")
    if corpus and not original_files(tuple(corpus)):
        where = ", ".join(f"`{each}`" for each in corpus)
        what = f"`--corpus`: there is no PTX file of at most {MAX_MUTATED_CHARS:,} characters in {where}"
        raise CommandLineError(what, "name another folder")
    campaigns = [FuzzCampaign(each, seed, target, None, tuple(corpus)) for each in dict.fromkeys(wanted)]
    ctx.exit(_run(campaigns, FuzzLimits(count, seconds, hang), jobs or os.cpu_count() or 1, cluster, folder))


def _add_working_directory(oracles: Sequence[str]) -> None:
    """Puts the working directory first on `sys.path`, as `python -m` and pytest do, to find oracles of the user."""
    if any(":" in each for each in oracles) and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())


def _run(campaigns: list[FuzzCampaign], limits: FuzzLimits, jobs: int, cluster: str | None, folder: Path) -> int:
    """Runs campaigns and prints a summary."""
    from ptxkit.testing.fuzz.errors import CannotRunError
    from ptxkit.testing.fuzz.report import summary
    from ptxkit.testing.fuzz.scheduler import run_campaigns
    from ptxkit.testing.fuzz.store import FuzzStore

    try:
        store = FuzzStore(folder)
        with _progress(campaigns, limits, store) as report:
            run_campaigns(campaigns, store, limits, _runner(campaigns, limits, jobs, cluster), report)
    except CannotRunError as error:
        return write_error(error)
    except KeyboardInterrupt:
        click.echo("\ninterrupted; the same command continues the campaign", err=True)
    for line in summary(campaigns, store):
        click.echo(escape_text(line))
    totals = [store.campaign_total(each) for each in campaigns]
    failed = any(each.failure_count for each in totals)
    store.close()
    if failed:
        return ExitStatus.FINDINGS
    return ExitStatus.COULD_NOT_RUN if all(each.run_count == each.skip_count for each in totals) else ExitStatus.CLEAN


def _runner(campaigns: list[FuzzCampaign], limits: FuzzLimits, jobs: int, cluster: str | None) -> FuzzRunner:
    from ptxkit.batch.dask_pool import local_process_count
    from ptxkit.testing.fuzz.campaign_kinds import find_kind
    from ptxkit.testing.fuzz.dask_pool import DaskFuzzRunner
    from ptxkit.testing.fuzz.scheduler import LocalFuzzRunner, start_devices

    if cluster is not None:
        here = local_process_count(cluster)
        if here is None:
            return DaskFuzzRunner(cluster, limits.hang)
        jobs = here
    needs_gpu = any(find_kind(each.oracle).needs == "gpu" for each in campaigns)
    return LocalFuzzRunner(jobs, start_devices() if needs_gpu else (), limits.hang)


@contextmanager
def _progress(
    campaigns: list[FuzzCampaign], limits: FuzzLimits, store: FuzzStore
) -> Iterator[Callable[[object], None]]:
    """Yields the callback for each completed work unit, which shows the progress on a terminal."""
    import time

    from ptxkit.testing.fuzz.supervised_fuzzer import FuzzUnitResult

    began = time.monotonic()
    before = sum(store.campaign_total(each).run_count for each in campaigns)
    run_count = failure_count = 0
    total = limits.seconds or float((limits.examples or 0) * len(campaigns))
    bar = progress_bar("seconds" if limits.seconds else "examples", total)

    def report(result: object) -> None:
        nonlocal run_count, failure_count
        assert isinstance(result, FuzzUnitResult)
        run_count, failure_count = run_count + result.run_count, failure_count + len(result.failures)
        done = time.monotonic() - began if limits.seconds else before + run_count
        bar.update(done, f"{run_count} examples, {failure_count} failed")

    try:
        yield report
    finally:
        bar.hide()


def _replay(folder: Path, trusted: Sequence[str], hang: float) -> int:
    """Runs the oracle of a saved example again.

    trusted: further oracles that the example may name, in addition to those of ptxkit. hang: limit of processor time,
    in seconds.
    """
    from ptxkit.testing.corpus import examples
    from ptxkit.testing.fuzz import example_replay
    from ptxkit.testing.fuzz.watchdog import report_progress

    shown = escape_path(str(folder))
    _add_working_directory(trusted)
    try:
        example = examples.load_example(folder)
        click.echo(f"{shown}: replays the example with {escape_text(example.oracle)}", err=True)
        with report_progress(hang, lambda message: click.echo(f"{shown}: {escape_text(message)}", err=True)):
            example_replay.replay(example, trusted)
    except examples.ExampleError as error:
        raise CommandLineError.of(error) from error
    except SkipTest as error:
        click.echo(f"{shown}: could not be replayed: {escape_text(str(error))}")
        return ExitStatus.COULD_NOT_RUN
    except Exception as error:  # a failure of the oracle, or a crash of ptxkit
        message = escape_lines(f"{example.oracle} fails: {examples.failure_cause(error)}\n{error}")
        click.echo(f"{shown}: {message}")
        return ExitStatus.FINDINGS
    click.echo(f"{shown}: {example.oracle} passes now")
    return ExitStatus.CLEAN
