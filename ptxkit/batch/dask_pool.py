"""Checks texts on other machines: joblib sends them to workers of dask.distributed (`pip install ptxkit[cluster]`).

    dask scheduler                                                    # on one machine
    dask worker tcp://HOST:8786 --nthreads 1 --nworkers 16            # on each
    ptxkit lint --cluster tcp://HOST:8786 FOLDER

The texts are sent; the workers need no files but ptxkit, in the same version. Each thread of a worker has one
supervised process, so a text that makes it hang or crash affects no other.

A user who can connect to a scheduler runs code on its workers and clients, and plain `tcp://` has no authentication. So
`--cluster local:2` starts no scheduler, which other users of this machine could reach: it is two processes that are
connected by pipes, as with `--jobs 2`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Any

from ptxkit.batch.errors import CannotRunError
from ptxkit.batch.job import Job, JobResult, JobSlot
from ptxkit.batch.limits import JOBS_AHEAD_PER_THREAD, MAX_LOCAL_PROCESSES, MAX_QUEUED_TEXT
from ptxkit.batch.result_codec import EncodedResult, decode_result, encode_result
from ptxkit.batch.supervised_checker import SupervisedChecker
from ptxkit.installation import installation_checksum

LOCAL_PREFIX = "local:"


class DaskRunner:
    """Checks texts on a cluster. address: of the scheduler. seconds: the limit for one text. on_wait: called before a
    result is awaited."""

    def __init__(self, address: str, seconds: float, on_wait: Callable[[], None] = lambda: None) -> None:
        self._address = address
        self._on_wait = on_wait
        self._seconds = seconds
        self._client: Any = None

    def run_all(self, items: Iterable[JobSlot]) -> Iterator[tuple[JobSlot, JobResult]]:
        """Yields the result of each job, in order. Raises CannotRunError."""
        arriving = iter(items)
        for item in arriving:
            if not _needs_run(item):
                yield _known_result(item)
                continue
            if self._client is None:
                self._client = connect(self._address)
            yield from self._run_batch(list(_take_batch(item, arriving, JOBS_AHEAD_PER_THREAD * self._count_threads())))

    def _count_threads(self) -> int:
        return sum(self._client.nthreads().values()) or 1

    def _run_batch(self, items: list[JobSlot]) -> Iterator[tuple[JobSlot, JobResult]]:
        from joblib import Parallel, delayed, parallel_config

        questions = [item.job for item in items if _needs_run(item) and item.job is not None]
        with parallel_config(backend="dask"):
            tasks = (delayed(run_on_worker)(each, self._seconds, installation_checksum()) for each in questions)
            answers = iter(Parallel(return_as="generator")(tasks))
            for item in items:
                if not _needs_run(item) or item.job is None:
                    yield _known_result(item)
                    continue
                self._on_wait()
                data: EncodedResult | None = next(answers)
                if data is None:
                    what = f"the workers at `{self._address}` have another version of ptxkit"
                    raise CannotRunError(what, "install this version there")
                yield item, decode_result(data, item.job.source)

    def close(self) -> None:
        """Disconnects from the cluster."""
        if self._client is not None:
            self._client.close()


def local_process_count(address: str) -> int | None:
    """Returns the number of local processes of an address `local:2`; None for the address of a scheduler. Raises
    CannotRunError.
    """
    if not address.startswith(LOCAL_PREFIX):
        return None
    count = address.removeprefix(LOCAL_PREFIX)
    if not (count.isdecimal() and count.isascii() and 0 < int(count[:6]) <= MAX_LOCAL_PROCESSES):
        raise CannotRunError(f"`{address}` is not an address", "write `local:2` for two processes on this machine")
    return int(count)


def connect(address: str) -> Any:
    """Connects to the scheduler at an address. Raises CannotRunError."""
    try:
        import distributed
        import joblib  # noqa: F401
    except ImportError as error:
        what = f"the package `{error.name}` is not installed"
        raise CannotRunError(what, "run `pip install 'ptxkit[cluster]'`") from error
    library: Any = distributed
    try:
        return library.Client(address)  # waits as long as dask.distributed is configured to
    except (OSError, ValueError) as error:
        what = f"no scheduler responds at `{address}`: {error}"
        raise CannotRunError(what, "start one with `dask scheduler`, or write `--jobs N`") from error


def run_on_worker(question: Job, seconds: float, state: str) -> EncodedResult | None:
    """Returns the function that a worker of the cluster calls; returns None if its ptxkit differs from that of the
    client.
    """
    if installation_checksum() != state:
        return None
    return encode_result(_supervised_checker(threading.get_ident(), seconds).run_job(question))


@cache
def _supervised_checker(_thread: int, seconds: float) -> SupervisedChecker:
    """Returns the process of one thread of this worker, which is terminated with the worker: then it gets no more
    jobs.
    """
    return SupervisedChecker(seconds)


def _needs_run(item: JobSlot) -> bool:
    return item.job is not None and item.result is None and item.error is None


def _known_result(item: JobSlot) -> tuple[JobSlot, JobResult]:
    if item.error is not None:
        raise item.error
    assert item.result is not None
    return item, item.result


def _take_batch(first: JobSlot, others: Iterator[JobSlot], most: int) -> Iterator[JobSlot]:
    """Splits items into batches, limited in the number and the total characters of texts."""
    count = length = 0
    for item in chain([first], others):
        yield item
        if item.job is not None:
            count, length = count + 1, length + len(item.job.source.text)
        if count >= most or length > MAX_QUEUED_TEXT:
            return
