"""The socket of the server: in a folder that only the user can enter, under a name for this ptxkit and this Python.

A client finds only a server that would do exactly what the client does: with the same files of ptxkit, interpreter,
options of the interpreter, packages, view of the file system, and rights. The server itself compares the state of the
files of ptxkit at each call (`ptxkit.installation`).
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress

from ptxkit.content_store import user_cache_folder
from ptxkit.resources import PACKAGE, grammar_folder

SWITCH = "PTXKIT_NO_SERVER"
"""The environment variable with which no server is used."""

_NAMESPACES = ("/proc/self/ns/mnt", "/proc/self/ns/pid", "/")
"""Files that are the same where paths, and numbers of processes, mean the same."""


def is_supported() -> bool:
    """Returns whether the system can pass the state of a process to another one as the server requires."""
    return sys.platform == "linux"


def runtime_folder() -> str | None:
    """Returns the folder for sockets, whether it exists or not; None if the user has no place for it.

    Source: XDG Base Directory Specification, "Environment variables". Without XDG_RUNTIME_DIR, it is inside the cache
    folder.
    """
    base = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(base):
        return os.path.join(base, "ptxkit")
    cache = user_cache_folder()
    return None if cache is None else os.path.join(cache, "run")


def is_private(folder: str) -> bool:
    """Returns whether a folder exists, belongs to the user, and cannot be entered by others."""
    try:
        status = os.stat(folder)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


def package_folders() -> list[str]:
    """Returns the absolute folders in which Python searches packages, but for that of the program that was started."""
    return [os.path.abspath(each) for each in (sys.path if sys.flags.safe_path else sys.path[1:])]


def socket_path(folder: str) -> str:
    """Returns the path of the socket of the server for processes such as this one."""
    try:  # without OpenSSL, whose import takes as long as linting a small file
        from _blake2 import blake2b
    except ImportError:  # another Python version
        from hashlib import blake2b
    digest = blake2b(repr(_identity()).encode("utf-8", "backslashreplace"), digest_size=12)
    return os.path.join(folder, f"lint-{digest.hexdigest()}")


def _identity() -> tuple[object, ...]:
    flags = sys.flags
    places = []
    for path in _NAMESPACES:
        with suppress(OSError):
            status = os.stat(path)
            places.append((status.st_dev, status.st_ino))
    return (
        (PACKAGE, grammar_folder(), package_folders()),
        (sys.executable, sys.version, sys.getfilesystemencoding(), sys.getfilesystemencodeerrors()),
        (flags.optimize, flags.dev_mode, flags.utf8_mode, sys.warnoptions, sorted(sys._xoptions.items())),
        (os.uname().nodename, places),
        (os.getresuid(), os.getresgid(), sorted(os.getgroups())),
    )
