"""The process that runs trials, with a replacement of the GPU."""

from __future__ import annotations

import numpy
import pytest

from ptxkit.device import LaunchError, NoDeviceError
from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.device_runs.device_process import DeviceReady
from ptxkit.fast_dataclasses import replace
from ptxkit.processes.child_process import ParentChannel
from ptxkit.stress.delay_instrument import insert_delays
from ptxkit.stress.disturbing_kernels import disturbing_text
from ptxkit.stress.gpu_backend import GpuBackend, GpuJob
from ptxkit.stress.stress_trial import FAILED, REFUSED, SAME, StressSubject, StressTrial, TrialOutcome
from ptxkit.syntax import parse
from tests.stress.test_stress_session import TEXT

LAUNCH = DeviceLaunch("k", 1, None, (numpy.zeros(64, numpy.uint32),))


def serve(channel: ParentChannel) -> None:
    """Answers with what it was sent; a trial with contention faults."""
    channel.send(DeviceReady("sm_90a"))
    while True:
        job, trials = channel.receive()
        assert isinstance(job, GpuJob)
        for each in trials:
            if not each.fills:
                channel.send(TrialOutcome(REFUSED, "too many resources"))
                continue
            if each.contends:
                channel.send("illegal address")
                return
            channel.send(TrialOutcome(SAME, f"job {job.number}, {job.site_count} sites, {len(job.plan)}"))


def serve_none(channel: ParentChannel) -> None:
    channel.send("no GPU here")


def test_a_fault_ends_its_trials_and_no_later_ones() -> None:
    subject = StressSubject(TEXT, LAUNCH, insert_delays(parse(TEXT)))
    trials = [StressTrial(None), StressTrial(None, contends=True), StressTrial(None)]
    with GpuBackend(serve=serve) as backend:
        outcomes = backend.run(subject, trials)
        assert [each.kind for each in outcomes] == [SAME, FAILED]
        assert outcomes[1].description == "illegal address"
        (outcome,) = backend.run(subject, trials[2:])
    assert outcome.description == "job 0, 4 sites, 18"


def test_another_subject_is_another_job_and_the_same_one_is_compiled_once() -> None:
    first = StressSubject(TEXT, LAUNCH, None)
    second = replace(first, expected={0: numpy.zeros(64, numpy.uint32)})
    with GpuBackend(serve=serve) as backend:
        numbers = [
            backend.run(each, [StressTrial(None)])[0].description.split(",")[0] for each in (first, first, second)
        ]
    assert numbers == ["job 0", "job 0", "job 1"]


def test_a_launch_that_the_device_refuses_is_no_outcome() -> None:
    with GpuBackend(serve=serve) as backend, pytest.raises(LaunchError, match="too many resources"):
        backend.run(StressSubject(TEXT, LAUNCH, None), [StressTrial(None), StressTrial(None, fills=False)])


def test_without_a_gpu_the_reason_is_raised() -> None:
    with GpuBackend(serve=serve_none) as backend, pytest.raises(NoDeviceError, match="no GPU here"):
        backend.run(StressSubject(TEXT, LAUNCH, None), [StressTrial(None)])


def test_the_disturbing_kernels_are_correct_on_the_machine_but_for_the_contention() -> None:
    """Contending CTAs race by design, in memory that no other kernel uses."""
    buffer = numpy.zeros(4096, numpy.uint32)
    for architecture in (80, 90):
        text = disturbing_text(architecture)
        filling = DeviceLaunch("fill_shared_memory", 2, 32, (64,), shared=256)
        contending = DeviceLaunch("contend_for_memory", 2, 32, (buffer, 1024 - 128, 3))
        assert filling.emulate(text).is_clean
        assert contending.emulate(text, races=False).is_clean
