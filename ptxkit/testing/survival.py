"""Whether ptxkit comes to an end on any text: without breaking, in time, and in bounded memory.

Time: a second of the processor for parsing, checking, printing and formatting together. A text of more than `SMALL`
characters, as files of a corpus are, has a second for every `SMALL` of them. Neither other processes count nor how fast
the machine is: where a million additions take longer than `ADDITIONS` seconds, everything may, and what is too long is
so twice.
Memory: 60 times the text and 60 MB of address space, above what the process had: a thread looks again and again, where
the system tells (Linux). What was resident says less, as it depends on what the system takes away at the same time; and
of a limit that it sets, Python may die where it should raise MemoryError.
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

SECONDS, SMALL = 1.0, 10_000
ADDITIONS = 0.04
BYTES, BYTES_A_CHARACTER = 60_000_000, 60
LOOKS = 0.005
"""Seconds between two looks at the memory."""

_AMOUNTS = Path("/proc/self/statm")


def fault_of(text: str) -> str:
    """What is wrong with how a text is parsed, checked, printed and formatted; empty where nothing is.

    What parser and printer raise, they raise.
    """
    _load()
    gc.collect()
    with _Watch() as watch:
        began = time.process_time()
        differs = _fault_in_it(text)
        seconds = time.process_time() - began
    if watch.grown > BYTES + BYTES_A_CHARACTER * len(text):
        return f"takes too much memory: {watch.grown / 1e6:.0f} MB for {len(text)} characters"
    if _is_long(seconds, text):
        return f"takes too long: {seconds:.1f} s for {len(text)} characters"
    return differs


@cache
def _load() -> None:
    """Reads what is read once in a process: the rules and the instruction table are no part of a text's time."""
    lint_source(SourceFile("module.ptx", ".version 8.0\n.target sm_90\n.entry kernel() { ret; }\n"))


def seconds_for(text: str) -> float:
    """Seconds of the processor that a text may take."""
    return SECONDS * max(1.0, len(text) / SMALL)


def _is_long(seconds: float, text: str) -> bool:
    """Whether a text takes too long: once more, too, where other processes may have been in the way."""
    limit = seconds_for(text)
    if seconds <= limit:
        return False
    began = time.process_time()
    _fault_in_it(text)
    return min(seconds, time.process_time() - began) > limit * _slowness()


def _fault_in_it(text: str) -> str:
    result = lint_source(SourceFile("module.ptx", text))
    return result.diagnostics[0].message if result.status is Status.FAILED else _round_trip_fault(text)


def _round_trip_fault(text: str) -> str:
    try:
        printed = str(parse(text))
    except PTXSyntaxError:
        return ""
    if str(parse(printed)) != printed:
        return "printed, read and printed again it is another text"
    if str(parse(format_source(SourceFile("module.ptx", text)))) != printed:
        return "formatted it is another module"
    return ""


def _slowness() -> float:
    """How many times slower this machine is now than the one that times are meant for, at least once."""

    def once() -> float:
        began, total = time.process_time(), 0
        for number in range(1_000_000):
            total += number
        return time.process_time() - began

    return max(1.0, min(once() for _ in range(3)) / ADDITIONS)


class _Watch:
    """Looks how much the process's address space grows."""

    def __enter__(self) -> _Watch:
        self._began = self._most = 0
        self._looks, self._over = Event(), Event()
        self._thread = Thread(target=self._look, daemon=True)
        self._thread.start()
        self._looks.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        _address_space()  # a thread that begins to allocate has memory set apart for it
        self._began = self._most = _address_space()
        self._looks.set()
        while not self._over.wait(LOOKS):
            self._most = max(self._most, _address_space())

    @property
    def grown(self) -> int:
        """The most bytes by which it was larger than at the beginning."""
        return self._most - self._began


def _address_space() -> int:
    """Bytes of address space that the process has; 0 where nobody knows."""
    try:
        return int(_AMOUNTS.read_bytes().split()[0]) * mmap.PAGESIZE
    except OSError:
        return 0
