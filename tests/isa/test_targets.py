"""The features of each target, and the requirements that would open a gate."""

from __future__ import annotations

import pytest

from ptxkit.diagnostics.catalogue.ptx8xx import RequiredHeading
from ptxkit.isa.forms import Gate, Requirement
from ptxkit.isa.targets import Target, has_features_of, is_satisfied, parse_target, suggest_target, unmet_gates


@pytest.mark.parametrize(
    ("target", "wanted", "answer"),
    [
        ("sm_90a", "sm_90a", True),
        ("sm_100a", "sm_90a", False),
        ("sm_100a", "sm_100f", True),
        ("sm_103a", "sm_100f", True),
        ("sm_103f", "sm_100f", True),
        ("sm_100f", "sm_103f", False),
        ("sm_100f", "sm_100a", False),
        ("sm_100", "sm_100f", False),
        ("sm_120a", "sm_100f", False),
        ("sm_110a", "sm_110f", True),
        ("sm_101a", "sm_110f", True),
        ("sm_121f", "sm_120f", True),
    ],
)
def test_a_target_has_a_feature(target: str, wanted: str, answer: bool) -> None:
    known = parse_target(target)
    assert known is not None
    assert has_features_of(known, wanted) is answer


def test_an_unknown_target_has_no_features() -> None:
    assert parse_target("debug") is None
    assert parse_target("sm_90") == Target(90)


def test_an_unspecified_requirement_counts_as_met() -> None:
    assert is_satisfied(Requirement((8, 0), 90), None, None)
    assert not is_satisfied(Requirement((8, 0), 90), (7, 8), None)


def test_a_removed_instruction_is_closed_later_on() -> None:
    gate = Gate("", (Requirement(before=(6, 4)), Requirement(below=70)))
    assert unmet_gates((gate,), (6, 3), Target(75)) == []
    assert unmet_gates((gate,), (8, 0), Target(60)) == []
    assert unmet_gates((gate,), (8, 0), Target(75)) == [gate]
    assert "before" in suggest_target([gate], (8, 0), Target(75)).words


@pytest.mark.parametrize(
    ("version", "target", "words"),
    [
        ((7, 8), "sm_90", "`.version 8.0`"),
        ((8, 0), "sm_80", "`.target sm_90` or later"),
        ((7, 0), "sm_80", "`.version 8.0` and `.target sm_90` or later"),
    ],
)
def test_the_remedy_is_the_least_that_opens_the_gate(version: tuple[int, int], target: str, words: str) -> None:
    gate = Gate("", (Requirement((8, 0), 90),))
    found = suggest_target([gate], version, parse_target(target))
    assert str(found) == words
    assert (found.version is None, found.target is None) == (".version" not in words, ".target" not in words)


def test_of_two_remedies_the_nearer_is_reported() -> None:
    gate = Gate("", (Requirement((8, 6), 0, ("sm_100a",)), Requirement((8, 8), 0, ("sm_100f",))))
    assert suggest_target([gate], (8, 0), Target(100, "a")) == RequiredHeading("`.version 8.6`", "8.6")
    assert suggest_target([gate], (8, 8), Target(90)) == RequiredHeading("`.target sm_100a`", None, "sm_100a")
