"""Code that the analysis does not check, because it has no schedule or exceeds a limit, is one open question."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit import lint
from ptxkit.analysis.context import race_accesses, races
from ptxkit.analysis.ir import budget
from ptxkit.linter import lint_module
from ptxkit.settings.model import Settings
from ptxkit.syntax import parse
from tests.rules.support import Case

RULES = Path(__file__).resolve().parent.parent.parent / "corpus" / "rules"
TOO_MANY = "too many accesses to shared memory to compare all of them; try a larger --effort"


def questions(name: str) -> list[tuple[str, str]]:
    return [(item.code, item.reason) for item in lint((RULES / f"{name}.ptx").read_text()).undecided]


def test_a_kernel_whose_threads_all_synchronize_differently_is_one_question() -> None:
    assert questions("PTX502_ok_one_object_per_thread") == [
        ("PTX504", "the synchronization of the threads cannot be simulated: too many threads synchronize differently")
    ]


def test_barriers_are_a_question_where_nothing_waits_for_an_mbarrier() -> None:
    assert questions("PTX607_bad_lanes_below") == [
        ("PTX601", "the synchronization of the threads cannot be simulated: too many threads synchronize differently")
    ]


@pytest.mark.parametrize("name", ["PTX501_bad_no_barrier_after_init", "PTX613_bad_arrives_twice"])
def test_no_question_is_added_where_another_rule_reports_the_reason(name: str) -> None:
    assert questions(name) == []


def test_no_question_is_added_where_the_threads_are_simulated() -> None:
    assert questions("PTX504_bad_two_warps_where_one_should") == []


@pytest.mark.parametrize(("effort", "wanted"), [(1.0, [TOO_MANY]), (10_000.0, [])])
def test_a_larger_effort_compares_more_accesses(
    effort: float, wanted: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(races, "MAX_RACE_PAIR_CHECKS", 1)
    module = parse((RULES / "PTX621_bad_read_without_barrier.ptx").read_text())
    assert [item.reason for item in lint_module(module, Settings(effort=effort)).undecided] == wanted


def test_a_kernel_that_uses_up_its_lookups_is_a_question_with_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_TOTAL_PAIR_CHECKS", 5)
    module = parse((RULES / "PTX401_bad_bulk_reduction.ptx").read_text())
    found = lint_module(module, Settings()).undecided
    remedy = "its 5 lookups, or those of the module, are used up; try --effort 2"
    assert any(item.reason.endswith(remedy) for item in found)
    assert not any("too large" in item.reason for item in lint_module(module, Settings(effort=10_000.0)).undecided)


@pytest.mark.parametrize("limit", ["MAX_ACCESS_INSTANCES", "MAX_RACE_PAIR_CHECKS"])
def test_accesses_that_are_not_compared_are_one_question(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert questions("PTX621_bad_read_without_barrier") == []
    monkeypatch.setattr(races, limit, 1)
    assert questions("PTX621_bad_read_without_barrier") == [("PTX621", TOO_MANY)]


def rounds_of(last: str) -> str:
    """Returns a kernel of 20 rounds in a loop of 6, each between barriers; last: what comes after the last store."""
    exchange = "st.shared.u32 [%r4], %r1; bar.sync 0; xor.b32 %r11, %r3, 512; add.u32 %r11, %r2, %r11;"
    read = "ld.shared.u32 %r12, [%r11]; add.u32 %r13, %r13, %r12;"
    return Case(
        "rounds",
        f"""mov.u32 %r13, 0; mov.u32 %r10, 0;
next: {f"{exchange} {read} bar.sync 0; " * 19} {exchange.replace("bar.sync 0;", last)} {read} bar.sync 0;
add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 6; @%p3 bra next; st.global.u32 [%rd2], %r13;""",
    ).text


@pytest.mark.parametrize(("last", "codes"), [("bar.sync 0;", []), ("", ["PTX621"])])
@pytest.mark.parametrize("groups", [20_000, 130])
def test_the_intervals_between_barriers_are_examined_one_by_one_where_accesses_are_too_many(
    last: str, codes: list[str], groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(races, "MAX_ACCESS_INSTANCES", 1000)
    monkeypatch.setattr(race_accesses, "MAX_GROUP_ACCESSES", groups)
    verdict = lint(rounds_of(last))
    assert [item.code for item in verdict.diagnostics] == codes
    assert verdict.undecided == ()
