"""Tests marked `device` run where there is a GPU, and are skipped with one reason where none exists."""

from __future__ import annotations

from functools import cache

import pytest

from ptxkit.device import DeviceError, check_device


@cache
def reason() -> str | None:
    """Returns why no kernel can be launched here; None where one can."""
    try:
        check_device()
    except DeviceError as error:
        return str(error)
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("device") and (why := reason()) is not None:
            item.add_marker(pytest.mark.skip(reason=why))
