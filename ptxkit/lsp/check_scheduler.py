"""Schedules the checks of open texts: soon after a change the checks that take no time, then all checks of the last
version.

The findings of the analysis in an earlier version remain visible, moved with the text, until the present version is
analyzed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor
from typing import TypeVar

from ptxkit.diagnostics import Diagnostic, Fix
from ptxkit.diagnostics.catalogue import ptx1xx
from ptxkit.linter import lint_source
from ptxkit.lsp.configuration import (
    codes_of_analysis,
    read_known_findings,
    remove_known,
    settings_for,
    without_analysis_rules,
)
from ptxkit.lsp.documents import OpenDocument, TextSnapshot
from ptxkit.lsp.limits import DEBOUNCE_SECONDS, MAX_DEBOUNCE_SECONDS, WORKER_PROCESSES
from ptxkit.lsp.worker_client import WorkerError, WorkerPool
from ptxkit.lsp.worker_messages import AnalysisRequest
from ptxkit.results import FileResult
from ptxkit.settings.errors import SettingsError
from ptxkit.settings.model import DEFAULT, Settings
from ptxkit.source import Span

_Value = TypeVar("_Value")

Publish = Callable[[TextSnapshot, Sequence[Diagnostic]], None]
PublishPrograms = Callable[[TextSnapshot, Sequence[Diagnostic]], Awaitable[None]]


class CheckScheduler:
    """Checks open texts. publish: receives the findings of a version, publish_programs: those of a whole check.
    complain: receives errors in settings. log: receives internal errors. pool: threads for short tasks.
    """

    def __init__(
        self,
        pool: Executor,
        publish: Publish,
        publish_programs: PublishPrograms,
        complain: Callable[[str], None],
        log: Callable[[str], None],
    ) -> None:
        self.workers = WorkerPool(WORKER_PROCESSES)
        self.root: str | None = None
        self._pool, self._publish, self._publish_programs = pool, publish, publish_programs
        self._show_error, self._log = complain, log
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._debounce_start: dict[str, float] = {}
        self._last_settings_error = ""

    def schedule(self, document: OpenDocument, *, at_once: bool = False) -> None:
        """Schedules a check of a text, and cancels the check of an earlier version of it."""
        uri = document.snapshot.uri
        now = asyncio.get_running_loop().time()
        since = self._debounce_start.setdefault(uri, now)
        calm = 0.0 if at_once else max(0.0, min(DEBOUNCE_SECONDS, since + MAX_DEBOUNCE_SECONDS - now))
        self.cancel(document)
        self._tasks[uri] = asyncio.create_task(self._check(document, calm))

    def cancel(self, document: OpenDocument) -> None:
        """Cancels the check of a text."""
        for task in (self._tasks.pop(document.snapshot.uri, None), *document.pending_fixes.values()):
            if task is not None:
                task.cancel()
        document.pending_fixes.clear()

    def close_document(self, document: OpenDocument) -> None:
        """Handles the closing of a text."""
        self.cancel(document)
        self.workers.forget(document.snapshot.path)
        self._debounce_start.pop(document.snapshot.uri, None)

    def cancel_all(self) -> None:
        """Cancels all checks."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()
        self.workers.kill()

    async def close(self) -> None:
        """Cancels all checks, and waits until the process that checks has ended."""
        await self.workers.close()
        self.cancel_all()

    async def result(self, document: OpenDocument, seconds: float) -> FileResult | None:
        """Returns the result of a whole check of the present version, or None if it is not available within that
        time.
        """
        task = self._tasks.get(document.snapshot.uri)
        if document.result is None and task is not None:
            await asyncio.wait([task], timeout=seconds)
        return document.result

    async def find_fix(self, document: OpenDocument, item: Diagnostic, seconds: float) -> Fix | None:
        """Returns a fix for a finding of the present version, or None if none is found within that time."""
        asked = item.code, item.span, item.message
        if asked not in document.pending_fixes:
            job = AnalysisRequest("offer", document.snapshot.path, document.snapshot.text, document.settings, asked)
            document.pending_fixes[asked] = asyncio.create_task(self._request(job))
        found = await self._wait_for(document.pending_fixes[asked], seconds)
        return found if isinstance(found, Fix) else None

    async def fixed_text(self, document: OpenDocument, seconds: float) -> str | None:
        """Returns the text after all safe fixes, or None if they are not found within that time."""
        now = document.snapshot
        asked = "", Span(0, 0), ""
        if asked not in document.pending_fixes:
            job = AnalysisRequest("fix", now.path, now.text, document.settings)
            document.pending_fixes[asked] = asyncio.create_task(self._request(job))
        found = await self._wait_for(document.pending_fixes[asked], seconds)
        return found if isinstance(found, str) else None

    @staticmethod
    async def _wait_for(task: asyncio.Task[object], seconds: float) -> object:
        """Returns the result of a task, or None after a timeout, after which the task continues."""
        done, _ = await asyncio.wait([task], timeout=seconds)
        return task.result() if done and not task.cancelled() else None

    async def _request(self, job: AnalysisRequest) -> object:
        try:
            return await self.workers.request(job)
        except WorkerError as error:
            self._log(f"{job.path}: {error}")
            return None

    async def run_in_thread(self, function: Callable[..., _Value], *arguments: object) -> _Value:
        """Calls a function in a thread, because it would delay other requests, and returns its result."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)

    async def _check(self, document: OpenDocument, calm: float) -> None:
        await asyncio.sleep(calm)
        snapshot = document.snapshot
        self._debounce_start.pop(snapshot.uri, None)
        try:
            document.settings = settings = await self._settings(snapshot)
            quick = await self.run_in_thread(_quick_check, snapshot, settings)
            is_text = all(item.code != ptx1xx.SYNTAX_ERROR for item in quick.diagnostics)
            self._publish(snapshot, _merge_sorted(quick.diagnostics, document.diagnostics if is_text else ()))
            result = await self._full_check(snapshot, settings) if is_text else quick
            if is_text:
                codes = codes_of_analysis()
                document.diagnostics = tuple(item for item in result.diagnostics if item.code in codes)
            self._publish(snapshot, result.diagnostics)
            document.result = result
            await self._publish_programs(snapshot, result.diagnostics)
        except WorkerError as error:
            self._log(f"{snapshot.path} was not analyzed: {error}")
        except Exception as error:  # the server continues: another text, or another version of this one, may succeed
            self._log(f"{snapshot.path} was not checked: {error!r}")

    async def _full_check(self, snapshot: TextSnapshot, settings: Settings) -> FileResult:
        result = await self.workers.request(AnalysisRequest("check", snapshot.path, snapshot.text, settings))
        assert isinstance(result, FileResult)
        return await self.run_in_thread(remove_known, result, settings)

    async def _settings(self, snapshot: TextSnapshot) -> Settings:
        """Returns the settings of a text. A settings file that cannot be used is reported once and ignored."""
        try:
            found = await self.run_in_thread(_usable_settings, snapshot, self.root)
        except SettingsError as error:
            if self._last_settings_error != str(error):
                self._last_settings_error = str(error)
                self._show_error(f"ptxkit: {error}")
            return DEFAULT
        self._last_settings_error = ""
        return found


def _usable_settings(snapshot: TextSnapshot, root: str | None) -> Settings:
    settings = settings_for(snapshot, root)
    if settings.baseline is not None:
        read_known_findings(settings.baseline)
    return settings


def _quick_check(snapshot: TextSnapshot, settings: Settings) -> FileResult:
    return remove_known(lint_source(snapshot.source, without_analysis_rules(settings)), settings)


def _merge_sorted(*parts: Sequence[Diagnostic]) -> list[Diagnostic]:
    items = [item for part in parts for item in part]
    return sorted(items, key=lambda item: (item.span, item.code, item.message))
