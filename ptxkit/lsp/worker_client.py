"""The server's side of the processes that check: each executes one job at a time, and is ended if the job is
canceled.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from ptxkit.lsp.limits import MAX_JOB_SECONDS
from ptxkit.lsp.worker import serve
from ptxkit.lsp.worker_messages import AnalysisReply, AnalysisRequest
from ptxkit.processes.supervised_process import ProcessLostError, ProcessTimeoutError, SupervisedProcess


class WorkerError(Exception):
    """There is no result; the text states the reason."""


class WorkerClient:
    """A process, which is started on first use, and again after it was ended; a thread waits for its results.

    A canceled task that waits for a result ends the process if it executes that job.
    """

    def __init__(self) -> None:
        self._process: SupervisedProcess | None = None
        self._is_closed = False
        self._lock = asyncio.Lock()
        self._thread = ThreadPoolExecutor(1, "ptxkit-worker")

    @property
    def is_busy(self) -> bool:
        """Whether it executes a job."""
        return self._lock.locked()

    async def start(self) -> None:
        """Starts the process before there is a job."""
        async with self._lock:
            if not self._is_closed:
                self._ensure_process()

    async def request(self, job: AnalysisRequest) -> object:
        """Returns the result of a job. Raises WorkerError."""
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
                self.kill()  # it may have ended long ago, so another one executes the job
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
        """Ends the process, waits for its end, and starts no other one."""
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
    """Several processes, so that a long job for one text does not delay another; the second one starts when it is
    needed.
    """

    def __init__(self, count: int) -> None:
        self._clients = [WorkerClient() for _ in range(count)]
        self._client_of_path: dict[str, WorkerClient] = {}

    async def start(self) -> None:
        """Starts one of them."""
        await self._clients[0].start()

    async def request(self, job: AnalysisRequest) -> object:
        """Returns the result of a job from the process that knows the text, if it is idle. Raises WorkerError."""
        known = self._client_of_path.get(job.path, self._clients[0])
        free = (each for each in (known, *self._clients) if not each.is_busy)
        chosen = self._client_of_path[job.path] = next(free, known)
        return await chosen.request(job)

    def forget(self, path: str) -> None:
        """Handles the closing of a text."""
        self._client_of_path.pop(path, None)

    def kill(self) -> None:
        """Ends all processes."""
        for each in self._clients:
            each.kill()

    async def close(self) -> None:
        """Ends all processes, and waits for their end."""
        for each in self._clients:
            await each.close()
