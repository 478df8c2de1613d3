"""Standard input that can be read twice: by the process of a call, and by the client if that process is lost."""

from __future__ import annotations

import os

_PIECE_BYTES = 1 << 20
"""The number of bytes that are copied at a time."""


class KeptInput:
    """Standard input. What cannot be read again is copied first: at most `most` bytes. Raises OSError."""

    def __init__(self, most: int) -> None:
        try:
            self._start = os.lseek(0, 0, os.SEEK_CUR)
        except OSError:  # a pipe or a terminal
            _copy_input(most)
            self._start = 0

    def rewind(self) -> None:
        """Makes this process read what another one has read."""
        os.lseek(0, self._start, os.SEEK_SET)


def _copy_input(most: int) -> None:
    """Puts a file in memory with the same contents in the place of standard input."""
    copy = os.memfd_create("ptxkit")
    while most > 0 and (piece := os.read(0, min(most, _PIECE_BYTES))):
        most -= len(piece)
        while piece:
            piece = piece[os.write(copy, piece) :]
    os.lseek(copy, 0, os.SEEK_SET)
    os.dup2(copy, 0)
    os.close(copy)
