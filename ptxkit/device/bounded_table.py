"""Tables of bounded size."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TypeVar

from ptxkit.device.limits import MAX_CACHED_LAUNCHES

_ValueT = TypeVar("_ValueT")


def insert_bounded(table: dict[Any, _ValueT], key: Any, value: _ValueT) -> _ValueT:
    """Puts a value into a table of bounded size, and returns it."""
    if len(table) >= MAX_CACHED_LAUNCHES:
        with suppress(StopIteration, RuntimeError):  # another thread may change the table at the same time
            table.pop(next(iter(table)), None)
    table[key] = value
    return value
