"""Pipelines: right as they are made, wrong with a fault, legal, fast, and shrinking to the plainest."""

from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import find, given, settings

from ptxkit.records import replace
from ptxkit.testing import strategies
from ptxkit.testing.agreement import why_refused
from ptxkit.testing.arrangements.kernel import Pipeline, random_pipeline
from ptxkit.testing.ptxas import installed
from ptxkit.testing.verdicts import assert_verdicts_agree

QUIET = settings(max_examples=12, deadline=None, database=None, derandomize=True)

MANY = settings(QUIET, max_examples=2000)


@QUIET
@given(strategies.pipelines())
def test_rules_and_machine_say_nothing_of_what_is_right_and_it_leaves_what_it_should(pipeline: Pipeline) -> None:
    assert_verdicts_agree(pipeline)


@QUIET
@given(strategies.broken(strategies.pipelines()))
def test_the_machine_finds_each_fault(pipeline: Pipeline) -> None:
    assert_verdicts_agree(pipeline)


@settings(QUIET, max_examples=6)
@given(strategies.pipelines(target="sm_80", version=(7, 1)))
def test_older_targets_have_pipelines_of_their_own(pipeline: Pipeline) -> None:
    assert pipeline.plan.mechanism.startswith("cp.async")
    assert_verdicts_agree(pipeline)


def test_ptxas_takes_pipelines() -> None:
    made = [replace(random_pipeline(Random(seed)), name=f"kernel_{seed}") for seed in range(60)]
    texts = [each.module() for each in made]
    assert [why_refused(text) for text in texts] == [None] * len(texts)
    assert installed()[0].refusals(texts, "sm_90a") == {}


@pytest.mark.parametrize(
    ("target", "version"),
    [("sm_80", (7, 1)), ("sm_86", (8, 7)), ("sm_90", (7, 8)), ("sm_90", (8, 0)), ("sm_100a", (8, 7))],
)
def test_a_version_and_a_target_have_what_they_have(target: str, version: tuple[int, int]) -> None:
    texts = [random_pipeline(Random(seed), target, version).module() for seed in range(40)]
    assert [why_refused(text) for text in texts] == [None] * len(texts)


def test_without_asynchronous_copies_there_are_no_pipelines() -> None:
    with pytest.raises(ValueError, match=r"pipelines need sm_80 and PTX 7\.1; PTX 7\.0 for sm_80 has none"):
        random_pipeline(Random(0), "sm_80", (7, 0))


def test_pipelines_are_made_at_a_hundred_a_second() -> None:
    began = time.process_time()
    texts = {random_pipeline(Random(seed)).module() for seed in range(100)}
    assert time.process_time() - began < 1
    assert len(texts) > 90


def test_the_same_choices_make_the_same() -> None:
    assert random_pipeline(Random(3)).module() == random_pipeline(Random(3)).module()


def test_a_pipeline_shrinks_to_one_slot_and_one_round() -> None:
    found = find(strategies.pipelines(), lambda each: each.plan.mechanism == "bulk", settings=MANY)
    assert (found.plan.stages, found.plan.rounds, found.plan.warps, found.grid) == (1, 1, 1, 1)
    assert found.plan.roles == "unified"


def test_a_planted_fault_shrinks_to_few_instructions() -> None:
    """An oracle that takes every wait for a group for a mistake."""
    found = find(strategies.pipelines(), lambda each: "wait_group" in each.module(), settings=MANY)
    lines = [line for line in found.module().splitlines() if line.endswith(";") and not line.startswith(".")]
    assert (found.plan.mechanism, found.plan.roles, found.plan.drain) == ("cp.async", "unified", "sum")
    assert len(lines) < 35


@pytest.mark.parametrize("family", ["delete-proxy-fence", "delete-init", "wait-for-less"])
def test_a_broken_pipeline_differs_in_one_place(family: str) -> None:
    found = find(
        strategies.broken(strategies.pipelines()),
        lambda each: each.site is not None and each.site.fault.family == family,
        settings=MANY,
    )
    assert found.site is not None
    right, wrong = (each.module().splitlines() for each in (strategies.Pipeline(found.plan), found))
    assert abs(len(right) - len(wrong)) <= 1
    assert len([line for line in right if line not in wrong]) <= 1
