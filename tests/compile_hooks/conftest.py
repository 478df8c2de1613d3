"""Fixtures of the tests of hooks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compile_hooks.support import ListingSink


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of results, which all tests share."""
    return tmp_path_factory.mktemp("results")


@pytest.fixture
def sink() -> ListingSink:
    return ListingSink()


@pytest.fixture(autouse=True)
def _results(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.delenv("PTXKIT_NO_CACHE", raising=False)
    monkeypatch.setenv("PTXKIT_CACHE_DIR", str(cache))
