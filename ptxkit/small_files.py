"""Reading small files that a folder of any author may contain: settings, baselines, kept examples.

Such a file is found, not chosen, so that it may be anything: a pipe that never ends, a device, a gigabyte. Only a
regular file of at most `MAX_SETTINGS_BYTES` is read.
"""

from __future__ import annotations

import os
import stat
from typing import Any

from ptxkit.limits import MAX_SETTINGS_BYTES

_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"))
"""A pipe is opened without waiting for a writer, and then refused."""


class UnsuitableFileError(ValueError):
    """The file is not one that is read; the text says why, and follows its name."""


def read_small_file(path: str) -> bytes:
    """The contents of a small regular file. Raises OSError, and UnfitFileError."""
    try:
        handle = os.open(path, _FLAGS)
    except ValueError as error:  # a NUL in the path
        raise UnsuitableFileError(f"cannot be read: {error}") from error
    with os.fdopen(handle, "rb") as stream:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(21, "Is a directory", path)
        if not stat.S_ISREG(status.st_mode):
            raise UnsuitableFileError("is not a regular file, and is not read")
        data = b"" if status.st_size > MAX_SETTINGS_BYTES else stream.read(MAX_SETTINGS_BYTES + 1)
    if status.st_size > MAX_SETTINGS_BYTES or len(data) > MAX_SETTINGS_BYTES:
        raise UnsuitableFileError(f"is longer than {MAX_SETTINGS_BYTES:,} bytes, the most that is read")
    return data


def is_inside(path: str, folder: str) -> bool:
    """Whether a path leads to a place inside of a folder, through whatever links."""
    whole = os.path.realpath(folder)
    try:
        return os.path.commonpath((whole, os.path.realpath(path))) == whole
    except ValueError:  # another drive, or a NUL in the path
        return False


def parse_json(data: bytes) -> Any:
    """The document that JSON text says. Raises ValueError, also where it is nested deeper than Python reads."""
    import json

    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
