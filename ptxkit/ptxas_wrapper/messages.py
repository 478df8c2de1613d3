"""The messages of `ptxkit-ptxas` itself: one line each, on standard error."""

from __future__ import annotations

import sys
from contextlib import suppress

from ptxkit.untrusted_text import escape_text

PROGRAM = "ptxkit-ptxas"
"""The name of the program in messages, and among the programs of the resident process (`ptxkit lint --server`)."""


def write_message(text: str) -> None:
    """Writes a message; without effect if standard error is closed."""
    with suppress(OSError, ValueError, AttributeError):  # AttributeError: the process was started without it
        sys.stderr.write(f"{PROGRAM}: {escape_text(text)}\n")
        sys.stderr.flush()


def complain(error: Exception) -> None:
    """Writes that nothing was checked, and why."""
    write_message(f"the inputs were not checked: {error or type(error).__name__}")
