"""Writing a report: in colour on a terminal that wants it, plain anywhere else."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from ptxkit.report import Line, plain_line, to_terminal


def write_lines(lines: Iterable[Line], *, error: bool = False) -> None:
    """Write styled lines, as they come, to standard output (or error): in colour on a terminal that wants it."""
    stream = sys.stderr if error else sys.stdout
    if _wants_colour(stream.isatty()):
        to_terminal(lines, stream)
    else:
        stream.writelines(map(plain_line, lines))


def _wants_colour(terminal: bool) -> bool:
    """https://no-color.org: any value of NO_COLOR but the empty one turns colour off."""
    return terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
