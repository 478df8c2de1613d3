"""Compares the findings of the rules for a kernel with those of the machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.diagnostics import Severity, Verdict
from ptxkit.fast_dataclasses import dataclass
from ptxkit.linter import lint
from ptxkit.testing.oracles.budgeted_run import emulate_within_budget
from ptxkit.testing.oracles.session import track_oracle
from ptxkit.testing.pipelines.pipeline import GeneratedPipeline

if TYPE_CHECKING:
    from ptxkit.device_runs.device_launch import DeviceLaunch

SCHEDULES = (("late", 0), ("torn", 0), ("random", 0), ("eager", 0), ("random", 1))
"""Policies of the machine and their seeds, with the most effective first."""

CORRECT_KERNEL_SCHEDULES = 3
"""Schedules for a correct kernel."""


@dataclass(frozen=True, slots=True)
class EngineVerdicts:
    """static: codes of the rules' errors; warned: of their warnings; open: questions that the rules left undecided.

    seen: codes of the machine's findings. unfinished: the reason why a run did not complete; differs: the difference
    between output and expected output; runs: their number.
    """

    rule_errors: frozenset[str]
    rule_warnings: frozenset[str]
    open_obligations: tuple[str, ...]
    emulator_codes: frozenset[str]
    unfinished: str = ""
    output_difference: str = ""
    runs: int = 0

    @property
    def silence_reason(self) -> str:
        """Why the rules reported nothing: the first question that they left undecided, or that they found nothing."""
        if self.rule_errors:
            return ""
        if self.rule_warnings:
            return "warned"
        return f"open: {self.open_obligations[0]}" if self.open_obligations else "silent"


def compute_verdicts(
    source: GeneratedPipeline | str, launch: DeviceLaunch | None = None, *, static: Verdict | None = None
) -> EngineVerdicts:
    """Returns both verdicts on a pipeline, or on a text with its launch. static: the verdict of the rules, if it is
    known.
    """
    text = source.module() if isinstance(source, GeneratedPipeline) else source
    launch = source.launch if isinstance(source, GeneratedPipeline) else launch
    if launch is None:
        raise ValueError("pass the launch of the kernel: only a generated kernel has one")
    verdict = static or lint(text)
    expected = source.expected_output() if isinstance(source, GeneratedPipeline) and source.fault is None else None
    is_wrong = isinstance(source, GeneratedPipeline) and source.fault is not None
    seen: set[str] = set()
    unfinished = differs = ""
    runs = 0
    for policy, seed in SCHEDULES if is_wrong else SCHEDULES[:CORRECT_KERNEL_SCHEDULES]:
        outcome = emulate_within_budget(launch, text, policy=policy, seed=seed)
        runs += 1
        seen.update(each.code for each in outcome.findings)
        unfinished = unfinished or outcome.incomplete_reason or outcome.unsupported_reason
        if expected is not None and outcome.is_clean:
            differs = differs or _output_difference(outcome.outputs[1], expected, policy)
        if seen:
            break
    return EngineVerdicts(
        _codes(verdict, Severity.ERROR),
        _codes(verdict, Severity.WARNING),
        tuple(dict.fromkeys(f"{each.code}: {each.reason}" for each in verdict.undecided)),
        frozenset(seen),
        unfinished,
        differs,
        runs,
    )


def find_disagreement(source: GeneratedPipeline | str, verdicts: EngineVerdicts) -> str:
    """Returns the error in two verdicts, or the contradiction between them, or an empty text.

    For a correct pipeline neither reports a finding, and the results are the expected ones. For a broken one, the
    machine finds the fault, and each finding of the machine and the rules has one of the codes of the fault. For
    another text, the machine confirms each error of the rules, and each finding of the machine has an error, a warning
    or an undecided question of the rules.
    """
    if isinstance(source, str):
        return _text_disagreement(verdicts)
    if source.site is None:
        return _correct_kernel_disagreement(verdicts)
    return _broken_kernel_disagreement(source.site.fault.codes, verdicts)


def _text_disagreement(verdicts: EngineVerdicts) -> str:
    if verdicts.rule_errors and not verdicts.emulator_codes and not verdicts.unfinished:
        return f"the rules report {_join_codes(verdicts.rule_errors)}, the machine shows nothing"
    if verdicts.emulator_codes and verdicts.silence_reason == "silent":
        return f"the machine shows {_join_codes(verdicts.emulator_codes)}, the rules call it clean"
    return ""


def _correct_kernel_disagreement(verdicts: EngineVerdicts) -> str:
    if verdicts.rule_errors or verdicts.rule_warnings:
        return f"it is right, and the rules report {_join_codes(verdicts.rule_errors | verdicts.rule_warnings)}"
    if verdicts.emulator_codes:
        return f"it is right, and the machine finds {_join_codes(verdicts.emulator_codes)}"
    return verdicts.output_difference or (
        f"the machine has no verdict: {verdicts.unfinished}" if verdicts.unfinished else ""
    )


def _broken_kernel_disagreement(codes: frozenset[str], verdicts: EngineVerdicts) -> str:
    if not verdicts.emulator_codes:
        return f"the machine finds nothing{f' ({verdicts.unfinished})' if verdicts.unfinished else ''}"
    if not verdicts.emulator_codes & codes:
        return f"the machine finds {_join_codes(verdicts.emulator_codes)}, none of {_join_codes(codes)}"
    if verdicts.rule_errors and not verdicts.rule_errors & codes:
        return f"the rules report {_join_codes(verdicts.rule_errors)}, none of {_join_codes(codes)}"
    return ""


@track_oracle
def assert_verdicts_agree(source: GeneratedPipeline | str, launch: DeviceLaunch | None = None) -> EngineVerdicts:
    """Asserts that the rules and the machine agree on a kernel (`find_disagreement`), and returns both verdicts.

    The rules may leave a fault undecided or not report it: `EngineVerdicts.silence_reason` gives the reason, which
    callers should count.
    """
    found = compute_verdicts(source, launch)
    wrong = find_disagreement(source, found)
    if wrong:
        fault = source.site.fault.family if isinstance(source, GeneratedPipeline) and source.site is not None else ""
        text = source.module() if isinstance(source, GeneratedPipeline) else source
        raise AssertionError(f"{fault + ': ' if fault else ''}{wrong}\n{text}")
    return found


def _codes(verdict: Verdict, severity: Severity) -> frozenset[str]:
    return frozenset(each.code for each in verdict.diagnostics if each.severity == severity)


def _output_difference(left: Any, expected: np.ndarray[Any, Any], policy: str) -> str:
    mine, wanted = np.asarray(left).ravel(), expected.ravel()
    places = np.flatnonzero(mine != wanted)
    if not len(places):
        return ""
    first = int(places[0])
    return f"element {first} is {mine[first]}, not {wanted[first]} ({len(places)} differ; policy {policy})"


def _join_codes(codes: frozenset[str]) -> str:
    return ", ".join(sorted(codes))
