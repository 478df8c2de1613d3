"""The lowest version and target for a set of gates."""

from __future__ import annotations

import pytest

from ptxkit.build.target_inference import generality_key, infer_lowest_target, parse_supported_target
from ptxkit.isa import table
from ptxkit.isa.forms import Gate, Requirement
from ptxkit.isa.targets import Target, parse_target


def gate(*alternatives: Requirement) -> Gate:
    return Gate("subject", alternatives)


def test_targets_are_ordered_from_general_to_special() -> None:
    words = ["sm_75", "sm_90", "sm_90a", "sm_100", "sm_100f", "sm_100a", "sm_103"]
    assert sorted(words, key=lambda word: generality_key(parse_supported_target(word))) == words
    for word in ("compute_90", "sm_9", "sm_70", "sm_90b", "sm_104"):
        with pytest.raises(ValueError, match=f"'{word}' is not a target from sm_75 on"):
            parse_supported_target(word)


def test_the_targets_are_those_of_the_table_with_their_first_versions() -> None:
    for each in table().module.targets:
        target = parse_target(each.name)
        assert target is not None
        if target.number >= 75:
            [needed] = [option.version for gate in each.gates for option in gate.alternatives]
            assert infer_lowest_target((), parse_supported_target(each.name)) == (needed, target)


def test_no_gate_means_the_floor() -> None:
    assert infer_lowest_target(()) == ((6, 3), Target(75))


def test_the_version_is_at_least_that_of_the_target() -> None:
    assert infer_lowest_target([gate(Requirement((6, 0), 90))]) == ((7, 8), Target(90))


def test_every_gate_is_kept_and_one_alternative_suffices() -> None:
    first = gate(Requirement((8, 6), 100), Requirement((8, 0), families=("sm_90a",)))
    assert infer_lowest_target([first]) == ((8, 0), Target(90, "a"))
    assert infer_lowest_target([first, gate(Requirement((8, 1), 100))]) == ((8, 6), Target(100))


def test_a_family_is_satisfied_by_its_first_member() -> None:
    assert infer_lowest_target([gate(Requirement((8, 8), families=("sm_100f",)))]) == ((8, 8), Target(100, "f"))
    with pytest.raises(ValueError, match="sm_100"):
        infer_lowest_target([gate(Requirement((8, 8), families=("sm_100f",)))], Target(100))


def test_gates_that_exclude_each_other_are_named() -> None:
    excluding = [gate(Requirement((8, 0), families=("sm_90a",))), gate(Requirement((8, 6), 100))]
    with pytest.raises(ValueError, match="subject is not available on any target"):
        infer_lowest_target(excluding)
    with pytest.raises(ValueError, match="subject is not available on sm_80"):
        infer_lowest_target(excluding, Target(80))
