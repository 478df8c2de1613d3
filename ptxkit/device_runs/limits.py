"""The time limits of processes with a GPU."""

from __future__ import annotations

DEVICE_START_SECONDS = 120.0
"""The seconds until a new process has opened the GPU."""
