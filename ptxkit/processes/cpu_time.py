"""The part of a time limit that another process has used: time in which a busy machine does not run it, or does not run
the process that watches it, does not count.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from ptxkit.fast_dataclasses import dataclass

POLL_SECONDS = 0.25
"""The largest number of seconds between two samples of a process."""

_NOT_WAITING = "RTt"
"""The states of a process that runs, or is ready to, or is stopped; in all others it waits for something."""


@dataclass(frozen=True, slots=True)
class CpuUsage:
    """The processor usage of a process. seconds: of all threads. is_runnable: whether the main one runs, is ready
    to, or is stopped.
    """

    seconds: float
    is_runnable: bool


def cpu_usage_of(pid: int) -> CpuUsage | None:
    """Returns the processor usage of a process, or None if the system does not report it, or the process has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return CpuUsage((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), fields[0] in _NOT_WAITING)


class CheckTimer:
    """The time of a process: elapsed time while it waits, and processor time while it runs or is ready to run.

    interval: the seconds between two calls of `elapsed_seconds`. A call that comes later shows that the caller was not
    run in the meantime, as on a busy machine, and counts as one that came in time. If the system does not report
    processor time, all time is elapsed time.
    """

    def __init__(self, pid: int, interval: float = POLL_SECONDS) -> None:
        self._pid, self._interval = pid, interval
        self._last, self._cpu_usage = time.monotonic(), cpu_usage_of(pid)
        self._spent = 0.0

    def elapsed_seconds(self) -> float:
        """Returns the seconds since the beginning. The time since the last call is attributed by the present state of
        the process.
        """
        now, processor = time.monotonic(), cpu_usage_of(self._pid)
        if processor is not None and self._cpu_usage is not None and processor.is_runnable:
            self._spent += processor.seconds - self._cpu_usage.seconds
        else:
            self._spent += min(now - self._last, self._interval)
        self._last, self._cpu_usage = now, processor
        return self._spent
