"""Pipelines: correct as generated, wrong with a fault, valid, fast, and shrinking to the simplest."""

from __future__ import annotations

import re
from functools import cache
from random import Random

import pytest
from hypothesis import find, given, settings

from ptxkit.fast_dataclasses import replace
from ptxkit.testing import strategies
from ptxkit.testing.differential.campaign import ptxkit_refusal
from ptxkit.testing.oracles.ptxas import installed_ptxas
from ptxkit.testing.oracles.rules_vs_emulator import assert_verdicts_agree
from ptxkit.testing.pipelines.pipeline import GeneratedPipeline, random_pipeline
from ptxkit.testing.pipelines.text_builder import FaultSite, InjectedFault, Snippet, render_lines
from tests.testing.calls import count_calls

QUIET = settings(max_examples=12, deadline=None, database=None, derandomize=True)

MANY = settings(QUIET, max_examples=2000)


@QUIET
@given(strategies.pipelines())
def test_rules_and_machine_report_nothing_for_correct_pipelines_and_the_results_are_correct(
    pipeline: GeneratedPipeline,
) -> None:
    assert_verdicts_agree(pipeline)


@QUIET
@given(strategies.broken(strategies.pipelines()))
def test_the_machine_finds_each_fault(pipeline: GeneratedPipeline) -> None:
    assert_verdicts_agree(pipeline)


@settings(QUIET, max_examples=6)
@given(strategies.pipelines(target="sm_80", version=(7, 1)))
def test_older_targets_have_their_own_pipelines(pipeline: GeneratedPipeline) -> None:
    assert pipeline.plan.mechanism.startswith("cp.async")
    assert_verdicts_agree(pipeline)


def test_ptxas_accepts_pipelines() -> None:
    made = [replace(random_pipeline(Random(seed)), name=f"kernel_{seed}") for seed in range(60)]
    texts = [each.module() for each in made]
    assert [ptxkit_refusal(text) for text in texts] == [None] * len(texts)
    assert installed_ptxas()[0].refusals(texts, "sm_90a") == {}


@pytest.mark.parametrize(
    ("target", "version"),
    [("sm_80", (7, 1)), ("sm_86", (8, 7)), ("sm_90", (7, 8)), ("sm_90", (8, 0)), ("sm_100a", (8, 7))],
)
def test_a_version_and_a_target_have_their_mechanisms(target: str, version: tuple[int, int]) -> None:
    texts = [random_pipeline(Random(seed), target, version).module() for seed in range(40)]
    assert [ptxkit_refusal(text) for text in texts] == [None] * len(texts)


def test_without_asynchronous_copies_there_are_no_pipelines() -> None:
    with pytest.raises(ValueError, match=r"pipelines need sm_80 and PTX 7\.1; PTX 7\.0 for sm_80 has none"):
        random_pipeline(Random(0), "sm_80", (7, 0))


def test_making_a_pipeline_takes_few_calls() -> None:
    """It takes about 1,400."""
    texts: set[str] = set()
    random_pipeline(Random(0)).module()  # reads what is read once
    calls = count_calls(lambda: texts.update(random_pipeline(Random(seed)).module() for seed in range(100)))
    assert len(texts) > 90
    assert 0 < calls < 5_000 * 100


def test_the_same_choices_generate_the_same() -> None:
    assert random_pipeline(Random(3)).module() == random_pipeline(Random(3)).module()


@cache
def _with_idle_lanes(attends: str) -> list[GeneratedPipeline]:
    """Pipelines in which only one lane fills, and slots are filled again."""
    made = (random_pipeline(Random(seed)) for seed in range(1500))
    return [each for each in made if each.plan.has_idle_lanes and each.plan.attends == attends]


def test_a_lane_that_does_not_fill_waits_for_no_slot() -> None:
    """It could be lapped: the phase that it waits for, and the next one, would be complete before it polls."""
    found = _with_idle_lanes("issuer")
    assert len(found) > 20
    for each in found:
        filling = each.module().split("bra CONSUME")[1].split("CONSUME_")[0]
        before = re.split("WAIT_[0-9]+:", filling)[:-1]
        assert before
        assert all(text.rfind("bra OVER") > text.rfind("\nOVER") for text in before)


