"""What a process inherits from the shell or the build that started it, and by which it differs from the server."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence

from ptxkit.fast_dataclasses import dataclass

TYPE_CHECKING = False  # `typing` takes too long to import for a program that does little
if TYPE_CHECKING:
    from typing import Any

STREAMS = (0, 1, 2)
"""The standard input, output and error of a process."""

_UMASK_LINE = "Umask:\t"


@dataclass(frozen=True, slots=True)
class ProcessContext:
    """encodings: the encoding and the error handler of each standard stream. limits: (number, soft limit) of
    resources. processors: those that the process may use."""

    arguments: list[str]
    environment: dict[str, str]
    encodings: list[tuple[str, str | None]]
    umask: int
    processors: list[int]
    limits: list[tuple[int, int]]

    def fields(self) -> tuple[object, ...]:
        """The fields as plain data, from which another process makes the context again."""
        return self.arguments, self.environment, self.encodings, self.umask, self.processors, self.limits


def present_context() -> ProcessContext | None:
    """Returns the context of this process; None if a standard stream is closed."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    if any(each is None or each.closed for each in streams):
        return None
    return ProcessContext(
        list(sys.argv),
        dict(os.environ),
        [(each.encoding, each.errors) for each in streams],
        _present_umask(),
        sorted(os.sched_getaffinity(0)),
        present_limits(),
    )


def present_limits() -> list[tuple[int, int]]:
    """Returns the number and the soft limit of each resource."""
    import resource

    numbers = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]
    return [(number, resource.getrlimit(number)[0]) for number in numbers]


def open_files() -> list[int]:
    """Returns the standard streams, and a new file for the working directory, which the caller closes. Raises
    OSError."""
    return [*STREAMS, os.open(os.curdir, os.O_PATH | os.O_DIRECTORY)]


def assume_context(context: ProcessContext, files: Sequence[int]) -> None:
    """Makes this process have the context of another, whose `open_files` it has received. Raises OSError."""
    *streams, folder = files
    os.fchdir(folder)
    for number, file in zip(STREAMS, streams, strict=True):
        os.dup2(file, number)
    for file in files:
        os.close(file)
    sys.argv = list(context.arguments)
    os.environ.clear()
    os.environ.update(context.environment)
    time.tzset()
    os.umask(context.umask)
    os.sched_setaffinity(0, context.processors)
    _set_limits(context.limits)
    _open_streams(context.encodings)


def leave_context(limits: list[tuple[int, int]]) -> None:
    """Undoes `assume_context`, so that nothing of the other process is kept open. limits: those to set again."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in STREAMS:
        os.dup2(null, number)
    os.close(null)
    _open_streams([("utf-8", "backslashreplace")] * len(STREAMS))
    os.chdir("/")
    os.environ.clear()
    _set_limits(limits)


def _open_streams(encodings: Sequence[tuple[str, str | None]]) -> None:
    names, modes = ("stdin", "stdout", "stderr"), ("r", "w", "w")
    for name, number, mode, (encoding, errors) in zip(names, STREAMS, modes, encodings, strict=True):
        setattr(sys, name, _open_stream(number, mode, encoding, errors))


def _open_stream(number: int, mode: str, encoding: str, errors: str | None) -> Any:
    """Opens a standard stream as Python does at its start."""
    by_line = mode == "w" and (number == STREAMS[2] or os.isatty(number))
    newline = "\n" if mode == "w" else None
    return open(number, mode, 1 if by_line else -1, encoding=encoding, errors=errors, newline=newline, closefd=False)


def _present_umask() -> int:
    """The system call would change it for a moment."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as lines:
        return next((int(line[len(_UMASK_LINE) :], 8) for line in lines if line.startswith(_UMASK_LINE)), 0o077)


def _set_limits(limits: Sequence[tuple[int, int]]) -> None:
    """Sets the soft limits of resources, as far as the hard limits of this process allow it. The processor time that
    this process has used does not count."""
    import resource

    for number, soft in limits:
        is_counted = number == resource.RLIMIT_CPU and soft != resource.RLIM_INFINITY
        wanted = soft + int(time.process_time()) if is_counted else soft
        _, hard = resource.getrlimit(number)
        is_lower = hard == resource.RLIM_INFINITY or 0 <= wanted <= hard
        resource.setrlimit(number, (wanted if is_lower else hard, hard))
