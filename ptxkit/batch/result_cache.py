"""Results of earlier runs, kept by what they were made from: the text, the settings, and ptxkit itself.

Where the same text is checked again by the same ptxkit in the same way, the result is read and nothing of the analysis
is loaded. ptxkit is known by the sizes and times of its files, so that a checkout that is worked on never answers with
what an older state of it found. What is not known by the text (baselines, names of files) is no part of an entry.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from ptxkit.batch.job import Job, JobResult
from ptxkit.batch.limits import MAX_CACHED_RESULTS, MAX_CACHED_RESULTS_BYTES
from ptxkit.batch.result_codec import decode_result, encode_result
from ptxkit.content_store import ContentStore, private_folder, user_cache_folder
from ptxkit.fast_dataclasses import replace
from ptxkit.installation import installation_stamp, is_installation_unchanged
from ptxkit.results import Status

try:  # without OpenSSL, which takes as long to load as a small file to lint
    from _blake2 import blake2b
except ImportError:  # another Python
    from hashlib import blake2b

FOLDER = "results"
"""The folder in the user's cache folder."""

_TOUCH_AFTER = 24 * 3600.0
"""Seconds after which an entry that is read is marked as used again."""
_SWEEP_MARK = ".swept"
"""A file whose time is that of the last search for entries to remove."""
_SWEEP_AFTER = 600.0
"""Seconds between two such searches, and _SWEEP_EVERY entries that one run writes between them."""
_SWEEP_EVERY = 5_000


class UnusableCacheError(ValueError):
    """The folder that was named cannot be used."""


class ResultCache:
    """The results in a folder. None: nothing is kept, and nothing known."""

    def __init__(self, folder: str | None) -> None:
        self._store = ContentStore(
            folder, suffix=".result", max_entries=MAX_CACHED_RESULTS, max_bytes=MAX_CACHED_RESULTS_BYTES
        )
        self._stored_count = 0
        self._is_sound: bool | None = None

    def lookup(self, question: Job) -> tuple[Job, JobResult | None]:
        """The question with its key, and the answer where it is known."""
        if self._store.folder is None or question.mode not in ("find", "offer"):
            return question, None
        question = replace(question, key=_job_key(question))
        stored = self._store.get(question.key, question.key)
        if stored is None:
            return question, None
        try:
            answer = decode_result(stored, question.source)
        except (ValueError, TypeError, KeyError):
            return question, None
        self._store.mark_used(question.key, _TOUCH_AFTER)
        return question, answer

    def store(self, question: Job, answer: JobResult) -> None:
        """Keeps an answer, where that can be done, and where it does not depend on chance."""
        if not question.key or answer.result.status is Status.FAILED:
            return
        if self._is_sound is None:
            self._is_sound = is_installation_unchanged()  # all that checks is loaded by now: was it what the key says?
        if not self._is_sound:
            return
        if self._store.put(question.key, question.key, encode_result(answer)):
            self._stored_count += 1
            if self._stored_count % _SWEEP_EVERY == 0:
                self._sweep()

    def evict(self) -> None:
        """Removes what is too much, from time to time."""
        folder = self._store.folder
        if folder is None or not self._stored_count:
            return
        swept = 0.0
        with suppress(OSError):
            swept = os.stat(os.path.join(folder, _SWEEP_MARK)).st_mtime
        if not 0 <= time.time() - swept < _SWEEP_AFTER:
            self._sweep()

    def _sweep(self) -> None:
        assert self._store.folder is not None
        self._store.evict()
        mark = os.path.join(self._store.folder, _SWEEP_MARK)
        with suppress(OSError), open(mark, "w"):
            os.utime(mark)


def result_folder(given: str | None) -> str | None:
    """The folder for results: the one that is given, or one in the user's cache folder. Raises UnusableCacheError."""
    if given:
        folder = private_folder(given)
        if folder is None:
            raise UnusableCacheError(
                f"{given}: cannot be made, or others may write to it, and what they write is not read"
            )
        return folder
    home = user_cache_folder()
    return None if home is None else private_folder(os.path.join(home, FOLDER))


def _job_key(question: Job) -> str:
    how = (installation_stamp(), question.mode, repr(replace(question.settings, baseline=None)))
    digest = blake2b("\0".join(how).encode("utf-8", "backslashreplace") + b"\0", digest_size=24)
    digest.update(question.source.text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
