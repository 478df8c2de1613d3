"""Shared by the tests of pages: one browser."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

from tests.report.browser import BROWSER, Browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if BROWSER is None:
        words = "no Chromium is installed: no page was looked at, and no label was measured"
        warnings.warn(words, stacklevel=1)
        pytest.skip(words)
    made = Browser(tmp_path_factory.mktemp("browser"))
    yield made
    made.close()
