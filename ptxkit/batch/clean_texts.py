"""Texts that are known to have no finding. The key of a text needs no settings file to be read.

`ptxkit-ptxas` checks the texts of a whole build, most of which have no finding and were checked before. For these the
result cache would load the settings and the classes of results, only to print nothing. The key has the text, the state
of ptxkit, and the state of all files that may hold settings. An entry is in the folder of the result cache, and is
evicted with the results.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.batch.cache_folder import SUFFIX
from ptxkit.batch.limits import MAX_CACHED_RESULTS
from ptxkit.content_store import ContentStore
from ptxkit.installation import installation_stamp, is_installation_unchanged

try:  # without OpenSSL, whose import takes as long as linting a small file
    from _blake2 import blake2b
except ImportError:  # another Python version
    from hashlib import blake2b

_CLEAN = "clean"
_TOUCH_AFTER = 24 * 3600.0
"""Seconds after which a query updates the time of last use of an entry."""


def clean_key(data: bytes, conditions: Sequence[object]) -> str:
    """Returns the key of a text. conditions: plain data that determines its settings."""
    digest = blake2b(f"{_CLEAN}\0{installation_stamp()}\0{conditions!r}\0".encode("utf-8", "backslashreplace"))
    digest.update(data)
    return digest.hexdigest()[:48]


class CleanTexts:
    """The entries of a cache folder. None: nothing is stored or found."""

    def __init__(self, folder: str | None) -> None:
        self._store = ContentStore(folder, suffix=SUFFIX, max_entries=MAX_CACHED_RESULTS)

    def __contains__(self, key: str) -> bool:
        if self._store.get(key, key) != _CLEAN:
            return False
        self._store.mark_used(key, _TOUCH_AFTER)
        return True

    def add(self, key: str) -> None:
        """Stores that the text of a key has no finding, if that is possible, and ptxkit is still the same."""
        if is_installation_unchanged():
            self._store.put(key, key, _CLEAN)
