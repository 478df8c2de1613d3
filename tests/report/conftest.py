"""What the tests of pages share: one browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.report.browser import BROWSER, Browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if BROWSER is None:
        pytest.skip("no Chromium is installed")
    made = Browser(tmp_path_factory.mktemp("browser"))
    yield made
    made.close()
