"""`ptxkit`: the group of commands, as click reads them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches

import click

from ptxkit.cli.extract import extract
from ptxkit.cli.fmt import fmt
from ptxkit.cli.fuzz import fuzz
from ptxkit.cli.isa import isa
from ptxkit.cli.lint import lint
from ptxkit.cli.rule import rule
from ptxkit.cli.run import run as run_command
from ptxkit.cli.transfers import transfers
from ptxkit.cli.verify import verify
from ptxkit.results import ExitStatus


class _Commands(click.Group):
    """A group that answers an unknown command with the nearest known one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"no such command {args[0]!r}{self._hint(args[0])}")
        return super().resolve_command(ctx, args)

    def _hint(self, word: str) -> str:
        if os.path.exists(word):
            return f". To check it: ptxkit lint {word}"
        near = get_close_matches(word, self.commands, n=1)
        return f". Did you mean {near[0]!r}?" if near else f". The commands are: {', '.join(sorted(self.commands))}"


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from ptxkit import __version__

        click.echo(f"ptxkit {__version__}")
        ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)
def cli() -> None:
    """Read PTX, and say what is wrong with it."""


for _command in (lint, verify, run_command, fuzz, transfers, extract, fmt, isa, rule):
    cli.add_command(_command)


def run(arguments: Sequence[str]) -> int:
    """The status of one command. (`cli.main` would answer a closed pipe with 1, which means findings here.)"""
    try:
        with cli.make_context("ptxkit", list(arguments)) as context:
            cli.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return ExitStatus.COULD_NOT_RUN
    return ExitStatus.CLEAN
