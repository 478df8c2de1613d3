"""Texts checked in this process, one after the other: for few and small ones, where others cost more than they save."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ptxkit.batch.failure_results import out_of_memory_result, timeout_result
from ptxkit.batch.job import Job, JobResult, JobSlot, run_job

_TEXTS_PER_COLLECTION = 50


class _TimeLimitExceeded(BaseException):
    """The check has had its time."""


class InProcessRunner:
    """seconds: processor time for one text, where the system counts it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._count = 0

    def run_all(self, items: Iterable[JobSlot]) -> Iterator[tuple[JobSlot, JobResult]]:
        """An answer to each, in their order."""
        for item in items:
            if item.error is not None:
                raise item.error
            if item.result is not None:
                yield item, item.result
            elif item.job is not None:
                yield item, self.run_job(item.job)

    def run_job(self, question: Job) -> JobResult:
        """The answer to one."""
        self._count += 1
        if self._count % _TEXTS_PER_COLLECTION == 0:
            gc.collect()  # `main` lets Python look for garbage so seldom that thousands of texts would fill the memory
        try:
            with _time_limit(self._seconds):
                return run_job(question)
        except _TimeLimitExceeded:
            return timeout_result(question.source, self._seconds)
        except MemoryError:
            pass  # it holds all that the check had
        return out_of_memory_result(question.source)

    def close(self) -> None:
        """Nothing was begun."""


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raises _TimeIsUp when so much processor time has gone; no limit where no signal can say so.

    A single step of Python's own code is not interrupted: only a process that can be ended stops that.
    """
    import signal

    def end(*_: object) -> None:
        raise _TimeLimitExceeded

    try:
        before = signal.signal(signal.SIGPROF, end)
    except (AttributeError, ValueError):  # a system without it, or another thread than the main one
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
