"""`ptxkit litmus`: what the memory consistency model allows a small program."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ptxkit.cli import shell_completion
from ptxkit.cli.input_files import InputFile, read_texts
from ptxkit.cli.option_groups import GroupedOptionsCommand
from ptxkit.cli.refusals import write_refusal
from ptxkit.cli.value_types import WordChoice, format_option
from ptxkit.exit_status import ExitStatus
from ptxkit.results import FileResult

if TYPE_CHECKING:
    from ptxkit.memory_model.reports import FileVerdict


@click.command(
    cls=GroupedOptionsCommand,
    option_groups={"Model": ("--policy",), "Output": ("--format",)},
    examples=(
        ("ptxkit litmus mp.litmus", "Check a test, and draw the execution that shows the answer."),
        ("ptxkit litmus --format concise tests/", "Check all tests of a folder, with one line for each."),
    ),
    exit_statuses={
        0: "Each test's statement holds, and no `race` query finds a race.",
        1: "A statement does not hold, or a `race` query finds a race that the test does not expect.",
        2: "The command line cannot be used, or a test has no verdict.",
    },
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=shell_completion.complete_paths)
@click.option(
    "--policy",
    type=WordChoice(("isa", "strict")),
    metavar="POLICY",
    default="isa",
    show_default=True,
    help="The rules of the async proxy. isa: a fence anywhere on the path counts. strict: as in the published model.",
)
@format_option(("full", "concise", "json"))
@click.pass_context
def litmus(ctx: click.Context, paths: tuple[str, ...], policy: str, form: str) -> None:
    """Check litmus tests against the memory consistency model of PTX: *.litmus, *.test and *.ptx; - reads one.

    A test is a question: can its threads reach a final state, or do they race? The answer is `allowed`, `forbidden`,
    `racy`, `race-free` or `undefined`. An allowed state and a race come with an execution that shows it, a forbidden
    state with one that lacks only the axiom that forbids it. The formats are those of Dat3M and mixedproxy, and PTX
    kernels with a header of comments.
    """
    from ptxkit.memory_model.reports import FileVerdict, verdict_lines, verdicts_json

    found: list[FileVerdict] = []
    statuses: set[int] = set()
    for result in _verdicts(paths, policy):
        if isinstance(result, FileVerdict):
            found.append(result)
            if form != "json":
                sys.stdout.writelines(f"{line}\n" for line in verdict_lines(result, is_drawn=form == "full"))
            holds = result.verdict is not None and result.verdict.is_as_expected
            statuses.add(ExitStatus.CLEAN if holds else ExitStatus.FINDINGS)
        else:
            path, message, remedy = result
            statuses.add(write_refusal(message, remedy, path))
    if form == "json":
        sys.stdout.write(verdicts_json(found))
    ctx.exit(max(statuses, default=ExitStatus.CLEAN))


def _verdicts(paths: tuple[str, ...], policy: str) -> Iterator[FileVerdict | tuple[str, str, str]]:
    """Yields the verdict on each test, or (path, message, remedy) if it has no verdict."""
    from ptxkit.memory_model import LitmusError, check, read_tests
    from ptxkit.memory_model.reports import FileVerdict

    for path in _files(paths):
        for source in read_texts(InputFile(path)):
            if isinstance(source, FileResult):
                first = source.diagnostics[0]
                yield source.path, first.message, first.help or "name a file with a litmus test"
                continue
            try:
                for test in read_tests(source.text, source.path):
                    yield FileVerdict(source.path, check(test, policy))
            except LitmusError as error:
                yield source.path, error.message, error.remedy


def _files(paths: tuple[str, ...]) -> Iterator[str]:
    """Yields the files at paths; of a folder, those with the suffix of a test."""
    from ptxkit.memory_model import SUFFIXES

    for path in paths:
        if os.path.isdir(path):
            yield from sorted(str(each) for each in Path(path).rglob("*") if each.suffix in SUFFIXES)
        else:
            yield path
