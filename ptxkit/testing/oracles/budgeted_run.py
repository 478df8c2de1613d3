"""Runs of the reference machine that end with the budget of the test."""

from __future__ import annotations

from typing import Any

from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.emulator import RunBudget, RunResult
from ptxkit.testing.oracles.session import current_session


def emulate_within_budget(launch: DeviceLaunch, text: str, **more: Any) -> RunResult:
    """Runs a launch on the reference machine. more: as for `ptxkit.emulator.run`, but for the budget.

    The run is limited to the remaining budget of the test (`OracleSession`), if it has one.
    """
    judging = current_session()
    left = judging.remaining_seconds()
    if left is None:
        return launch.emulate(text, **more)
    found = launch.emulate(text, **more, budget=RunBudget(seconds=left))
    judging.is_truncated = judging.is_truncated or (
        bool(found.incomplete_reason and not found.findings) and judging.remaining_seconds() == 0
    )
    return found
