"""Whole files with one thing changed."""

from __future__ import annotations

from pathlib import Path

from ptxkit.testing.ptxas import installed
from ptxkit.testing.summary import file_lines
from ptxkit.testing.whole_files import Sample, Verdicts, changed, files, heading, judge, unchanged

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
KERNELS = files([CORPUS / "kernels"])

SHORT = 100
"""Changed files in the short campaign; `scripts/agree --full` asks about 5,000."""

ALLOWED = 0.995
"""The part of changed files on which both must give the same verdict."""


def test_the_heading_gives_version_and_target() -> None:
    assert heading("// x\n.version 8.7\n.target sm_100a, debug\n") == ((8, 7), "sm_100a")
    assert heading(".version 8.7\n") is None


def test_a_changed_file_differs_in_one_thing_that_is_named() -> None:
    for sample in changed(KERNELS, 40, 1):
        original = Path(sample.origin).read_text()
        assert sample.text != original
        assert sample.change
        assert abs(len(sample.text) - len(original)) < 2000


def test_the_same_seed_changes_the_same() -> None:
    assert list(changed(KERNELS, 20, 7)) == list(changed(KERNELS, 20, 7))
    assert list(changed(KERNELS, 20, 7)) != list(changed(KERNELS, 20, 8))


def test_files_as_they_are_are_accepted_by_both() -> None:
    verdicts = [judge(sample, installed()) for sample in unchanged(KERNELS[:20])]
    assert [each.sample.origin for each in verdicts if each.ours is not None or each.differing()] == []


def test_both_give_the_same_verdict_on_changed_files() -> None:
    verdicts = [judge(sample, installed()) for sample in changed(files([CORPUS]), SHORT, 3)]
    agreeing = sum(not each.differing() for each in verdicts)
    assert agreeing >= ALLOWED * len(verdicts), "\n".join(file_lines(verdicts))


def test_a_verdict_that_only_one_side_gives_is_shown_with_its_reason() -> None:
    sample = Sample("corpus/k.ptx", ((8, 0), "sm_90"), "", "line 3 dropped")
    alike = Verdicts(sample, "PTX101", (("13.5", "syntax error"),))
    apart = Verdicts(sample, None, (("13.5", "syntax error"),))
    assert not alike.differing()
    assert apart.differing() == [("13.5", "syntax error")]
    first, second, last = file_lines([alike, apart])
    assert (first, second) == ("k.ptx: line 3 dropped", "    only ptxkit accepts; ptxas 13.5: syntax error")
    assert last.startswith("2 files changed: 1 agree (50.00 %)")


def test_what_is_known_of_an_instruction_is_known_of_a_file_that_has_it() -> None:
    sample = Sample("a.ptx", ((9, 0), "sm_90a"), "", "token '1' of line 3 becomes '4294967296'")
    refusal = "PTX105 operand 2 of `{}` must be a constant from 1 to 1048575, and is 4294967296"
    known = Verdicts(
        sample, refusal.format("mbarrier.init.shared::cta.b64"), (("13.0", None), ("13.5", "out of range"))
    )
    other = Verdicts(sample, refusal.format("mov.b32"), (("13.0", None), ("13.5", "out of range")))
    assert known.differing() == []
    assert other.differing() == [("13.0", None)]
