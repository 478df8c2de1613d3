"""Writing a report: in colour on a terminal that wants it, plain anywhere else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

import click

from ptxkit.report import Line, plain, to_terminal
from ptxkit.results import ExitStatus


class UnknownError(click.ClickException):
    """The user named something that there is none of; the message suggests what was meant."""

    exit_code = int(ExitStatus.COULD_NOT_RUN)


def write_lines(lines: Iterable[Line], *, error: bool = False) -> None:
    """Write styled lines to standard output (or standard error), in colour where `wants_colour` says so."""
    stream = sys.stderr if error else sys.stdout
    if _wants_colour(stream.isatty()):
        to_terminal(lines, stream)
    else:
        stream.write(plain(lines))


def _wants_colour(terminal: bool) -> bool:
    """https://no-color.org: any value of NO_COLOR but the empty one turns colour off."""
    return terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
