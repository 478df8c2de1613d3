"""`ptxkit fmt`: format PTX; comments are kept."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from ptxkit.cli import shell_completion
from ptxkit.cli.file_replacement import encode, render_diff, rewrite_file
from ptxkit.cli.input_files import STDIN, read_sources
from ptxkit.cli.option_groups import GroupedOptionsCommand
from ptxkit.cli.output import write_lines
from ptxkit.cli.usage_errors import CommandLineError, exclusive
from ptxkit.diagnostics import Diagnostic
from ptxkit.exit_status import ExitStatus
from ptxkit.fast_dataclasses import dataclass
from ptxkit.linter import unchecked_result
from ptxkit.report import diagnostic_lines
from ptxkit.results import FileResult
from ptxkit.source import SourceFile
from ptxkit.untrusted_text import escape_path


@dataclass(frozen=True, slots=True)
class _FormattedText:
    """A text and its formatted version."""

    source: SourceFile
    text: str

    @property
    def has_changed(self) -> bool:
        return self.text != self.source.text


@click.command(
    cls=GroupedOptionsCommand,
    option_groups={"Output": ("--write", "--check", "--diff")},
    examples=(
        ("ptxkit fmt k.ptx", "Print the formatted file."),
        ("ptxkit fmt --write kernels/", "Format every *.ptx file of a folder in place."),
        ("ptxkit fmt --check kernels/", "Fail if a file is not formatted."),
    ),
    exit_statuses={
        0: "The files are formatted.",
        1: "A file would change (--check, --diff).",
        2: "The command line cannot be used, or a file cannot be read, parsed or written.",
    },
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=shell_completion.complete_paths)
@click.option(
    "--check", is_flag=True, help="List the files that would change without writing them; exit with 1 if there are any."
)
@click.option(
    "--diff", is_flag=True, help="Print the changes as a diff without writing them; exit with 1 if there are any."
)
@click.option("--write", "-w", is_flag=True, help="Format the files in place.")
@click.pass_context
def fmt(ctx: click.Context, paths: tuple[str, ...], check: bool, diff: bool, write: bool) -> None:
    """Format PTX: print one formatted file, or format files and folders in place with --write.

    - reads standard input. Comments are kept. A file with a syntax error is not changed.
    """
    if write and (check or diff):
        raise exclusive("--write", "--check" if check else "--diff")
    if write and STDIN in paths:
        raise CommandLineError("standard input cannot be rewritten in place", "omit `--write` to print the result")
    formatted, problems = _format_all(paths, write=write)
    if not (check or diff or write) and len(formatted) > 1:
        raise CommandLineError(
            f"{len(formatted)} files would be printed as one", "add `--write`, `--check` or `--diff`"
        )
    status = ExitStatus.COULD_NOT_RUN if problems else ExitStatus.CLEAN
    write_lines(diagnostic_lines(problems), error=True)
    if write:
        written = [_rewrite(each) for each in formatted if each.has_changed]
        status = status if all(written) else ExitStatus.COULD_NOT_RUN
    elif check or diff:
        changed = [each for each in formatted if each.has_changed]
        for each in changed:
            name = f"{escape_path(each.source.path)}\n"
            sys.stdout.buffer.write(encode(render_diff(each.source, each.text, "formatted") if diff else name))
        status = status or (ExitStatus.FINDINGS if changed else ExitStatus.CLEAN)
    else:
        sys.stdout.buffer.write(b"".join(encode(each.text) for each in formatted))
    ctx.exit(status)


def _format_all(paths: Sequence[str], *, write: bool) -> tuple[list[_FormattedText], list[Diagnostic]]:
    from ptxkit.syntax import PTXSyntaxError, format_source

    formatted: list[_FormattedText] = []
    problems: list[Diagnostic] = []
    for found in read_sources(paths):
        if isinstance(found, FileResult):
            problems.extend(found.diagnostics)
            continue
        if write and found.origin.container is not None:
            remedy = "extract it first: `ptxkit extract`"
            problems.extend(unchecked_result(found.path, "is inside another file", remedy=remedy).diagnostics)
            continue
        try:
            formatted.append(_FormattedText(found, format_source(found)))
        except PTXSyntaxError as error:
            problems.extend(error.diagnostics)
    return formatted, problems


def _rewrite(each: _FormattedText) -> bool:
    failure = rewrite_file(each.source.origin, each.text)
    if failure is not None:
        failure.report(each.source.path)
    return failure is None
