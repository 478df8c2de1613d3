"""A store of plain data on disk: each entry has a name, and a stamp that identifies its sources.

An entry is written completely and renamed into place, so that processes may race. An entry that is damaged, or has
another stamp or format, counts as missing. If nothing can be written, nothing is stored, and everything works without
the store. Data are values that `marshal` can write: numbers, texts, bytes, None, and lists, tuples and dictionaries of
them. A folder that other users can write to is never used: `private_folder` rejects it.
"""

from __future__ import annotations

import marshal
import os
import stat
import time
import zlib
from _thread import get_ident
from contextlib import suppress

TYPE_CHECKING = False  # `typing` takes too long to import for a program that does little
if TYPE_CHECKING:
    from typing import Any

_FORMAT = b"ptxkit 1\n"
_MARSHAL_VERSION = 4  # which every Python from 3.4 on can read
_PART = ".part-"
"""The prefix of the name of a file that is being written."""
_ABANDONED_AFTER = 24 * 3600.0
"""The seconds after which such a file belongs to a process that was killed."""


class ContentStore:
    """The entries of a folder whose names have the same prefix and suffix. folder: None to store nothing.

    At most `max_entries` entries, and `max_bytes` bytes in total, remain after `evict`.
    """

    def __init__(
        self,
        folder: str | None,
        prefix: str = "",
        suffix: str = ".bin",
        *,
        max_entries: int,
        max_bytes: int | None = None,
    ) -> None:
        self.folder = folder
        self._prefix, self._suffix = prefix, suffix
        self._max_entries, self._max_bytes = max_entries, max_bytes

    def get(self, name: str, stamp: object) -> Any:
        """Returns the data stored under a name, or None if none exist, or they have another stamp."""
        if self.folder is None:
            return None
        try:
            with open(self.path(name), "rb", buffering=0) as file:
                stored = file.read()
        except OSError:
            return None
        start = len(_FORMAT) + 4
        if not stored.startswith(_FORMAT) or zlib.crc32(stored[start:]).to_bytes(4, "big") != stored[start - 4 : start]:
            return None
        try:
            made_from, data = marshal.loads(stored[start:])
        except (EOFError, ValueError, TypeError):
            return None
        return data if made_from == stamp else None

    def put(self, name: str, stamp: Any, data: Any) -> bool:
        """Stores data under a name, and returns whether that was possible. A full disk only slows the next command
        down.
        """
        if self.folder is None:
            return False
        try:
            self.write(name, stamp, data)
        except (OSError, ValueError):  # ValueError: not plain data
            return False
        return True

    def write(self, name: str, stamp: Any, data: Any) -> str:
        """Stores data under a name atomically, and returns the path. Raises OSError, and ValueError for other data."""
        assert self.folder is not None
        path, body = self.path(name), marshal.dumps((stamp, data), _MARSHAL_VERSION)
        handle, temporary = _new_file(self.folder)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_FORMAT + zlib.crc32(body).to_bytes(4, "big") + body)
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        return path

    def mark_used(self, name: str, after: float) -> None:
        """Updates the time of an entry that is older than `after` seconds to the present."""
        with suppress(OSError):
            if os.stat(self.path(name)).st_mtime < time.time() - after:
                os.utime(self.path(name))

    def evict(self) -> None:
        """Removes the oldest entries until the limits hold, and the files of killed processes."""
        with suppress(OSError):
            self._evict()

    def path(self, name: str) -> str:
        """Returns the path of an entry. Raises ValueError for a name that would be outside of the folder."""
        assert self.folder is not None
        file_name = f"{self._prefix}{name}{self._suffix}"
        if os.path.basename(file_name) != file_name or "\0" in file_name:
            raise ValueError(f"{name!r} is not a name of an entry")
        return os.path.join(self.folder, file_name)

    def _evict(self) -> None:
        if self.folder is None:
            return
        found = []
        with os.scandir(self.folder) as entries:
            for each in entries:
                is_part = each.name.startswith(_PART)
                if is_part or (each.name.startswith(self._prefix) and each.name.endswith(self._suffix)):
                    with suppress(FileNotFoundError):
                        status = each.stat()
                        found.append((status.st_mtime, status.st_size, each.path, is_part))
        found.sort(reverse=True)
        abandoned, size, count = time.time() - _ABANDONED_AFTER, 0, 0
        for used, length, path, is_part in found:
            size, count = size + length, count + (not is_part)
            is_too_much = count > self._max_entries or (self._max_bytes is not None and size > self._max_bytes)
            if used < abandoned if is_part else is_too_much:
                with suppress(OSError):
                    os.unlink(path)


def user_cache_folder() -> str | None:
    """Returns the user's cache folder, which is created if necessary, or None if it cannot be used or others can write
    to it.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    # A relative path is invalid and must be ignored. Source: XDG Base Directory Specification, "Basics". It would be
    # another folder in each working directory, perhaps one that another user has filled.
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    if not os.path.isabs(base):
        return None
    return private_folder(os.path.join(base, "ptxkit"))


def private_folder(folder: str) -> str | None:
    """Returns the folder, which is created if necessary, or None if that is impossible, or others can write to it."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.stat(folder)
    except OSError:
        return None
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        return None
    return folder


def _new_file(folder: str) -> tuple[int, str]:
    """Creates a new file, open for writing. (`tempfile` takes as long to import as a small file to lint.)"""
    while True:
        name = os.path.join(folder, f"{_PART}{os.getpid():x}-{time.monotonic_ns():x}-{get_ident():x}")
        try:
            return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), name
        except FileExistsError:
            continue
