"""The examples of campaigns: determined by their number, and texts that no compiler writes."""

from __future__ import annotations

from random import Random

import pytest

from ptxkit.fast_dataclasses import replace
from ptxkit.testing.fuzz.campaign_kinds import KINDS, FuzzCampaign, find_kind
from ptxkit.testing.fuzz.example_replay import can_minimize
from ptxkit.testing.fuzz.hostile_text import hostile_text
from ptxkit.testing.oracles import robustness
from tests.testing.oracles.test_assertions import DOUBLE


@pytest.mark.parametrize("oracle", ["linter", "round-trip", "ptxas", "litmus"])
def test_a_number_determines_an_example(oracle: str) -> None:
    make, campaign = KINDS[oracle].make, FuzzCampaign(oracle, seed=4)
    texts = [make(campaign, number).texts for number in range(6)]
    assert texts == [make(campaign, number).texts for number in range(6)]
    assert len(set(texts)) > 4
    assert texts != [make(FuzzCampaign(oracle, seed=5), number).texts for number in range(6)]


def test_campaigns_are_distinguished_by_everything_that_changes_their_examples() -> None:
    campaigns = [
        FuzzCampaign("linter"),
        FuzzCampaign("ptxas"),
        FuzzCampaign("linter", 1),
        FuzzCampaign("linter", target="sm_80"),
        FuzzCampaign("linter", corpus=("corpus",)),
    ]
    assert len({each.key for each in campaigns}) == len(campaigns)
    assert FuzzCampaign("linter").key == FuzzCampaign("linter").key


def test_a_kind_is_found_by_name_or_file() -> None:
    assert find_kind("linter") is KINDS["linter"]
    assert find_kind("tests.testing.fuzz.planted:KIND").examples_per_unit == 5
    with pytest.raises(ValueError, match=r"there is no oracle `tests\.testing\.fuzz\.planted:make`"):
        find_kind("tests.testing.fuzz.planted:make")


def test_regenerated_and_compared_examples_are_not_shrunk() -> None:
    assert not can_minimize(KINDS["litmus"].make(FuzzCampaign("litmus"), 1))
    example = KINDS["linter"].make(FuzzCampaign("linter"), 1)
    assert can_minimize(example)
    assert not can_minimize(replace(example, texts=(*example.texts, "a second")))


@pytest.mark.parametrize("seed", range(24))
def test_texts_that_no_compiler_writes_are_handled(seed: int) -> None:
    text = hostile_text(DOUBLE, Random(seed))
    assert text != DOUBLE
    assert robustness.find_robustness_fault(text) == ""
