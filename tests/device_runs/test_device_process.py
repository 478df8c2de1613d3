"""The process that launches kernels, with a replacement of the GPU."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ptxkit.device import Cubin, NoDeviceError
from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.device_runs.device_process import DeviceProcess, DeviceReady
from ptxkit.processes import cpu_time
from ptxkit.processes.child_process import ParentChannel
from ptxkit.processes.cpu_time import CpuUsage

HANGS = "PTXKIT_TEST_HANGS"
"""The variable for the file that states that a process hangs."""

LAUNCHES = [DeviceLaunch(name, 1, 32, (7,)) for name in ("first", "second", "third")]


def serve(channel: ParentChannel) -> None:
    """Returns the argument, hangs at `hangs`, fails at `fails`, exits at `dies`."""
    hangs = Path(os.environ[HANGS])
    hangs.unlink(missing_ok=True)
    channel.send(DeviceReady("sm_90a"))
    while True:
        cubin, launches = channel.receive()
        for each in launches:
            if each.name == "hangs":
                hangs.touch()
                time.sleep(600)
            if each.name == "dies":
                return
            answer = "illegal address" if each.name == "fails" else {0: (cubin.code, *each.arguments)}
            channel.send(answer)
            if isinstance(answer, str):
                return


def serve_none(channel: ParentChannel) -> None:
    channel.send("no GPU here")


@pytest.fixture(autouse=True)
def _time_of_hanging_processes_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No time passes for a process that does not hang."""
    hangs = tmp_path / "hangs"
    monkeypatch.setenv(HANGS, str(hangs))
    monkeypatch.setattr(cpu_time, "cpu_usage_of", lambda _: CpuUsage(0.0, is_runnable=not hangs.exists()))


CUBIN = Cubin(b"code", "sm_90a", (), "")


def test_every_launch_has_its_result() -> None:
    with DeviceProcess(20, serve) as device:
        assert device.run(CUBIN, LAUNCHES) == [{0: (b"code", 7)}] * 3


@pytest.mark.parametrize(
    ("name", "printed"), [("hangs", "no end within 1"), ("fails", "illegal address"), ("dies", "broke down")]
)
def test_a_hang_or_failure_affects_its_own_result_only(name: str, printed: str) -> None:
    launches = [LAUNCHES[0], DeviceLaunch(name, 1, 32, ()), LAUNCHES[2]]
    with DeviceProcess(1, serve) as device:
        first, second, third = device.run(CUBIN, launches)
    assert isinstance(second, str)
    assert printed in second
    assert first == third == {0: (b"code", 7)}


def test_a_process_returns_the_properties_of_its_gpu() -> None:
    with DeviceProcess(20, serve) as device:
        assert device.target == "sm_90a"


def test_without_a_gpu_the_reason_is_raised() -> None:
    with DeviceProcess(20, serve_none) as device, pytest.raises(NoDeviceError, match="no GPU here"):
        device.run(CUBIN, LAUNCHES)
