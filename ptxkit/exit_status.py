"""The exit statuses of commands, in a module of their own: `ptxkit --help` needs nothing else of the results."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """The exit statuses of a command."""

    CLEAN = 0
    FINDINGS = 1
    COULD_NOT_RUN = 2
