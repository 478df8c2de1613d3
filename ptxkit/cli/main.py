"""`ptxkit`: the group of commands, and what they all share: quiet interruption, and output that cannot break."""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from io import TextIOWrapper
from typing import TYPE_CHECKING

import click

from ptxkit.cli.fmt import fmt
from ptxkit.cli.isa import isa
from ptxkit.cli.lint import lint
from ptxkit.cli.rule import rule
from ptxkit.results import ExitStatus

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

_INTERRUPTED = 130
"""128 + SIGINT, as shells report it."""
_PIPE_CLOSED = 141
"""128 + SIGPIPE: whoever read the output has had enough."""


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


for _command in (lint, fmt, isa, rule):
    cli.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and leave with its status; see `ptxkit.results.ExitStatus`."""
    _prepare_output()
    try:
        status = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = _INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        status = _PIPE_CLOSED
    except OSError as error:  # inputs that cannot be read are results; this is the output
        _discard_output()
        click.echo(f"ptxkit: the output cannot be written: {error.strerror or error}", err=True)
        status = ExitStatus.COULD_NOT_RUN
    sys.exit(status)


def _run(arguments: list[str]) -> int:
    """The status of one command. (`cli.main` would answer a closed pipe with 1, which means findings here.)"""
    try:
        with cli.make_context("ptxkit", arguments) as context:
            cli.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.show()
        return ExitStatus.COULD_NOT_RUN
    return ExitStatus.CLEAN


def _prepare_output() -> None:
    """Spell out what the output's encoding lacks. Where a stream is closed, what would go there is dropped."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 (for as long as the process)
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Point standard output at nothing, so that Python's own flush on the way out does not fail too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
