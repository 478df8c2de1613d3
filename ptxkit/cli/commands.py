"""`ptxkit`: the group of commands, as click reads them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module

import click

from ptxkit.results import ExitStatus
from ptxkit.untrusted_text import escape_text

COMPLETION_VARIABLE = "_PTXKIT_COMPLETE"
"""The environment variable with which a shell requests the completion script (`bash_source`) or completions."""


class _LazyCommands(Mapping[str, click.Command]):
    """The modules of the commands by name. Each is imported when it is needed, because some import numpy."""

    _NAMES = ("extract", "fmt", "fuzz", "isa", "lint", "lsp", "rule", "run", "transfers", "verify", "view")

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._NAMES:
            raise KeyError(name)
        command: click.Command = getattr(import_module(f"ptxkit.cli.{name}"), name)
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(self._NAMES)

    def __len__(self) -> int:
        return len(self._NAMES)


class _Commands(click.Group):
    """A command group that suggests the most similar command for an unknown one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        is_mistaken = args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None
        if is_mistaken and not ctx.resilient_parsing:
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


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f'Tab completion: eval "$({COMPLETION_VARIABLE}=bash_source ptxkit)"; also zsh_source and fish_source.',
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version and exit.",
)
def cli() -> None:
    """Check, format, run and inspect PTX, the assembly language of NVIDIA GPUs."""


cli.commands = _LazyCommands()  # type: ignore[assignment]  # click requires one that it could change, and never does


def run(arguments: Sequence[str]) -> int:
    """The exit status of one command. (`click` returns 1 for a closed pipe, which means findings here.)"""
    wanted = os.environ.get(COMPLETION_VARIABLE)
    if wanted is not None:
        return _print_completion(wanted)
    try:
        with cli.make_context("ptxkit", list(arguments)) as context:
            cli.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        error.message = escape_text(error.message)  # type: ignore[misc]  # it repeats names of files and parameters
        error.show()
        return ExitStatus.COULD_NOT_RUN
    return ExitStatus.CLEAN


def _print_completion(wanted: str) -> int:
    """Prints the completion script or the completions that the shell requests; returns 0 for a supported shell."""
    from click.shell_completion import get_completion_class, shell_complete

    if get_completion_class(wanted.partition("_")[0]) is None:
        click.echo(f"ptxkit: {COMPLETION_VARIABLE} is bash_source, zsh_source or fish_source, not {wanted!r}", err=True)
        return ExitStatus.COULD_NOT_RUN
    return shell_complete(cli, {}, "ptxkit", COMPLETION_VARIABLE, wanted)
