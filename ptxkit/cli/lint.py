"""`ptxkit lint`: check PTX, print what was found."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import cast

import click

from ptxkit.cli.inputs import sources
from ptxkit.cli.output import write_lines
from ptxkit.linter import POLICIES, Policy, lint_source
from ptxkit.report import full_report, json_report
from ptxkit.results import FileResult, Summary


@click.command(short_help="Check PTX and print what is wrong with it.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--format", "form", type=click.Choice(["full", "json"]), default="full", show_default=True, help="How to print."
)
@click.option(
    "--policy",
    type=click.Choice(POLICIES),
    default="isa",
    show_default=True,
    help="isa: report what the text of the ISA forbids. strict: where it is silent, report as a warning too what the "
    "published memory model does not allow.",
)
@click.option("--show-undecided", is_flag=True, help="Print the questions that could not be answered, too.")
@click.pass_context
def lint(ctx: click.Context, paths: tuple[str, ...], form: str, policy: str, show_undecided: bool) -> None:
    """Check PTX files, and every *.ptx in folders; - is standard input.

    Exit status: 0 clean, 1 errors or warnings found, 2 something could not be read or checked.
    """
    results: list[FileResult] = []
    arriving = _check(paths, cast("Policy", policy), results)
    if form == "json":
        sys.stdout.write(json_report(list(arriving)))
    else:
        write_lines(full_report(arriving, show_undecided=show_undecided))
    ctx.exit(Summary.of(results).exit_status)


def _check(paths: Sequence[str], policy: Policy, results: list[FileResult]) -> Iterator[FileResult]:
    """Each input's result as soon as there is one, also put into `results`."""
    for found in sources(paths):
        result = found if isinstance(found, FileResult) else lint_source(found, policy=policy)
        results.append(result)
        yield result
