"""Whether ptxkit comes to an end on any text: without breaking, in time, and in bounded memory.

Time: a second of the processor for parsing, checking, printing and formatting together. A text of more than `SMALL`
characters, as files of a corpus are, has a second for every `SMALL` of them. Neither other processes count nor how fast
the machine is: where a million additions take longer than `CALIBRATION_SECONDS` seconds, everything may, and what is
too long is so twice.
Memory: 60 times the text and 60 MB of address space, above what the process had: a thread looks again and again, where
the system shows it (Linux). What was resident says less, as it depends on what the system reclaims at the same time;
and of a limit that it sets, Python may die where it should raise MemoryError.
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
"""Seconds between two looks at the memory."""

_STATM = Path("/proc/self/statm")


def find_robustness_fault(text: str) -> str:
    """What is wrong with how a text is parsed, checked, printed and formatted; empty where nothing is.

    What parser and printer raise, they raise.
    """
    _warm_up()
    gc.collect()
    with _MemorySampler() as watch:
        began = time.process_time()
        differs = _find_result_fault(text)
        seconds = time.process_time() - began
    if watch.growth > BASE_BYTES + BYTES_PER_CHARACTER * len(text):
        return f"takes too much memory: {watch.growth / 1e6:.0f} MB for {len(text)} characters"
    if _exceeds_time_limit(seconds, text):
        return f"takes too long: {seconds:.1f} s for {len(text)} characters"
    return differs


@cache
def _warm_up() -> None:
    """Reads what is read once in a process: the rules and the instruction table are no part of a text's time."""
    lint_source(SourceFile("module.ptx", ".version 8.0\n.target sm_90\n.entry kernel() { ret; }\n"))


def time_limit(text: str) -> float:
    """Seconds of the processor that a text may take."""
    return SECONDS * max(1.0, len(text) / SMALL_TEXT)


def _exceeds_time_limit(seconds: float, text: str) -> bool:
    """Whether a text takes too long: once more, too, where other processes may have been in the way."""
    limit = time_limit(text)
    if seconds <= limit:
        return False
    began = time.process_time()
    _find_result_fault(text)
    return min(seconds, time.process_time() - began) > limit * _measure_slowdown()


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
    """How many times slower this machine is now than the one that times are meant for, at least once."""

    def once() -> float:
        began, total = time.process_time(), 0
        for number in range(1_000_000):
            total += number
        return time.process_time() - began

    return max(1.0, min(once() for _ in range(3)) / CALIBRATION_SECONDS)


class _MemorySampler:
    """Looks how much the process's address space grows."""

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
        _address_space()  # a thread that begins to allocate has memory set apart for it
        self._baseline = self._peak = _address_space()
        self._has_started.set()
        while not self._stop.wait(SAMPLE_INTERVAL):
            self._peak = max(self._peak, _address_space())

    @property
    def growth(self) -> int:
        """The most bytes by which it was larger than at the beginning."""
        return self._peak - self._baseline


def _address_space() -> int:
    """Bytes of address space that the process has; 0 where it is unknown."""
    try:
        return int(_STATM.read_bytes().split()[0]) * mmap.PAGESIZE
    except OSError:
        return 0
