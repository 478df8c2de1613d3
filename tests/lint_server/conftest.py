"""Fixtures of the tests of the resident process."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lint_server.support import Site


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if sys.platform == "linux":
        return
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="needs Linux"))


def _make_site() -> Iterator[Site]:
    folder = Path(tempfile.mkdtemp(prefix="ptxkit-"))  # the path of a socket must be short
    site = Site(folder)
    yield site
    site.close()
    shutil.rmtree(folder)


@pytest.fixture
def site() -> Iterator[Site]:
    """A folder without a server."""
    yield from _make_site()


@pytest.fixture(scope="module")
def running() -> Iterator[Site]:
    """A folder with a server, which several tests share."""
    for site in _make_site():
        site.start()
        yield site
