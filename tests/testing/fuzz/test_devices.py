"""Campaigns with a GPU, which the reference machine replaces: a hang or crash affects only its own process."""

from __future__ import annotations

import os
import time
from hashlib import sha256
from pathlib import Path

import pytest

from ptxkit.device import Cubin
from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.device_runs.device_process import DeviceProcess, DeviceReady
from ptxkit.emulator import run as emulate
from ptxkit.processes import cpu_time
from ptxkit.processes.child_process import ParentChannel
from ptxkit.processes.cpu_time import CpuUsage
from ptxkit.testing.fuzz.campaign_kinds import FuzzCampaign
from ptxkit.testing.fuzz.scheduler import FuzzLimits, LocalFuzzRunner, run_campaigns
from ptxkit.testing.fuzz.store import FuzzStore
from ptxkit.testing.fuzz.supervised_fuzzer import FuzzUnitResult

COUNTER, HANGING = "PTXKIT_TEST_LAUNCHES", "PTXKIT_TEST_HANGING"
"""The variables for the file of the launches, and for the file that states that one hangs."""
HANGS, BREAKS, WRONG = 2, 3, 5
"""The examples that do so, even when they are shrunk."""


def serve(channel: ParentChannel) -> None:
    """Launches on the reference machine. Some hang, crash the process, or return wrong results."""
    hanging = Path(os.environ[HANGING])
    hanging.unlink(missing_ok=True)
    channel.send(DeviceReady("sm_90a"))
    while True:
        cubin, launches = channel.receive()
        for each in launches:
            number = count_calls(each)
            if number == HANGS:
                hanging.touch()
                time.sleep(600)
            if number == BREAKS:
                channel.send("CUDAError: an illegal memory access was encountered")
                return
            outputs = launch_kernel(cubin, each)
            if number == WRONG:
                outputs[1] = outputs[1] + 1
            channel.send(outputs)


def count_calls(launch: DeviceLaunch) -> int:
    """Returns the number of the example, over all processes: those with the same inputs are the same."""
    path = Path(os.environ[COUNTER])
    first = launch.arguments[0]
    digest = sha256(getattr(first, "array", first).tobytes()).hexdigest()
    known = path.read_text().split()
    if digest not in known:
        known.append(digest)
        path.write_text(" ".join(known))
    return known.index(digest) + 1


def launch_kernel(cubin: Cubin, launch: DeviceLaunch) -> dict[int, object]:
    found = emulate(cubin.ptx, launch.name, grid=launch.grid, block=launch.block, arguments=launch.arguments)
    assert found.is_clean
    return dict(found.outputs)


def test_a_gpu_that_hangs_crashes_or_computes_wrongly_is_recorded_and_the_campaign_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No time passes for a process until a launch hangs."""
    (tmp_path / "launches").write_text("")
    monkeypatch.setenv(COUNTER, str(tmp_path / "launches"))
    hanging = tmp_path / "hanging"
    monkeypatch.setenv(HANGING, str(hanging))
    monkeypatch.setattr(cpu_time, "cpu_usage_of", lambda _: CpuUsage(0.0, is_runnable=not hanging.exists()))
    store = FuzzStore(tmp_path / "fuzz")
    reported: list[FuzzUnitResult] = []
    campaign = FuzzCampaign("machine-device")
    here = LocalFuzzRunner(1, [DeviceProcess(2, serve)], hang=1000, shrinking=4)
    run_campaigns([campaign], store, FuzzLimits(examples=6), here, reported.append)
    total = store.campaign_total(campaign)
    assert (total.run_count, total.skip_count, total.failure_count) == (6, 0, 3)
    causes = {each.cause: each for each in store.causes(["machine-device"])}
    assert {cause.partition(" bytes")[0] for cause in causes} == {
        "the GPU: hangs: no end within # s",
        "the GPU: CUDAError: an illegal memory access was encountered",
        "argument # #",
    }
    for each in causes.values():
        assert (Path(each.folder) / "argument_0.npy").exists()
    assert sum(len(each.failures) for each in reported) == 3
