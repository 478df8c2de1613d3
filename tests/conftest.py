"""What all tests share: none is answered from results that an earlier run kept, unless it says so; and garbage."""

from __future__ import annotations

import os

import pytest

from ptxkit.garbage import keep_all

os.environ["PTXKIT_NO_CACHE"] = "1"


def pytest_collection_finish(session: pytest.Session) -> None:
    """Thousands of tests and all that they import stay to the end: no search for garbage walks over them."""
    keep_all()
