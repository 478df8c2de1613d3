"""The process that answers calls, one after the other: it becomes like the client's, and runs the program.

The server forks it, and gives it the connection of a client for each call. It ends instead of answering another call
if the last one has changed it.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TypeAlias

from ptxkit.installation import is_installation_unchanged
from ptxkit.lint_server.limits import ACCEPT_SECONDS, MAX_RETAINED_MEMORY
from ptxkit.lint_server.messages import ACCEPTED, GO, receive_message, send_message
from ptxkit.lint_server.process_context import (
    STREAMS,
    ProcessContext,
    assume_context,
    leave_context,
    present_limits,
)
from ptxkit.processes.child_process import peak_memory

Program: TypeAlias = Callable[[object], object]
"""A program of the server: plain data in, plain data out."""

OUTDATED_STATUS = 75
"""The exit status of a process which found that the files of ptxkit have changed since the server was started."""

REPLYING, DONE = b"r", b"d"
"""What a process reports to the server: it has the result of the call, and it can answer another one."""


class CallProcess:
    """channel: to the server, from which connections of clients arrive."""

    def __init__(self, channel: socket.socket, programs: Mapping[str, Program]) -> None:
        self._channel, self._programs = channel, programs
        self._priority = os.getpriority(os.PRIO_PROCESS, 0)
        self._limits = present_limits()

    def run(self) -> int:
        """Answers calls until the server closes the channel. Returns the exit status of the process."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for number in (signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        file_count = _count_files()
        while True:
            data, files, _, _ = socket.recv_fds(self._channel, 1, 1)
            if not data or not files:
                return 0
            with socket.socket(fileno=files[0]) as connection:
                status = self._answer(connection)
            if status is not None:
                return status
            leave_context(self._limits)
            is_as_before = (
                os.getpriority(os.PRIO_PROCESS, 0) == self._priority
                and peak_memory() <= MAX_RETAINED_MEMORY
                and threading.active_count() == 1
                and _count_files() == file_count
            )
            if not is_as_before:
                return 0
            self._channel.sendall(DONE)

    def _answer(self, connection: socket.socket) -> int | None:
        """Answers one call. Returns the exit status if the process is to end after it."""
        connection.settimeout(ACCEPT_SECONDS)
        try:
            (name, argument, priority, fields), files = receive_message(connection, len(STREAMS) + 1)
            if not is_installation_unchanged():
                return OUTDATED_STATUS
            send_message(connection, ACCEPTED)
            if connection.recv(len(GO)) != GO:
                return 1
        except (OSError, EOFError):
            return 1
        connection.settimeout(None)
        if priority > self._priority:
            os.setpriority(os.PRIO_PROCESS, 0, priority)
        if fields is not None:
            assume_context(ProcessContext(*fields), files)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        reply = self._programs[name](argument)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        self._channel.sendall(REPLYING)
        try:
            send_message(connection, reply)
        except OSError:
            return 0
        return None


def _count_files() -> int:
    return len(os.listdir("/proc/self/fd"))
