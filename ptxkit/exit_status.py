"""The exit statuses of commands, separate from the results, which `ptxkit --help` does not need."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """The exit statuses of a command."""

    CLEAN = 0
    FINDINGS = 1
    COULD_NOT_RUN = 2
