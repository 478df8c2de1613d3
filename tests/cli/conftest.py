"""Running a command in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ptxkit.cli.commands import cli


@pytest.fixture
def ptxkit() -> Callable[..., Result]:
    """Runs a command in this process: `ptxkit("lint", "k.ptx", input="...")`. An exception is a failed test."""

    def run(*arguments: str | Path, input: str | bytes | None = None) -> Result:  # noqa: A002
        return CliRunner(catch_exceptions=False).invoke(cli, [str(item) for item in arguments], input=input)

    return run
