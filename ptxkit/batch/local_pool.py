"""Checks texts in parallel on this machine: one thread for each supervised process."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

from ptxkit.batch.in_process import InProcessRunner
from ptxkit.batch.job import Job, JobResult, JobSlot
from ptxkit.batch.limits import JOBS_AHEAD_PER_PROCESS, MAX_IN_PROCESS_CHARS, MAX_QUEUED_TEXT
from ptxkit.batch.longest_first_queue import LongestFirstQueue

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor
    from queue import SimpleQueue

    from ptxkit.batch.supervised_checker import SupervisedChecker


_POLL_SECONDS = 0.1
"""Seconds between two updates of the progress bar."""


def available_cores() -> int:
    """Returns the number of processes that can run at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LocalRunner:
    """jobs: the number of processes; None: one for each core, and none for few and small texts. seconds: processor time
    for one text. on_wait: called regularly while a result is awaited."""

    def __init__(self, jobs: int | None, seconds: float, on_wait: Callable[[], None] = lambda: None) -> None:
        self._jobs = jobs or available_cores()
        self._in_process = InProcessRunner(seconds) if jobs is None else None
        self._seconds = seconds
        self._on_wait = on_wait
        self._in_process_chars = 0
        self._idle_checkers: SimpleQueue[SupervisedChecker]
        self._checkers: list[SupervisedChecker] = []
        self._threads: ThreadPoolExecutor | None = None
        self._queue: LongestFirstQueue[tuple[Job, Future[JobResult]]] = LongestFirstQueue()

    def run_all(self, items: Iterable[JobSlot]) -> Iterator[tuple[JobSlot, JobResult]]:
        """Yields the result of each job, in order."""
        waiting: deque[tuple[JobSlot, Future[JobResult] | None]] = deque()
        length = 0
        arriving = iter(items)
        first = list(islice(arriving, 2))
        if len(first) == 1 and self._in_process is not None:
            yield from self._in_process.run_all(first)  # parallel processes would not help
            return
        for item in chain(first, arriving):
            waiting.append(self._submit(item))
            length += _job_length(item)
            most = JOBS_AHEAD_PER_PROCESS * self._jobs
            while waiting and (_is_done(waiting[0]) or len(waiting) > most or length > MAX_QUEUED_TEXT):
                length -= _job_length(waiting[0][0])
                yield self._collect(*waiting.popleft())
        while waiting:
            yield self._collect(*waiting.popleft())

    def _submit(self, item: JobSlot) -> tuple[JobSlot, Future[JobResult] | None]:
        if item.job is None or item.result is not None or self._fits_in_process(item.job):
            return item, None
        from concurrent.futures import Future

        if self._threads is None:
            from concurrent.futures import ThreadPoolExecutor
            from queue import SimpleQueue

            from ptxkit.batch.supervised_checker import SupervisedChecker

            self._threads = ThreadPoolExecutor(self._jobs, "ptxkit")
            self._idle_checkers = SimpleQueue()
            self._checkers = [SupervisedChecker(self._seconds) for _ in range(self._jobs)]
            for each in self._checkers:
                self._idle_checkers.put(each)
        future: Future[JobResult] = Future()
        self._queue.put(_job_length(item), (item.job, future))
        self._threads.submit(self._run_next)
        return item, future

    def _fits_in_process(self, question: Job) -> bool:
        """Returns whether to check a text in this process: the first texts are, as long as they are small."""
        if self._in_process is None:
            return False
        self._in_process_chars += len(question.source.text)
        if self._in_process_chars > MAX_IN_PROCESS_CHARS:
            self._in_process = None
            return False
        return True

    def _run_next(self) -> None:
        question, future = self._queue.take()
        watched = self._idle_checkers.get()
        try:
            future.set_result(watched.run_job(question))
        except BaseException as error:  # the thread that waits for the result raises it
            future.set_exception(error)
        finally:
            self._idle_checkers.put(watched)

    def _collect(self, item: JobSlot, future: Future[JobResult] | None) -> tuple[JobSlot, JobResult]:
        if item.error is not None:
            raise item.error
        if item.result is not None:
            return item, item.result
        assert item.job is not None
        if future is None:
            return item, InProcessRunner(self._seconds).run_job(item.job)
        while True:
            try:
                return item, future.result(_POLL_SECONDS)
            except TimeoutError:
                if future.done():
                    raise
                self._on_wait()

    def close(self) -> None:
        """Terminates the processes; pending jobs are not run."""
        for each in self._checkers:
            each.kill()
        if self._threads is not None:
            self._threads.shutdown(wait=True, cancel_futures=True)
        for each in self._checkers:
            each.close()


def _job_length(item: JobSlot) -> int:
    return 0 if item.job is None else len(item.job.source.text)


def _is_done(waiting: tuple[JobSlot, Future[JobResult] | None]) -> bool:
    return waiting[1] is None or waiting[1].done()
