"""What clients and the server send each other: eight bytes of length, the lowest first, and plain data.

The first message of a client may pass open files as well. Both sides belong to the same user, which is checked when
they connect.

Only modules that load fast are imported: `_socket` is the part of `socket` that is used here.
"""

from __future__ import annotations

import _socket
import marshal
import sys
from collections.abc import Sequence

from ptxkit.lint_server.limits import MAX_MESSAGE_BYTES

TYPE_CHECKING = False  # `typing` takes too long to import for a program that does little
if TYPE_CHECKING:
    from typing import Any

ACCEPTED = b"a"
"""What the server answers to a call that it can run."""

GO = b"g"
"""What a client sends after the server has accepted its call: from then on it does not do the work itself."""

_LENGTH_BYTES = 8
_INT_BYTES = 4


def peer_user(connection: _socket.socket) -> int:
    """Returns the number of the user at the other end. Raises OSError."""
    credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 3 * _INT_BYTES)
    return int.from_bytes(credentials[_INT_BYTES : 2 * _INT_BYTES], sys.byteorder)


def send_message(connection: _socket.socket, message: Any, files: Sequence[int] = ()) -> None:
    """Sends a message, and open files with it. Raises OSError, and ValueError for what is not plain data."""
    data = marshal.dumps(message)
    numbers = b"".join(each.to_bytes(_INT_BYTES, sys.byteorder) for each in files)
    passed = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers)] if files else []
    connection.sendmsg([len(data).to_bytes(_LENGTH_BYTES, "little")], passed)
    connection.sendall(data)


def receive_message(connection: _socket.socket, most_files: int = 0) -> tuple[Any, list[int]]:
    """Returns a message, and the files that were passed with it. Raises OSError, EOFError and ValueError."""
    head, passed, _, _ = connection.recvmsg(_LENGTH_BYTES, _socket.CMSG_SPACE(most_files * _INT_BYTES))
    files = [
        int.from_bytes(numbers[start : start + _INT_BYTES], sys.byteorder)
        for level, kind, numbers in passed
        if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_RIGHTS)
        for start in range(0, len(numbers) - _INT_BYTES + 1, _INT_BYTES)
    ]
    head += _receive_bytes(connection, _LENGTH_BYTES - len(head)) if head else b""
    length = int.from_bytes(head, "little")
    if len(head) < _LENGTH_BYTES or length > MAX_MESSAGE_BYTES:
        raise EOFError
    return marshal.loads(_receive_bytes(connection, length)), files


def _receive_bytes(connection: _socket.socket, count: int) -> bytes:
    pieces = []
    while count:
        piece = connection.recv(min(count, 1 << 20))
        if not piece:
            raise EOFError
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)
