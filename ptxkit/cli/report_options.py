"""The command-line options for what a report shows, of the commands that report findings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ptxkit.cli.value_types import WordChoice, join_choices
from ptxkit.report.options import SHOWN_CODE

_Command = TypeVar("_Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--show",
        type=WordChoice(SHOWN_CODE),
        metavar="KIND",
        default="both",
        show_default=True,
        help=f"Code to show where the PTX names its source lines (nvcc -lineinfo): {join_choices(SHOWN_CODE)}.",
    ),
    click.option("--show-undecided", is_flag=True, help="Also print what the analysis could not decide."),
    click.option(
        "--all",
        "all_places",
        is_flag=True,
        help="Print all findings: each copy that unrolling or inlining made, and all with the same cause.",
    ),
    click.option("--verbose", is_flag=True, help="Print mangled names, and the library code that was inlined."),
)
OPTION_NAMES = ("--show", "--show-undecided", "--all", "--verbose")


def report_options(command: _Command) -> _Command:
    """Adds `--show`, `--all` and similar options, which fill the fields of `ReportOptions`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
