"""A process that checks texts, watched: what hangs or kills it is that text's failed result, and another goes on."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from typing import IO

from ptxkit.batch.cpu_time import POLL_SECONDS, CheckTimer
from ptxkit.batch.failure_results import process_ended_result, timeout_result
from ptxkit.batch.job import Job, JobResult
from ptxkit.batch.result_codec import decode_result
from ptxkit.batch.worker import WorkerReply
from ptxkit.isa.errors import NotationError
from ptxkit.limits import MAX_RETAINED_MEMORY
from ptxkit.linter import unchecked_result
from ptxkit.source import SourceFile

WALL_TIME_FACTOR = 20
"""How many times its processor time a text may take of the process's own time, which goes on while it sleeps."""

_MAX_STDERR_BYTES = 20_000
"""Bytes of what a process said before it ended, that are looked at."""

WORKER_PROGRAM = "import sys; sys.path[:] = {path!r}; from ptxkit.batch.worker import serve; serve()"
"""What such a process runs; `path` is that of this one, and no folder stands in front of it that could hide ours."""


class SupervisedChecker:
    """One such process at a time, begun when there is a text for it. seconds: processor time for each text.

    stamp: the state of the installation that answered last; another thread may `end` what hangs.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._timed_out = False
        self._is_closed = False
        self.stamp = ""

    def run_job(self, question: Job) -> JobResult:
        """The answer; a failed result where the process does not give one. Raises NotationError."""
        try:
            process = self._start()
        except OSError as error:
            why = f"no process could be started to check this file: {error.strerror or error}"
            return JobResult(
                unchecked_result(question.source.path, why, remedy="check it with less beside it: --jobs 1")
            )
        try:
            reply = self._exchange(process, question)
        except (EOFError, OSError, pickle.UnpicklingError):
            return self._crash_result(process, question.source)
        answer, mistake, memory = reply
        if memory > MAX_RETAINED_MEMORY:
            self._discard()  # what it holds it would go on holding
        if answer is None:
            raise NotationError.from_message(mistake)
        return decode_result(answer, question.source)

    def _exchange(self, process: subprocess.Popen[bytes], question: Job) -> WorkerReply:
        assert process.stdin is not None
        assert process.stdout is not None
        if not self.stamp:
            self.stamp = pickle.load(process.stdout)
        over = threading.Event()
        threading.Thread(target=self._watch, args=(process, over), daemon=True).start()
        try:
            pickle.dump((question, self._seconds), process.stdin, pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            reply: WorkerReply = pickle.load(process.stdout)
        finally:
            over.set()
        return reply

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is not None:
            return self._process
        if self._is_closed:
            raise OSError("the run is over")
        self._errors = tempfile.TemporaryFile(prefix="ptxkit-")  # noqa: SIM115 (as long as the process)
        program = WORKER_PROGRAM.format(path=sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._timed_out = False
        self.stamp = ""
        return self._process

    def _watch(self, process: subprocess.Popen[bytes], over: threading.Event) -> None:
        """Ends a process that waits for too long, or whose processor time the system does not limit."""
        patience = self._seconds * (WALL_TIME_FACTOR if sys.platform != "win32" else 1)
        own = CheckTimer(process.pid)
        while not over.wait(min(patience / 4, POLL_SECONDS)):
            if own.elapsed() > patience:
                self._timed_out = True
                process.kill()
                return

    def _crash_result(self, process: subprocess.Popen[bytes], source: SourceFile) -> JobResult:
        """The result of a text whose check ended the process."""
        if process.stdin is not None:
            _close(process.stdin)
        code = process.wait()
        told = self._read_errors()
        self._discard()
        if self._timed_out or (sys.platform != "win32" and code == -signal.SIGPROF):
            return timeout_result(source, self._seconds, told)
        return process_ended_result(source, _exit_words(code), told)

    def _read_errors(self) -> str:
        if self._errors is None:
            return ""
        self._errors.seek(max(0, self._errors.seek(0, 2) - _MAX_STDERR_BYTES))
        return self._errors.read().decode("utf-8", "replace")

    def _discard(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    _close(stream)
        if self._errors is not None:
            self._errors.close()
            self._errors = None

    def kill(self) -> None:
        """Ends the process, whoever waits for it, and begins no other."""
        self._is_closed = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Ends the process, which nobody waits for."""
        self._is_closed = True
        self._discard()


def _close(stream: IO[bytes]) -> None:
    try:
        stream.close()
    except OSError:  # what was still to be written goes nowhere
        return


def _exit_words(code: int) -> str:
    """`signal SIGSEGV`, `status 1`."""
    if code >= 0:
        return f"status {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
