"""Writes a page completely or not at all."""

from __future__ import annotations

import os
import stat

from ptxkit.cli.file_replacement import replace_atomically, replace_file


def write_atomically(path: str, content: bytes) -> str | None:
    """Replaces a file atomically. Returns the reason for a failure. A path that is not a regular file, such as a pipe,
    is written to directly."""
    target = os.path.realpath(path)
    try:
        mode = os.stat(target).st_mode if os.path.exists(target) else None
        if mode is not None and not stat.S_ISREG(mode):
            with open(target, "wb") as stream:
                stream.write(content)
            return None
        if mode is None:
            replace_atomically(target, content, 0o666 & ~_umask())
        else:
            replace_file(target, content)
    except OSError as error:
        return error.strerror or str(error)
    return None


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
