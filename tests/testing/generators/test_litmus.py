"""Litmus tests: the memory model's results for the known shapes, and that the machine shows no others."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import find, given, settings

from ptxkit.testing import strategies
from ptxkit.testing.generators.litmus import SHAPES, Litmus, assert_litmus, litmus_test
from ptxkit.testing.oracles.litmus_programs import AllowedBehavior, LitmusProgram, ModelEvent, compute_behavior
from ptxkit.testing.oracles.ptxas import installed_ptxas

QUIET = settings(max_examples=25, deadline=None, database=None, derandomize=True)


def write(variable: int, order: str = "relaxed", scope: str = "gpu", value: int = 1) -> ModelEvent:
    return ModelEvent("write", variable, value, order, "" if order == "weak" else scope)


def read(
    variable: int, register: int, order: str = "relaxed", scope: str = "gpu", value: int | None = None
) -> ModelEvent:
    return ModelEvent("read", variable, value, order, "" if order == "weak" else scope, register)


def fence(order: str, scope: str = "gpu") -> ModelEvent:
    return ModelEvent("fence", order=order, scope=scope)


def of(*threads: list[ModelEvent], place: str = "grid") -> AllowedBehavior:
    return compute_behavior(LitmusProgram(tuple(tuple(each) for each in threads), place))


@pytest.mark.parametrize(
    ("release", "acquire", "scope", "forbidden"),
    [
        ("release", "acquire", "gpu", True),
        ("release", "acquire", "sys", True),
        ("release", "relaxed", "gpu", False),
        ("relaxed", "acquire", "gpu", False),
    ],
)
def test_a_message_is_passed_by_release_and_acquire(release: str, acquire: str, scope: str, forbidden: bool) -> None:
    found = of([write(0), write(1, release, scope)], [read(1, 0, acquire, scope), read(0, 1)])
    assert ((1, 0) not in found.outcomes) == forbidden
    assert {(0, 0), (0, 1), (1, 1)} <= found.outcomes
    assert not found.may_race


def test_a_weak_message_races_unless_the_flag_is_waited_for_in_order() -> None:
    sent = [write(0, "weak"), write(1, "release")]
    assert not of(sent, [read(1, 0, "acquire", value=1), read(0, 1, "weak")]).may_race
    assert of(sent, [read(1, 0, "relaxed", value=1), read(0, 1, "weak")]).always_races
    sometimes = of(sent, [read(1, 0, "acquire"), read(0, 1, "weak")])
    assert (sometimes.always_races, sometimes.may_race) == (False, True)


def test_a_scope_must_include_both_threads() -> None:
    sent, taken = [write(0), write(1, "release", "cta")], [read(1, 0, "acquire", "cta"), read(0, 1)]
    assert of(sent, taken).always_races
    assert not of(sent, taken, place="warps").may_race


def test_both_stores_are_buffered_unless_fences_of_sc_follow_them() -> None:
    def buffering(*between: ModelEvent) -> AllowedBehavior:
        return of([write(0), *between, read(1, 0)], [write(1), *between, read(0, 1)])

    assert (0, 0) in buffering().outcomes
    assert (0, 0) in buffering(fence("acq_rel")).outcomes
    assert (0, 0) not in buffering(fence("sc")).outcomes


def test_two_readers_agree_on_the_order_of_independent_writes_after_fences_of_sc_only() -> None:
    def readers(kind: str) -> AllowedBehavior:
        between = [fence(kind)]
        first, second = [read(0, 0), *between, read(1, 1)], [read(1, 2), *between, read(0, 3)]
        return of([write(0)], [write(1)], first, second)

    assert (1, 0, 1, 0) in readers("acq_rel").outcomes
    assert (1, 0, 1, 0) not in readers("sc").outcomes


def test_loads_do_not_read_later_stores_of_each_other_where_these_release() -> None:
    def loads(release: str, acquire: str) -> AllowedBehavior:
        return of([read(0, 0, acquire), write(1, release)], [read(1, 1, acquire), write(0, release)])

    assert (1, 1) in loads("relaxed", "relaxed").outcomes
    assert (1, 1) not in loads("release", "acquire").outcomes


def test_reads_of_one_location_do_not_go_back() -> None:
    assert of([write(0)], [read(0, 0), read(0, 1)]).outcomes == {(0, 0), (0, 1), (1, 1)}


def test_observed_writes_are_passed_on() -> None:
    def run_order(order: str) -> AllowedBehavior:
        return of([write(0)], [read(0, 0), write(1, "release")], [read(1, 1, order), read(0, 2)])

    assert (1, 1, 0) not in run_order("acquire").outcomes
    assert (1, 1, 0) in run_order("relaxed").outcomes


@QUIET
@given(strategies.litmus())
def test_the_machine_reports_races_and_shows_only_outcomes_that_the_model_allows(test: Litmus) -> None:
    assert_litmus(test)


def test_a_machine_with_other_outcomes_is_detected(monkeypatch: pytest.MonkeyPatch) -> None:
    sent, taken = (write(0), write(1, "release")), (read(1, 0, "acquire"), read(0, 1))
    test = Litmus("message passing", LitmusProgram((sent, taken), "grid"), "global")
    assert_litmus(test)
    monkeypatch.setattr(Litmus, "outcome", lambda *_: (1, 0))
    with pytest.raises(AssertionError, match=r"the machine shows \[\(1, 0\)\], the model allows"):
        assert_litmus(test)


def test_all_shapes_and_placements_are_generated_and_ptxas_accepts_them() -> None:
    made = [litmus_test(Random(seed).randrange) for seed in range(120)]
    assert {each.shape for each in made} == set(SHAPES)
    assert {(each.program.place, each.space) for each in made} >= {("grid", "global"), ("cluster", "shared")}
    texts = [each.module().replace("litmus(", f"litmus_{number}(") for number, each in enumerate(made)]
    assert installed_ptxas()[0].refusals(texts, "sm_90a") == {}


def test_a_litmus_test_shrinks_to_two_reads() -> None:
    found = find(strategies.litmus(), lambda test: not test.behaviour.may_race, settings=QUIET)
    assert (found.shape, found.program.place, found.space) == ("two reads", "lanes", "global")
    assert all(event.kind != "fence" for events in found.program.threads for event in events)
