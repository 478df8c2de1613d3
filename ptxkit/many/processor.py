"""How much of a time limit another process has used: a busy machine that does not let it run takes nothing from it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ptxkit.records import dataclass

LOOK_SECONDS = 0.25
"""Between two looks at a process, at most."""


@dataclass(frozen=True, slots=True)
class Processor:
    """What a process has had of the processor. seconds: of all threads. runs: the main one runs, or is ready to."""

    seconds: float
    runs: bool


def processor_of(pid: int) -> Processor | None:
    """None where the system does not tell, or the process is gone."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return Processor((int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK"), told[0] == "R")


class OwnTime:
    """The time of a process: by the clock while it waits, and processor time while it runs or is ready to run.

    Where the system does not tell of the processor, all is by the clock.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._last, self._processor = time.monotonic(), processor_of(pid)
        self._spent = 0.0

    def spent(self) -> float:
        """Seconds since the beginning. What happened since the last call is judged by what the process does now."""
        now, processor = time.monotonic(), processor_of(self._pid)
        if processor is not None and self._processor is not None and processor.runs:
            self._spent += processor.seconds - self._processor.seconds
        else:
            self._spent += now - self._last
        self._last, self._processor = now, processor
        return self._spent
