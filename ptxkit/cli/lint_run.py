"""The implementation of `ptxkit lint`, without the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from ptxkit.batch.cache_folder import environment_folder, result_folder
from ptxkit.batch.job import Job, JobResult, JobRunner, JobSlot
from ptxkit.batch.local_pool import LocalRunner
from ptxkit.batch.result_cache import ResultCache
from ptxkit.cli.fix_output import job_mode, write_fixed
from ptxkit.cli.input_files import STDIN, InputFile, expand_paths, read_texts
from ptxkit.cli.input_settings import InputSettings
from ptxkit.cli.lint_options import DEFAULT, LintOptions
from ptxkit.cli.output import write_lines
from ptxkit.cli.progress_bars import progress_bar
from ptxkit.cli.refusals import write_error
from ptxkit.cli.reporting import write_report
from ptxkit.exit_status import ExitStatus
from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.refusal import RefusedError
from ptxkit.results import FileResult, ResultCounter, Status
from ptxkit.settings.errors import SettingsError
from ptxkit.source import SourceFile
from ptxkit.untrusted_text import escape_text

if TYPE_CHECKING:
    from ptxkit.baseline import KnownFindings
    from ptxkit.cli.git_revision import GitRevision
    from ptxkit.report.progress import ProgressBar


def run_lint(paths: Sequence[str], options: LintOptions = DEFAULT) -> int:
    """Lints the inputs and prints the report. Returns the exit status (`ptxkit.results.ExitStatus`)."""
    configured = InputSettings(options)
    counted = ResultCounter()
    try:
        inputs = list(expand_paths(paths, binaries=options.binaries))
        with closing(_count_results(lint_inputs(inputs, configured), counted)) as arriving:
            if options.write_baseline:
                path = configured.baseline_path()  # an unwritable baseline is reported before the check
                return _write_baseline(list(arriving), path)
            if options.add_ignores is not None:
                return _add_ignores(list(arriving), options.add_ignores)
            if options.fixes == "diff":
                return _print_differences(arriving)
            write_report(arriving, options.form, options.report, statistics=options.statistics)
        configured.check_launches()
    except RefusedError as error:
        return write_error(error)
    return counted.summary.exit_status


def _count_results(
    checked: Generator[LintedInput, None, None], counted: ResultCounter
) -> Generator[FileResult, None, None]:
    with closing(checked):
        for each in checked:
            yield counted.add(each.result)


@dataclass(frozen=True, slots=True)
class LintedInput:
    """A result and its text, or None if the input could not be read."""

    result: FileResult
    source: SourceFile | None = None


def lint_inputs(
    inputs: Sequence[InputFile | FileResult], configured: InputSettings
) -> Generator[LintedInput, None, None]:
    """Yields the result of each text of the inputs as soon as it is known, in their order. Raises SettingsError,
    CannotRunError and UnusableCacheError."""
    options = configured.options
    kept = ResultCache(_cache_folder(options))
    bar = progress_bar("checked", len(inputs), options.form)
    runner = _runner(options, bar)
    earlier: FileResult | None = None
    try:
        for item, answer in runner.run_all(_job_slots(inputs, configured, kept)):
            result = answer.result
            if item.job is not None:
                if item.result is None:
                    kept.store(item.job, answer)
                if item.is_earlier:
                    earlier = result
                    continue
                result = write_fixed(item.job, answer, options)
                compared, earlier = result if item.is_unchanged else earlier, None
                known = _earlier_findings(compared, item.job.source)
                result = configured.remove_known(result, item.job.settings, known)
                result = replace(result, origin=item.job.source.origin)
            bar.advance(item.number)
            yield LintedInput(result, item.job.source if item.job is not None else None)
    finally:
        bar.hide()
        runner.close()
        kept.evict()


def _job_slots(
    inputs: Sequence[InputFile | FileResult], configured: InputSettings, kept: ResultCache
) -> Iterator[JobSlot]:
    """Yields the job of each text, or its result if that is already known; before it, that of its earlier text."""
    cache_mode = job_mode(configured.options)
    revision = None
    if configured.options.diff_base is not None:
        from ptxkit.cli.git_revision import GitRevision

        revision = GitRevision(configured.options.diff_base)
    for number, given in enumerate(inputs):
        if isinstance(given, FileResult):
            yield JobSlot(number, result=JobResult(given))
            continue
        path = given.path
        try:
            configured.settings_for(path)  # before the input is read, so that an error here is reported first
            before = _texts_before(path, revision, configured.options)
        except RefusedError as mistake:
            yield JobSlot(number, error=mistake)
            return
        for source in read_texts(given, configured.options.stdin_name):
            if isinstance(source, FileResult):
                yield JobSlot(number, result=JobResult(source))
                continue
            configured.note_kernels(source)
            settings = configured.settings_for(path, source.path)
            text = before.get(source.path)
            is_unchanged = text == source.text
            if text is not None and not is_unchanged:
                earlier = SourceFile(source.path, text)
                yield JobSlot(number, *kept.lookup(Job(earlier, settings)), is_earlier=True)
            yield JobSlot(number, *kept.lookup(Job(source, settings, cache_mode)), is_unchanged=is_unchanged)


def _texts_before(path: str, revision: GitRevision | None, options: LintOptions) -> Mapping[str, str]:
    """The texts of an input in the revision of `--diff-base`, by their names; none without one. Raises GitError."""
    if revision is None:
        return {}
    return revision.texts_of((options.stdin_name or "") if path == STDIN else path)


def _earlier_findings(earlier: FileResult | None, source: SourceFile) -> KnownFindings | None:
    if earlier is None:
        return None
    from ptxkit.baseline import earlier_findings

    return earlier_findings(earlier, source)


def _runner(options: LintOptions, bar: ProgressBar) -> JobRunner:
    jobs = options.jobs
    if options.cluster is not None:
        from ptxkit.batch.dask_pool import DaskRunner, local_process_count

        jobs = local_process_count(options.cluster)
        if jobs is None:
            return DaskRunner(options.cluster, options.timeout, bar.refresh)
    return LocalRunner(jobs, options.timeout, bar.refresh)


def _cache_folder(options: LintOptions) -> str | None:
    """The folder of the result cache; None without a cache. Raises UnusableCacheError."""
    if not options.is_cached:
        return None
    return result_folder(options.cache_folder) if options.cache_folder else environment_folder(os.environ)


def _print_differences(arriving: Iterator[FileResult]) -> int:
    """The exit status of `--diff`, which prints differences instead of findings."""
    from ptxkit.report import diagnostic_lines

    results = list(arriving)
    failed = [result for result in results if result.status is Status.FAILED]
    write_lines(diagnostic_lines(item for result in failed for item in result.diagnostics), error=True)
    if failed:
        return ExitStatus.COULD_NOT_RUN
    return ExitStatus.FINDINGS if any(result.fixed for result in results) else ExitStatus.CLEAN


def _write_baseline(results: list[FileResult], path: str) -> int:
    """Writes all findings to the baseline; reports inputs that could not be checked."""
    from ptxkit.baseline import baseline_text
    from ptxkit.cli.page_files import write_atomically
    from ptxkit.limits import MAX_SETTINGS_BYTES
    from ptxkit.report import diagnostic_lines

    failed = [result for result in results if result.status is Status.FAILED]
    write_lines(diagnostic_lines(item for result in failed for item in result.diagnostics), error=True)
    text = baseline_text(path, results).encode()
    if len(text) > MAX_SETTINGS_BYTES:
        what = f"the baseline would have {len(text):,} bytes; the limit is {MAX_SETTINGS_BYTES:,}"
        raise SettingsError(what, path, remedy="write a baseline for each folder")
    failure = write_atomically(path, text)
    if failure is not None:
        remedy = "name another file with `--baseline FILE`"
        raise SettingsError(f"the baseline cannot be written: {failure}", path, remedy=remedy)
    count = sum(len(result.diagnostics) for result in results if result.status is not Status.FAILED)
    sys.stdout.write(f"{count} finding{'' if count == 1 else 's'} in {escape_text(path)}\n")
    return ExitStatus.COULD_NOT_RUN if failed else ExitStatus.CLEAN


def _add_ignores(results: list[FileResult], reason: str) -> int:
    from ptxkit.cli.ignores import add_ignores

    return add_ignores(results, reason)
