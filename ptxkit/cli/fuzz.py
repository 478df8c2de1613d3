"""`ptxkit fuzz`: fuzzing campaigns over generated and mutated PTX, and replay of saved examples."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import SkipTest

import click

from ptxkit.cli.number_params import SEED
from ptxkit.cli.settings_options import SettingParam
from ptxkit.results import ExitStatus
from ptxkit.settings import parsers
from ptxkit.untrusted_text import escape_lines, escape_path, escape_text

if TYPE_CHECKING:
    from ptxkit.testing.fuzz.campaign_kinds import FuzzCampaign
    from ptxkit.testing.fuzz.scheduler import FuzzLimits, FuzzRunner
    from ptxkit.testing.fuzz.store import FuzzStore

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}
_SECONDS_BY_DEFAULT = 60.0
_SECONDS_BETWEEN_LINES = 30.0
_FILE_ORACLES = ("linter", "round-trip", "ptxas")
_ORACLES_WITHOUT_GPU = (*_FILE_ORACLES, "machine", "verdicts", "litmus")


def _parse_seconds(_ctx: click.Context, _parameter: click.Parameter, text: str | None) -> float | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if found is None:
        raise click.BadParameter(f"{text!r} is not a time: write 90, 10m or 2h")
    return float(found[1]) * _UNITS[found[2]]


@click.command(short_help="Fuzz ptxkit, ptxas and the GPU against each other with generated PTX.")
@click.option("--oracle", "oracles", multiple=True, metavar="NAME", help="Oracle to run, see above (repeatable).")
@click.option(
    "--time",
    "seconds",
    callback=_parse_seconds,
    metavar="TIME",
    help="Time limit of the campaign: 90 (seconds), 10m or 2h [default: 60 without --count].",
)
@click.option("--count", type=click.IntRange(min=1), help="Number of examples for each oracle.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Random seed.")
@click.option("--jobs", type=click.IntRange(min=1), help="Number of worker processes [default: CPU count].")
@click.option(
    "--corpus",
    type=click.Path(exists=True, file_okay=False),
    multiple=True,
    metavar="DIR",
    help="Mutate the PTX files of this folder instead of generating code (linter, round-trip, ptxas; repeatable).",
)
@click.option(
    "--target",
    type=SettingParam(parsers.parse_target_name, "SM"),
    help="Target of generated code [default: various; for kernels sm_90a].",
)
@click.option(
    "--hang",
    type=click.FloatRange(min=1),
    default=20,
    show_default=True,
    help="Time limit per example, in seconds.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Run on the workers of a dask.distributed cluster: tcp://HOST:8786; local:2 is the same as --jobs 2.",
)
@click.option(
    "--replay", type=click.Path(path_type=Path), metavar="FOLDER", help="Run the oracle again on a saved example."
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
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
    """Check oracles against generated or mutated PTX in separate processes, until --time or --count is reached.

    linter: parser, linter and printer do not crash on any text. round-trip: printed PTX parses back to the same module.
    ptxas: ptxkit and ptxas accept the same programs. machine: correct kernels run without findings on the reference
    machine. verdicts: lint and the reference machine agree on pipelines. litmus: both agree with the memory model.
    machine-device: a GPU computes the same results as the reference machine. optimisation: a GPU computes the same
    results at every optimisation level. Default: all oracles that need no GPU. package.module:NAME names an oracle of
    your own (ptxkit.testing.fuzz.campaign_kinds.OracleKind).

    --replay runs only oracles of ptxkit. If the example belongs to an oracle of your own, name that oracle by --oracle.

    An interrupted campaign continues when it is started again with the same options. An example that hangs or crashes
    its process is recorded. The first failure of each cause is reduced and saved.

    Exit status: 0 no failures, 1 failures in this or an earlier run of the campaign, 2 the campaign could not be run.
    """
    if find_spec("hypothesis") is None:
        raise click.UsageError("hypothesis is not installed: pip install ptxkit[testing]")
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
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--oracle") from error
        if corpus and not kind.takes_corpus:
            raise click.UsageError(
                f"--corpus is for {', '.join(_FILE_ORACLES)}: {each} needs kernels with their launch"
            )
    if corpus and not original_files(tuple(corpus)):
        raise click.UsageError(
            f"--corpus: no PTX file of at most {MAX_MUTATED_CHARS:,} characters in {', '.join(corpus)}"
        )
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
        click.echo(f"ptxkit fuzz: {escape_text(str(error))}", err=True)
        return ExitStatus.COULD_NOT_RUN
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
    """Yields the callback for each completed work unit: a progress bar on a terminal, otherwise a line from time to
    time."""
    import time

    from ptxkit.testing.fuzz.supervised_fuzzer import FuzzUnitResult

    began = time.monotonic()
    if not sys.stderr.isatty():
        last = began

        def line(_: object) -> None:
            nonlocal last
            now = time.monotonic()
            if now - last >= _SECONDS_BETWEEN_LINES:
                last = now
                totals = [store.campaign_total(each) for each in campaigns]
                asked, failed = sum(each.run_count for each in totals), sum(each.failure_count for each in totals)
                click.echo(f"fuzz: {now - began:.0f} s: {asked} examples, {failed} failed", err=True)

        yield line
        return
    length = int(limits.seconds) if limits.seconds else (limits.examples or 0) * len(campaigns)
    done = 0 if limits.seconds else sum(store.campaign_total(each).run_count for each in campaigns)
    asked = failed = 0
    with click.progressbar(length=length, label="fuzz", file=sys.stderr, item_show_func=lambda text: text or "") as bar:
        bar.update(min(done, length))

        def report(outcome: object) -> None:
            nonlocal asked, failed
            assert isinstance(outcome, FuzzUnitResult)
            asked, failed = asked + outcome.run_count, failed + len(outcome.failures)
            at = int(time.monotonic() - began) if limits.seconds else done + asked
            bar.update(max(0, min(at, length) - bar.pos), f"{asked} examples, {failed} failed")

        yield report


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
        raise click.UsageError(str(error)) from error
    except SkipTest as error:
        click.echo(f"{shown}: could not be replayed: {escape_text(str(error))}")
        return ExitStatus.COULD_NOT_RUN
    except Exception as error:  # a failure of the oracle, or a crash of ptxkit
        message = escape_lines(f"{example.oracle} fails: {examples.failure_cause(error)}\n{error}")
        click.echo(f"{shown}: {message}")
        return ExitStatus.FINDINGS
    click.echo(f"{shown}: {example.oracle} passes now")
    return ExitStatus.CLEAN
