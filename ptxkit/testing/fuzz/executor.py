"""Executes a work unit: creates its examples and calls the oracle for each, or for all at once if the oracle supports
it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol
from unittest import SkipTest

from ptxkit.fast_dataclasses import dataclass, replace
from ptxkit.testing.corpus.examples import Example, error_message, failure_cause
from ptxkit.testing.corpus.tolerated_differences import known_differences
from ptxkit.testing.differential.campaign import ptxkit_refusal
from ptxkit.testing.fuzz.campaign_kinds import FuzzCampaign, find_kind, version_target_of
from ptxkit.testing.fuzz.example_replay import run_oracle
from ptxkit.testing.oracles.assertions import on_machine
from ptxkit.testing.oracles.ptxas import Ptxas, installed_ptxas


class Heartbeat(Protocol):
    """A function that is called with the number of each example when it begins. patience: the factor by which it may
    take longer than usual.
    """

    def __call__(self, number: int, patience: float = 1.0) -> None: ...


_TEXTS_PER_TIME_UNIT = 50
"""Texts that an assembler may check within the time limit of one example."""

_GUARD = re.compile(r"^@\S+ ")
_CODE = re.compile(r"PTX\d{3}")


@dataclass(frozen=True, slots=True)
class ExampleResult:
    """The result of one example: a failure, a reason for skipping it, or neither."""

    number: int
    failure: Example | None = None
    skip_reason: str = ""


def run_examples(campaign: FuzzCampaign, numbers: range, beat: Heartbeat) -> Iterator[ExampleResult]:
    """Yields the results of these examples."""
    if find_kind(campaign.oracle).needs == "ptxas" and not campaign.corpus:
        yield from _run_batch(campaign, numbers, beat)
        return
    for number in numbers:
        beat(number)
        example = Example("", ())
        try:
            example = find_kind(campaign.oracle).make(campaign, number)
            run_oracle(example)
        except SkipTest as error:
            yield ExampleResult(number, skip_reason=str(error))
        except Exception as error:  # finding such exceptions is the purpose of a campaign
            yield ExampleResult(number, replace(example, message=error_message(error), cause=failure_cause(error)))
        else:
            yield ExampleResult(number)


def recheck_cause(example: Example) -> str:
    """Returns the reason why an example fails again. It is empty if it does not fail, or if its results are
    meaningless.

    A GPU runs only kernels that the machine runs without findings, and that do not depend on uninitialized registers
    and memory, because a kernel from which lines were removed may have any behavior.
    """
    if example.oracle in _GPU_ORACLES and not _is_defined(example):
        return ""
    try:
        run_oracle(example)
    except SkipTest:
        return ""
    except Exception as error:
        return failure_cause(error)
    return ""


_GPU_ORACLES = ("assert_machine_matches_device", "assert_optimisation_invariant", "assert_stable_under_stress")


def _is_defined(example: Example) -> bool:
    assert example.launch is not None
    try:
        on_machine(example.texts[0], example.launch)
        dependence = example.launch.uninitialized_dependence(example.texts[0])
    except Exception:  # the machine does not run it, for any reason
        return False
    return not (dependence.violations or dependence.incomplete_reason)


def _run_batch(campaign: FuzzCampaign, numbers: range, beat: Heartbeat) -> Iterator[ExampleResult]:
    """Yields the results of a batch: ptxas checks thousands of texts at once, and texts with a different verdict are
    checked again one by one.
    """
    examples, ours = [], []
    for number in numbers:
        beat(number)
        examples.append(find_kind(campaign.oracle).make(campaign, number))
        ours.append(ptxkit_refusal(examples[-1].texts[0]))
    texts = [each.texts[0] for each in examples]
    failed: dict[int, Example] = {}
    version, target = version_target_of(campaign, numbers.start)
    judges = [each for each in installed_ptxas() if each.supports(version, target)]
    for judge in judges:
        beat(numbers[-1], 1 + len(texts) / _TEXTS_PER_TIME_UNIT)
        theirs = judge.refusals(texts, target)
        for place, (example, own) in enumerate(zip(examples, ours, strict=True)):
            if (own is None) != (theirs.get(place) is None):
                beat(numbers[place])
                difference = _difference(judge, example, own, judge.refusal(texts[place], target))
                if difference is not None:
                    failed.setdefault(place, difference)
    reason = "" if judges else f"no ptxas here knows PTX {version[0]}.{version[1]} for {target}"
    for place, number in enumerate(numbers):
        yield ExampleResult(number, failed.get(place), reason)


def _difference(judge: Ptxas, example: Example, ours: str | None, theirs: str | None) -> Example | None:
    """Returns the example with the difference, or None if none exists, or `tolerated.toml` explains it."""
    if (ours is None) == (theirs is None):
        return None
    instruction, form = example.options["instruction"], example.options["form"]
    opcode = _GUARD.sub("", instruction).partition(" ")[0].rstrip(";")
    accepts = "ptxkit" if ours is None else "ptxas"
    if any(
        each.covers(opcode, judge.release, accepts, ours or theirs or "", instruction) for each in known_differences()
    ):
        return None
    code = (_CODE.findall(ours or "") or ["syntax"])[0] if ours is not None else "refused by ptxas"
    answers_text = f"{instruction}\nptxkit: {ours or 'accepted'}\nptxas {judge.release}: {theirs or 'accepted'}"
    return replace(example, message=answers_text, cause=f"only {accepts} accepts: {code} of {form}")
