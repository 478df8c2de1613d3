"""corpus/rules: every wrong kernel is found at the line that its comment names; every correct one stays silent."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit import Severity
from ptxkit.rules import RULES

from .support import assemble, expectations, fixtures, found_in, places, told

FIXTURES = fixtures()
each_fixture = pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)


@each_fixture
def test_errors_are_exactly_those_that_the_comments_expect(path: Path) -> None:
    found = found_in(path)
    assert places(found, Severity.ERROR) == expectations(path.read_text()), told(found, Severity.ERROR)


@each_fixture
@pytest.mark.parametrize("asked", ["strict", "notes"])
def test_the_code_of_the_file_is_found_where_it_is_expected_by_those_who_ask(path: Path, asked: str) -> None:
    always = found_in(path)
    found = tuple(each for each in found_in(path, asked) if each.code == path.stem[:6])
    more = places(found, *Severity) - places(always, *Severity)
    assert more == expectations(path.read_text(), asked), told(found, *Severity)
    assert all(each.severity is not Severity.ERROR for each in found if each not in always)


@pytest.mark.parametrize("path", [path for path in FIXTURES if "_ok_" in path.stem], ids=lambda path: path.stem)
def test_a_correct_kernel_gets_no_warning_either(path: Path) -> None:
    assert not told(found_in(path), Severity.ERROR, Severity.WARNING)


@each_fixture
def test_ptxas_accepts_the_fixture_unless_it_says_otherwise(path: Path, tmp_path: Path) -> None:
    done = assemble(path, tmp_path)
    refused = "\n// ptxas refuses this" in path.read_text()
    assert (done.returncode == 0) != refused, done.stderr


@each_fixture
def test_a_fixture_says_what_it_shows(path: Path) -> None:
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
