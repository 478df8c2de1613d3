"""Limits of option values and of printed output."""

from __future__ import annotations

MAX_FILE_NAME_CHARS = 200
"""Characters of a file name that `extract` writes: file systems allow 255 bytes."""

MAX_NAMED_TEXTS = 8
"""Names of texts in one file that a message lists; the others are counted."""

MAX_LISTED_KERNELS = 3
"""Kernels whose parameters a message lists."""

MAX_LAUNCH_AXES = 3
"""Extents of a grid, a block or a cluster. Source: CUDA C++ Programming Guide, "Thread Hierarchy"."""

DEFAULT_CHECK_SECONDS = 300.0
"""Default processor time for the check of one text, in seconds. The slowest known real file takes ten."""

MAX_SECONDS = 1e9
"""The largest number of seconds that an option accepts, about thirty years: timers of the system accept no more."""

MAX_SHOWN_ELEMENTS = 16
"""Elements of an array that `run` prints in full; of a longer array it prints both ends."""

EXAMPLE_COLUMNS = 48
"""Columns that the command line of an example takes in the help; after a longer one, its description is on a new
line."""

DEFAULT_MACHINE_SECONDS = 600.0
"""Default processor time of a run on the reference machine, in seconds."""

DEFAULT_GPU_SECONDS = 20.0
"""Default time of a run on a GPU, in seconds, until its process is ended."""

GIT_SECONDS = 60.0
"""The time in which git must read one object, in seconds."""
