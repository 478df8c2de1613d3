"""What the rules say of a kernel beside what the machine shows of it, and whether the two agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxkit.diagnostics import Severity, Verdict
from ptxkit.linter import lint
from ptxkit.records import dataclass
from ptxkit.testing.arrangements.kernel import Pipeline
from ptxkit.testing.judging import judged

if TYPE_CHECKING:
    from ptxkit.testing.device_process import DeviceLaunch

SCHEDULES = (("late", 0), ("torn", 0), ("random", 0), ("eager", 0), ("random", 1))
"""Policies of the machine and their seeds, those first that show most."""

ENOUGH = 3
"""Schedules for a kernel that is right."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """static: codes of the rules' errors; warned: of their warnings; open: questions that the rules left open.

    seen: codes of what the machine found. unfinished: why a run did not come to its end; differs: what it left that is
    not what was expected; runs: how many there were.
    """

    static: frozenset[str]
    warned: frozenset[str]
    open: tuple[str, ...]
    seen: frozenset[str]
    unfinished: str = ""
    differs: str = ""
    runs: int = 0

    @property
    def silence(self) -> str:
        """Why the rules reported nothing: the first question that they left open, or that they found nothing."""
        if self.static:
            return ""
        if self.warned:
            return "warned"
        return f"open: {self.open[0]}" if self.open else "silent"


def verdicts_of(
    source: Pipeline | str, launch: DeviceLaunch | None = None, *, static: Verdict | None = None
) -> Verdicts:
    """Both verdicts on a pipeline, or on a text with its launch. static: the rules', where it is known."""
    text = source.module() if isinstance(source, Pipeline) else source
    launch = source.launch if isinstance(source, Pipeline) else launch
    if launch is None:
        raise ValueError("say how the kernel is launched: only a generated one knows")
    verdict = static or lint(text)
    expected = source.expected() if isinstance(source, Pipeline) and source.fault is None else None
    is_wrong = isinstance(source, Pipeline) and source.fault is not None
    seen: set[str] = set()
    unfinished = differs = ""
    runs = 0
    for policy, seed in SCHEDULES if is_wrong else SCHEDULES[:ENOUGH]:
        outcome = launch.emulate(text, policy=policy, seed=seed)
        runs += 1
        seen.update(each.code for each in outcome.findings)
        unfinished = unfinished or outcome.undecided or outcome.failed
        if expected is not None and outcome.is_clean:
            differs = differs or _difference(outcome.outputs[1], expected, policy)
        if seen:
            break
    return Verdicts(
        _codes(verdict, Severity.ERROR),
        _codes(verdict, Severity.WARNING),
        tuple(dict.fromkeys(f"{each.code}: {each.reason}" for each in verdict.undecided)),
        frozenset(seen),
        unfinished,
        differs,
        runs,
    )


def disagreement(source: Pipeline | str, verdicts: Verdicts) -> str:
    """What is wrong with two verdicts, or between them; empty where nothing is.

    A pipeline that is right: neither says anything, and the results are those expected. A broken one: the machine finds
    it; what it finds, and what the rules report, is one of the codes of the fault. Another text: what the rules call an
    error the machine shows, and what it shows they have not called clean.
    """
    if isinstance(source, str):
        return _of_text(verdicts)
    if source.site is None:
        return _of_correct(verdicts)
    return _of_broken(source.site.fault.codes, verdicts)


def _of_text(verdicts: Verdicts) -> str:
    if verdicts.static and not verdicts.seen and not verdicts.unfinished:
        return f"the rules report {_list(verdicts.static)}, the machine shows nothing"
    if verdicts.seen and verdicts.silence == "silent":
        return f"the machine shows {_list(verdicts.seen)}, the rules call it clean"
    return ""


def _of_correct(verdicts: Verdicts) -> str:
    if verdicts.static or verdicts.warned:
        return f"it is right, and the rules report {_list(verdicts.static | verdicts.warned)}"
    if verdicts.seen:
        return f"it is right, and the machine finds {_list(verdicts.seen)}"
    return verdicts.differs or (f"the machine has no verdict: {verdicts.unfinished}" if verdicts.unfinished else "")


def _of_broken(codes: frozenset[str], verdicts: Verdicts) -> str:
    if not verdicts.seen:
        return f"the machine finds nothing{f' ({verdicts.unfinished})' if verdicts.unfinished else ''}"
    if not verdicts.seen & codes:
        return f"the machine finds {_list(verdicts.seen)}, none of {_list(codes)}"
    if verdicts.static and not verdicts.static & codes:
        return f"the rules report {_list(verdicts.static)}, none of {_list(codes)}"
    return ""


@judged
def assert_verdicts_agree(source: Pipeline | str, launch: DeviceLaunch | None = None) -> Verdicts:
    """The rules and the machine agree on a kernel (`disagreement`); what both say.

    The rules may leave a fault open or be silent on it: `Verdicts.silence` says so, and is to be counted.
    """
    found = verdicts_of(source, launch)
    wrong = disagreement(source, found)
    if wrong:
        fault = source.site.fault.family if isinstance(source, Pipeline) and source.site is not None else ""
        text = source.module() if isinstance(source, Pipeline) else source
        raise AssertionError(f"{fault + ': ' if fault else ''}{wrong}\n{text}")
    return found


def _codes(verdict: Verdict, severity: Severity) -> frozenset[str]:
    return frozenset(each.code for each in verdict.diagnostics if each.severity == severity)


def _difference(left: Any, expected: np.ndarray[Any, Any], policy: str) -> str:
    mine, wanted = np.asarray(left).ravel(), expected.ravel()
    places = np.flatnonzero(mine != wanted)
    if not len(places):
        return ""
    first = int(places[0])
    return f"element {first} is {mine[first]}, not {wanted[first]} ({len(places)} differ; policy {policy})"


def _list(codes: frozenset[str]) -> str:
    return ", ".join(sorted(codes))
