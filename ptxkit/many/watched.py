"""A process that checks texts, watched: what hangs or kills it is that text's failed result, and another goes on."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from typing import IO

from ptxkit.isa.mistakes import NotationError
from ptxkit.limits import MAX_KEPT_MEMORY
from ptxkit.linter import not_checked
from ptxkit.many.failures import process_ended, took_too_long
from ptxkit.many.packing import unpacked
from ptxkit.many.processor import LOOK_SECONDS, OwnTime
from ptxkit.many.question import Answer, Question
from ptxkit.many.worker import Reply
from ptxkit.source import SourceFile

WAITED = 20
"""How many times its processor time a text may take of the process's own time, which goes on while it sleeps."""

_MOST_TOLD = 20_000
"""Bytes of what a process said before it ended, that are looked at."""

PROGRAM = "import sys; sys.path[:] = {path!r}; from ptxkit.many.worker import serve; serve()"
"""What such a process runs; `path` is that of this one, and no folder stands in front of it that could hide ours."""


class Watched:
    """One such process at a time, begun when there is a text for it. seconds: processor time for each text.

    stamp: the state of the installation that answered last; another thread may `end` what hangs.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._is_late = False
        self._ended = False
        self.stamp = ""

    def answer(self, question: Question) -> Answer:
        """The answer; a failed result where the process does not give one. Raises NotationError."""
        try:
            process = self._begun()
        except OSError as error:
            why = f"no process could be started to check this file: {error.strerror or error}"
            return Answer(not_checked(question.source.path, why, remedy="check it with less beside it: --jobs 1"))
        try:
            reply = self._asked(process, question)
        except (EOFError, OSError, pickle.UnpicklingError):
            return self._lost(process, question.source)
        answer, mistake, memory = reply
        if memory > MAX_KEPT_MEMORY:
            self._drop()  # what it holds it would go on holding
        if answer is None:
            raise NotationError.told(mistake)
        return unpacked(answer, question.source)

    def _asked(self, process: subprocess.Popen[bytes], question: Question) -> Reply:
        assert process.stdin is not None
        assert process.stdout is not None
        if not self.stamp:
            self.stamp = pickle.load(process.stdout)
        over = threading.Event()
        threading.Thread(target=self._watch, args=(process, over), daemon=True).start()
        try:
            pickle.dump((question, self._seconds), process.stdin, pickle.HIGHEST_PROTOCOL)
            process.stdin.flush()
            reply: Reply = pickle.load(process.stdout)
        finally:
            over.set()
        return reply

    def _begun(self) -> subprocess.Popen[bytes]:
        if self._process is not None:
            return self._process
        if self._ended:
            raise OSError("the run is over")
        self._errors = tempfile.TemporaryFile(prefix="ptxkit-")  # noqa: SIM115 (as long as the process)
        program = PROGRAM.format(path=sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._is_late = False
        self.stamp = ""
        return self._process

    def _watch(self, process: subprocess.Popen[bytes], over: threading.Event) -> None:
        """Ends a process that waits for too long, or whose processor time the system does not limit."""
        patience = self._seconds * (WAITED if sys.platform != "win32" else 1)
        own = OwnTime(process.pid)
        while not over.wait(min(patience / 4, LOOK_SECONDS)):
            if own.spent() > patience:
                self._is_late = True
                process.kill()
                return

    def _lost(self, process: subprocess.Popen[bytes], source: SourceFile) -> Answer:
        """The result of a text whose check ended the process."""
        if process.stdin is not None:
            _close(process.stdin)
        code = process.wait()
        told = self._told()
        self._drop()
        if self._is_late or (sys.platform != "win32" and code == -signal.SIGPROF):
            return took_too_long(source, self._seconds, told)
        return process_ended(source, _how(code), told)

    def _told(self) -> str:
        if self._errors is None:
            return ""
        self._errors.seek(max(0, self._errors.seek(0, 2) - _MOST_TOLD))
        return self._errors.read().decode("utf-8", "replace")

    def _drop(self) -> None:
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

    def end(self) -> None:
        """Ends the process, whoever waits for it, and begins no other."""
        self._ended = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Ends the process, which nobody waits for."""
        self._ended = True
        self._drop()


def _close(stream: IO[bytes]) -> None:
    try:
        stream.close()
    except OSError:  # what was still to be written goes nowhere
        return


def _how(code: int) -> str:
    """`signal SIGSEGV`, `status 1`."""
    if code >= 0:
        return f"status {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
