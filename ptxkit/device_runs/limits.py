"""The time limits of processes with a GPU."""

from __future__ import annotations

DEVICE_START_SECONDS = 120.0
"""The seconds until a new process has opened the GPU."""

WATCHED_LAUNCH_SECONDS = 10.0
"""The seconds after which a launch hangs that a tool such as compute-sanitizer watches. Its first launch takes some."""
