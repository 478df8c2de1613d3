"""What all tests share: none is answered from results that an earlier run kept, unless it says so; and garbage."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from ptxkit.gc_control import freeze_all

os.environ["PTXKIT_NO_CACHE"] = "1"

# A worker of dask.distributed on a busy machine is there later than after half a minute.
for _timeout in ("CONNECT", "TCP"):
    os.environ[f"DASK_DISTRIBUTED__COMM__TIMEOUTS__{_timeout}"] = "900s"

settings.register_profile(
    "suite",
    max_examples=40,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # it looks at the clock
)
settings.load_profile("suite")  # `--hypothesis-profile=default` has more examples, and others each time


def pytest_collection_finish(session: pytest.Session) -> None:
    """Thousands of tests and all that they import stay to the end: no search for garbage walks over them."""
    freeze_all()
