"""The assertion that a kernel has the same results under delays and contention."""

from __future__ import annotations

from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.linter import lint
from ptxkit.report import diagnostic_lines, plain
from ptxkit.stress.delay_instrument import insert_delays
from ptxkit.stress.gpu_backend import GpuBackend
from ptxkit.stress.stress_finding import stress_finding
from ptxkit.stress.stress_session import StressEffort, stress_kernel
from ptxkit.stress.stress_trial import StressBackend, StressSubject
from ptxkit.syntax import parse
from ptxkit.testing.oracles.assertions import Source, launch_for, require_device, text_of
from ptxkit.testing.oracles.session import track_oracle


@track_oracle
def assert_stable_under_stress(
    source: Source,
    launch: DeviceLaunch | None = None,
    *,
    seconds: float = 5.0,
    seed: int = 0,
    backend: StressBackend | None = None,
) -> None:
    """Asserts that the GPU writes the expected bytes under random delays, contention and other shared memory.

    launch: optional for a generated kernel. seconds: of the runs. backend: instead of the GPU. The expected bytes are
    those of the reference machine, or of a plain run where it has none.
    """
    text, launch = text_of(source), launch_for(source, launch)
    subject = StressSubject(text, launch, insert_delays(parse(text)))
    effort = StressEffort(seconds, seed=seed)
    if backend is not None:
        _assert_no_failure(subject, backend, effort)
        return
    require_device()
    with GpuBackend() as gpu:
        _assert_no_failure(subject, gpu, effort)


def _assert_no_failure(subject: StressSubject, backend: StressBackend, effort: StressEffort) -> None:
    subject, report = stress_kernel(subject, backend, effort)
    found = stress_finding(report, subject, "module.ptx", lint(subject.text, path="module.ptx"))
    if found is not None:
        raise AssertionError(f"{plain(diagnostic_lines([found]))}\n{subject.text}")
