"""Checks many correct and broken pipelines with the rules and the machine, and prints the results as tables."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from random import Random
from typing import Any

from ptxkit.fast_dataclasses import dataclass
from ptxkit.testing.oracles.rules_vs_emulator import compute_verdicts, find_disagreement
from ptxkit.testing.pipelines.pipeline import GeneratedPipeline, break_pipeline, random_pipeline


@dataclass(frozen=True, slots=True)
class PipelineJob:
    """One example, which is always the same. number: its index among the correct or broken ones of a seed."""

    seed: int
    number: int
    is_broken: bool
    target: str = "sm_90a"
    version: tuple[int, int] = (8, 7)

    def pipeline(self) -> GeneratedPipeline:
        """Returns the example; a pipeline without places for a fault is replaced by the next one."""
        chance = Random(f"{self.seed}:{self.number}:{'broken' if self.is_broken else 'correct'}")
        made = random_pipeline(chance, self.target, self.version)
        while self.is_broken and not made.sites:
            made = random_pipeline(chance, self.target, self.version)
        return break_pipeline(chance.randrange, made) if self.is_broken else made


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """The result of an example. family: of its fault, or empty if it is correct. wrong: the disagreement, as text.

    silence: the reason why the rules did not report a fault (`EngineVerdicts.silence_reason`). seconds: of processor
    time.
    """

    job: PipelineJob
    mechanism: str
    drain: str
    family: str
    rule_errors: tuple[str, ...]
    emulator_codes: tuple[str, ...]
    silence_reason: str
    disagreement: str
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Returns the result as JSON data. The number and the seed reproduce the example."""
        return {
            "seed": self.job.seed,
            "number": self.job.number,
            "mechanism": self.mechanism,
            "drain": self.drain,
            "fault": self.family or None,
            "static": list(self.rule_errors),
            "seen": list(self.emulator_codes),
            "silence": self.silence_reason or None,
            "wrong": self.disagreement or None,
        }


def run_jobs(questions: Iterable[PipelineJob]) -> list[PipelineResult]:
    """Returns the results of both engines for each example."""
    return [_run_job(each) for each in questions]


def _run_job(question: PipelineJob) -> PipelineResult:
    began = time.process_time()
    pipeline = question.pipeline()
    family = pipeline.site.fault.family if pipeline.site is not None else ""
    try:
        found = compute_verdicts(pipeline)
        wrong, static, seen = find_disagreement(pipeline, found), found.rule_errors, found.emulator_codes
        silence = found.silence_reason if family else ""
    except Exception as error:  # an exception is one more disagreement, and the campaign continues
        wrong, static, seen, silence = f"broke down: {type(error).__name__}: {error}", frozenset(), frozenset(), ""
    return PipelineResult(
        question,
        pipeline.plan.mechanism,
        pipeline.plan.drain,
        family,
        tuple(sorted(static)),
        tuple(sorted(seen)),
        silence,
        wrong,
        time.process_time() - began,
    )


def pipeline_jobs(
    correct: int, broken: int, seed: int, target: str, version: tuple[int, int], first: int = 0
) -> list[PipelineJob]:
    """Returns `correct` and `broken` jobs. first: the number of the first."""
    return [
        PipelineJob(seed, number, is_broken, target, version)
        for is_broken, count in ((False, correct), (True, broken))
        for number in range(first, first + count)
    ]


_COLUMNS = ("broken", "machine", "rules", "open", "silent")
_HEAD = " ".join(f"{each:>8}" for each in _COLUMNS)


def _column_text(row: Counter[str]) -> str:
    return " ".join(f"{row[each]:>8}" for each in _COLUMNS)


def mechanism_table(answers: Iterable[PipelineResult]) -> Iterator[str]:
    """Yields, for each mechanism and drain, how many were correct and judged so, how many had faults, and what found
    them.
    """
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for each in answers:
        for name in (each.mechanism, f"drain {each.drain}", "all"):
            _count(rows[name], each)
    yield f"{'mechanism':<22} {'correct':>8} {'agreed':>8}   {_HEAD}"
    for name in sorted(rows, key=lambda name: (name == "all", name.startswith("drain"), name)):
        row = rows[name]
        yield f"{name:<22} {row['correct']:>8} {row['agreed']:>8}   {_column_text(row)}"


def fault_table(answers: Iterable[PipelineResult]) -> Iterator[str]:
    """Yields, for each family of faults, how many there were, what found them, and the codes that the machine gives
    most often.
    """
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    codes: dict[str, Counter[str]] = defaultdict(Counter)
    for each in answers:
        if each.family:
            _count(rows[each.family], each)
            codes[each.family].update(each.emulator_codes)
    yield f"{'fault':<24} {_HEAD}  codes"
    for name in sorted(rows):
        row, seen = rows[name], ", ".join(code for code, _ in codes[name].most_common(3))
        yield f"{name:<24} {_column_text(row)}  {seen}"


def silence_reasons(answers: Iterable[PipelineResult]) -> Iterator[str]:
    """Yields the reasons why the rules did not report faults that the machine finds, each with its frequency and an
    example.
    """
    counted: Counter[tuple[str, str]] = Counter()
    example: dict[tuple[str, str], PipelineResult] = {}
    for each in answers:
        if each.silence_reason:
            key = (each.silence_reason, each.family)
            counted[key] += 1
            example.setdefault(key, each)
    for (silence, family), count in counted.most_common():
        yield f"{count:>6}  {family:<24} {silence} (number {example[silence, family].job.number})"


def _count(row: Counter[str], answer: PipelineResult) -> None:
    if not answer.family:
        row["correct"] += 1
        row["agreed"] += not answer.disagreement
        return
    row["broken"] += 1
    row["machine"] += bool(answer.emulator_codes)
    row["rules"] += bool(answer.rule_errors)
    row["open"] += answer.silence_reason.startswith("open")
    row["silent"] += answer.silence_reason in ("silent", "warned")
