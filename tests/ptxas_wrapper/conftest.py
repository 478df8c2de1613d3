"""Fixtures of the tests of `ptxkit-ptxas`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.ptxas_wrapper.support import Build


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests start scripts by their first line, and use `exec`."""
    if os.name == "posix":
        return
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.skip(reason="needs POSIX"))


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("results")


@pytest.fixture
def build(tmp_path: Path, cache: Path) -> Build:
    return Build(tmp_path, cache)
