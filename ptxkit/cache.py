"""Data compiled from files of the installation, kept so that the next command need not compile it again.

A copy may stand in two places: beside the package, where a wheel brings one along, and in the user's cache folder,
where it is put when there is no sound one. Each says what it was made from (name, size and checksum of every source),
and is used only where that is what stands there now; so an edited, damaged or outdated copy is made again. Files are
written whole and renamed into place, so that processes may race; where nothing can be written, all works as before.

The data are plain: numbers, texts, None, and lists, tuples and dictionaries of them.
"""

from __future__ import annotations

import marshal
import os
import stat
import sys
import time
import zlib
from _thread import get_ident
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any

from ptxkit.resources import PACKAGE, grammar_folder

PREBUILT = "_compiled"
"""The folder in the package for the copies that a wheel brings along."""

_FORMAT = b"ptxkit 1\n"
_MARSHAL_VERSION = 4  # which every Python from 3.4 on reads
_MAX_COPIES = 4  # of older versions, which another checkout may still use

SourceKey = tuple[tuple[str, int, int], ...]


def load_or_compile(name: str, sources: Sequence[str], make: Callable[[], Any]) -> Any:
    """What `make` gives, from a copy where there is a sound one. `sources`: the files that it depends on, all of them.

    Raises what `make` raises.
    """
    key = checksum_key(sources)
    found = read_entry(os.path.join(PACKAGE, PREBUILT, f"{name}.bin"), key)
    if found is not None:
        return found
    folder = user_cache_folder()
    if folder is None:
        return make()
    # Each Python has copies of its own: nothing is asked of another one's arithmetic.
    path = os.path.join(folder, f"{name}.{sys.implementation.cache_tag}.{zlib.crc32(repr(key).encode()):08x}.bin")
    found = read_entry(path, key)
    if found is None:
        found = make()
        # A full disk or a read-only folder costs the next command some time, and that is all.
        with suppress(OSError):
            write_entry(path, key, found)
            evict_old(folder, f"{name}.", _MAX_COPIES)
    return found


def load_or_compute(name: str, make: Callable[[], Any]) -> Any:
    """What `make` gives for this state of the installation, whatever files it depends on, from a copy where there is a
    sound one. Raises what `make` raises."""
    folder = user_cache_folder()
    if folder is None:
        return make()
    path, key = os.path.join(folder, f"{name}.{installation_stamp()}.bin"), ((installation_stamp(), 0, 0),)
    found = read_entry(path, key)
    if found is None:
        found = make()
        with suppress(OSError):
            write_entry(path, key, found)
            evict_old(folder, f"{name}.", _MAX_COPIES)
    return found


def checksum_key(sources: Iterable[str]) -> SourceKey:
    """Name, size and checksum of each file; a file that is missing counts as such."""
    key = []
    for path in sources:
        try:
            with open(path, "rb", buffering=0) as file:
                data = file.read()
        except OSError:
            data = b""
        key.append((os.path.basename(path), len(data), zlib.crc32(data)))
    return tuple(key)


def read_entry(path: str, key: SourceKey) -> Any:
    """The data in a copy that was made from these sources; None where there is no sound one."""
    try:
        with open(path, "rb", buffering=0) as file:
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
    return data if made_from == key else None


def write_entry(path: str, key: SourceKey, data: Any) -> None:
    """Put a copy at `path`, in one step. Raises OSError where that cannot be done."""
    body = marshal.dumps((key, data), _MARSHAL_VERSION)
    handle, temporary = _new_file(os.path.dirname(path))
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_FORMAT + zlib.crc32(body).to_bytes(4, "big") + body)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def _new_file(folder: str) -> tuple[int, str]:
    """A file that nobody else has, open for writing. (`tempfile` takes as long to load as a small file to lint.)"""
    while True:
        name = os.path.join(folder, f".part-{os.getpid():x}-{time.monotonic_ns():x}-{get_ident():x}")
        try:
            return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), name
        except FileExistsError:
            continue


def python_files(*folders: str) -> list[str]:
    """The Python files of some folders of the package: what they compile depends on them."""
    found = []
    for folder in folders:
        place = os.path.join(PACKAGE, folder)
        found += [os.path.join(place, name) for name in sorted(os.listdir(place)) if name.endswith(".py")]
    return found


def grammar_files(*names: str) -> list[str]:
    """Files of the grammar folder by name; a folder's name stands for all files in it."""
    found = []
    for name in names:
        path = os.path.join(grammar_folder(), name)
        found += [os.path.join(path, each) for each in sorted(os.listdir(path))] if os.path.isdir(path) else [path]
    return found


@cache
def installation_stamp() -> str:
    """What tells one state of the installation from another: the sizes and times of its files, grammars included."""
    return _installation_state()


def is_installation_unchanged() -> bool:
    """Whether the installation is still as it was when this process first asked for its stamp."""
    return installation_stamp() == _installation_state()


@cache
def installation_checksum() -> str:
    """What tells one state of the installation from another wherever it stands: names and checksums of its files."""
    found: list[tuple[str, int, int]] = []
    for top in dict.fromkeys((PACKAGE, grammar_folder())):
        listed: list[tuple[str, int, int]] = []
        _list_files(top, listed)
        for path, size, _ in listed:
            # An installed package holds the grammars that stand beside it in a checkout.
            is_own = top != PACKAGE or not path.startswith(os.path.join(PACKAGE, "_"))
            is_read = path.endswith((".py", ".isa", ".lark", ".toml"))
            if is_read and (is_own or os.path.dirname(path) == PACKAGE):
                with suppress(OSError), open(path, "rb") as file:
                    found.append((os.path.relpath(path, top), size, zlib.crc32(file.read())))
    return f"{zlib.crc32(repr(sorted(found)).encode()):08x}"


def _installation_state() -> str:
    found: list[tuple[str, int, int]] = []
    for top in dict.fromkeys((PACKAGE, grammar_folder())):
        _list_files(top, found)
    data = repr(sorted(found)).encode()
    # Not hashlib, which takes as long to load as a small file to lint; nobody makes two states alike on purpose.
    return f"{zlib.crc32(data):08x}{zlib.crc32(data[::-1]):08x}{len(data):08x}"


def _list_files(folder: str, found: list[tuple[str, int, int]]) -> None:
    """Path, size and time of every file in a folder and below it."""
    with os.scandir(folder) as entries:
        for each in entries:
            if each.is_dir():
                if each.name != "__pycache__":
                    _list_files(each.path, found)
            else:
                with suppress(FileNotFoundError):  # an editor's, gone again
                    status = each.stat()
                    found.append((each.path, status.st_size, status.st_mtime_ns))


def user_cache_folder() -> str | None:
    """The user's cache folder, made if need be; None where there is none, or it is not ours alone."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # A relative path is invalid, and to be ignored. Source: XDG Base Directory Specification, "Basics". It would lead
    # to another folder in each working directory, and perhaps to one that somebody else has filled.
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


def evict_old(folder: str, prefix: str, keep: int) -> None:
    """Remove all but the newest files whose names begin so."""
    copies = [each for each in os.scandir(folder) if each.name.startswith(prefix)]
    copies.sort(key=lambda each: each.stat().st_mtime, reverse=True)
    for stale in copies[keep:]:
        with suppress(OSError):
            os.unlink(stale.path)
