"""Synchronisation faults on the reference machine: what it finds beside the rules, and how that is counted."""

from __future__ import annotations

from pathlib import Path

from ptxkit.testing.faults import tables
from ptxkit.testing.faults.campaign import Effort, Kernel, Outcome, kernels, mutants, tried
from ptxkit.testing.faults.mutant import Mutant

CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "kernels"
(KERNEL,) = kernels([CORPUS / "hand_bulk_tile.sm_90.ptx"])


def some(kernel: Kernel, *families: str) -> list[Mutant]:
    every = mutants(kernel)
    return [next(each for each in every if each.family == family) for family in families]


def test_the_machine_runs_a_mutant_as_the_table_says_and_finds_the_fault() -> None:
    chosen = some(KERNEL, "delete-mbarrier-wait", "expect-more", "harmless: fence twice")
    early, hung, harmless = tried(KERNEL, chosen, Effort(schedules=4, seconds=20.0))
    assert early.seen
    assert "PTX503" in hung.seen
    assert (harmless.seen, harmless.alarm) == ((), False)


def test_the_machine_is_left_alone_unless_it_is_asked_for() -> None:
    (early,) = tried(KERNEL, some(KERNEL, "delete-mbarrier-wait"))
    assert early.seen == ()
    assert early.codes


def test_mutants_are_counted_by_who_finds_them() -> None:
    first, second, third = some(KERNEL, "delete-mbarrier-wait", "expect-more", "delete-init")
    outcomes = [
        Outcome(first, ("PTX501",), (), 0, ("PTX302",)),
        Outcome(second, (), (), 0, ("PTX503",)),
        Outcome(third, (), (), 0, (), ("the run has used up its seconds",)),
    ]
    *_, all_ = tables.shares(outcomes, frozenset())
    assert (all_.rules, all_.machine, all_.both, all_.neither, all_.unfinished) == (0, 1, 1, 1, 1)
    assert round(all_.rate, 3) == 0.667
    assert tables.missed(outcomes, frozenset()) == [outcomes[2]]
    assert tables.shares(outcomes, frozenset([third.identity]))[-1].rate == 1.0
    assert tables.contradicted(outcomes, frozenset([second.identity])) == [outcomes[1]]
    assert "66.7%" in list(tables.share_lines(tables.shares(outcomes, frozenset())))[-1]


def test_a_finding_about_a_harmless_change_is_an_alarm_whoever_makes_it() -> None:
    (harmless,) = some(KERNEL, "harmless: fence twice")
    assert Outcome(harmless, (), (), 0, ("PTX621",)).alarm
    assert not Outcome(harmless, (), (), 0).alarm
