"""The folder of the result cache: the given one, that of the environment, or one in the cache folder of the user."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ptxkit.content_store import private_folder, user_cache_folder
from ptxkit.refusal import RefusedError

FOLDER = "results"
"""The cache folder inside the cache folder of the user."""

SUFFIX = ".result"
"""The suffix of the files in it."""


class UnusableCacheError(RefusedError):
    """The given cache folder cannot be used."""


def result_folder(given: str | None) -> str | None:
    """Returns the folder for results: the given one, or one in the cache folder of the user. Raises
    UnusableCacheError.
    """
    if given:
        folder = private_folder(given)
        if folder is None:
            what = f"the cache folder `{given}` cannot be created, or is writable by other users"
            raise UnusableCacheError(what, "name a folder of your own with `--cache-dir DIR`, or write `--no-cache`")
        return folder
    home = user_cache_folder()
    return None if home is None else private_folder(os.path.join(home, FOLDER))


def environment_folder(environment: Mapping[str, str]) -> str | None:
    """Returns the folder that the environment selects, or None without a cache. Raises UnusableCacheError."""
    return None if environment.get("PTXKIT_NO_CACHE") else result_folder(environment.get("PTXKIT_CACHE_DIR"))
