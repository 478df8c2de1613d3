"""How much is kept of what a lost process wrote."""

from __future__ import annotations

MAX_STDERR_BYTES = 20_000
"""Bytes of what a process wrote to standard error that are read when it is lost: the last ones."""
