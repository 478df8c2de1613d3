"""Compiled kernels, kept in the user's cache folder: what was compiled once is not compiled, or verified, again.

An entry is found by all that it was made from: the PTX, target, options, whether it was verified, the version of the
compiler, and the files of ptxkit itself (sizes and times), since a later verifier may find more. Entries are written
whole and renamed into place, so that processes may race; one that is damaged counts as missing, and where nothing can
be written, all works as before.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress

from ptxkit.cache import Key, clear, read, stamp, user_folder, write
from ptxkit.records import dataclass

_PREFIX = "cubin."
_KEPT = 512
"""Entries; the oldest go first."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What an entry is about."""

    ptx: str
    target: str
    options: tuple[str, ...]
    verified: bool
    compiler: tuple[int, ...]

    @property
    def digest(self) -> str:
        """A name that no other entry has."""
        parts = (stamp(), self.target, *self.options, str(self.verified), str(self.compiler), self.ptx)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Found:
    """What an entry holds: machine code, the compiler's log, what the verifier left open, if it was asked, and the
    compiler's name."""

    code: bytes
    log: str
    undecided: tuple[str, ...] | None = None
    compiler: str = ""


def find(entry: Entry) -> Found | None:
    """What is kept; None where there is no sound entry."""
    folder = user_folder()
    found = None if folder is None else read(_path(folder, entry), _key(entry))
    match found:
        case (bytes(code), str(log), None | tuple() as undecided, str(compiler)):
            return Found(code, log, undecided, compiler)
    return None


def keep(entry: Entry, made: Found) -> None:
    """Keeps what was compiled, where that can be done."""
    folder = user_folder()
    if folder is not None:
        with suppress(OSError):
            write(_path(folder, entry), _key(entry), (made.code, made.log, made.undecided, made.compiler))
            clear(folder, _PREFIX, _KEPT)


def _path(folder: str, entry: Entry) -> str:
    return os.path.join(folder, f"{_PREFIX}{entry.digest}.bin")


def _key(entry: Entry) -> Key:
    return ((entry.digest, len(entry.ptx), 0),)
