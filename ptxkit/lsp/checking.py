"""When open texts are checked: soon after a change what takes no time, then all; the last version wins.

What the analysis said of an earlier version stays in view, moved along with the text, until it has looked at this one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import TypeVar

from ptxkit.diagnostics import Diagnostic, Fix
from ptxkit.linter import lint_source
from ptxkit.lsp.analyst import AnalystError, Analysts
from ptxkit.lsp.configuration import (
    codes_of_analysis,
    known_findings,
    settings_for,
    without_analysis,
    without_known,
)
from ptxkit.lsp.documents import Document, Snapshot
from ptxkit.lsp.jobs import Job
from ptxkit.results import FileResult
from ptxkit.settings.mistakes import SettingsError
from ptxkit.settings.model import DEFAULT, Settings
from ptxkit.source import Span

CALM_SECONDS = 0.12
"""How long nobody must have typed before a text is checked."""
LONGEST_SECONDS = 1.0
"""How long somebody may type until it is checked all the same, as far as that takes no time."""
PROCESSES = 2
"""That check, at most."""
SYNTAX = "PTX101"

_Value = TypeVar("_Value")

Publish = Callable[[Snapshot, Sequence[Diagnostic]], None]


class Checker:
    """Checks open texts. publish: takes the findings of a version. complain: takes what is wrong with settings.

    log: takes what went wrong here. pool: threads for what takes no time.
    """

    def __init__(
        self, pool: Executor, publish: Publish, complain: Callable[[str], None], log: Callable[[str], None]
    ) -> None:
        self.analysts = Analysts(PROCESSES)
        self.root: str | None = None
        self._pool, self._publish, self._complain, self._log = pool, publish, complain, log
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._waiting_since: dict[str, float] = {}
        self._complaint = ""

    def changed(self, document: Document, *, at_once: bool = False) -> None:
        """A text is to be checked anew; what was being done about an earlier version of it is dropped."""
        uri = document.now.uri
        now = asyncio.get_running_loop().time()
        since = self._waiting_since.setdefault(uri, now)
        calm = 0.0 if at_once else max(0.0, min(CALM_SECONDS, since + LONGEST_SECONDS - now))
        self.forget(document)
        self._tasks[uri] = asyncio.create_task(self._check(document, calm))

    def forget(self, document: Document) -> None:
        """Nobody wants to know any more."""
        for task in (self._tasks.pop(document.now.uri, None), *document.offers.values()):
            if task is not None:
                task.cancel()
        document.offers.clear()

    def closed(self, document: Document) -> None:
        """A text is open no longer."""
        self.forget(document)
        self.analysts.forget(document.now.path)
        self._waiting_since.pop(document.now.uri, None)

    def end(self) -> None:
        """Drops everything."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()
        self.analysts.end()

    async def close(self) -> None:
        """Drops everything, and waits until the process that checks is gone."""
        await self.analysts.close()
        self.end()

    async def result(self, document: Document, seconds: float) -> FileResult | None:
        """What a whole check of the present version gives, if it is done within that time."""
        task = self._tasks.get(document.now.uri)
        if document.checked is None and task is not None:
            await asyncio.wait([task], timeout=seconds)
        return document.checked

    async def offer(self, document: Document, item: Diagnostic, seconds: float) -> Fix | None:
        """The mend that holds for a finding of the present version, if that is found out within that time."""
        asked = item.code, item.span, item.message
        if asked not in document.offers:
            job = Job("offer", document.now.path, document.now.text, document.settings, asked)
            document.offers[asked] = asyncio.create_task(self._answer(job))
        found = await self._awaited(document.offers[asked], seconds)
        return found if isinstance(found, Fix) else None

    async def mended(self, document: Document, seconds: float) -> str | None:
        """The text after all safe mends, if that is found out within that time."""
        now = document.now
        asked = "", Span(0, 0), ""
        if asked not in document.offers:
            job = Job("mend", now.path, now.text, document.settings)
            document.offers[asked] = asyncio.create_task(self._answer(job))
        found = await self._awaited(document.offers[asked], seconds)
        return found if isinstance(found, str) else None

    @staticmethod
    async def _awaited(task: asyncio.Task[object], seconds: float) -> object:
        """What a task gives; it goes on where nobody waits any more."""
        done, _ = await asyncio.wait([task], timeout=seconds)
        return task.result() if done and not task.cancelled() else None

    async def _answer(self, job: Job) -> object:
        try:
            return await self.analysts.ask(job)
        except AnalystError as error:
            self._log(f"{job.path}: {error}")
            return None

    async def in_thread(self, function: Callable[..., _Value], *arguments: object) -> _Value:
        """What a function gives that would hold up the client for a moment."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, function, *arguments)

    async def _check(self, document: Document, calm: float) -> None:
        await asyncio.sleep(calm)
        snapshot = document.now
        self._waiting_since.pop(snapshot.uri, None)
        try:
            document.settings = settings = await self._settings(snapshot)
            quick = await self.in_thread(_quickly, snapshot, settings)
            is_text = all(item.code != SYNTAX for item in quick.diagnostics)
            self._publish(snapshot, _sorted(quick.diagnostics, document.found if is_text else ()))
            result = await self._whole(snapshot, settings) if is_text else quick
            if is_text:
                codes = codes_of_analysis()
                document.found = tuple(item for item in result.diagnostics if item.code in codes)
            self._publish(snapshot, result.diagnostics)
            document.checked = result
        except AnalystError as error:
            self._log(f"{snapshot.path} was not analysed: {error}")
        except Exception as error:  # the server goes on: another text, or another version of this, may fare better
            self._log(f"{snapshot.path} was not checked: {error!r}")

    async def _whole(self, snapshot: Snapshot, settings: Settings) -> FileResult:
        result = await self.analysts.ask(Job("check", snapshot.path, snapshot.text, settings))
        assert isinstance(result, FileResult)
        return await self.in_thread(without_known, result, settings)

    async def _settings(self, snapshot: Snapshot) -> Settings:
        """What counts for a text; where a file of settings cannot be used, that is said once, and it does not count."""
        try:
            found = await self.in_thread(_usable_settings, snapshot, self.root)
        except SettingsError as error:
            if self._complaint != str(error):
                self._complaint = str(error)
                self._complain(f"ptxkit: {error}")
            return DEFAULT
        self._complaint = ""
        return found


def _usable_settings(snapshot: Snapshot, root: str | None) -> Settings:
    settings = settings_for(snapshot, root)
    if settings.baseline is not None:
        known_findings(settings.baseline)
    return settings


def _quickly(snapshot: Snapshot, settings: Settings) -> FileResult:
    return without_known(lint_source(snapshot.source, without_analysis(settings)), settings)


def _sorted(*parts: Sequence[Diagnostic]) -> list[Diagnostic]:
    items = [item for part in parts for item in part]
    return sorted(items, key=lambda item: (item.span, item.code, item.message))
