"""Starts and stops the server, and reports whether one runs, or why not."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress

from ptxkit.lint_server.client import begin_call
from ptxkit.lint_server.limits import IDLE_SECONDS, MAX_WAITING_CLIENTS, START_SECONDS
from ptxkit.lint_server.served_call import Program
from ptxkit.lint_server.server import LintServer
from ptxkit.lint_server.socket_place import (
    SWITCH,
    is_private,
    is_supported,
    package_folders,
    runtime_folder,
    socket_path,
)
from ptxkit.refusal import RefusedError

_READY = b"ready\n"
_POLL_SECONDS = 0.02
_MOST_PATH_BYTES = 107
"""The bytes of the path of a socket. Source: unix(7), "Address format"."""


class ServerUnavailableError(RefusedError):
    """There can be no server, or it did not start or stop."""


def running_server() -> int | None:
    """Returns the number of the process of the server; None if none runs."""
    return _ask_server("status")


def start_server(program: str) -> int:
    """Starts the server in the background unless it runs. program: Python code that calls `serve` with the path of the
    socket, `sys.argv[1]`. Returns what `running_server` does. Raises ServerUnavailableError.
    """
    path = _prepare_path()
    running = running_server()
    if running is not None:
        return running
    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    code = f"import sys; sys.path[:] = {package_folders()!r}; {program}"
    process = subprocess.Popen(
        [sys.executable, *flags, "-P", "-c", code, path],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd="/",
        start_new_session=True,
    )
    assert process.stdout is not None
    with process.stdout as output:
        written = output.readline()  # it ends with the process
        running = running_server()
        if running is None and written != _READY:
            written += output.read()
    if running is None:
        raise ServerUnavailableError(f"the server did not start: {written.decode(errors='replace').strip()}")
    return running


def stop_server() -> bool:
    """Stops the server: its calls are completed. Returns whether one was running. Raises ServerUnavailableError."""
    found = _ask_server("stop")
    if found is None:
        return False
    folder = runtime_folder()
    limit = time.monotonic() + START_SECONDS
    while folder is not None and os.path.exists(socket_path(folder)):
        if time.monotonic() > limit:
            raise ServerUnavailableError(f"the server did not stop: process {found}", "end this process")
        time.sleep(_POLL_SECONDS)
    return True


def serve(path: str, programs: Mapping[str, Program], idle_seconds: float = IDLE_SECONDS) -> None:
    """Runs the server in this process until it ends; returns at once if another one has the place. Raises OSError."""
    os.umask(0o077)
    with open(f"{path}.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        with suppress(FileNotFoundError):
            os.unlink(path)  # of a server that was killed
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen(MAX_WAITING_CLIENTS)
            server = LintServer(listener, path, programs, idle_seconds)
            _close_streams()
            server.run()


def _ask_server(question: str) -> int | None:
    call = begin_call(question, None)
    found = None if call is None else call.wait()
    return found if isinstance(found, int) else None


def _close_streams() -> None:
    """Reports to the process that started this one that the server is ready, and detaches from its streams."""
    sys.stdout.flush()
    os.write(1, _READY)
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.close(null)


def _prepare_path() -> str:
    """Returns the path of the socket in a folder that exists. Raises ServerUnavailableError."""
    if not is_supported():
        raise ServerUnavailableError("the server needs Linux")
    if os.environ.get(SWITCH):
        raise ServerUnavailableError(f"`{SWITCH}` is set", "unset it to use a server")
    folder = runtime_folder()
    if folder is not None:
        with suppress(OSError):
            os.makedirs(folder, mode=0o700, exist_ok=True)
    if folder is None or not is_private(folder):
        where = "no folder for its socket" if folder is None else f"`{folder}` is missing, or others can enter it"
        raise ServerUnavailableError(f"the server has {where}", "set XDG_RUNTIME_DIR to a folder of mode 0700")
    path = socket_path(folder)
    if len(os.fsencode(path)) > _MOST_PATH_BYTES:
        raise ServerUnavailableError(
            f"the path of the socket is too long: `{path}`", "set XDG_RUNTIME_DIR to a short path"
        )
    return path
