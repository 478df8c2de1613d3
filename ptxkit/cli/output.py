"""Writes a report: colored on a terminal that supports it, plain otherwise."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from ptxkit.report import Line, plain_line, to_terminal


def write_lines(lines: Iterable[Line], *, error: bool = False) -> None:
    """Writes styled lines as they arrive to standard output (or error), colored on a terminal that supports it."""
    stream = sys.stderr if error else sys.stdout
    if _wants_color(stream.isatty()):
        to_terminal(lines, stream)
    else:
        stream.writelines(map(plain_line, lines))


def _wants_color(terminal: bool) -> bool:
    """https://no-color.org: any non-empty value of NO_COLOR disables color."""
    return terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
