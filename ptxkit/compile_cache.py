"""A cache of data compiled from files of the installation.

There are up to two copies: one in the package, which a wheel contains, and one in the user's cache folder, which is
written if there is no valid one. Each contains the key of its sources (name, size and checksum of every file) and is
used only if the sources are unchanged, so that an edited, damaged or outdated copy is compiled again.
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
"""The folder in the package for the copies in a wheel."""


def load_or_compile(name: str, sources: Sequence[str], make: Callable[[], Any]) -> Any:
    """Returns the result of `make`, from a valid copy if there is one. `sources`: all files that it depends on.

    Passes the exceptions of `make` on.
    """
    key = checksum_key(sources)
    found = prebuilt_store(os.path.join(PACKAGE, PREBUILT)).get(name, key)
    if found is not None:
        return found
    # Each Python version has separate copies, because the data may depend on its implementation.
    return _load_or_make(name, f"{sys.implementation.cache_tag}.{zlib.crc32(repr(key).encode()):08x}", key, make)


def load_or_compute(name: str, make: Callable[[], Any]) -> Any:
    """Returns the result of `make` for this state of the installation, from a valid copy if there is one.

    It may depend on any file of the installation. Passes the exceptions of `make` on.
    """
    return _load_or_make(name, installation_stamp(), installation_stamp(), make)


def prebuilt_store(folder: str) -> ContentStore:
    """Returns the copies in a wheel, by name."""
    return ContentStore(folder, max_entries=MAX_COMPILED_COPIES)


def _load_or_make(name: str, version: str, stamp: object, make: Callable[[], Any]) -> Any:
    store = ContentStore(user_cache_folder(), f"{name}.", max_entries=MAX_COMPILED_COPIES)
    found = store.get(version, stamp)
    if found is None:
        found = make()
        if store.put(version, stamp, found):
            store.evict()
    return found
