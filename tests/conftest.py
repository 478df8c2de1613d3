"""Shared by all tests: no test uses results that an earlier run stored, or a resident process, unless it requests them;
the modules of `scripts/` can be imported; and garbage collection."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, settings

from ptxkit.gc_control import freeze_all

os.environ["PTXKIT_NO_CACHE"] = "1"
os.environ["PTXKIT_NO_SERVER"] = "1"
sys.path.append(str(Path(__file__).parents[1] / "scripts"))

# A worker of dask.distributed on a busy machine is there later than after half a minute.
for _timeout in ("CONNECT", "TCP"):
    os.environ[f"DASK_DISTRIBUTED__COMM__TIMEOUTS__{_timeout}"] = "900s"

settings.register_profile(
    "suite",
    max_examples=40,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # it depends on the clock
)
settings.load_profile("suite")  # `--hypothesis-profile=default` has more examples, and different ones each time


BUDGET_SLOWDOWN = 20
"""The factor by which processor time passes more slowly for budgets of runs of the reference machine."""


@pytest.fixture(scope="session", autouse=True)
def _budgets_that_a_slow_machine_keeps() -> None:
    """No run in a test ends because the processor is slow; those that must end by their time get little of it."""
    from ptxkit.emulator.driver import runner
    from ptxkit.emulator.engine import machine

    for module in (runner, machine):
        assert module.time is time
        module.time = SimpleNamespace(thread_time=lambda: time.thread_time() / BUDGET_SLOWDOWN)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Thousands of tests and their imports remain to the end: the garbage collector does not traverse them."""
    freeze_all()
