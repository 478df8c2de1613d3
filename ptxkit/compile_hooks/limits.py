"""Limits of the checks in the background: a program must neither wait long for them nor fill its memory with them."""

from __future__ import annotations

DEFAULT_CHECK_SECONDS = 10.0
"""The seconds of processor time for one kernel."""

MAX_EXIT_SECONDS = 60.0
"""The seconds that the end of the program waits for kernels that are still to be checked."""

MAX_PENDING_CHARS = 64 * 1024 * 1024
"""The number of characters of texts that wait for their check. Texts beyond it are counted, and not checked."""

LOW_PRIORITY = 10
"""The niceness of the checks."""
