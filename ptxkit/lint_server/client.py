"""A call of the server, made by a process that would otherwise do the work itself.

A call that fails at any point is None, and the caller does the work. Only modules that load fast are imported.
"""

from __future__ import annotations

import os
from contextlib import suppress

from ptxkit.lint_server.socket_place import SWITCH, is_private, is_supported, runtime_folder, socket_path

TYPE_CHECKING = False  # `typing` takes too long to import for a program that does little

if TYPE_CHECKING:
    import _socket
    from typing import Any

    from ptxkit.lint_server.kept_input import KeptInput
    from ptxkit.lint_server.process_context import ProcessContext


_SHUT_WR, _SHUT_RDWR = 1, 2
"""How a connection is closed. Source: shutdown(2)."""


class ServerCall:
    """One call. Its work has begun when this object exists."""

    def __init__(self, connection: _socket.socket, kept: KeptInput | None) -> None:
        self._connection, self._kept = connection, kept

    def wait(self) -> Any:
        """Waits for the reply; None if the process of the call is lost. Raises OSError if standard input cannot be read
        again."""
        from ptxkit.lint_server.messages import receive_message

        try:
            reply, _ = receive_message(self._connection)
        except (OSError, EOFError, ValueError, TypeError):
            reply = None
            if self._kept is not None:
                self._kept.rewind()
        self._connection.close()
        return reply

    def interrupt(self) -> None:
        """Makes the server interrupt the process of the call, as SIGINT does."""
        with suppress(OSError):
            self._connection.shutdown(_SHUT_WR)

    def abandon(self) -> None:
        """Ends the call from any thread: the server ends its process, and `wait` returns None."""
        with suppress(OSError):
            self._connection.shutdown(_SHUT_RDWR)


def begin_call(
    program: str, argument: object, *, shares_context: bool = False, reads_input: bool = False
) -> ServerCall | None:
    """Begins a call of a program of the server, with plain data as its argument; None if no server answers.

    shares_context: whether the program has the standard streams, the working directory and the environment of this
    process. reads_input: whether it reads standard input. Raises OSError if that cannot be read.
    """
    folder = None if os.environ.get(SWITCH) or not is_supported() else runtime_folder()
    if folder is None or not is_private(folder):
        return None
    path = socket_path(folder)
    if not os.path.exists(path):
        return None
    context = None
    if shares_context:
        from ptxkit.lint_server.process_context import present_context

        context = present_context()
        if context is None:
            return None
    kept = None
    if reads_input:
        from ptxkit.limits import MAX_FILE_BYTES
        from ptxkit.lint_server.kept_input import KeptInput

        kept = KeptInput(MAX_FILE_BYTES + 1)
    connection = _connect(path, (program, argument, os.getpriority(os.PRIO_PROCESS, 0)), context)
    return None if connection is None else ServerCall(connection, kept)


def _connect(path: str, call: tuple[str, object, int], context: ProcessContext | None) -> _socket.socket | None:
    import _socket

    from ptxkit.lint_server.limits import ACCEPT_SECONDS
    from ptxkit.lint_server.messages import ACCEPTED, GO, peer_user, receive_message, send_message

    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM | _socket.SOCK_CLOEXEC)
    files: list[int] = []
    try:
        connection.settimeout(ACCEPT_SECONDS)
        connection.connect(path)
        if peer_user(connection) != os.getuid():
            raise PermissionError
        if context is not None:
            from ptxkit.lint_server.process_context import open_files

            files = open_files()
        send_message(connection, (*call, None if context is None else context.fields()), files)
        answer, _ = receive_message(connection)
        if answer != ACCEPTED:
            raise ValueError
        connection.settimeout(None)
        connection.sendall(GO)
    except (OSError, EOFError, ValueError, TypeError):
        connection.close()
        return None
    except BaseException:
        connection.close()
        raise
    finally:
        for file in files[3:]:
            os.close(file)
    return connection
