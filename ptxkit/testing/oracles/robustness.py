"""Checks that ptxkit terminates on any text: without a crash, in time, and in bounded memory.

Time: one second of processor time for parsing, checking, printing and formatting together. A text of more than `SMALL`
characters, such as a file of a corpus, has one second for every `SMALL` of them. The result depends neither on other
threads and processes nor on the speed of the machine: if a million additions take longer than `CALIBRATION_SECONDS`
seconds, the limit is extended proportionally, and a text is too slow only if it is too slow twice.

Memory: 60 times the size of the text and 60 MB of address space, in addition to the initial size of the process. A
thread samples it if the system reports it (Linux). Resident memory would depend on what the system reclaims at the same
time, and with a limit Python might abort instead of raising MemoryError.
"""

from __future__ import annotations

import gc
import mmap
import time
from functools import cache
from pathlib import Path
from threading import Event, Thread

from ptxkit.linter import lint_source
from ptxkit.results import Status
from ptxkit.source import SourceFile
from ptxkit.syntax import PTXSyntaxError, format_source, parse

SECONDS, SMALL_TEXT = 1.0, 10_000
CALIBRATION_SECONDS = 0.04
BASE_BYTES, BYTES_PER_CHARACTER = 60_000_000, 60
SAMPLE_INTERVAL = 0.005
"""The seconds between two samples of the memory."""

_STATM = Path("/proc/self/statm")


def find_robustness_fault(text: str) -> str:
    """Returns the fault in parsing, checking, printing and formatting a text, or an empty text.

    Exceptions of the parser and the printer are passed on.
    """
    _warm_up()
    gc.collect()
    with _MemorySampler() as watch:
        began = time.thread_time()
        differs = _find_result_fault(text)
        seconds = time.thread_time() - began
    if watch.growth > BASE_BYTES + BYTES_PER_CHARACTER * len(text):
        return f"takes too much memory: {watch.growth / 1e6:.0f} MB for {len(text)} characters"
    if _exceeds_time_limit(seconds, text):
        return f"takes too long: {seconds:.1f} s for {len(text)} characters"
    return differs


@cache
def _warm_up() -> None:
    """Loads data that a process loads once: the rules and the instruction table do not count for a text's time."""
    lint_source(SourceFile("module.ptx", ".version 8.0\n.target sm_90\n.entry kernel() { ret; }\n"))


def time_limit(text: str) -> float:
    """Returns the seconds of processor time that a text may take."""
    return SECONDS * max(1.0, len(text) / SMALL_TEXT)


def _exceeds_time_limit(seconds: float, text: str) -> bool:
    """Returns whether a text takes too long. The measurement is repeated, because other processes may have disturbed
    it.
    """
    limit = time_limit(text)
    if seconds <= limit:
        return False
    began = time.thread_time()
    _find_result_fault(text)
    return min(seconds, time.thread_time() - began) > limit * _measure_slowdown()


def _find_result_fault(text: str) -> str:
    result = lint_source(SourceFile("module.ptx", text))
    return result.diagnostics[0].message if result.status is Status.FAILED else _find_round_trip_fault(text)


def _find_round_trip_fault(text: str) -> str:
    try:
        printed = str(parse(text))
    except PTXSyntaxError:
        return ""
    if str(parse(printed)) != printed:
        return "printed, read and printed again it is another text"
    if str(parse(format_source(SourceFile("module.ptx", text)))) != printed:
        return "formatted it is another module"
    return ""


def _measure_slowdown() -> float:
    """Returns the factor by which this machine is slower than the reference for the limits, at least one."""

    def once() -> float:
        began, total = time.thread_time(), 0
        for number in range(1_000_000):
            total += number
        return time.thread_time() - began

    return max(1.0, min(once() for _ in range(3)) / CALIBRATION_SECONDS)


class _MemorySampler:
    """Measures the growth of the process's address space."""

    def __enter__(self) -> _MemorySampler:
        self._baseline = self._peak = 0
        self._has_started, self._stop = Event(), Event()
        self._thread = Thread(target=self._sample, daemon=True)
        self._thread.start()
        self._has_started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        _address_space()  # the allocator reserves memory for a thread when it first allocates
        self._baseline = self._peak = _address_space()
        self._has_started.set()
        while not self._stop.wait(SAMPLE_INTERVAL):
            self._peak = max(self._peak, _address_space())

    @property
    def growth(self) -> int:
        """The largest growth in bytes since the beginning."""
        return self._peak - self._baseline


def _address_space() -> int:
    """Returns the size of the process's address space in bytes, or 0 if it is unknown."""
    try:
        return int(_STATM.read_bytes().split()[0]) * mmap.PAGESIZE
    except OSError:
        return 0
