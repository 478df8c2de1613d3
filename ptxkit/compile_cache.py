"""Data compiled from files of the installation, kept so that the next command need not compile it again.

There are up to two copies: one in the package, which a wheel brings along, and one in the user's cache folder, which is
written when there is no sound one. Each contains what it was made from (name, size and checksum of every source) and is
used only where the sources are still the same, so that an edited, damaged or outdated copy is made again.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from ptxkit.content_store import ContentStore, user_cache_folder
from ptxkit.installation import checksum_key, installation_stamp
from ptxkit.limits import MAX_COMPILED_COPIES
from ptxkit.resources import PACKAGE

PREBUILT = "_compiled"
"""The folder in the package for the copies that a wheel brings along."""


def load_or_compile(name: str, sources: Sequence[str], make: Callable[[], Any]) -> Any:
    """What `make` gives, from a copy where there is a sound one. `sources`: the files that it depends on, all of them.

    Raises what `make` raises.
    """
    key = checksum_key(sources)
    found = prebuilt_store(os.path.join(PACKAGE, PREBUILT)).get(name, key)
    if found is not None:
        return found
    # Each Python has copies of its own: nothing is asked of another one's arithmetic.
    return _load_or_make(name, f"{sys.implementation.cache_tag}.{zlib.crc32(repr(key).encode()):08x}", key, make)


def load_or_compute(name: str, make: Callable[[], Any]) -> Any:
    """What `make` gives for this state of the installation, whatever files it depends on, from a copy where there is a
    sound one. Raises what `make` raises."""
    return _load_or_make(name, installation_stamp(), installation_stamp(), make)


def prebuilt_store(folder: str) -> ContentStore:
    """The copies that a wheel brings along, by name."""
    return ContentStore(folder, max_entries=MAX_COMPILED_COPIES)


def _load_or_make(name: str, version: str, stamp: object, make: Callable[[], Any]) -> Any:
    store = ContentStore(user_cache_folder(), f"{name}.", max_entries=MAX_COMPILED_COPIES)
    found = store.get(version, stamp)
    if found is None:
        found = make()
        if store.put(version, stamp, found):
            store.evict()
    return found
