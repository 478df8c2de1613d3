"""Standard input as an input of ptxas: a file takes its place that has the same contents and can be read twice."""

from __future__ import annotations

import os

_STDIN = 0
_PIECE = 1 << 20
"""The number of bytes that are copied at a time."""


def keep_standard_input(limit: int) -> bytes:
    """Returns the contents of standard input, at most `limit` bytes, and leaves all of it to be read again. Raises
    OSError.
    """
    import tempfile

    with tempfile.TemporaryFile(prefix="ptxkit-") as file:
        while piece := os.read(_STDIN, _PIECE):
            file.write(piece)
        file.flush()
        os.dup2(file.fileno(), _STDIN)
        os.lseek(_STDIN, 0, os.SEEK_SET)
        return os.pread(_STDIN, limit, 0)
