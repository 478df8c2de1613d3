"""Limits of the output that is kept of a lost process."""

from __future__ import annotations

MAX_STDERR_BYTES = 20_000
"""The number of bytes at the end of a lost process's standard error that are read."""
