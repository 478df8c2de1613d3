"""How much of a time limit another process has used: a busy machine that does not let it run takes nothing from it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ptxkit.fast_dataclasses import dataclass

POLL_SECONDS = 0.25
"""Between two looks at a process, at most."""


@dataclass(frozen=True, slots=True)
class CpuUsage:
    """What a process has had of the processor. seconds: of all threads. runs: the main one runs, or is ready to."""

    seconds: float
    is_runnable: bool


def cpu_usage_of(pid: int) -> CpuUsage | None:
    """None where the system does not report it, or the process is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return CpuUsage((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), fields[0] == "R")


class CheckTimer:
    """The time of a process: by the clock while it waits, and processor time while it runs or is ready to run.

    Where the system does not report processor time, all time is by the clock.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._last, self._cpu_usage = time.monotonic(), cpu_usage_of(pid)
        self._spent = 0.0

    def elapsed(self) -> float:
        """Seconds since the beginning. What happened since the last call is judged by what the process does now."""
        now, processor = time.monotonic(), cpu_usage_of(self._pid)
        if processor is not None and self._cpu_usage is not None and processor.is_runnable:
            self._spent += processor.seconds - self._cpu_usage.seconds
        else:
            self._spent += now - self._last
        self._last, self._cpu_usage = now, processor
        return self._spent
