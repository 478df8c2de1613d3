"""What all tests share: none is answered from results that an earlier run kept, unless it says so; and garbage."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

from ptxkit.gc_control import freeze_all

os.environ["PTXKIT_NO_CACHE"] = "1"

settings.register_profile("suite", max_examples=40, derandomize=True, deadline=None, database=None)
settings.load_profile("suite")  # `--hypothesis-profile=default` has more examples, and others each time


def pytest_collection_finish(session: pytest.Session) -> None:
    """Thousands of tests and all that they import stay to the end: no search for garbage walks over them."""
    freeze_all()
