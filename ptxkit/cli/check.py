"""What `ptxkit lint` does, without the reading of its command line."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence

from ptxkit.cli.configured import Configured
from ptxkit.cli.inputs import expand, read_all
from ptxkit.cli.options import DEFAULT, Options
from ptxkit.cli.output import write_lines
from ptxkit.cli.reporting import write_report
from ptxkit.linter import lint_source
from ptxkit.records import replace
from ptxkit.results import ExitStatus, FileResult, Status, Summary
from ptxkit.settings.mistakes import SettingsError
from ptxkit.settings.model import Settings
from ptxkit.source import SourceFile

_FILES_A_COLLECTION = 50


def check(paths: Sequence[str], options: Options = DEFAULT) -> int:
    """Lint what stands at these paths and print the report; the exit status (`ptxkit.results.ExitStatus`)."""
    configured = Configured(options)
    try:
        results: list[FileResult] = []
        arriving = _results(paths, configured, results)
        if options.write_baseline:
            return _write_baseline(list(arriving), configured)
        if options.add_ignores is not None:
            return _add_ignores(list(arriving), options.add_ignores)
        if options.fixes == "diff":
            return _differs(arriving)
        write_report(arriving, options.form, show_undecided=options.show_undecided, statistics=options.statistics)
        configured.complain_of_launches()
    except SettingsError as error:
        sys.stdout.flush()
        sys.stderr.write(f"ptxkit: {error}\n")
        return ExitStatus.COULD_NOT_RUN
    return Summary.of(results).exit_status


def _results(paths: Sequence[str], configured: Configured, results: list[FileResult]) -> Iterator[FileResult]:
    """Each input's result as soon as there is one, also put into `results`."""
    for number, found in enumerate(expand(paths, binaries=configured.options.binaries)):
        if number % _FILES_A_COLLECTION == _FILES_A_COLLECTION - 1:
            gc.collect()  # `main` lets Python look for garbage so seldom that thousands of files would fill the memory
        for result in [found] if isinstance(found, FileResult) else _checked(found, configured):
            results.append(result)
            yield result


def _checked(path: str, configured: Configured) -> Iterator[FileResult]:
    """The results of what stands in one file."""
    settings = configured.settings_for(path)
    for source in read_all(path, configured.options.stdin_name):
        if isinstance(source, FileResult):
            yield source
        else:
            configured.has_seen(source)
            yield configured.without_known(_result(source, settings, configured.options), settings)


def _result(source: SourceFile, settings: Settings, options: Options) -> FileResult:
    if options.fixes is not None:
        from ptxkit.cli.fixing import checked

        return checked(source, settings, options)
    result = lint_source(source, settings)
    if all(item.fix is None for item in result.diagnostics):
        return result
    # what nobody has tried is not offered
    return replace(result, diagnostics=tuple(replace(item, fix=None) for item in result.diagnostics))


def _differs(arriving: Iterator[FileResult]) -> int:
    """The exit status of `--diff`, which prints differences as results arrive, and no findings."""
    from ptxkit.report import diagnostic_lines

    results = list(arriving)
    failed = [result for result in results if result.status is Status.FAILED]
    write_lines(diagnostic_lines(item for result in failed for item in result.diagnostics), error=True)
    if failed:
        return ExitStatus.COULD_NOT_RUN
    return ExitStatus.FINDINGS if any(result.fixed for result in results) else ExitStatus.CLEAN


def _write_baseline(results: list[FileResult], configured: Configured) -> int:
    """Keep all findings as known; what could not be checked is reported."""
    from ptxkit.baseline import text_of
    from ptxkit.report import diagnostic_lines

    path = configured.baseline_path()
    failed = [result for result in results if result.status is Status.FAILED]
    write_lines(diagnostic_lines(item for result in failed for item in result.diagnostics), error=True)
    text = text_of(path, results)
    try:
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
    except OSError as error:
        raise SettingsError(f"the baseline cannot be written: {error.strerror}", path) from error
    count = sum(len(result.diagnostics) for result in results if result.status is not Status.FAILED)
    sys.stdout.write(f"{count} finding{'' if count == 1 else 's'} in {path}\n")
    return ExitStatus.COULD_NOT_RUN if failed else ExitStatus.CLEAN


def _add_ignores(results: list[FileResult], reason: str) -> int:
    from ptxkit.cli.ignores import add_ignores

    return add_ignores(results, reason)
