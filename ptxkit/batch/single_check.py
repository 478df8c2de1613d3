"""Checks single texts as `lint` does, for programs that must continue whatever happens: builds, and running programs.

Results come from the cache, or from a process that is ended if it takes too long: a supervised one, or one of the
resident process of `ptxkit lint --server`. A crash or a lack of memory is the
failed result of the text.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from ptxkit.batch.cache_folder import environment_folder
from ptxkit.batch.job import Job, JobResult
from ptxkit.batch.result_cache import ResultCache
from ptxkit.results import FileResult
from ptxkit.settings.files import SettingsFiles, read_level
from ptxkit.settings.model import Settings
from ptxkit.source import SourceFile

if TYPE_CHECKING:
    from ptxkit.baseline import Baseline


class TextChecker(Protocol):
    """Checks one text at a time."""

    def run_job(self, question: Job) -> JobResult:
        """Returns the result of a job; a failed one if the check does not complete. Raises NotationError."""

    def kill(self) -> None:
        """Ends the present check from any thread, and makes later ones fail."""

    def close(self) -> None:
        """Releases all resources."""


def start_supervised(seconds: float) -> TextChecker:
    """Returns a checker in a supervised process. seconds: processor time for each text."""
    from ptxkit.batch.supervised_checker import SupervisedChecker

    return SupervisedChecker(seconds)


class SingleChecker:
    """Checks texts with the settings of the working directory, as `lint` checks standard input.

    config: a settings file that replaces those of the working directory. seconds: processor time for each text. start:
    starts what checks the texts that are not in the cache. Raises SettingsError, UnusableCacheError, and BaselineError.
    """

    def __init__(
        self, seconds: float, config: str | None = None, start: Callable[[float], TextChecker] = start_supervised
    ) -> None:
        level = SettingsFiles().find_level(os.curdir) if config is None else read_level(config)
        self._levels = () if level is None else (level,)
        self._cache = ResultCache(environment_folder(os.environ))
        self._seconds = seconds
        self._start_checker = start
        self._checker: TextChecker | None = None
        self._is_closed = False
        self._baseline: Baseline | None = None

    def __enter__(self) -> SingleChecker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def check(self, source: SourceFile) -> FileResult:
        """Returns the result of a text, without the findings of the baseline. Raises NotationError, BaselineError."""
        settings = Settings.of(self._levels, source.path)
        job, answer = self._cache.lookup(Job(source, settings))
        if answer is None:
            answer = self._start().run_job(job)
            self._cache.store(job, answer)
        if settings.baseline is None:
            return answer.result
        from ptxkit.baseline import read_baseline, remove_known

        if self._baseline is None:
            self._baseline = read_baseline(settings.baseline)
        return remove_known(answer.result, self._baseline, settings.baseline)

    @property
    def depends_on_names(self) -> bool:
        """Whether the settings have patterns that are compared with the names of texts."""
        return any(level.per_file_ignores for level in self._levels)

    def _start(self) -> TextChecker:
        if self._checker is None:
            self._checker = self._start_checker(self._seconds)
            if self._is_closed:  # in the meantime
                self._checker.kill()
        return self._checker

    def kill(self) -> None:
        """Ends the process from any thread; the present text has a failed result, and so have later ones."""
        self._is_closed = True
        checker = self._checker
        if checker is not None:
            checker.kill()

    def close(self) -> None:
        """Ends the process, and removes excess results from the cache."""
        if self._checker is not None:
            self._checker.close()
        self._cache.evict()
