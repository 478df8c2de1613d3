"""Reports the location of a slow example, and ends one that hangs, in the process that runs it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

REPORT_INTERVAL = 2.0
"""Seconds of elapsed time between two reports about the place of an example."""


class HangError(AssertionError):
    """An example has exceeded its processor time."""


@contextmanager
def report_progress(seconds: float, send: Callable[[str], None]) -> Iterator[None]:
    """Reports the current location of the code periodically. Raises HangError after the given seconds of processor
    time.

    Waiting uses no processor time: it is reported, but not ended. The function has no effect without timers (Windows).
    """
    if not hasattr(signal, "setitimer"):
        yield
        return
    began = time.process_time()

    def look(_number: int, frame: FrameType | None) -> None:
        used = time.process_time() - began
        place = "" if frame is None else f" at {Path(frame.f_code.co_filename).name}:{frame.f_code.co_name}"
        if used > seconds:
            raise HangError(f"hangs{place}: no end within {seconds:g} s of processor time")
        send(f"{used:.0f} s of processor time so far; now{place}")

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, REPORT_INTERVAL, REPORT_INTERVAL)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
