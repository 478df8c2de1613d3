"""Checks texts in supervised processes: a hang or a crash is the failed result of one text only."""

from __future__ import annotations

from ptxkit.batch.failure_results import process_ended_result, timeout_result
from ptxkit.batch.job import Job, JobResult
from ptxkit.batch.limits import MAX_RETAINED_MEMORY, WALL_TIME_FACTOR
from ptxkit.batch.result_codec import decode_result
from ptxkit.batch.worker import WorkerReply, serve
from ptxkit.isa.errors import NotationError
from ptxkit.linter import unchecked_result
from ptxkit.processes.supervised_process import ProcessLostError, ProcessTimeoutError, SupervisedProcess

WORKER = serve
"""The program of such a process."""


class SupervisedChecker:
    """One such process at a time, started for the first text. seconds: processor time for each text."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._process: SupervisedProcess | None = None
        self._is_closed = False

    def run_job(self, question: Job) -> JobResult:
        """Returns the result of a job; a failed result if the process gives none. Raises NotationError."""
        source = question.source
        try:
            process = self._start()
            answer, mistake, memory = self._exchange(process, question)
        except OSError as error:
            why = f"no process could be started to check this file: {error.strerror or error}"
            return JobResult(unchecked_result(source.path, why, remedy="use fewer processes: --jobs 1"))
        except ProcessTimeoutError as lost:
            self._process = None
            return timeout_result(source, self._seconds, lost.errors)
        except ProcessLostError as lost:
            self._process = None
            return process_ended_result(source, str(lost), lost.errors)
        if memory > MAX_RETAINED_MEMORY:
            self._discard()  # it would not release its memory
        if answer is None:
            raise NotationError.from_message(mistake)
        return decode_result(answer, source)

    def _start(self) -> SupervisedProcess:
        if self._is_closed:
            raise OSError("the run has ended")
        if self._process is None:
            self._process = SupervisedProcess(WORKER)
            if self._is_closed:  # in the meantime
                self._process.kill()
            self._process.receive()  # after it has loaded all modules, which are not charged to a text
        return self._process

    def _exchange(self, process: SupervisedProcess, question: Job) -> WorkerReply:
        with process.time_limit(self._seconds * WALL_TIME_FACTOR):
            process.send((question, self._seconds))
            reply: WorkerReply = process.receive()
        return reply

    def _discard(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def kill(self) -> None:
        """Terminates the process while another thread may wait for it, and starts no other one."""
        self._is_closed = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Terminates the process when no thread waits for it."""
        self._is_closed = True
        self._discard()
