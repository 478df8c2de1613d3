"""A cache of results, keyed by the text, the settings, and ptxkit itself.

If the same ptxkit checks the same text with the same settings, the result is read from the cache, and no analysis is
loaded. ptxkit is identified by the sizes and modification times of its files, so that a modified checkout never uses
results of an older state. Inputs that the text does not determine (baselines, file names) are not part of an entry.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

from ptxkit.batch.cache_folder import SUFFIX
from ptxkit.batch.job import Job, JobResult
from ptxkit.batch.limits import MAX_CACHED_RESULTS, MAX_CACHED_RESULTS_BYTES
from ptxkit.batch.result_codec import decode_result, encode_result
from ptxkit.content_store import ContentStore
from ptxkit.fast_dataclasses import replace
from ptxkit.installation import installation_stamp, is_installation_unchanged
from ptxkit.results import Status

try:  # without OpenSSL, whose import takes as long as linting a small file
    from _blake2 import blake2b
except ImportError:  # another Python version
    from hashlib import blake2b

_TOUCH_AFTER = 24 * 3600.0
"""Seconds after which a read updates the time of last use of an entry."""
_SWEEP_MARK = ".swept"
"""A file whose time is that of the last cleanup."""
_SWEEP_AFTER = 600.0
"""Seconds between two cleanups, and _SWEEP_EVERY the entries that one run writes between them."""
_SWEEP_EVERY = 5_000


class ResultCache:
    """The results in a folder. None: nothing is stored or found."""

    def __init__(self, folder: str | None) -> None:
        self._store = ContentStore(
            folder, suffix=SUFFIX, max_entries=MAX_CACHED_RESULTS, max_bytes=MAX_CACHED_RESULTS_BYTES
        )
        self._stored_count = 0
        self._is_sound: bool | None = None

    def lookup(self, question: Job) -> tuple[Job, JobResult | None]:
        """Returns the job with its key, and the result if it is known."""
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
        """Stores a result, if possible, unless it depends on timing."""
        if not question.key or answer.result.status is Status.FAILED:
            return
        if self._is_sound is None:
            self._is_sound = is_installation_unchanged()  # all modules are loaded now: does the key still match?
        if not self._is_sound:
            return
        if self._store.put(question.key, question.key, encode_result(answer)):
            self._stored_count += 1
            if self._stored_count % _SWEEP_EVERY == 0:
                self._sweep()

    def evict(self) -> None:
        """Removes excess entries, from time to time."""
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


def _job_key(question: Job) -> str:
    how = (installation_stamp(), question.mode, repr(replace(question.settings, baseline=None)))
    digest = blake2b("\0".join(how).encode("utf-8", "backslashreplace") + b"\0", digest_size=24)
    digest.update(question.source.text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
