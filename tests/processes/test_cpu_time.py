"""The time of a process, by a clock and a system that the tests set."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from ptxkit.processes import cpu_time
from ptxkit.processes.cpu_time import CheckTimer, CpuUsage


class Machine:
    """now: its clock. usage: its report of the process."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.usage: CpuUsage | None = CpuUsage(0.0, is_runnable=True)
        monkeypatch.setattr(cpu_time.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(cpu_time, "cpu_usage_of", lambda _: self.usage)

    def after(self, timer: CheckTimer, seconds: float, usage: CpuUsage | None) -> float:
        self.now += seconds
        self.usage = usage
        return timer.elapsed_seconds()


def test_a_process_that_runs_has_its_processor_time_and_one_that_waits_elapsed_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = Machine(monkeypatch)
    timer = CheckTimer(1, interval=10)
    assert machine.after(timer, 8, CpuUsage(1.0, is_runnable=True)) == 1
    assert machine.after(timer, 8, CpuUsage(1.5, is_runnable=False)) == 9
    assert machine.after(timer, 8, CpuUsage(1.75, is_runnable=True)) == 9.25


@pytest.mark.parametrize("usage", [None, CpuUsage(0.0, is_runnable=False)])
def test_the_time_in_which_the_watching_process_was_not_run_does_not_count(
    usage: CpuUsage | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(monkeypatch)
    timer = CheckTimer(1, interval=0.25)
    assert machine.after(timer, 30, usage) == 0.25
    assert machine.after(timer, 0.125, usage) == 0.375


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="asks the system for the state of a process")
def test_a_stopped_process_does_not_wait() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        os.kill(process.pid, signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        usage = cpu_time.cpu_usage_of(process.pid)
        process.kill()
    assert usage is not None
    assert usage.is_runnable
