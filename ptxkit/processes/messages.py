"""Messages between a process and its child: eight bytes of length, the lowest first, and a pickled object."""

from __future__ import annotations

import pickle
from typing import IO, Any

LENGTH_BYTES = 8
"""The number of bytes of the length of a message."""


def write_message(stream: IO[bytes], message: object) -> None:
    """Writes a message after its length. Raises OSError if the other side has ended."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(LENGTH_BYTES, "little") + data)
    stream.flush()


def read_bytes(stream: IO[bytes]) -> bytes:
    """Returns the pickled object of the next message. Raises EOFError if the other side has ended."""
    head = stream.read(LENGTH_BYTES)
    data = stream.read(int.from_bytes(head, "little"))
    if len(head) < LENGTH_BYTES or len(data) < int.from_bytes(head, "little"):
        raise EOFError
    return data


def read_message(stream: IO[bytes]) -> Any:
    """Returns the next message. Raises EOFError if the other side has ended, and UnpicklingError."""
    return pickle.loads(read_bytes(stream))
