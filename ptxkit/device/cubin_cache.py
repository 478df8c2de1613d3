"""A cache of cubins in the user's cache folder: a kernel is not compiled or verified again.

The key of an entry contains everything that it depends on: the PTX, the target, the options, whether it was verified,
the version of the compiler, and the files of ptxkit (sizes and times), since a later verifier may find more errors.
"""

from __future__ import annotations

import hashlib

from ptxkit.content_store import ContentStore, user_cache_folder
from ptxkit.device.limits import MAX_CACHED_CUBINS
from ptxkit.fast_dataclasses import dataclass
from ptxkit.installation import installation_stamp
from ptxkit.kernel_model.launch_limits import LaunchLimit


@dataclass(frozen=True, slots=True)
class CubinKey:
    """The key of an entry."""

    ptx: str
    target: str
    options: tuple[str, ...]
    is_verified: bool
    compiler: tuple[int, ...]

    @property
    def digest(self) -> str:
        """A file name that is unique to the key."""
        parts = (installation_stamp(), self.target, *self.options, str(self.is_verified), str(self.compiler), self.ptx)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class CubinRecord:
    """The contents of an entry: machine code, the compiler's log, what the verifier could not decide (None if it did
    not run), the compiler's name, and the launch limits of each kernel.
    """

    code: bytes
    log: str
    undecided: tuple[str, ...] | None = None
    compiler: str = ""
    limits: tuple[tuple[str, tuple[LaunchLimit, ...]], ...] = ()


def load_cubin(entry: CubinKey) -> CubinRecord | None:
    """Returns the entry, or None if there is no valid one."""
    match _store().get(entry.digest, entry.digest):
        case (bytes(code), str(log), None | tuple() as undecided, str(compiler), tuple() as limits):
            return CubinRecord(code, log, undecided, compiler, limits)
    return None


def save_cubin(entry: CubinKey, made: CubinRecord) -> None:
    """Saves an entry if the folder can be written."""
    store = _store()
    if store.put(entry.digest, entry.digest, (made.code, made.log, made.undecided, made.compiler, made.limits)):
        store.evict()


def _store() -> ContentStore:
    return ContentStore(user_cache_folder(), "cubin.", max_entries=MAX_CACHED_CUBINS)
