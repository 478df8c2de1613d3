"""Messages between a process and its child: eight bytes of length, the lowest first, and a pickled object."""

from __future__ import annotations

import pickle
from typing import IO, Any

LENGTH_BYTES = 8
"""Bytes of the length of a message."""


def write_message(stream: IO[bytes], message: object) -> None:
    """Writes a message with its length in front. Raises OSError where the other side is gone."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(LENGTH_BYTES, "little") + data)
    stream.flush()


def read_bytes(stream: IO[bytes]) -> bytes:
    """The pickled object of the next message. Raises EOFError where the other side is gone."""
    head = stream.read(LENGTH_BYTES)
    data = stream.read(int.from_bytes(head, "little"))
    if len(head) < LENGTH_BYTES or len(data) < int.from_bytes(head, "little"):
        raise EOFError
    return data


def read_message(stream: IO[bytes]) -> Any:
    """The next message. Raises EOFError where the other side is gone, and UnpicklingError."""
    return pickle.loads(read_bytes(stream))
