"""What kernels print by `vprintf`: the driver writes it to standard output of the process, by the C library."""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_STDOUT = 1
"""The file descriptor of standard output."""


@contextmanager
def captured_output() -> Iterator[Callable[[], str]]:
    """Redirects standard output of the process to a file, and provides a function that returns its text so far.

    The text of a kernel is complete when the host has waited for the kernel.
    """
    _flush()
    with tempfile.TemporaryFile(prefix="ptxkit-") as file:
        saved = os.dup(_STDOUT)
        os.dup2(file.fileno(), _STDOUT)

        def read() -> str:
            _flush()
            length = os.fstat(file.fileno()).st_size
            return os.pread(file.fileno(), length, 0).decode("utf-8", "replace")

        try:
            yield read
        finally:
            _flush()
            os.dup2(saved, _STDOUT)
            os.close(saved)


def _flush() -> None:
    """Writes what the C library has buffered."""
    if sys.platform != "win32":
        ctypes.CDLL(None).fflush(None)
