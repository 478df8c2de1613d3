"""Compiled kernels, kept in the user's cache folder: what was compiled once is not compiled, or verified, again.

An entry is found by all that it was made from: the PTX, target, options, whether it was verified, the version of the
compiler, and the files of ptxkit itself (sizes and times), since a later verifier may find more.
"""

from __future__ import annotations

import hashlib

from ptxkit.content_store import ContentStore, user_cache_folder
from ptxkit.device.limits import MAX_CACHED_CUBINS
from ptxkit.fast_dataclasses import dataclass
from ptxkit.installation import installation_stamp


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
    match _store().get(entry.digest, entry.digest):
        case (bytes(code), str(log), None | tuple() as undecided, str(compiler)):
            return CubinRecord(code, log, undecided, compiler)
    return None


def save_cubin(entry: CubinKey, made: CubinRecord) -> None:
    """Keeps what was compiled, where that can be done."""
    store = _store()
    if store.put(entry.digest, entry.digest, (made.code, made.log, made.undecided, made.compiler)):
        store.evict()


def _store() -> ContentStore:
    return ContentStore(user_cache_folder(), "cubin.", max_entries=MAX_CACHED_CUBINS)
