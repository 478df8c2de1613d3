"""corpus/rules: every wrong kernel is found at the line that its comment names; every correct one has no findings."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit import Severity, lint
from ptxkit.rules import RULES

from .support import assemble, expectations, fixtures, more_found_in, places, refusals, stated_codes

FIXTURES = fixtures()
REFUSED = [path for path in FIXTURES if "\n// ptxas refuses this" in path.read_text()]
"""Some of them are rejected only when code is generated."""
each_fixture = pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)


@each_fixture
def test_errors_are_exactly_those_of_the_comments_and_other_findings_are_optional(path: Path) -> None:
    """The policy `strict` adds warnings, and selected notes are added: one run shows both.

    A correct kernel has no warning either.
    """
    always = lint(path.read_text(), path=path.name).diagnostics
    assert places(always, Severity.ERROR) == expectations(path.read_text()), stated_codes(always, Severity.ERROR)
    if "_ok_" in path.stem:
        assert not stated_codes(always, Severity.ERROR, Severity.WARNING)
    found = more_found_in(path, path.stem[:6])
    for asked, severity in (("strict", Severity.WARNING), ("notes", Severity.NOTE)):
        more = places(found, severity) - places(always, severity)
        assert more == expectations(path.read_text(), asked), stated_codes(found, *Severity)
    assert all(each.severity is not Severity.ERROR for each in found if each not in always)


def test_ptxas_accepts_every_fixture_that_is_not_marked_otherwise() -> None:
    assert refusals({path.name: path.read_text() for path in FIXTURES if path not in REFUSED}) == {}


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_ptxas_rejects_the_marked_fixture(path: Path, tmp_path: Path) -> None:
    assert assemble(path, tmp_path).returncode != 0


@each_fixture
def test_a_fixture_describes_what_it_shows(path: Path) -> None:
    code, verdict = path.stem.split("_")[:2]
    text = path.read_text()
    asked = expectations(text, "strict") + expectations(text, "notes")
    assert text.startswith(f"// {code}, {'wrong' if verdict == 'bad' else 'correct'}: ")
    assert {each for each, _ in expectations(text) + asked} <= {code}
    assert bool(expectations(text) + asked if verdict == "bad" else not expectations(text))


def test_every_rule_has_wrong_kernels_and_correct_twins() -> None:
    codes = {path.stem[:6] for path in FIXTURES}
    assert codes == {rule.code for rule in RULES}
    for code in codes:
        for verdict in ("bad", "ok"):
            assert sum(path.stem.startswith(f"{code}_{verdict}_") for path in FIXTURES) >= 3, f"{code} {verdict}"
