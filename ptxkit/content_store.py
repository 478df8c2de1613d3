"""Entries on disk: plain data, each kept under a name with a stamp that says what it was made from.

An entry is written whole and renamed into place, so that processes may race. One that is damaged, or has another stamp
or format, counts as missing. Where nothing can be written, nothing is kept, and everything works without it. Data are
what `marshal` writes: numbers, texts, bytes, None, and lists, tuples and dictionaries of them. A folder to which other
users may write is never used: `private_folder` refuses it.
"""

from __future__ import annotations

import marshal
import os
import stat
import time
import zlib
from _thread import get_ident
from contextlib import suppress
from typing import Any

_FORMAT = b"ptxkit 1\n"
_MARSHAL_VERSION = 4  # which every Python from 3.4 on reads
_PART = ".part-"
"""How the name of a file begins that is being written."""
_ABANDONED_AFTER = 24 * 3600.0
"""Seconds after which such a file is one of a process that was killed."""


class ContentStore:
    """The entries of a folder whose names begin and end in one way. folder: None where nothing is to be kept.

    At most `max_entries` entries, and `max_bytes` bytes in all, remain after `evict`.
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
        """The data kept under a name; None where there are none, or they were made from something else."""
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
        """Keep data under a name; return whether that was possible. A full disk costs the next command some time."""
        if self.folder is None:
            return False
        try:
            self.write(name, stamp, data)
        except (OSError, ValueError):  # ValueError: no plain data
            return False
        return True

    def write(self, name: str, stamp: Any, data: Any) -> str:
        """Keep data under a name, in one step; the path. Raises OSError, and ValueError for what is no plain data."""
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
        """Give an entry that is older than so many seconds the time of one that is new."""
        with suppress(OSError):
            if os.stat(self.path(name)).st_mtime < time.time() - after:
                os.utime(self.path(name))

    def evict(self) -> None:
        """Remove the oldest entries, until no more are left than there may be, and what killed processes left."""
        with suppress(OSError):
            self._evict()

    def path(self, name: str) -> str:
        """The path of an entry. Raises ValueError for a name that would lead out of the folder."""
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
    """The user's cache folder, made if need be; None where there is none, or it is not ours alone."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # A relative path is invalid, and to be ignored. Source: XDG Base Directory Specification, "Basics". It would lead
    # to another folder in each working directory, and perhaps to one that another user has filled.
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    if not os.path.isabs(base):
        return None
    return private_folder(os.path.join(base, "ptxkit"))


def private_folder(folder: str) -> str | None:
    """The folder, made if need be; None where it cannot be, or others may write to it."""
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        status = os.stat(folder)
    except OSError:
        return None
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
        return None
    return folder


def _new_file(folder: str) -> tuple[int, str]:
    """A new file, open for writing. (`tempfile` takes as long to load as a small file to lint.)"""
    while True:
        name = os.path.join(folder, f"{_PART}{os.getpid():x}-{time.monotonic_ns():x}-{get_ident():x}")
        try:
            return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), name
        except FileExistsError:
            continue
