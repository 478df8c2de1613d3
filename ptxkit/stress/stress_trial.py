"""One launch of a kernel under stress, and its outcome; and what runs such launches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.device_runs.output_comparison import AllowedDifferences
from ptxkit.fast_dataclasses import dataclass
from ptxkit.stress.delay_instrument import DelayedModule
from ptxkit.stress.delay_plan import DelayPlan

SAME, DIFFERENT, FAILED, REFUSED = "same", "different", "failed", "refused"


@dataclass(frozen=True, slots=True)
class StressTrial:
    """One launch. plan: None for the original kernel. contends: whether other CTAs contend for memory.

    fills: whether another kernel fills shared memory before, so that nothing of an earlier launch remains there.
    """

    plan: DelayPlan | None
    contends: bool = False
    fills: bool = True


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """The outcome of a trial. kind: `same` outputs as expected, `different` ones, or `failed`: a fault or a hang.

    `refused` is a launch that the device does not allow, which only a backend sees. description: the difference or the
    error. outputs: the arrays, if none were expected yet.
    """

    kind: str
    description: str = ""
    outputs: Mapping[int, Any] | None = None


@dataclass(frozen=True, slots=True)
class StressSubject:
    """A kernel with a launch. text: PTX. delayed: the same module with delays; None if none can be inserted.

    expected: the arrays after a correct run; None if they are not known, and any outputs are the `same`.
    """

    text: str
    launch: DeviceLaunch
    delayed: DelayedModule | None
    expected: Mapping[int, Any] | None = None
    allowed: AllowedDifferences = AllowedDifferences()


class StressBackend(Protocol):
    """Runs trials: a GPU, or the reference machine."""

    name: str

    def run(self, subject: StressSubject, trials: Sequence[StressTrial]) -> list[TrialOutcome]:
        """Returns the outcomes of the trials, until one faults or hangs: then the others are not run.

        Raises DeviceError if the kernel cannot be compiled or there is no GPU.
        """
        ...
