"""Whole files with one change."""

from __future__ import annotations

from pathlib import Path

from ptxkit.isa.harness_module import harness_module
from ptxkit.testing.differential.campaign import ptxkit_refusal
from ptxkit.testing.differential.report import file_lines
from ptxkit.testing.differential.whole_files import (
    FileSample,
    FileVerdicts,
    compare_sample,
    declared_target,
    find_ptx_files,
    mutated_samples,
    original_samples,
)
from ptxkit.testing.oracles.ptxas import installed_ptxas

CORPUS = Path(__file__).resolve().parents[3] / "corpus"
KERNELS = find_ptx_files([CORPUS / "kernels"])

SHORT = 100
"""Changed files in the short campaign; `scripts/diff_ptxas --full` checks about 5,000."""

ALLOWED = 0.995
"""The part of changed files on which both must give the same verdict."""


def test_the_heading_has_version_and_target() -> None:
    assert declared_target("// x\n.version 8.7\n.target sm_100a, debug\n") == ((8, 7), "sm_100a")
    assert declared_target(".version 8.7\n") is None


def test_a_changed_file_has_one_named_difference() -> None:
    for sample in mutated_samples(KERNELS, 40, 1):
        original = Path(sample.origin).read_text()
        assert sample.text != original
        assert sample.change
        assert abs(len(sample.text) - len(original)) < 2000


def test_the_same_seed_makes_the_same_changes() -> None:
    assert list(mutated_samples(KERNELS, 20, 7)) == list(mutated_samples(KERNELS, 20, 7))
    assert list(mutated_samples(KERNELS, 20, 7)) != list(mutated_samples(KERNELS, 20, 8))


def test_unchanged_files_are_accepted_by_both() -> None:
    verdicts = [compare_sample(sample, installed_ptxas()) for sample in original_samples(KERNELS[:20])]
    assert [each.sample.origin for each in verdicts if each.ours is not None or each.disagreements()] == []


def test_both_give_the_same_verdict_on_changed_files() -> None:
    verdicts = [
        compare_sample(sample, installed_ptxas()) for sample in mutated_samples(find_ptx_files([CORPUS]), SHORT, 3)
    ]
    agreeing = sum(not each.disagreements() for each in verdicts)
    assert agreeing >= ALLOWED * len(verdicts), "\n".join(file_lines(verdicts))


def test_a_verdict_that_only_one_side_gives_is_shown_with_its_reason() -> None:
    sample = FileSample("corpus/k.ptx", ((8, 0), "sm_90"), "", "line 3 dropped")
    equal = FileVerdicts(sample, "PTX101", (("13.5", "syntax error"),))
    apart = FileVerdicts(sample, None, (("13.5", "syntax error"),))
    assert not equal.disagreements()
    assert apart.disagreements() == [("13.5", "syntax error")]
    first, second, last = file_lines([equal, apart])
    assert (first, second) == ("k.ptx: line 3 dropped", "    only ptxkit accepts; ptxas 13.5: syntax error")
    assert last.startswith("2 files changed: 1 agree (50.00 %)")


def test_a_known_difference_of_an_instruction_covers_files_that_contain_it() -> None:
    sample = FileSample("a.ptx", ((9, 0), "sm_90a"), "", "token '1' of line 3 becomes '4294967296'")
    known, other = (
        FileVerdicts(sample, ptxkit_refusal(text), (("13.0", None), ("13.5", "out of range")))
        for text in (
            harness_module(["mbarrier.init.shared::cta.b64 [%b32_1], 4294967296;"], *sample.pair),
            harness_module(["setmaxnreg.inc.sync.aligned.u32 4294967296;"], *sample.pair),
        )
    )
    assert all("must be a constant" in (each.ours or "") for each in (known, other))
    assert known.disagreements() == []
    assert other.disagreements() == [("13.0", None)]
