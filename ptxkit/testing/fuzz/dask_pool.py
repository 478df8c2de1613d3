"""Work units on other machines: joblib sends them to the workers of dask.distributed (`pip install ptxkit[cluster]`).

    dask scheduler                                                    # on one machine
    CUDA_VISIBLE_DEVICES=0 dask worker tcp://HOST:8786 --nthreads 1   # on each, one for each GPU
    ptxkit fuzz --oracle machine-device --cluster tcp://HOST:8786 --jobs 16

Each worker of dask has one process with its GPU, and `--jobs` processes that use it. A worker without a GPU reports
this, and its examples that need one count as skipped.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Iterator
from functools import cache

from ptxkit.batch.dask_pool import connect
from ptxkit.device import NoDeviceError
from ptxkit.device_runs.device_process import DeviceProcess
from ptxkit.testing.fuzz.campaign_kinds import find_kind
from ptxkit.testing.fuzz.store import FuzzStore
from ptxkit.testing.fuzz.supervised_fuzzer import FuzzUnitResult, FuzzWorkUnit, GpuPool, SupervisedFuzzer


class DaskFuzzRunner:
    """Work units on a cluster. address: of the scheduler. hang: seconds for one example."""

    def __init__(self, address: str, hang: float) -> None:
        self._address = address
        self._hang = hang

    def outcomes(self, shares: Iterator[FuzzWorkUnit], store: FuzzStore) -> Iterator[FuzzUnitResult]:
        """Yields results as they arrive. Raises CannotRunError."""
        found = connect(self._address)
        from joblib import Parallel, delayed, parallel_config

        try:
            with parallel_config(backend="dask"):
                known = {oracle: frozenset(causes) for oracle, causes in store.known_causes().items()}
                tasks = (
                    delayed(run_on_worker)(each, known.get(each.campaign.oracle, frozenset()), self._hang)
                    for each in shares
                )
                yield from Parallel(return_as="generator_unordered", pre_dispatch="2 * n_jobs")(tasks)
        finally:
            found.close()


def run_on_worker(share: FuzzWorkUnit, known: frozenset[str], hang: float) -> FuzzUnitResult:
    """Runs a work unit in a process that is kept for later ones. A worker of the cluster calls this function."""
    watched, seen = _worker_process(hang)
    seen |= known
    if find_kind(share.campaign.oracle).needs == "gpu" and (reason := _gpu_missing_reason()):
        return FuzzUnitResult(share, len(share.numbers), len(share.numbers), reason)

    def is_new(cause: str) -> bool:
        new = cause not in seen
        seen.add(cause)
        return new

    began = time.monotonic()
    outcome = watched.run(share, is_new)
    outcome.seconds = time.monotonic() - began
    return outcome


@cache
def _gpu() -> DeviceProcess:
    process = DeviceProcess()
    atexit.register(process.end)
    return process


@cache
def _gpu_missing_reason() -> str:
    """Returns the reason why this worker cannot launch kernels, or an empty text."""
    try:
        _gpu().begin()
    except NoDeviceError as error:
        return str(error)
    return ""


@cache
def _worker_process(hang: float) -> tuple[SupervisedFuzzer, set[str]]:
    """Returns the process of this worker, and the causes that it has reported."""
    watched = SupervisedFuzzer(GpuPool([_gpu()]), hang)
    atexit.register(watched.end)
    return watched, set()
