"""`ptxkit watch`: run a Python program, and check each kernel that it compiles."""

from __future__ import annotations

import os
import subprocess
import sys

import click

from ptxkit.cli.option_groups import GroupedOptionsCommand
from ptxkit.cli.usage_errors import CommandLineError
from ptxkit.cli.value_types import Seconds
from ptxkit.compile_hooks.limits import DEFAULT_CHECK_SECONDS
from ptxkit.compile_hooks.program import MODULE, SCRIPT, command_line

_EXAMPLES = (
    ("ptxkit watch train.py --epochs 1", "Run a script."),
    ("ptxkit watch -m pytest tests", "Run a module."),
)

_EXIT_STATUSES = {
    0: "That of the program.",
    2: "That of the program, or the command line cannot be used.",
}


class _ProgramCommand(GroupedOptionsCommand):
    """A command whose options end with the name of the module, as those of Python do."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses the arguments; those after `-m MODULE` are not options of this command."""
        place = 0
        while place < len(args) and args[place].startswith("-"):
            name = args[place]
            place += 2 if name in ("-m", "--module", "--config", "--timeout") else 1
            if name.startswith(("-m", "--module")) and place <= len(args):  # else the name is missing
                return super().parse_args(ctx, [*args[:place], "--", *args[place:]])
        return super().parse_args(ctx, args)


@click.command(
    cls=_ProgramCommand,
    option_groups={"Program": ("--module",), "Checks": ("--config", "--timeout")},
    examples=_EXAMPLES,
    exit_statuses=_EXIT_STATUSES,
    context_settings={"allow_interspersed_args": False},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[SCRIPT] [ARG]...")
@click.option("-m", "--module", metavar="MODULE", help="Run a module instead of a script.")
@click.option("--config", metavar="FILE", help="Read the settings from FILE instead of the nearest settings file.")
@click.option(
    "--timeout",
    type=Seconds(),
    default=f"{DEFAULT_CHECK_SECONDS:g}",
    show_default=True,
    metavar="TIME",
    help="CPU-time limit per kernel, in seconds, or as 10m or 2h.",
)
def watch(*, arguments: tuple[str, ...], module: str | None, config: str | None, timeout: float) -> None:
    """Run a Python program, and check each kernel that it compiles.

    Kernels of Triton, Inductor (torch.compile), CuTe DSL, numba-cuda, CuPy and cuda.core are checked in the background.
    Findings are printed to standard error when they are found, each once, and the counts at the end of the program.

    The arguments after SCRIPT, or after the name of the module, are those of the program.
    """
    if module is None and not arguments:
        raise CommandLineError("`ptxkit watch` requires the argument SCRIPT", "name a script, or a module with `-m`")
    name, *rest = arguments if module is None else (module, *arguments)
    if module is None and not os.path.exists(name):
        raise CommandLineError(f"there is no script `{name}`", "check the spelling, or name a module with `-m`")
    command = command_line(SCRIPT if module is None else MODULE, name, rest, timeout, config)
    if sys.platform == "win32":  # where `exec` starts another process, and this one ends before it
        sys.exit(subprocess.call(command))
    sys.stdout.flush()
    os.execv(sys.executable, command)
