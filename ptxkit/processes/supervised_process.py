"""The parent's side: a child process that receives messages, replies to them, and is ended if it takes too long.

A `SupervisedProcess` is one process of the system. When it is lost, `receive` raises `ProcessLostError`, and the caller
starts another. The child has its own process group, so that its children are ended with it.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from ptxkit.processes.cpu_time import POLL_SECONDS, CheckTimer
from ptxkit.processes.limits import MAX_STDERR_BYTES
from ptxkit.processes.messages import read_message, write_message

_PROGRAM = "import sys; sys.path[:] = {path!r}; from ptxkit.processes.child_process import run_child; run_child()"
"""The child's program. `path` is that of this process, and its first folder contains no other ptxkit."""


_STACK_SECONDS = 2.0
"""The seconds of its own time (`CheckTimer`) in which a process that took too long can report its stack before it is
killed.
"""


class ProcessLostError(Exception):
    """The process has ended; the message is `signal SIGSEGV` or `status 1`. errors: the end of its standard error."""

    def __init__(self, how: str, errors: str) -> None:
        super().__init__(how)
        self.errors = errors


class ProcessTimeoutError(ProcessLostError):
    """The process was ended because it took too long. errors: with the stack at that time."""


class SupervisedProcess:
    """A child that runs `function(channel, *arguments)`, where `channel` is its `ParentChannel`. Raises OSError.

    The function must be a public one of a module. captures_errors: whether the child's standard error is kept for
    ProcessLostError instead of being written to that of this process. The process is killed when this object is
    deleted, and at the end of this process.
    """

    def __init__(self, function: Callable[..., None], *arguments: object, captures_errors: bool = True) -> None:
        self._errors: IO[bytes] | None = None
        if captures_errors:
            self._errors = tempfile.TemporaryFile(prefix="ptxkit-")  # noqa: SIM115 (as long as the process)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM.format(path=sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            process_group=0 if sys.platform != "win32" else None,
        )
        self._watchdog = _Watchdog(self._process, reports_stack=captures_errors)
        self._finalizer = weakref.finalize(self, _end, self._process, self._watchdog)
        self.send((function, arguments))

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @contextmanager
    def time_limit(self, seconds: float) -> Iterator[None]:
        """Ends the process after `seconds` seconds of its own time (`CheckTimer`) in the block."""
        self._watchdog.set_limit(seconds)
        try:
            yield
        finally:
            self._watchdog.set_limit(None)

    def send(self, message: object) -> None:
        """Sends a message. If the process has ended, `receive` raises ProcessLostError."""
        assert self._process.stdin is not None
        with suppress(OSError, ValueError):  # ValueError: it was closed
            write_message(self._process.stdin, message)

    def receive(self) -> Any:
        """Waits for a message. Raises ProcessLostError."""
        assert self._process.stdout is not None
        try:
            return read_message(self._process.stdout)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            raise self._lost_error() from None

    def kill(self) -> None:
        """Ends the process from any thread; a thread that waits for a message receives ProcessLostError."""
        if self._process.returncode is None:
            _kill_group(self._process)

    def close(self) -> None:
        """Ends the process and waits for its end, when no thread waits for a message."""
        self._finalizer()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                with suppress(OSError):  # buffered output has no reader
                    stream.close()

    def _lost_error(self) -> ProcessLostError:
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        code = self._process.wait()
        errors = self._read_errors()
        is_timeout = self._watchdog.timed_out or (sys.platform != "win32" and code == -signal.SIGPROF)
        self.close()
        return (ProcessTimeoutError if is_timeout else ProcessLostError)(_describe_exit(code), errors)

    def _read_errors(self) -> str:
        if self._errors is None or self._errors.closed:
            return ""
        self._errors.seek(max(0, self._errors.seek(0, 2) - MAX_STDERR_BYTES))
        return self._errors.read().decode("utf-8", "replace")


class _Watchdog:
    """Ends a process that has used the limit that is set; its thread starts with the first limit."""

    def __init__(self, process: subprocess.Popen[bytes], *, reports_stack: bool) -> None:
        self._process = process
        self._reports_stack = reports_stack and sys.platform != "win32"
        self._condition = threading.Condition()
        self._limit: float | None = None
        self._interval = POLL_SECONDS
        self._timer = CheckTimer(process.pid)
        self._thread: threading.Thread | None = None
        self._is_stopped = False
        self.timed_out = False

    def set_limit(self, seconds: float | None) -> None:
        """Counts the time of the process from this call on, or not at all for None."""
        with self._condition:
            self._limit = seconds
            if seconds is not None:
                self._interval = min(seconds / 4, POLL_SECONDS)
                self._timer = CheckTimer(self._process.pid, self._interval)
                if self._thread is None:
                    self._thread = threading.Thread(target=self._watch, daemon=True)
                    self._thread.start()
            self._condition.notify()

    def stop(self) -> None:
        """Ends the thread."""
        with self._condition:
            self._is_stopped = True
            self._condition.notify()

    def _watch(self) -> None:
        with self._condition:
            while not self._is_stopped:
                self._condition.wait(None if self._limit is None else self._interval)
                if self._limit is not None and self._timer.elapsed_seconds() > self._limit:
                    self.timed_out, self._limit = True, None
                    self._end_process()

    def _end_process(self) -> None:
        if self._reports_stack and self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGPROF)
                self._await_end()
        _kill_group(self._process)

    def _await_end(self) -> None:
        """Waits until the process has ended, or has used the time in which it can report its stack."""
        timer = CheckTimer(self._process.pid)
        while timer.elapsed_seconds() < _STACK_SECONDS:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(POLL_SECONDS)
                return


def _end(process: subprocess.Popen[bytes], watchdog: _Watchdog) -> None:
    watchdog.stop()
    _kill_group(process)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and its children. The number of a group is not reused while it has members."""
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _describe_exit(code: int) -> str:
    """Describes an exit: `signal SIGSEGV`, `status 1`."""
    if code >= 0:
        return f"status {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"
