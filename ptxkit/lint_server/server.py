"""The server: accepts connections, passes each to a separate process, and ends it when its client has gone away.

It runs no program itself, reads nothing that a client sends, and has one thread: a fault of a call reaches no other
one.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress

from ptxkit.gc_control import freeze_all
from ptxkit.lint_server.call_worker import CallWorker, fork_worker
from ptxkit.lint_server.limits import MAX_CALLS, MAX_IDLE_WORKERS
from ptxkit.lint_server.messages import peer_user
from ptxkit.lint_server.served_call import OUTDATED_STATUS, CallProcess, Program

_CHECK_SECONDS = 60.0
"""The largest number of seconds between two checks whether the socket still has its name."""


class LintServer:
    """path: of the socket that `listener` is bound to. idle_seconds: without a call, after which it ends."""

    def __init__(
        self,
        listener: socket.socket,
        path: str,
        programs: Mapping[str, Program],
        idle_seconds: float,
    ) -> None:
        self._listener, self._path = listener, path
        self._file_number = os.stat(path).st_ino
        self._pid = os.getpid()
        self._programs = {**programs, "status": lambda _: self._pid, "stop": self._stop}
        self._idle_seconds = idle_seconds
        self._workers: dict[int, CallWorker] = {}
        self._is_ending = False

    def run(self) -> None:
        """Serves clients until it is stopped, is outdated, or was idle for too long. Calls that have begun are
        completed."""
        freeze_all()
        wakeup, signaled = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.signal(signal.SIGINT, self._end)
        signal.signal(signal.SIGTERM, self._end)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(signaled, warn_on_full_buffer=False)
        last_call = time.monotonic()
        while not self._is_ending:
            if self._listener.fileno() in self._wait(wakeup, min(self._idle_seconds, _CHECK_SECONDS)):
                self._accept()
            if any(self._busy_workers()):
                last_call = time.monotonic()
            elif time.monotonic() - last_call >= self._idle_seconds or not self._has_name():
                self._is_ending = True
        if self._has_name():
            os.unlink(self._path)
        self._listener.close()
        while any(self._busy_workers()):
            self._wait(wakeup, _CHECK_SECONDS)

    def _busy_workers(self) -> Iterator[CallWorker]:
        return (each for each in self._workers.values() if each.client is not None)

    def _wait(self, wakeup: int, seconds: float) -> dict[int, int]:
        """Waits for clients and for messages and ends of processes, and handles the latter. Returns the events by the
        numbers of files."""
        poll = select.poll()
        poll.register(wakeup, select.POLLIN)
        if self._listener.fileno() >= 0:
            poll.register(self._listener, select.POLLIN)
        for worker in self._workers.values():
            poll.register(worker.channel, select.POLLIN)
            if worker.client is not None:
                poll.register(worker.client, 0 if worker.is_interrupted else select.POLLRDHUP)  # and POLLHUP
        found = dict(poll.poll(seconds * 1000))
        with suppress(BlockingIOError):
            os.read(wakeup, 4096)
        for worker in self._workers.values():
            worker.read_messages()
            if worker.client is not None and worker.client.fileno() in found:
                worker.end_call(is_client_gone=bool(found[worker.client.fileno()] & select.POLLHUP))
        idle = [each for each in self._workers.values() if each.is_idle]
        for worker in idle[MAX_IDLE_WORKERS:]:
            worker.dismiss()
        self._collect_ended()
        return found

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return
        if peer_user(connection) != os.getuid() or sum(1 for _ in self._busy_workers()) >= MAX_CALLS:
            connection.close()
            return
        for worker in [each for each in self._workers.values() if each.is_idle]:
            if worker.begin_call(connection):
                return
        try:
            worker = fork_worker(self._run_process)
        except OSError:
            connection.close()
            return
        self._workers[worker.pid] = worker
        worker.begin_call(connection)

    def _run_process(self, channel: socket.socket) -> int:
        """What a forked process does; returns its exit status."""
        signal.set_wakeup_fd(-1)
        self._listener.close()
        for each in self._workers.values():
            each.close()
        return CallProcess(channel, self._programs).run()

    def _collect_ended(self) -> None:
        """Closes the connections of processes that have ended: their clients see that a reply is missing."""
        while self._workers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            self._workers.pop(pid).close()
            if os.waitstatus_to_exitcode(status) == OUTDATED_STATUS:
                self._is_ending = True

    def _has_name(self) -> bool:
        try:
            return os.stat(self._path).st_ino == self._file_number
        except OSError:
            return False

    def _end(self, *_: object) -> None:
        self._is_ending = True

    def _stop(self, _: object) -> object:
        os.kill(self._pid, signal.SIGTERM)
        return self._pid
