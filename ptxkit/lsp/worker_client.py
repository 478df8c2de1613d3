"""The server's side of the processes that check: each does one job at a time, and is ended when that is not wanted."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from ptxkit.lsp.limits import MAX_JOB_SECONDS
from ptxkit.lsp.worker import serve
from ptxkit.lsp.worker_messages import AnalysisReply, AnalysisRequest
from ptxkit.processes.supervised_process import ProcessLostError, ProcessTimeoutError, SupervisedProcess


class WorkerError(Exception):
    """There is no answer; the text says why."""


class WorkerClient:
    """A process, started when it is first needed, and again after it was ended; a thread waits for its answers.

    Who stops waiting for an answer (a cancelled task) ends the process if it is at work on that job.
    """

    def __init__(self) -> None:
        self._process: SupervisedProcess | None = None
        self._is_closed = False
        self._lock = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, "ptxkit-worker")

    @property
    def is_busy(self) -> bool:
        """Whether it is at work."""
        return self._lock.locked()

    async def start(self) -> None:
        """Starts the process before there is something to do, so that it is ready then."""
        async with self._lock:
            if not self._is_closed:
                self._ensure_process()

    async def request(self, job: AnalysisRequest) -> object:
        """The answer to a job. Raises WorkerError."""
        async with self._lock:
            try:
                reply = await self._exchange(job)
            except asyncio.CancelledError:
                self.kill()
                raise
        if reply.error:
            raise WorkerError(reply.error)
        return reply.value

    async def _exchange(self, job: AnalysisRequest) -> AnalysisReply:
        loop = asyncio.get_running_loop()
        for _ in range(2):
            try:
                return await loop.run_in_executor(self._thread, _request, self._ensure_process(), job)
            except ProcessTimeoutError:
                self.kill()
                raise WorkerError(f"{job.path}: no response within {MAX_JOB_SECONDS:.0f} seconds") from None
            except ProcessLostError:
                self.kill()  # it may have ended long ago: another one is given the job
        raise WorkerError(f"{job.path}: the checking process has ended")

    def _ensure_process(self) -> SupervisedProcess:
        if self._is_closed:
            raise WorkerError("the server is shutting down")
        if self._process is None:
            self._process = SupervisedProcess(serve, captures_errors=False)
        return self._process

    def kill(self) -> None:
        """Ends the process, if there is one."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            self._thread.submit(process.close)

    async def close(self) -> None:
        """Ends the process, and waits until it is gone. No other one is started."""
        self._is_closed = True
        self.kill()
        async with self._lock:
            await asyncio.to_thread(self._thread.shutdown)


def _request(process: SupervisedProcess, job: AnalysisRequest) -> AnalysisReply:
    with process.time_limit(MAX_JOB_SECONDS):
        process.send(job)
        reply: AnalysisReply = process.receive()
    return reply


class WorkerPool:
    """A few of them, so that a long job for one text holds up no other; the second process begins when it is needed."""

    def __init__(self, count: int) -> None:
        self._clients = [WorkerClient() for _ in range(count)]
        self._client_of_path: dict[str, WorkerClient] = {}

    async def start(self) -> None:
        """Makes one ready."""
        await self._clients[0].start()

    async def request(self, job: AnalysisRequest) -> object:
        """The answer to a job, of the one that knows the text already, if it has time. Raises WorkerError."""
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
