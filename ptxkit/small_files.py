"""Reads small files from folders of other authors: settings, baselines, saved examples.

Such a file is found and not chosen by the user, so it may be a pipe that never ends, a device, or a huge file. Only a
regular file of at most `MAX_SETTINGS_BYTES` is read.
"""

from __future__ import annotations

import os
import stat

from ptxkit.limits import MAX_SETTINGS_BYTES

TYPE_CHECKING = False  # `typing` takes too long to import for a program that does little
if TYPE_CHECKING:
    from typing import Any

_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"))
"""A pipe is opened without waiting for a writer, and then rejected."""


class UnsuitableFileError(ValueError):
    """The file is not read; the text states the reason, and follows its name."""


def read_small_file(path: str) -> bytes:
    """Returns the contents of a small regular file. Raises OSError, and UnsuitableFileError."""
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
    """Returns whether a path is inside of a folder after all links are resolved."""
    whole = os.path.realpath(folder)
    try:
        return os.path.commonpath((whole, os.path.realpath(path))) == whole
    except ValueError:  # another drive, or a NUL in the path
        return False


def parse_json(data: bytes) -> Any:
    """Parses JSON text. Raises ValueError, also if it is nested too deeply for Python."""
    import json

    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
