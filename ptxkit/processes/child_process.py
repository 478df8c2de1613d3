"""The child's side: its channel to the process that started it, and its own limits.

The child ends when its parent has ended, unless it executes code that does not let other threads of Python run; then a
limit of processor time, which the system enforces, ends it.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import sys
import threading
from queue import SimpleQueue
from typing import IO, Any

from ptxkit.processes.messages import read_bytes, write_message


class ParentChannel:
    """Messages from and to the parent. Other output of this process is redirected to standard error."""

    def __init__(self) -> None:
        self._replies = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        requests = os.fdopen(os.dup(0), "rb")
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        self._requests: SimpleQueue[bytes] = SimpleQueue()
        threading.Thread(target=self._read_requests, args=(requests,), daemon=True).start()

    def send(self, message: object) -> None:
        """Sends a message to the parent."""
        write_message(self._replies, message)

    def receive(self) -> Any:
        """Waits for the next message and returns it. The process ends if the parent has ended."""
        return pickle.loads(self._requests.get())

    def _read_requests(self, requests: IO[bytes]) -> None:
        if sys.platform != "win32":  # the stack that is reported on this signal is that of the main thread
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPROF})
        try:
            while True:
                self._requests.put(read_bytes(requests))
        except (EOFError, OSError):
            _exit_with_children()


def run_child() -> None:
    """Runs the function that the parent sends first: `function(channel, *arguments)`."""
    if sys.platform != "win32":
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
        # The stack is reported on this signal, before its usual effect: to end the process.
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        faulthandler.register(signal.SIGPROF, all_threads=False, chain=True)
    faulthandler.enable()
    channel = ParentChannel()
    function, arguments = channel.receive()
    function(channel, *arguments)


def limit_memory(most: int) -> None:
    """Limits the address space in bytes of this process and its children, and disables core files."""
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def limit_processor_time(seconds: float) -> None:
    """Makes the system end this process after `seconds` more seconds of processor time; 0 removes the limit."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def peak_memory() -> int:
    """Returns the peak memory of this process in bytes, or 0 if the system does not report it."""
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _exit_with_children() -> None:
    if sys.platform != "win32" and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(0)
