"""Checks single texts in the resident process of `ptxkit lint --server`, or in a supervised process without one."""

from __future__ import annotations

import math
import pickle
import signal
import threading
from typing import Any

from ptxkit.batch.in_process import InProcessRunner
from ptxkit.batch.job import Job, JobResult
from ptxkit.batch.limits import MAX_CHECK_MEMORY, WALL_TIME_FACTOR
from ptxkit.batch.result_codec import decode_result, encode_result
from ptxkit.batch.supervised_checker import SupervisedChecker
from ptxkit.lint_server.client import ServerCall, begin_call
from ptxkit.processes.child_process import limit_memory

PROGRAM = "check"
"""The name of `serve_check` among the programs of the server."""


class ResidentChecker:
    """seconds: processor time for each text. A text whose check the server does not complete is checked again."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._otherwise = SupervisedChecker(seconds)
        self._call: ServerCall | None = None
        self._is_closed = threading.Event()

    def run_job(self, question: Job) -> JobResult:
        """Returns the result of a job. Raises NotationError."""
        source = question.source
        argument = (source.path, source.text, pickle.dumps((question.settings, question.mode)), self._seconds)
        self._call = begin_call(PROGRAM, argument)
        if self._call is not None and not self._is_closed.is_set():
            reply = self._call.wait()
            if isinstance(reply, tuple):
                return decode_result(reply, source)
        return self._otherwise.run_job(question)

    def kill(self) -> None:
        """Ends the present check from any thread, and makes later ones fail."""
        self._is_closed.set()
        self._otherwise.kill()
        call = self._call
        if call is not None:
            call.abandon()

    def close(self) -> None:
        """Ends the process, if one was started."""
        self._otherwise.close()


class ServedChecker:
    """Checks texts in a process that the server has forked for this, and that may be lost: then its client checks them.

    seconds: processor time for each text.
    """

    def __init__(self, seconds: float) -> None:
        limit_memory(MAX_CHECK_MEMORY)
        self._seconds = seconds
        self._runner = InProcessRunner(seconds)

    def run_job(self, question: Job) -> JobResult:
        """Returns the result of a job. Raises NotationError. A check that takes too long by the clock ends the process
        with a signal."""
        signal.alarm(math.ceil(self._seconds * WALL_TIME_FACTOR))
        try:
            return self._runner.run_job(question)
        finally:
            signal.alarm(0)

    def kill(self) -> None:
        """Does nothing: the client ends the process."""

    def close(self) -> None:
        """Does nothing: the process ends by itself."""


def serve_check(argument: Any) -> object:
    """Returns the encoded result of a text, in a process of the server."""
    from ptxkit.source import SourceFile

    path, text, how, seconds = argument
    settings, mode = pickle.loads(how)
    return encode_result(ServedChecker(seconds).run_job(Job(SourceFile(path, text), settings, mode)))
