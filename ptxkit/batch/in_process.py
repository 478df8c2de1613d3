"""Checks texts in this process, one after the other: for few and small texts, for which processes would take longer."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from ptxkit.batch.failure_results import out_of_memory_result, timeout_result
from ptxkit.batch.job import Job, JobResult, JobSlot, run_job

_TEXTS_PER_COLLECTION = 50
_REPEAT_SECONDS = 1.0
"""The seconds of processor time after which an exceeded limit is reported again: Python ignores an exception that is
raised in a destructor or in a callback of the garbage collector.
"""


class _TimeLimitExceeded(BaseException):
    """The check exceeded its time limit."""


class InProcessRunner:
    """seconds: the limit of processor time for one text, if the system measures it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._count = 0

    def run_all(self, items: Iterable[JobSlot]) -> Iterator[tuple[JobSlot, JobResult]]:
        """Yields the result of each job, in order."""
        for item in items:
            if item.error is not None:
                raise item.error
            if item.result is not None:
                yield item, item.result
            elif item.job is not None:
                yield item, self.run_job(item.job)

    def run_job(self, question: Job) -> JobResult:
        """Returns the result of one job."""
        self._count += 1
        if self._count % _TEXTS_PER_COLLECTION == 0:
            gc.collect()  # `main` makes collections so rare that thousands of texts would exhaust the memory
        try:
            with _time_limit(self._seconds):
                return run_job(question)
        except _TimeLimitExceeded:
            return timeout_result(question.source, self._seconds)
        except MemoryError:
            pass  # the traceback holds all objects of the check
        return out_of_memory_result(question.source)

    def close(self) -> None:
        """Does nothing: no process was started."""


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raises _TimeLimitExceeded after the given processor time; there is no limit if no signal can be used.

    A single call of native code is not interrupted; only the termination of a process stops it.
    """
    import signal

    is_over = False

    def end(*_: object) -> None:
        if not is_over:
            raise _TimeLimitExceeded

    try:
        before = signal.signal(signal.SIGPROF, end)
    except (AttributeError, ValueError):  # a system without the signal, or not the main thread
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, seconds, _REPEAT_SECONDS)
    try:
        try:
            yield
        finally:
            is_over = True
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
