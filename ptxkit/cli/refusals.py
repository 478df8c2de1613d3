"""The error that a command prints if it cannot be run: `PLACE: error: MESSAGE`, and the remedy on a separate line.

PLACE is the settings file with its line, the file that cannot be written, or `ptxkit` for the command line. An input
that cannot be read or parsed is a diagnostic of the same shape, with a code.
"""

from __future__ import annotations

import sys

from ptxkit.cli.output import write_lines
from ptxkit.exit_status import ExitStatus
from ptxkit.refusal import RefusedError
from ptxkit.report import Line, TextRole
from ptxkit.settings.errors import SettingsError
from ptxkit.untrusted_text import escape_path, escape_text

PROGRAM = "ptxkit"


def write_refusal(message: str, remedy: str, place: str = PROGRAM) -> int:
    """Prints an error to standard error, after the results. Returns the exit status."""
    sys.stdout.flush()
    lines: list[Line] = [
        (
            (f"{escape_path(place)}: ", TextRole.LOCATION),
            ("error", TextRole.ERROR),
            (f": {escape_text(message)}", TextRole.LOCATION),
        )
    ]
    if remedy:
        lines.append((("  = help: ", TextRole.FIELD), (escape_text(remedy), TextRole.PLAIN)))
    write_lines(lines, error=True)
    return ExitStatus.COULD_NOT_RUN


def write_error(error: RefusedError) -> int:
    """Prints an error of settings, or of something else that the user wrote. Returns the exit status."""
    place = PROGRAM
    if isinstance(error, SettingsError) and error.path is not None:
        place = error.path if error.line is None else f"{error.path}:{error.line}"
    return write_refusal(error.message, error.remedy, place)
