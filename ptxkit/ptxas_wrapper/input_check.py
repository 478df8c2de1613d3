"""Checks the inputs that are not known to be clean, and reports what is found."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ptxkit.batch.cache_folder import environment_folder
from ptxkit.batch.clean_texts import CleanTexts
from ptxkit.batch.single_check import SingleChecker, TextChecker, start_supervised
from ptxkit.cli.output import write_lines
from ptxkit.diagnostic_groups import fold_groups
from ptxkit.diagnostics import Diagnostic
from ptxkit.ptxas_wrapper.messages import complain, write_message
from ptxkit.ptxas_wrapper.wrapper_options import FAIL_ON, WrapperOptions, read_options
from ptxkit.report import diagnostic_lines, plain
from ptxkit.results import FileResult, Status
from ptxkit.source import SourceFile


def check_inputs(
    inputs: Iterable[tuple[str, bytes, str]], start: Callable[[float], TextChecker] = start_supervised
) -> bool:
    """Checks inputs, each given by its name, its text and its key in the cache of clean texts. Returns whether ptxas is
    not to be run. Raises RefusedError and OSError.

    The options are those of the environment. start: starts what checks texts, given the seconds for one of them.
    """
    known, options = CleanTexts(environment_folder(os.environ)), read_options(os.environ)
    found: list[Diagnostic] = []
    fatal = 0
    with SingleChecker(options.seconds, options.config, start) as checker:
        for name, data, key in inputs:
            source = SourceFile(name, data.decode("utf-8", "surrogateescape"))
            result = checker.check(source)
            if result.status is Status.FAILED:
                reasons = "; ".join(each.message for each in result.diagnostics)
                write_message(f"{name} was not checked: {reasons}")
                continue
            if not result.diagnostics and not result.known and not checker.depends_on_names:
                known.add(key)
            if result.diagnostics and options.sarif is not None:
                _write_sarif(result, key, options.sarif)
            found += result.diagnostics
            fatal += sum(each.severity.value in options.fail_on for each in fold_groups(result.diagnostics))
    _report(found, options)
    if fatal:
        count = f"{fatal} finding{'' if fatal == 1 else 's'}"
        write_message(f"{count}: ptxas was not run, because `{FAIL_ON}` is `{options.fail_on[-1]}`")
    return fatal > 0


def serve_inputs(argument: Any) -> bool:
    """Checks the inputs of a client in a process of the server, and returns what `check_inputs` does."""
    from ptxkit.batch.resident_check import ServedChecker

    try:
        return check_inputs(argument, ServedChecker)
    except Exception as error:
        complain(error)
        return False


def _report(found: Sequence[Diagnostic], options: WrapperOptions) -> None:
    if not found:
        return
    if options.report is None:
        write_lines(diagnostic_lines(found), error=True)
        return
    text = plain(diagnostic_lines(found)).encode("utf-8", "backslashreplace")
    # One call writes all of it, so that reports of compilers that run at the same time are not mixed.
    handle = os.open(options.report, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        os.write(handle, text)
    finally:
        os.close(handle)


def _write_sarif(result: FileResult, key: str, folder: str) -> None:
    """Writes the findings of an input to a file of the folder, whose name depends on the text only."""
    from ptxkit.cli.page_files import write_atomically
    from ptxkit.report.formats import text_report
    from ptxkit.rules.docs_index import all_pages

    os.makedirs(folder, exist_ok=True)
    text = "".join(text_report("sarif", [result], all_pages))
    failure = write_atomically(os.path.join(folder, f"{key[:24]}.sarif"), text.encode("utf-8", "backslashreplace"))
    if failure is not None:
        raise OSError(f"the folder `{folder}` cannot be written: {failure}")
