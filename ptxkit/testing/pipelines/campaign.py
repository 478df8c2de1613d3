"""Many pipelines, right and broken ones, each checked by the rules and on the machine; the results as tables."""

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
    """One example: it is the same whenever it is asked for. number: among the correct or broken ones of a seed."""

    seed: int
    number: int
    is_broken: bool
    target: str = "sm_90a"
    version: tuple[int, int] = (8, 7)

    def pipeline(self) -> GeneratedPipeline:
        """The example; one without places for a fault makes way for the next."""
        chance = Random(f"{self.seed}:{self.number}:{'broken' if self.is_broken else 'correct'}")
        made = random_pipeline(chance, self.target, self.version)
        while self.is_broken and not made.sites:
            made = random_pipeline(chance, self.target, self.version)
        return break_pipeline(chance.randrange, made) if self.is_broken else made


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """The result of an example. family: of its fault, empty where it is right. wrong: the disagreement, in words.

    silence: why the rules reported nothing of a fault (`Verdicts.silence`). seconds: of the processor.
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
        """For machines; the number and the seed make it again."""
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
    """Both verdicts on each."""
    return [_run_job(each) for each in questions]


def _run_job(question: PipelineJob) -> PipelineResult:
    began = time.process_time()
    pipeline = question.pipeline()
    family = pipeline.site.fault.family if pipeline.site is not None else ""
    try:
        found = compute_verdicts(pipeline)
        wrong, static, seen = find_disagreement(pipeline, found), found.rule_errors, found.emulator_codes
        silence = found.silence_reason if family else ""
    except Exception as error:  # a verdict that fails is one more disagreement; the campaign continues
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
    """So many of each. first: the number of the first."""
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
    """For each mechanism and drain: how many were right and judged so, how many faults, and who found them."""
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for each in answers:
        for name in (each.mechanism, f"drain {each.drain}", "all"):
            _count(rows[name], each)
    yield f"{'mechanism':<22} {'correct':>8} {'agreed':>8}   {_HEAD}"
    for name in sorted(rows, key=lambda name: (name == "all", name.startswith("drain"), name)):
        row = rows[name]
        yield f"{name:<22} {row['correct']:>8} {row['agreed']:>8}   {_column_text(row)}"


def fault_table(answers: Iterable[PipelineResult]) -> Iterator[str]:
    """For each family of faults: how many, who found them, and the codes that the machine gives most."""
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
    """Why the rules did not report faults that the machine finds, each reason with how often and an example."""
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
