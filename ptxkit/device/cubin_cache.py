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

from ptxkit.cache import SourceKey, evict_old, installation_stamp, read_entry, user_cache_folder, write_entry
from ptxkit.fast_dataclasses import dataclass

_PREFIX = "cubin."
_MAX_ENTRIES = 512
"""Entries; the oldest go first."""


@dataclass(frozen=True, slots=True)
class CubinKey:
    """What an entry is about."""

    ptx: str
    target: str
    options: tuple[str, ...]
    is_verified: bool
    compiler: tuple[int, ...]

    @property
    def digest(self) -> str:
        """A name that no other entry has."""
        parts = (installation_stamp(), self.target, *self.options, str(self.is_verified), str(self.compiler), self.ptx)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class CubinRecord:
    """What an entry holds: machine code, the compiler's log, what the verifier left open, if it was asked, and the
    compiler's name."""

    code: bytes
    log: str
    undecided: tuple[str, ...] | None = None
    compiler: str = ""


def load_cubin(entry: CubinKey) -> CubinRecord | None:
    """What is kept; None where there is no sound entry."""
    folder = user_cache_folder()
    found = None if folder is None else read_entry(_path(folder, entry), _key(entry))
    match found:
        case (bytes(code), str(log), None | tuple() as undecided, str(compiler)):
            return CubinRecord(code, log, undecided, compiler)
    return None


def save_cubin(entry: CubinKey, made: CubinRecord) -> None:
    """Keeps what was compiled, where that can be done."""
    folder = user_cache_folder()
    if folder is not None:
        with suppress(OSError):
            write_entry(_path(folder, entry), _key(entry), (made.code, made.log, made.undecided, made.compiler))
            evict_old(folder, _PREFIX, _MAX_ENTRIES)


def _path(folder: str, entry: CubinKey) -> str:
    return os.path.join(folder, f"{_PREFIX}{entry.digest}.bin")


def _key(entry: CubinKey) -> SourceKey:
    return ((entry.digest, len(entry.ptx), 0),)
