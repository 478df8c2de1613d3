"""What `ptxkit lint` does, without the reading of its command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from ptxkit.cli.configured import Configured
from ptxkit.cli.fixing import wish_of, written
from ptxkit.cli.inputs import Input, expand, read_all
from ptxkit.cli.options import DEFAULT, Options
from ptxkit.cli.output import write_lines
from ptxkit.cli.reporting import write_report
from ptxkit.foreign_text import visible
from ptxkit.many.errors import CannotRunError
from ptxkit.many.here import Here
from ptxkit.many.kept import Kept, NotOursError, folder_of
from ptxkit.many.question import Answer, Item, Question, Runner
from ptxkit.records import replace
from ptxkit.report.formats import STYLED
from ptxkit.results import ExitStatus, FileResult, Status, Tally
from ptxkit.settings.mistakes import SettingsError

if TYPE_CHECKING:
    from ptxkit.report.progress import Bar


def check(paths: Sequence[str], options: Options = DEFAULT) -> int:
    """Lint what stands at these paths and print the report; the exit status (`ptxkit.results.ExitStatus`)."""
    configured = Configured(options)
    counted = Tally()
    try:
        with closing(_results(paths, configured, counted)) as arriving:
            if options.write_baseline:
                path = configured.baseline_path()  # what cannot be written is told before all is checked
                return _write_baseline(list(arriving), path)
            if options.add_ignores is not None:
                return _add_ignores(list(arriving), options.add_ignores)
            if options.fixes == "diff":
                return _differs(arriving)
            write_report(arriving, options.form, show_undecided=options.show_undecided, statistics=options.statistics)
        configured.complain_of_launches()
    except (SettingsError, CannotRunError, NotOursError) as error:
        sys.stdout.flush()
        sys.stderr.write(f"ptxkit: {visible(str(error))}\n")
        return ExitStatus.COULD_NOT_RUN
    return counted.summary.exit_status


def _results(paths: Sequence[str], configured: Configured, counted: Tally) -> Generator[FileResult, None, None]:
    """Each input's result as soon as there is one, in the order of the inputs."""
    options = configured.options
    kept = Kept(_cache_folder(options))
    inputs = list(expand(paths, binaries=options.binaries))
    bar = _bar(options, len(inputs))
    runner = _runner(options, bar)
    try:
        for item, answer in runner.answers(_items(inputs, configured, kept)):
            result = answer.result
            if item.question is not None:
                if item.answer is None:
                    kept.keep(item.question, answer)
                result = written(item.question, answer, options)
                result = configured.without_known(result, item.question.settings)
                result = replace(result, origin=item.question.source.origin)
            if bar is not None:
                bar.done(item.number)
            yield counted.add(result)
    finally:
        if bar is not None:
            bar.hide()
        runner.end()
        kept.end()


def _items(inputs: Sequence[Input | FileResult], configured: Configured, kept: Kept) -> Iterator[Item]:
    """What to ask about each text, and what is known without asking."""
    wish = wish_of(configured.options)
    for number, given in enumerate(inputs):
        if isinstance(given, FileResult):
            yield Item(number, answer=Answer(given))
            continue
        path = given.path
        try:
            configured.settings_for(path)  # before the input is read: what is wrong here is told first
        except SettingsError as mistake:
            yield Item(number, mistake=mistake)
            return
        for source in read_all(given, configured.options.stdin_name):
            if isinstance(source, FileResult):
                yield Item(number, answer=Answer(source))
                continue
            configured.has_seen(source)
            settings = configured.settings_for(path, source.path)
            question, answer = kept.known(Question(source, settings, wish))
            yield Item(number, question, answer)


def _runner(options: Options, bar: Bar | None) -> Runner:
    jobs = options.jobs
    if options.cluster is not None:
        from ptxkit.many.cluster import There, processes_here

        jobs = processes_here(options.cluster)
        if jobs is None:
            return There(options.cluster, options.timeout)
    return Here(jobs, options.timeout, (lambda: None) if bar is None else bar.look)


def _bar(options: Options, count: int) -> Bar | None:
    """A bar for who looks on: on a terminal that no report for machines is written to."""
    if count < 2 or not sys.stderr.isatty() or (options.form not in STYLED and sys.stdout.isatty()):
        return None
    from ptxkit.report.progress import Bar

    return Bar(sys.stderr, count)


def _cache_folder(options: Options) -> str | None:
    """Where results are kept; None where they are not. Raises NotOursError."""
    given = options.cache_folder or os.environ.get("PTXKIT_CACHE_DIR")
    if not options.is_cached or (os.environ.get("PTXKIT_NO_CACHE") and options.cache_folder is None):
        return None
    return folder_of(given)


def _differs(arriving: Iterator[FileResult]) -> int:
    """The exit status of `--diff`, which prints differences as results arrive, and no findings."""
    from ptxkit.report import diagnostic_lines

    results = list(arriving)
    failed = [result for result in results if result.status is Status.FAILED]
    write_lines(diagnostic_lines(item for result in failed for item in result.diagnostics), error=True)
    if failed:
        return ExitStatus.COULD_NOT_RUN
    return ExitStatus.FINDINGS if any(result.fixed for result in results) else ExitStatus.CLEAN


def _write_baseline(results: list[FileResult], path: str) -> int:
    """Keep all findings as known; what could not be checked is reported."""
    from ptxkit.baseline import text_of
    from ptxkit.cli.pages import write_whole
    from ptxkit.limits import MAX_SETTINGS_BYTES
    from ptxkit.report import diagnostic_lines

    failed = [result for result in results if result.status is Status.FAILED]
    write_lines(diagnostic_lines(item for result in failed for item in result.diagnostics), error=True)
    text = text_of(path, results).encode()
    if len(text) > MAX_SETTINGS_BYTES:
        what = f"the baseline would have {len(text):,} bytes, and {MAX_SETTINGS_BYTES:,} are read at most"
        raise SettingsError(f"{what}: keep one for each of several folders", path)
    failure = write_whole(path, text)
    if failure is not None:
        raise SettingsError(f"the baseline cannot be written: {failure}", path)
    count = sum(len(result.diagnostics) for result in results if result.status is not Status.FAILED)
    sys.stdout.write(f"{count} finding{'' if count == 1 else 's'} in {visible(path)}\n")
    return ExitStatus.COULD_NOT_RUN if failed else ExitStatus.CLEAN


def _add_ignores(results: list[FileResult], reason: str) -> int:
    from ptxkit.cli.ignores import add_ignores

    return add_ignores(results, reason)