@pytest.mark.parametrize("attends", ["issuer", "warp"])
def test_a_warp_synchronizes_between_the_wait_for_a_slot_and_its_fill(attends: str) -> None:
    found = _with_idle_lanes(attends)
    assert len(found) > 20
    for each in found:
        filling = each.module().split("bra CONSUME")[1].split("CONSUME_")[0]
        parts = re.split("bra WAIT_[0-9]+;", filling)[1:]
        assert all("bar.warp.sync 0xffffffff;" in part.split("mbarrier.arrive")[0] for part in parts)


def test_a_warp_synchronizes_before_each_of_the_first_fills() -> None:
    """ptxas may duplicate the copies of one lane where the others pass it: corpus/vendor/warp_wide_predicates."""
    made = (random_pipeline(Random(seed)) for seed in range(300))
    found = [each for each in made if each.plan.has_bulk and each.plan.roles == "unified"]
    assert len(found) > 20
    for each in found:
        first = each.module().split("WAIT_")[0]
        parts = first.split("mbarrier.arrive.expect_tx")[:-1]
        assert len(parts) == min(each.plan.stages, each.plan.rounds)
        assert all("bar.warp.sync 0xffffffff;" in part for part in parts)


@pytest.mark.parametrize("attends", ["issuer", "warp"])
def test_no_order_of_lanes_laps_a_warp_that_fills(attends: str) -> None:
    """Fewer threads than lanes of the warp are enough for many orders."""
    found = next(each for each in _with_idle_lanes(attends) if each.plan.rounds > 2 * each.plan.stages)
    for seed in range(4):
        outcome = found.launch.emulate(found.module(), policy="random", seed=seed)
        assert outcome.is_clean


def test_unread_values_are_omitted() -> None:
    snippets = [
        Snippet(("mov.u32 %b32_0, 1;",), value="%b32_0"),
        Snippet(("add.u32 %b32_1, %b32_0, 2;",), value="%b32_1"),
        Snippet(("mov.u32 %b32_2, 3;",), value="%b32_2"),
        Snippet(("st.shared.u32 [tiles], %b32_2;",)),
    ]
    assert render_lines(snippets) == ["mov.u32 %b32_2, 3;", "st.shared.u32 [tiles], %b32_2;"]
    wrong = render_lines(
        snippets, FaultSite(3, InjectedFault("other-value", ("st.shared.u32 [tiles], %b32_1;",), frozenset()))
    )
    assert wrong[:3] == [line for snippet in snippets[:3] for line in snippet.lines]


def test_a_pipeline_shrinks_to_one_slot_and_one_iteration() -> None:
    found = find(strategies.pipelines(), lambda each: each.plan.mechanism == "bulk", settings=MANY)
    assert (found.plan.stages, found.plan.rounds, found.plan.warps, found.grid) == (1, 1, 1, 1)
    assert found.plan.roles == "unified"


def test_a_planted_fault_shrinks_to_few_instructions() -> None:
    """An oracle that reports every wait for a group."""
    found = find(strategies.pipelines(), lambda each: "wait_group" in each.module(), settings=MANY)
    lines = [line for line in found.module().splitlines() if line.endswith(";") and line[0] != "." and line != "ret;"]
    assert (found.plan.mechanism, found.plan.roles, found.plan.drain) == ("cp.async", "unified", "sum")
    assert len(lines) < 15


@pytest.mark.parametrize("family", ["delete-proxy-fence", "delete-init", "wait-for-less"])
def test_a_broken_pipeline_differs_in_one_place(family: str) -> None:
    found = find(
        strategies.broken(strategies.pipelines()),
        lambda each: each.site is not None and each.site.fault.family == family,
        settings=MANY,
    )
    assert found.site is not None
    right, wrong = (each.module().splitlines() for each in (GeneratedPipeline(found.plan), found))
    assert abs(len(right) - len(wrong)) <= 1
    assert len([line for line in right if line not in wrong]) <= 1
