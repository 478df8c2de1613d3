"""Checks single texts as `lint` does, for programs that must continue whatever happens: builds, and running programs.

Results come from the cache, or from a process that is ended if it takes too long. A crash or a lack of memory is the
failed result of the text.
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING

from ptxkit.batch.cache_folder import environment_folder
from ptxkit.batch.job import Job
from ptxkit.batch.result_cache import ResultCache
from ptxkit.results import FileResult
from ptxkit.settings.files import SettingsFiles, read_level
from ptxkit.settings.model import Settings
from ptxkit.source import SourceFile

if TYPE_CHECKING:
    from ptxkit.baseline import Baseline
    from ptxkit.batch.supervised_checker import SupervisedChecker


class SingleChecker:
    """Checks texts with the settings of the working directory, as `lint` checks standard input.

    config: a settings file that replaces those of the working directory. seconds: processor time for each text. Raises
    SettingsError, UnusableCacheError, and BaselineError.
    """

    def __init__(self, seconds: float, config: str | None = None) -> None:
        level = SettingsFiles().find_level(os.curdir) if config is None else read_level(config)
        self._levels = () if level is None else (level,)
        self._cache = ResultCache(environment_folder(os.environ))
        self._seconds = seconds
        self._process: SupervisedChecker | None = None
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

    def _start(self) -> SupervisedChecker:
        if self._process is None:
            from ptxkit.batch.supervised_checker import SupervisedChecker

            self._process = SupervisedChecker(self._seconds)
            if self._is_closed:  # in the meantime
                self._process.kill()
        return self._process

    def kill(self) -> None:
        """Ends the process from any thread; the present text has a failed result, and so have later ones."""
        self._is_closed = True
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Ends the process, and removes excess results from the cache."""
        if self._process is not None:
            self._process.close()
        self._cache.evict()
