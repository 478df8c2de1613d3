"""Measures what runs under stress show of mutants, compared with plain runs and the tools of compute-sanitizer.

Each method has the same time for the launches of a mutant. A mutant is shown by runs if one of them differs from the
results of the correct kernel, faults or hangs, and by a tool if it reports an error.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import numpy

from ptxkit.device import Cubin, DeviceError
from ptxkit.device_runs.device_launch import DeviceLaunch
from ptxkit.device_runs.repeated_launch import write_job
from ptxkit.fast_dataclasses import dataclass, field, replace
from ptxkit.stress.delay_instrument import insert_delays
from ptxkit.stress.stress_session import StressEffort, StressSession, with_reference
from ptxkit.stress.stress_trial import SAME, StressBackend, StressSubject, StressTrial, TrialOutcome
from ptxkit.syntax import parse
from ptxkit.testing.corpus.launch_table import load_launch_table
from ptxkit.testing.hardware.emulator_vs_device import launch_of_request
from ptxkit.testing.limits import REPEATED_HANGS, SANITIZER_START_SECONDS, STRESS_BATCH
from ptxkit.testing.mutation import equivalent_mutants
from ptxkit.testing.mutation.campaign import CorpusKernel, generate_mutants, sample_mutants
from ptxkit.testing.mutation.mutant import Mutant

PLAIN, STRESS = "plain", "stress"
TOOLS = ("memcheck", "racecheck", "synccheck")
METHODS = (PLAIN, STRESS, *TOOLS)

_TOOL_OPTIONS = {"memcheck": ("--report-api-errors", "no")}
"""Libraries of the host make calls of the driver that fail, which are no faults of the kernel."""

_HANG = "hangs"
"""The first word about a launch that did not end (`DeviceProcess`)."""

_TOOL_LINE = re.compile(
    r"^========= (?:Error: |Warning: )?(?P<text>(?!\s|COMPUTE|ERROR|RACECHECK|Program|Target).+)",
    re.MULTILINE,
)
"""A line of a tool that describes an error, and not a failure or the output of the program, nor a sum."""


@dataclass(frozen=True, slots=True)
class MeasuredKernel:
    """A correct kernel with one launch. subject: without expected outputs at first. mutants: those to measure."""

    name: str
    subject: StressSubject
    mutants: tuple[Mutant, ...] = ()

    def with_fault(self, mutant: Mutant, text: str) -> StressSubject:
        """Returns the mutant as a subject, which must have the outputs of the correct kernel."""
        changed = mutant.apply(text)
        return replace(self.subject, text=changed, delayed=insert_delays(parse(changed)))


@dataclass(frozen=True, slots=True)
class MeasuredMutant:
    """The result for one mutant. methods: those that were applied. shown: what those showed that showed anything."""

    mutant: Mutant
    methods: tuple[str, ...]
    shown: dict[str, str] = field(default_factory=dict)


def measured_kernels(
    kernel: CorpusKernel, explanations: equivalent_mutants.Explanations, most: int
) -> list[MeasuredKernel]:
    """Returns the kernels of a file that have a launch, with at most `most` faulty mutants of each family (0: none)."""
    found = []
    mutants = sample_mutants(generate_mutants(kernel), most, 1.0, 0) if most else []
    for request in load_launch_table().requests_for(kernel.text, kernel.name):
        launch, _ = launch_of_request(request, kernel.text, numpy.random.default_rng(0))
        own = [
            each
            for each in mutants
            if each.function == launch.name
            and not each.is_harmless
            and each.identity not in explanations.identities
            and not explanations.is_unreachable(each)
        ]
        subject = StressSubject(kernel.text, launch, insert_delays(parse(kernel.text)))
        found.append(MeasuredKernel(kernel.name, subject, tuple(own)))
    return found


def with_expected_outputs(kernel: MeasuredKernel, backend: StressBackend) -> tuple[MeasuredKernel, str]:
    """Returns the kernel with its expected outputs, and where they come from. Raises DeviceError."""
    subject, reference, failed = with_reference(kernel.subject, backend)
    if failed is not None:
        raise DeviceError(f"{kernel.name}: the correct kernel fails: {failed.description}")
    return replace(kernel, subject=subject), reference


def sample_evenly(kernels: Sequence[MeasuredKernel], count: int, seed: int) -> list[MeasuredKernel]:
    """Returns the kernels with `count` of their mutants, chosen at random from all (0: all of them)."""
    pairs = [(at, each) for at, kernel in enumerate(kernels) for each in kernel.mutants]
    kept = set(Random(seed).sample(range(len(pairs)), min(count or len(pairs), len(pairs))))
    return [
        replace(kernel, mutants=tuple(each for place, (own, each) in enumerate(pairs) if own == at and place in kept))
        for at, kernel in enumerate(kernels)
    ]


def show_by_runs(subject: StressSubject, method: str, backend: StressBackend, effort: StressEffort) -> str:
    """Returns what plain runs or runs under stress show, or an empty text.

    A hang counts if the same launch does not end once more: on a GPU that several processes share, one of them may get
    no time for seconds.
    """
    if method == STRESS:
        report = StressSession(subject, backend, effort).run()
        if report.failure is None:
            return ""
        trial, outcome = report.failure.trial, report.failure.outcome
    else:
        trial = StressTrial(None, fills=False)
        found = _first_failure(subject, trial, backend, effort)
        if found is None:
            return ""
        outcome = found
    if outcome.description.startswith(_HANG) and not _fails_again(subject, trial, backend):
        return ""
    what = "plain" if trial.plan is None else trial.plan.style
    return f"{what}: {outcome.description}" if method == STRESS else outcome.description


def _first_failure(
    subject: StressSubject, trial: StressTrial, backend: StressBackend, effort: StressEffort
) -> TrialOutcome | None:
    deadline, done = time.monotonic() + effort.seconds, 0
    while time.monotonic() < deadline and not 0 < effort.runs <= done:
        outcomes = backend.run(subject, [trial] * STRESS_BATCH)
        done += len(outcomes)
        wrong = next((each for each in outcomes if each.kind != SAME), None)
        if wrong is not None:
            return wrong
    return None


def _fails_again(subject: StressSubject, trial: StressTrial, backend: StressBackend) -> bool:
    return any(each.kind != SAME for each in backend.run(subject, [trial] * REPEATED_HANGS))


def find_sanitizer() -> str | None:
    """Returns the program compute-sanitizer, or None."""
    return shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")


def show_by_tool(tool: str, sanitizer: str, cubin: Cubin, launch: DeviceLaunch, seconds: float) -> str:
    """Returns the first line that a tool reports in launches of `seconds` seconds, or an empty text."""
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "job.pickle"
        write_job(job, cubin, launch, seconds)
        runner = f"import sys; sys.path[:] = {sys.path!r}; from ptxkit.device_runs import repeated_launch; "
        runner += f"repeated_launch.launch_repeatedly({str(job)!r})"
        tool_options = ["--tool", tool, *_TOOL_OPTIONS.get(tool, ())]
        try:
            printed: bytes | None = subprocess.run(
                [sanitizer, *tool_options, sys.executable, "-c", runner],
                capture_output=True,
                timeout=seconds + SANITIZER_START_SECONDS,
                check=False,
            ).stdout
        except subprocess.TimeoutExpired as late:
            printed = late.stdout
    line = _TOOL_LINE.search((printed or b"").decode("utf-8", "replace"))
    return line["text"].strip() if line is not None else ""


def table_lines(results: Sequence[MeasuredMutant], methods: Sequence[str]) -> Iterator[str]:
    """Yields the table: by family, the number of mutants, and of those that each method shows."""
    has_tools = not set(TOOLS).isdisjoint(methods)
    yield f"{'family':<42} {'mutants':>7} " + " ".join(f"{each:>9}" for each in methods) + has_tools * "  any tool"
    for name in (*sorted({each.mutant.family for each in results}), "all"):
        own = [each for each in results if name in (each.mutant.family, "all")]
        counts = [sum(method in each.shown for each in own) for method in methods]
        tools = sum(not set(TOOLS).isdisjoint(each.shown) for each in own)
        shown = " ".join(f"{each:>9}" for each in counts)
        yield f"{name:<42} {len(own):>7} {shown}" + (f" {tools:>9}" if has_tools else "")
