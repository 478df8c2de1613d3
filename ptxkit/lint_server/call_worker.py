"""The server's view of a process that answers calls."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress

from ptxkit.lint_server.served_call import DONE, REPLYING


class CallWorker:
    """channel: to the process. client: the connection of the client whose call has no result yet; None without one.

    is_idle: whether the process can answer another call. is_interrupted: whether its client has ended the call.
    """

    def __init__(self, pid: int, channel: socket.socket) -> None:
        self.pid, self.channel = pid, channel
        self.client: socket.socket | None = None
        self.is_idle = True
        self.is_interrupted = False

    def begin_call(self, client: socket.socket) -> bool:
        """Passes the connection of a client to the process. Returns whether that was possible."""
        self.is_idle = self.is_interrupted = False
        try:
            socket.send_fds(self.channel, [b"c"], [client.fileno()])
        except OSError:  # it has ended
            return False
        self.client = client
        return True

    def read_messages(self) -> None:
        """Reads what the process has reported."""
        with suppress(BlockingIOError, ConnectionError):
            data = self.channel.recv(64)
            if REPLYING in data:  # from here on, the end of the connection is the usual one
                self._close_client()
            if DONE in data:
                self._close_client()
                self.is_idle = True

    def end_call(self, *, is_client_gone: bool) -> None:
        """Ends the process if its client has gone, or interrupts it if the client waits for its end."""
        with suppress(ProcessLookupError):
            if is_client_gone:
                os.killpg(self.pid, signal.SIGKILL)
            elif not self.is_interrupted:
                os.kill(self.pid, signal.SIGINT)
        self.is_interrupted = True

    def dismiss(self) -> None:
        """Makes an idle process end."""
        self.is_idle = False
        self.channel.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Closes all files."""
        self.channel.close()
        self._close_client()

    def _close_client(self) -> None:
        if self.client is not None:
            self.client.close()
            self.client = None


def fork_worker(run: Callable[[socket.socket], int]) -> CallWorker:
    """Forks a process that runs a function with a channel, and ends with the status that it returns. Raises OSError."""
    mine, its = socket.socketpair()
    try:
        pid = os.fork()
    except OSError:
        mine.close()
        its.close()
        raise
    if pid == 0:
        status = 1
        try:
            os.setpgid(0, 0)
            mine.close()
            status = run(its)
        finally:
            os._exit(status)
    with suppress(OSError):  # the process does the same, whichever is first
        os.setpgid(pid, pid)
    its.close()
    mine.setblocking(False)
    return CallWorker(pid, mine)
