"""The state of all files that may hold the settings of a folder, which is found without reading any of them."""

from __future__ import annotations

import os
from collections.abc import Sequence

OWN_FILE = "ptxkit.toml"
SHARED_FILE = "pyproject.toml"

FileState = tuple[str, int, int, int]
"""The path of a file, its size, the time of its last change in nanoseconds, and its number in the file system."""


def settings_state(folder: str, others: Sequence[str] = ()) -> tuple[FileState, ...]:
    """Returns the state of each settings file in a folder and above it, and of some others. If it is the same as
    before, so are the settings of the folder.
    """
    candidates = list(others)
    here = os.path.abspath(folder)
    while True:
        candidates += (os.path.join(here, OWN_FILE), os.path.join(here, SHARED_FILE))
        above = os.path.dirname(here)
        if above == here:
            break
        here = above
    return tuple(found for path in candidates if (found := _state_of(path)) is not None)


def _state_of(path: str) -> FileState | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return None
    return os.path.abspath(path), status.st_size, status.st_mtime_ns, status.st_ino
