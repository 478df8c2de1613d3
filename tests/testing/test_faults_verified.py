"""Synchronization faults on the reference machine: its findings in addition to the rules, and their counts."""

from __future__ import annotations

from pathlib import Path

from ptxkit.testing.mutation import detection_report
from ptxkit.testing.mutation.campaign import (
    CorpusKernel,
    EmulationEffort,
    MutantOutcome,
    evaluate_mutants,
    generate_mutants,
    load_kernels,
)
from ptxkit.testing.mutation.mutant import Mutant

CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "kernels"
(KERNEL,) = load_kernels([CORPUS / "hand_bulk_tile.sm_90.ptx"])


def some(kernel: CorpusKernel, *families: str) -> list[Mutant]:
    every = generate_mutants(kernel)
    return [next(each for each in every if each.family == family) for family in families]


def test_the_machine_runs_a_mutant_as_the_table_specifies_and_finds_the_fault() -> None:
    chosen = some(KERNEL, "delete-mbarrier-wait", "expect-more", "harmless: fence twice")
    early, hung, harmless = evaluate_mutants(KERNEL, chosen, EmulationEffort(schedules=4, factor=0.4))
    assert early.emulator_codes
    assert "PTX503" in hung.emulator_codes
    assert (harmless.emulator_codes, harmless.is_false_alarm) == ((), False)


def test_the_machine_runs_only_on_request() -> None:
    (early,) = evaluate_mutants(KERNEL, some(KERNEL, "delete-mbarrier-wait"))
    assert early.emulator_codes == ()
    assert early.rule_errors


def test_mutants_are_counted_by_who_finds_them() -> None:
    first, second, third = some(KERNEL, "delete-mbarrier-wait", "expect-more", "delete-init")
    outcomes = [
        MutantOutcome(first, ("PTX501",), (), 0, ("PTX302",)),
        MutantOutcome(second, (), (), 0, ("PTX503",)),
        MutantOutcome(third, (), (), 0, (), ("the run has used up its seconds",)),
    ]
    *_, all_ = detection_report.detection_counts(outcomes, frozenset())
    assert (all_.rules, all_.machine, all_.both, all_.neither, all_.unfinished) == (0, 1, 1, 1, 1)
    assert round(all_.rate, 3) == 0.667
    assert detection_report.find_undetected(outcomes, frozenset()) == [outcomes[2]]
    assert detection_report.detection_counts(outcomes, frozenset([third.identity]))[-1].rate == 1.0
    assert detection_report.find_refuted_equivalents(outcomes, frozenset([second.identity])) == [outcomes[1]]
    assert (
        "66.7%" in list(detection_report.detection_lines(detection_report.detection_counts(outcomes, frozenset())))[-1]
    )


def test_a_finding_about_a_harmless_change_is_a_false_alarm_of_either_side() -> None:
    (harmless,) = some(KERNEL, "harmless: fence twice")
    assert MutantOutcome(harmless, (), (), 0, ("PTX621",)).is_false_alarm
    assert not MutantOutcome(harmless, (), (), 0).is_false_alarm
