"""Trials on the GPU of this machine, in a process that ends with a kernel that hangs or faults.

The process loads the original kernel and the one with delays once, and for each trial restores the arrays, fills shared
memory, writes the plan, launches, and compares the outputs, so that only a short message is sent back.
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxkit.device import Cubin, LaunchError, compile, target_for  # noqa: A004
from ptxkit.device_runs.device_launch import DeviceLaunch, Outputs
from ptxkit.device_runs.device_process import DeviceProcess, Serve
from ptxkit.device_runs.output_comparison import AllowedDifferences
from ptxkit.fast_dataclasses import dataclass
from ptxkit.isa.targets import parse_target
from ptxkit.stress.disturbing_kernels import disturbing_text
from ptxkit.stress.limits import HANG_SECONDS
from ptxkit.stress.stress_trial import FAILED, REFUSED, StressSubject, StressTrial, TrialOutcome
from ptxkit.syntax import parse


@dataclass(frozen=True, slots=True)
class GpuJob:
    """What the process needs of a subject. number: distinguishes the jobs of one backend. plan: the variable's name."""

    number: int
    plain: Cubin
    delayed: Cubin | None
    disturbers: Cubin
    plan: str
    site_count: int
    launch: DeviceLaunch
    expected: Outputs | None
    allowed: AllowedDifferences


class GpuBackend:
    """A GPU. seconds: of the process's own time, after which a launch hangs. serve: the function of the process.

    It can be used as a context manager.
    """

    name = "the GPU"

    def __init__(self, seconds: float = HANG_SECONDS, serve: Serve | None = None) -> None:
        from ptxkit.stress.gpu_process import serve_stress

        self._process = DeviceProcess(seconds, serve or serve_stress)
        self._subject: StressSubject | None = None
        self._job: GpuJob | None = None
        self._disturbers: Cubin | None = None

    def __enter__(self) -> GpuBackend:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.end()

    def run(self, subject: StressSubject, trials: Sequence[StressTrial]) -> list[TrialOutcome]:
        """Returns the outcomes until a trial fails. Raises DeviceError."""
        job = self._job_of(subject)
        answers = self._process.exchange(job, trials, stops_at_failure=True)
        outcomes = [TrialOutcome(FAILED, each) if isinstance(each, str) else each for each in answers]
        refused = next((each for each in outcomes if each.kind == REFUSED), None)
        if refused is not None:
            raise LaunchError(refused.description)
        return outcomes

    def _job_of(self, subject: StressSubject) -> GpuJob:
        if self._job is None or subject is not self._subject:
            number = 0 if self._job is None else self._job.number + 1
            delayed = subject.delayed
            self._job = GpuJob(
                number,
                self._compile(subject.text),
                None if delayed is None else self._compile(delayed.text),
                self._compiled_disturbers(),
                "" if delayed is None else delayed.plan,
                0 if delayed is None else len(delayed.sites),
                subject.launch,
                subject.expected,
                subject.allowed,
            )
            self._subject = subject
        return self._job

    def _compiled_disturbers(self) -> Cubin:
        if self._disturbers is None:
            target = parse_target(self._process.target)
            self._disturbers = self._compile(disturbing_text(target.number if target is not None else 0))
        return self._disturbers

    def _compile(self, text: str) -> Cubin:
        target = target_for(parse(text).targets, self._process.target)
        return compile(text, target, verify=False, cache=False)
