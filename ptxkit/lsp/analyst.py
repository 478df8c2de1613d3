"""The server's side of the process that checks: asked one thing at a time, ended when nobody wants the answer."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path

from ptxkit.lsp.jobs import LENGTH, Answer, Job, packed

_ROOT = str(Path(__file__).resolve().parents[2])
"""What `import ptxkit` needs on the path, wherever that is."""

MAX_SECONDS = 300.0
"""For one job; the analysis bounds itself, so that none should come near."""


class AnalystError(Exception):
    """There is no answer; the text says why."""


class Analyst:
    """A process, begun when it is first needed, and again after it was ended.

    Who stops waiting for an answer (a cancelled task) ends the process if it is at work on that job.
    """

    def __init__(self) -> None:
        self._process: Process | None = None
        self._ended: list[Process] = []
        self._is_closed = False
        self._turn = asyncio.Lock()

    @property
    def is_busy(self) -> bool:
        """Whether it is at work."""
        return self._turn.locked()

    async def begin(self) -> None:
        """Starts the process before there is something to do, so that it is ready then."""
        async with self._turn:
            with suppress(AnalystError):  # at its end there is nothing to be ready for
                await self._ready()

    async def ask(self, job: Job) -> object:
        """The answer to a job. Raises AnalystError."""
        async with self._turn:
            try:
                return await self._tried(job)
            except (OSError, EOFError):
                self.end()  # it may have ended long ago: another one is asked
            try:
                return await self._tried(job)
            except (OSError, EOFError) as error:
                self.end()
                raise AnalystError(f"{job.path}: the process that checks has ended") from error

    async def _tried(self, job: Job) -> object:
        process = await self._ready()
        try:
            return await asyncio.wait_for(self._asked(process, job), MAX_SECONDS)
        except asyncio.CancelledError:
            self.end()
            raise
        except TimeoutError:
            self.end()
            raise AnalystError(f"{job.path}: no answer within {MAX_SECONDS:.0f} seconds") from None

    def end(self) -> None:
        """Ends the process, if there is one."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):  # it has ended, and nobody knows yet
                _kill(process)
            self._ended = [each for each in (*self._ended, process) if each.returncode is None]

    async def close(self) -> None:
        """Ends the process, and waits until it, and those ended before, are gone: asyncio tells of each to a loop.

        No other one is begun; one that is just beginning ends, too.
        """
        self._is_closed = True
        self.end()
        async with self._turn:
            for process in self._ended:
                await process.wait()

    async def _asked(self, process: Process, job: Job) -> object:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(packed(job))
        await process.stdin.drain()
        head = await process.stdout.readexactly(LENGTH)
        answer: Answer = pickle.loads(await process.stdout.readexactly(int.from_bytes(head, "little")))
        if answer.error:
            raise AnalystError(answer.error)
        return answer.value

    async def _ready(self) -> Process:
        if self._is_closed:
            raise AnalystError("the server is at its end")
        if self._process is None or self._process.returncode is not None:
            path = os.pathsep.join(filter(None, (_ROOT, os.environ.get("PYTHONPATH"))))
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "ptxkit.lsp.worker"),
                stdin=PIPE,
                stdout=PIPE,
                env={**os.environ, "PYTHONPATH": path},
            )
            if self._is_closed:  # meanwhile
                self.end()
                raise AnalystError("the server is at its end")
        return self._process


def _kill(process: Process) -> None:
    """Ends a process. Its own `kill` would ask first whether it has ended: then asyncio, which waits in another
    thread for that, would not find it any more, and say so on standard error."""
    if sys.platform == "win32":
        process.kill()
    else:
        os.kill(process.pid, signal.SIGKILL)


class Analysts:
    """A few of them, so that a long job for one text holds up no other; the second process begins when it is needed."""

    def __init__(self, count: int) -> None:
        self._all = [Analyst() for _ in range(count)]
        self._last: dict[str, Analyst] = {}

    async def begin(self) -> None:
        """Makes one ready."""
        await self._all[0].begin()

    async def ask(self, job: Job) -> object:
        """The answer to a job, of the one that knows the text already, if it has time. Raises AnalystError."""
        known = self._last.get(job.path, self._all[0])
        free = (each for each in (known, *self._all) if not each.is_busy)
        chosen = self._last[job.path] = next(free, known)
        return await chosen.ask(job)

    def forget(self, path: str) -> None:
        """A text will not be asked about again."""
        self._last.pop(path, None)

    def end(self) -> None:
        """Ends all processes."""
        for each in self._all:
            each.end()

    async def close(self) -> None:
        """Ends all processes, and waits until they are gone."""
        for each in self._all:
            await each.close()
