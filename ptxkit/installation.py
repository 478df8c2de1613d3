"""The state of the installation: its stamp and checksum, and those of source files of compiled data."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from contextlib import suppress
from functools import cache

from ptxkit.resources import PACKAGE, grammar_folder

TYPE_CHECKING = False  # `typing` takes too long to import for a program that does little
if TYPE_CHECKING:
    from typing import TypeAlias

SourceKey: TypeAlias = tuple[tuple[str, int, int], ...]
"""The name, size and checksum of each of some files."""


def checksum_key(sources: Iterable[str]) -> SourceKey:
    """Returns the name, size and checksum of each file, also for missing files."""
    key = []
    for path in sources:
        try:
            with open(path, "rb", buffering=0) as file:
                data = file.read()
        except OSError:
            data = b""
        key.append((os.path.basename(path), len(data), zlib.crc32(data)))
    return tuple(key)


def python_files(*folders: str) -> list[str]:
    """Returns the Python files of some folders of the package, on which compiled data depends."""
    found = []
    for folder in folders:
        place = os.path.join(PACKAGE, folder)
        found += [os.path.join(place, name) for name in sorted(os.listdir(place)) if name.endswith(".py")]
    return found


def grammar_files(*names: str) -> list[str]:
    """Returns files of the grammar folder by name; a folder's name means all files in it."""
    found = []
    for name in names:
        path = os.path.join(grammar_folder(), name)
        found += [os.path.join(path, each) for each in sorted(os.listdir(path))] if os.path.isdir(path) else [path]
    return found


@cache
def installation_stamp() -> str:
    """Returns a text that identifies the state of the installation: sizes and times of its files, including
    grammars.
    """
    return _installation_state()


def is_installation_unchanged() -> bool:
    """Returns whether the installation is unchanged since this process first called `installation_stamp`."""
    return installation_stamp() == _installation_state()


@cache
def installation_checksum() -> str:
    """Returns a checksum of the names and contents of the files, which is the same for each copy of the
    installation.
    """
    found: list[tuple[str, int, int]] = []
    for top in dict.fromkeys((PACKAGE, grammar_folder())):
        listed: list[tuple[str, int, int]] = []
        _list_files(top, listed)
        for path, size, _ in listed:
            # An installed package contains the grammars, which a checkout has outside of the package.
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
    # hashlib takes as long to import as a small file to lint, and no protection against deliberate collisions is
    # needed.
    return f"{zlib.crc32(data):08x}{zlib.crc32(data[::-1]):08x}{len(data):08x}"


def _list_files(folder: str, found: list[tuple[str, int, int]]) -> None:
    """Collects path, size and time of every file in a folder and below it."""
    with os.scandir(folder) as entries:
        for each in entries:
            if each.is_dir():
                if each.name != "__pycache__":
                    _list_files(each.path, found)
            else:
                with suppress(FileNotFoundError):  # a temporary file of an editor that was removed
                    status = each.stat()
                    found.append((each.path, status.st_size, status.st_mtime_ns))
