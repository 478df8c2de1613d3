"""The verdicts of the model on the known shapes of litmus tests, and on the project's own tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.memory_model import Answer, TooManyExecutionsError, check, find_endless_execution, read_tests
from ptxkit.memory_model.checker import enumerate_outcomes
from tests.memory_model.litmus_texts import dat3m, verdict_of

CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "litmus"


def message_passing(release: str, acquire: str, *between: str, places: tuple[str, ...] = ()) -> str:
    return dat3m(
        r"exists (P1:r0 == 1 /\ P1:r1 == 0)",
        ["st.weak x, 1", f"st.{release} y, 1"],
        [f"ld.{acquire} r0, y", *between, "ld.weak r1, x"],
        places=places,
    )


@pytest.mark.parametrize(
    ("release", "acquire", "answer"),
    [
        ("release.gpu", "acquire.gpu", Answer.FORBIDDEN),
        ("release.sys", "acquire.gpu", Answer.FORBIDDEN),
        ("release.cta", "acquire.gpu", Answer.ALLOWED),
        ("relaxed.gpu", "acquire.gpu", Answer.ALLOWED),
        ("release.gpu", "relaxed.gpu", Answer.ALLOWED),
        ("weak", "weak", Answer.ALLOWED),
    ],
)
def test_a_message_is_passed_by_release_and_acquire_with_scopes_that_suffice(
    release: str, acquire: str, answer: Answer
) -> None:
    assert verdict_of(message_passing(release, acquire)).answer is answer


def test_a_forbidden_state_names_the_axiom_and_an_execution_that_only_it_forbids() -> None:
    found = verdict_of(message_passing("release.gpu", "acquire.gpu"))
    assert [axiom.name for axiom, _ in found.axioms] == ["Causality"]
    assert found.witness is not None
    assert found.ends
    assert not found.does_hold


@pytest.mark.parametrize(
    ("threads", "condition", "axiom"),
    [
        ([["st.weak x, 1", "st.weak x, 2"]], "exists (x == 1)", "Coherence"),
        ([["atom.relaxed.gpu.add r0, x, 1"], ["atom.relaxed.gpu.add r1, x, 1"]], "exists (x == 1)", "Atomicity"),
        ([["ld.weak r0, x", "st.weak y, r0"], ["ld.weak r1, y", "st.weak x, r1"]], "exists (x == 42)", ""),
        (
            [["st.relaxed.gpu x, 1"], ["ld.relaxed.gpu r0, x", "ld.relaxed.gpu r1, x"]],
            r"exists (P1:r0 == 1 /\ P1:r1 == 0)",
            "SC per Location",
        ),
        (
            [["st.weak x, 1", "fence.sc.gpu", "ld.weak r0, y"], ["st.weak y, 1", "fence.sc.gpu", "ld.weak r1, x"]],
            r"exists (P0:r0 == 0 /\ P1:r1 == 0)",
            "Causality",
        ),
    ],
)
def test_each_axiom_forbids_what_it_is_for(threads: list[list[str]], condition: str, axiom: str) -> None:
    found = verdict_of(dat3m(condition, *threads))
    assert found.answer is Answer.FORBIDDEN
    assert axiom in [each.name for each, _ in found.axioms] if axiom else not found.axioms


def test_values_do_not_come_out_of_thin_air_where_they_depend_on_each_other() -> None:
    loads = [["ld.weak r0, x", "st.weak y, {}"], ["ld.weak r1, y", "st.weak x, {}"]]
    condition = r"exists (P0:r0 == 1 /\ P1:r1 == 1)"

    def answer(first: str, second: str) -> Answer:
        values = [
            [each.format(value) for each in several] for several, value in zip(loads, (first, second), strict=True)
        ]
        return verdict_of(dat3m(condition, *values)).answer

    assert answer("1", "1") is Answer.ALLOWED
    assert answer("r0", "1") is Answer.ALLOWED
    assert answer("r0", "r1") is Answer.FORBIDDEN


def test_the_read_of_a_reduction_is_in_no_acquire_pattern() -> None:
    def answer(update: str) -> Answer:
        return verdict_of(
            dat3m(
                r"exists (y == 2 /\ P1:r1 == 0)",
                ["st.weak x, 1", "st.release.gpu y, 1"],
                [update, "fence.acq_rel.gpu", "ld.weak r1, x"],
            )
        ).answer

    assert answer("atom.relaxed.gpu.add r0, y, 1") is Answer.FORBIDDEN
    assert answer("red.relaxed.gpu.add y, 1") is Answer.ALLOWED


def test_races_are_conflicts_that_neither_causality_nor_moral_strength_relates() -> None:
    waits = ["LC00:", "ld.{} r0, y", "bne r0, 1, LC00", "ld.weak r1, x"]

    def answer(release: str, acquire: str) -> Answer:
        reader = [each.format(acquire) for each in waits]
        return verdict_of(dat3m("race", ["st.weak x, 1", f"st.{release} y, 1"], reader)).answer

    assert answer("release.gpu", "acquire.gpu") is Answer.RACE_FREE
    assert answer("relaxed.gpu", "acquire.gpu") is Answer.RACY
    assert answer("release.gpu", "relaxed.gpu") is Answer.RACY
    assert answer("release.cta", "acquire.cta") is Answer.RACY


def test_a_loop_that_waits_is_followed_exactly_and_one_that_writes_for_a_bounded_number_of_turns() -> None:
    waiting = dat3m(
        "~exists (P1:r0 == 0)", ["st.relaxed.gpu x, 1"], ["LC00:", "ld.relaxed.gpu r0, x", "beq r0, 0, LC00"]
    )
    assert verdict_of(waiting).does_hold
    assert not verdict_of(waiting).is_bounded
    counting = dat3m("exists (x == 9)", ["LC00:", "atom.relaxed.gpu.add r0, x, 1", "goto LC00"])
    assert verdict_of(counting).is_bounded


def test_an_execution_ends_unless_a_barrier_or_a_read_of_the_last_write_holds_a_thread() -> None:
    def is_endless(*threads: list[str]) -> bool:
        (test,) = read_tests(dat3m("exists (0 == 0)", *threads, places=["cta 0,gpu 0"] * len(threads)), "t.litmus")
        return find_endless_execution(test) is not None

    wait = ["LC00:", "ld.relaxed.gpu r0, x", "beq r0, 0, LC00"]
    assert not is_endless(["st.relaxed.gpu x, 1"], wait)
    assert is_endless(["st.relaxed.gpu y, 1"], wait)
    assert is_endless(["st.relaxed.gpu x, 1", "st.relaxed.gpu x, 0"], wait)
    assert not is_endless(["bar.cta.sync 1"], ["bar.cta.sync 1"])
    assert is_endless(["bar.cta.sync 1, 1, 2"], [])


def test_a_test_with_too_many_executions_has_no_verdict() -> None:
    reads = [f"ld.relaxed.gpu r{at}, x" for at in range(16)]
    text = dat3m("exists (x == 1)", *([*reads, f"st.relaxed.gpu x, {value}"] for value in range(1, 5)))
    (test,) = read_tests(text, "t.litmus")
    with pytest.raises(TooManyExecutionsError):
        check(test)


def test_sequential_states_are_among_the_allowed_ones() -> None:
    buffering = dat3m(
        "exists (x == 1)",
        ["st.relaxed.gpu x, 1", "ld.relaxed.gpu r0, y"],
        ["st.relaxed.gpu y, 1", "ld.relaxed.gpu r1, x"],
    )
    (test,) = read_tests(buffering, "t.litmus")
    found = enumerate_outcomes(test)
    weak = found.states - found.sequential
    assert found.sequential < found.states
    assert [dict(state).get("P0:r0", 0) + dict(state).get("P1:r1", 0) for state in weak] == [0]
    assert not found.has_race


def test_the_statements_of_the_projects_own_tests_hold() -> None:
    files = sorted(CORPUS.glob("*.litmus"))
    assert len(files) > 10
    for file in files:
        (test,) = read_tests(file.read_text("utf-8"), file.name)
        assert check(test).does_hold, file.name
