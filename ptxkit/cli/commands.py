"""`ptxkit`: the group of commands, as click reads them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from ptxkit.cli.usage_errors import CommandLineError, explain
from ptxkit.exit_status import ExitStatus

COMPLETION_VARIABLE = "_PTXKIT_COMPLETE"
"""The environment variable with which a shell requests the completion script (`bash_source`) or completions."""

SECTIONS = {
    "Check": {
        "lint": "Check PTX files and report diagnostics.",
        "verify": "Check PTX files as lint does, and run their kernels.",
        "stress": "Run one kernel on the GPU under random delays.",
        "watch": "Run a Python program, and check each kernel that it compiles.",
        "fuzz": "Test ptxkit, ptxas and the GPU against each other.",
        "litmus": "Check litmus tests against the memory consistency model of PTX.",
    },
    "Compile": {
        "compile": "Check PTX files, and compile and link them to a cubin.",
    },
    "Rewrite": {
        "fmt": "Format PTX files.",
        "extract": "Write the PTX in libraries, programs and wheels to files.",
    },
    "Inspect": {
        "view": "Write an HTML page: diagnostics, control flow and transfers.",
        "transfers": "List the data transfers of kernels, and what waits for them.",
        "contract": "List the conditions that launches of kernels must satisfy.",
        "run": "Run one kernel on the CPU or a GPU with given arguments.",
    },
    "Look up": {
        "explain": "Explain a diagnostic code (also: rule).",
        "isa": "Describe an instruction: its forms, operands and effects.",
    },
    "Editors": {
        "lsp": "Run the language server, for editors.",
    },
}
"""A summary of each command, by the headings of `ptxkit --help`. It is written here, so that no command is imported."""

_SYNONYMS = {"rule": "explain"}
"""Further names of commands."""


class _LazyCommands(Mapping[str, click.Command]):
    """The modules of the commands by name. Each is imported when it is needed, because some import numpy."""

    _NAMES = tuple(sorted((*_SYNONYMS, *(name for names in SECTIONS.values() for name in names))))

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._NAMES:
            raise KeyError(name)
        module = _SYNONYMS.get(name, name)
        command: click.Command = getattr(import_module(f"ptxkit.cli.{module}"), module)
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(self._NAMES)

    def __len__(self) -> int:
        return len(self._NAMES)


class _Commands(click.Group):
    """A command group that suggests the most similar command for an unknown one, and lists them under headings."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> Any:
        """Runs a command, and exits with its status."""
        sys.exit(run(sys.argv[1:] if args is None else args))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        is_mistaken = args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None
        if is_mistaken and not ctx.resilient_parsing:
            raise CommandLineError(f"there is no command `{args[0]}`", self._hint(args[0]))
        return super().resolve_command(ctx, args)

    def _hint(self, word: str) -> str:
        if os.path.exists(word):
            return f"`ptxkit lint {word}` checks it"
        near = get_close_matches(word, self.commands, n=1)
        return f"did you mean `{near[0]}`?" if near else f"the commands are {', '.join(sorted(self.commands))}"

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Writes the commands under their headings."""
        for heading, commands in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl(list(commands.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands and options that begin so."""
        commands = (each for several in SECTIONS.values() for each in several.items())
        found = [CompletionItem(name, help=text) for name, text in commands if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from ptxkit import __version__

        click.echo(f"ptxkit {__version__}")
        ctx.exit()


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=f"`ptxkit COMMAND --help` describes a command. Shell completion is enabled by "
    f'`eval "$({COMPLETION_VARIABLE}=bash_source ptxkit)"` in ~/.bashrc (zsh: zsh_source), and by '
    f"`{COMPLETION_VARIABLE}=fish_source ptxkit | source` in config.fish.",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Print the version of ptxkit and exit.",
)
def cli() -> None:
    """Check, format, run and inspect PTX, the assembly language of NVIDIA GPUs.

    An error in the command line or in the settings is printed to standard error as `PLACE: error: MESSAGE` with a line
    `= help: REMEDY`, and the exit status is 2.
    """


cli.commands = _LazyCommands()  # type: ignore[assignment]  # click requires one that it could change, and never does


def run(arguments: Sequence[str]) -> int:
    """The exit status of one command. (`click` returns 1 for a closed pipe, which means findings here.)"""
    wanted = os.environ.get(COMPLETION_VARIABLE)
    if wanted is not None:
        return _print_completion(wanted)
    if not arguments:
        click.echo(cli.get_help(cli.make_context("ptxkit", [], resilient_parsing=True)), err=True)
        return ExitStatus.COULD_NOT_RUN
    try:
        with cli.make_context("ptxkit", list(arguments)) as context:
            cli.invoke(context)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        from ptxkit.cli.refusals import write_refusal

        return write_refusal(*explain(error))
    return ExitStatus.CLEAN


def _print_completion(wanted: str) -> int:
    """Prints the completion script or the completions that the shell requests; returns 0 for a supported shell."""
    from click.shell_completion import get_completion_class, shell_complete

    if get_completion_class(wanted.partition("_")[0]) is None:
        from ptxkit.cli.refusals import write_refusal

        message = f"`{COMPLETION_VARIABLE}={wanted}` names no shell that completion is known for"
        return write_refusal(message, "write `bash_source`, `zsh_source` or `fish_source`")
    return shell_complete(cli, {}, "ptxkit", COMPLETION_VARIABLE, wanted)
