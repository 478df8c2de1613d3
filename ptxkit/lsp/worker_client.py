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

from ptxkit.lsp.worker_messages import LENGTH_BYTES, AnalysisReply, AnalysisRequest, encode_message

_ROOT = str(Path(__file__).resolve().parents[2])
"""What `import ptxkit` needs on the path, wherever that is."""

MAX_SECONDS = 300.0
"""For one job; the analysis bounds itself, so that none should come near."""


class WorkerError(Exception):
    """There is no answer; the text says why."""


class WorkerClient:
    """A process, begun when it is first needed, and again after it was ended.

    Who stops waiting for an answer (a cancelled task) ends the process if it is at work on that job.
    """

    def __init__(self) -> None:
        self._process: Process | None = None
        self._terminating: list[Process] = []
        self._is_closed = False
        self._lock = asyncio.Lock()

    @property
    def is_busy(self) -> bool:
        """Whether it is at work."""
        return self._lock.locked()

    async def start(self) -> None:
        """Starts the process before there is something to do, so that it is ready then."""
        async with self._lock:
            with suppress(WorkerError):  # at its end there is nothing to be ready for
                await self._ensure_process()

    async def request(self, job: AnalysisRequest) -> object:
        """The answer to a job. Raises AnalystError."""
        async with self._lock:
            try:
                return await self._request_with_timeout(job)
            except (OSError, EOFError):
                self.kill()  # it may have ended long ago: another one is asked
            try:
                return await self._request_with_timeout(job)
            except (OSError, EOFError) as error:
                self.kill()
                raise WorkerError(f"{job.path}: the process that checks has ended") from error

    async def _request_with_timeout(self, job: AnalysisRequest) -> object:
        process = await self._ensure_process()
        try:
            return await asyncio.wait_for(self._exchange(process, job), MAX_SECONDS)
        except asyncio.CancelledError:
            self.kill()
            raise
        except TimeoutError:
            self.kill()
            raise WorkerError(f"{job.path}: no answer within {MAX_SECONDS:.0f} seconds") from None

    def kill(self) -> None:
        """Ends the process, if there is one."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):  # it has ended, and nobody knows yet
                _kill(process)
            self._terminating = [each for each in (*self._terminating, process) if each.returncode is None]

    async def close(self) -> None:
        """Ends the process, and waits until it, and those ended before, are gone: asyncio tells of each to a loop.

        No other one is begun; one that is just beginning ends, too.
        """
        self._is_closed = True
        self.kill()
        async with self._lock:
            for process in self._terminating:
                await process.wait()

    async def _exchange(self, process: Process, job: AnalysisRequest) -> object:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(encode_message(job))
        await process.stdin.drain()
        head = await process.stdout.readexactly(LENGTH_BYTES)
        answer: AnalysisReply = pickle.loads(await process.stdout.readexactly(int.from_bytes(head, "little")))
        if answer.error:
            raise WorkerError(answer.error)
        return answer.value

    async def _ensure_process(self) -> Process:
        if self._is_closed:
            raise WorkerError("the server is at its end")
        if self._process is None or self._process.returncode is not None:
            path = os.pathsep.join(filter(None, (_ROOT, os.environ.get("PYTHONPATH"))))
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "ptxkit.lsp.worker"),
                stdin=PIPE,
                stdout=PIPE,
                env={**os.environ, "PYTHONPATH": path},
            )
            if self._is_closed:  # meanwhile
                self.kill()
                raise WorkerError("the server is at its end")
        return self._process


def _kill(process: Process) -> None:
    """Ends a process. Its own `kill` would ask first whether it has ended: then asyncio, which waits in another
    thread for that, would not find it any more, and say so on standard error."""
    if sys.platform == "win32":
        process.kill()
    else:
        os.kill(process.pid, signal.SIGKILL)


class WorkerPool:
    """A few of them, so that a long job for one text holds up no other; the second process begins when it is needed."""

    def __init__(self, count: int) -> None:
        self._clients = [WorkerClient() for _ in range(count)]
        self._client_of_path: dict[str, WorkerClient] = {}

    async def start(self) -> None:
        """Makes one ready."""
        await self._clients[0].start()

    async def request(self, job: AnalysisRequest) -> object:
        """The answer to a job, of the one that knows the text already, if it has time. Raises AnalystError."""
        known = self._client_of_path.get(job.path, self._clients[0])
        free = (each for each in (known, *self._clients) if not each.is_busy)
        chosen = self._client_of_path[job.path] = next(free, known)
        return await chosen.request(job)

    def forget(self, path: str) -> None:
        """A text will not be asked about again."""
        self._client_of_path.pop(path, None)

    def kill(self) -> None:
        """Ends all processes."""
        for each in self._clients:
            each.kill()

    async def close(self) -> None:
        """Ends all processes, and waits until they are gone."""
        for each in self._clients:
            await each.close()
