"""`ptxkit lint`: check PTX, print what was found."""

from __future__ import annotations

from typing import cast

import click

from ptxkit.cli.check import check
from ptxkit.linter import POLICIES, Policy


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
@click.option("--notes", is_flag=True, help="Say, too, what is there in vain: fences that order nothing, and the like.")
@click.pass_context
def lint(ctx: click.Context, paths: tuple[str, ...], form: str, policy: str, show_undecided: bool, notes: bool) -> None:
    """Check PTX files, and every *.ptx in folders; - is standard input.

    Exit status: 0 clean, 1 errors or warnings found, 2 something could not be read or checked.
    """
    ctx.exit(check(paths, form=form, policy=cast("Policy", policy), show_undecided=show_undecided, notes=notes))
