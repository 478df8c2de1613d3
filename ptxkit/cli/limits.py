"""What options accept, and how much of a thing the commands print."""

from __future__ import annotations

MAX_FILE_NAME_CHARS = 200
"""Characters of the name of a file that `extract` writes: file systems allow 255 bytes."""

MAX_NAMED_TEXTS = 8
"""Texts of one file that a message names; the rest are counted."""

MAX_LAUNCH_AXES = 3
"""Extents of a grid, a block or a cluster. Source: CUDA C++ Programming Guide, "Thread Hierarchy"."""

DEFAULT_CHECK_SECONDS = 300.0
"""Processor time for the check of one text, where no option gives another. The slowest real file seen takes ten."""

MAX_SECONDS = 1e9
"""Seconds that an option accepts, about thirty years; the timers of the system take no more."""

MAX_SHOWN_ELEMENTS = 16
"""Elements of an array that `run` prints in full; of a longer one it prints the ends."""
