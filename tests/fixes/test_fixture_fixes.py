"""Fixes of findings: each offered fix settles the finding, assembles, and adds no other one.

So do the statements that the help of a finding names, where a person adds them.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from ptxkit.diagnostics import Diagnostic, Edit, Fix, Severity, Verdict
from ptxkit.diagnostics.order_codes import ORDER_CODES
from ptxkit.fixes import apply_edits, fix_source, validate_fixes, with_verified_fixes
from ptxkit.linter import lint_incremental, lint_source
from ptxkit.results import FileResult
from ptxkit.settings.model import ConfigLayer, Settings
from ptxkit.source import SourceFile, Span
from tests.cli.support import CLEAN
from tests.corpus.support import assemble

RULES = Path(__file__).resolve().parents[2] / "corpus" / "rules"
FIXTURES = sorted(RULES.glob("PTX*_bad_*.ptx"))
FIXED = {
    "PTX201": 5,
    "PTX202": 5,
    "PTX205": 3,
    "PTX206": 1,
    "PTX207": 1,
    "PTX208": 5,
    "PTX209": 1,
    "PTX301": 5,
    "PTX302": 11,
    "PTX303": 4,
    "PTX304": 3,
    "PTX311": 5,
    "PTX312": 4,
    "PTX314": 3,
    "PTX315": 2,
    "PTX316": 3,
    "PTX401": 15,
    "PTX402": 3,
    "PTX403": 3,
    "PTX404": 3,
    "PTX405": 3,
    "PTX406": 3,
    "PTX501": 6,
    "PTX502": 2,
    "PTX503": 11,
    "PTX504": 6,
    "PTX505": 4,
    "PTX506": 6,
    "PTX507": 3,
    "PTX601": 1,
    "PTX602": 3,
    "PTX603": 3,
    "PTX604": 3,
    "PTX605": 5,
    "PTX607": 3,
    "PTX611": 4,
    "PTX612": 4,
    "PTX613": 3,
    "PTX614": 3,
    "PTX621": 8,
    "PTX622": 4,
    "PTX623": 4,
    "PTX701": 4,
    "PTX702": 3,
    "PTX704": 4,
    "PTX705": 3,
    "PTX706": 3,
    "PTX707": 2,
    "PTX708": 2,
    "PTX901": 5,
    "PTX902": 5,
    "PTX903": 4,
    "PTX904": 4,
    "PTX905": 3,
    "PTX907": 4,
    "PTX908": 3,
}
"""The minimum number of fixtures of each code that are fixed: a rule with a new message must not lose its fixes."""

ADDED = re.compile(r"add ((?:`[^`]+;`(?:, and | and then | and )?)+)([^`]*)$")
PLACE = re.compile(r"\b(after|behind|before)\b(?: the (?:fence|write|barrier) at)? line (\d+)")
HELPED = {"PTX312": 4, "PTX401": 10, "PTX402": 3, "PTX404": 3, "PTX405": 3, "PTX406": 3, "PTX507": 1, "PTX613": 3}
"""The minimum number of findings of each code whose help names statements and a line."""

DOCUMENTED = tomllib.loads((RULES.parents[1] / "scripts" / "docs_lib" / "fix_safety.toml").read_text("utf-8"))["fixes"]
FIX_WORDS = {frozenset({True}): "safe", frozenset({False}): "unsafe", frozenset({True, False}): "both"}


def source(text: str) -> SourceFile:
    return SourceFile("k.ptx", text)


def fixture(path: Path) -> tuple[SourceFile, Settings]:
    text = path.read_text()
    notes = "expect(notes)" in text
    return SourceFile(str(path), text), Settings(policy="strict" if "expect(strict)" in text else "isa", notes=notes)


@cache
def lint_fixture(path: Path) -> FileResult:
    """Returns the findings of an unchanged fixture, with which two tests begin."""
    return lint_source(*fixture(path))


@pytest.mark.parametrize("code", sorted({path.name[:6] for path in FIXTURES}))
def test_a_fixed_fixture_is_clean_and_assembles(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clean, checks = 0, []
    kinds: set[bool] = set()

    def check_file(found: SourceFile, settings: Settings) -> FileResult:
        """Returns the check with which `mend` begins."""
        assert (found, settings) == fixture(Path(found.path))
        checks.append(lint_fixture(Path(found.path)))
        return checks[-1]

    monkeypatch.setattr("ptxkit.fixes.validate_fixes.lint_source", check_file)
    for path in FIXTURES:
        if path.name.startswith(code):
            found, settings = fixture(path)
            fixed = fix_source(found, settings, unsafe=True)
            kinds |= {applied.fix.safe for applied in fixed.applied if applied.finding.code == code}
            before = checks.pop()
            assert not checks
            assert len(fixed.result.diagnostics) <= len(before.diagnostics) - len(fixed.applied), path.name
            # Questions about unproven orders are open only where nothing is reported.
            after, known = (
                [each for each in done.undecided if each.code not in ORDER_CODES] for done in (fixed.result, before)
            )
            assert len(after) <= len(known), path.name
            if fixed.applied:
                assert fixed.source.text != found.text
                again = tmp_path / path.name
                again.write_text(fixed.source.text)
                done = assemble(again, tmp_path)
                assert done.returncode == 0, f"{path.name}: {done.stderr}"
            clean += bool(fixed.applied) and not fixed.result.diagnostics
    assert clean >= FIXED.get(code, 0), code
    assert FIX_WORDS.get(frozenset(kinds)) == DOCUMENTED.get(code), "scripts/docs_lib/fix_safety.toml"


def added_lines(text: str, help_: str) -> Iterator[str]:
    """Returns the text with the statements that a help names at the lines that it names: at both, if both need them,
    else at one of them, as they are the ends of the valid range."""
    found = ADDED.match(help_)
    if found is None or re.search(r"\[(map|bar)\]", found[1]):
        return
    statements = re.findall(r"`([^`]+;)`", found[1])
    places = [int(line) - (word == "before") for word, line in PLACE.findall(found[2])]
    both = re.search(r"line \d+ and before line", found[2]) is not None
    for chosen in [places] if both else [[place] for place in places]:
        lines = text.splitlines()
        for place in sorted(chosen, reverse=True):
            lines[place:place] = statements
        yield "\n".join(lines) + "\n"


def codes(diagnostics: tuple[Diagnostic, ...]) -> Counter[str]:
    return Counter(item.code for item in diagnostics)


@pytest.mark.parametrize("code", sorted({path.name[:6] for path in FIXTURES}))
def test_the_statements_in_the_help_fix_the_finding(code: str) -> None:
    asked = 0
    for path in FIXTURES:
        if not path.name.startswith(code):
            continue
        found, settings = fixture(path)
        before = lint_fixture(path)
        for item in before.diagnostics:
            tried = [lint_source(source(new), settings).diagnostics for new in added_lines(found.text, item.help or "")]
            asked += bool(tried)
            old = codes(before.diagnostics)
            settled = (new[item.code] < old[item.code] and not new - old for new in map(codes, tried))
            assert not tried or any(settled), f"{path.name}: {item.help}"
    assert asked >= HELPED.get(code, 0)


def test_a_correct_text_is_not_changed() -> None:
    for path in sorted(RULES.glob("PTX401_ok_*.ptx")):
        found, settings = fixture(path)
        if "expect" not in found.text:
            assert fix_source(found, settings, unsafe=True).source is found


def test_only_safe_fixes_are_applied_unless_others_are_requested() -> None:
    found, settings = fixture(RULES / "PTX301_bad_cp_async_without_commit.ptx")
    assert fix_source(found, settings).applied == ()
    [applied] = fix_source(found, settings, unsafe=True).applied
    assert (applied.finding.code, applied.fix.safe) == ("PTX301", False)
    found, settings = fixture(RULES / "PTX401_bad_store_then_bulk_copy.ptx")
    assert [each.fix.safe for each in fix_source(found, settings).applied] == [True]


def test_the_fix_of_a_missing_fence_is_one_line_before_the_barrier() -> None:
    found, settings = fixture(RULES / "PTX401_bad_store_then_bulk_copy.ptx")
    old, new = found.text.splitlines(), fix_source(found, settings).source.text.splitlines()
    [added] = (Counter(new) - Counter(old)).elements()
    assert added.strip() == "fence.proxy.async.shared::cta;"
    at = new.index(added)
    assert new[at + 1].strip().startswith("bar.sync")
    assert re.match(r"\s*", added)[0] == re.match(r"\s*", new[at + 1])[0]  # type: ignore[index]


def test_an_old_target_is_raised() -> None:
    text = CLEAN.replace("ret;", "barrier.cluster.arrive;\n\tbarrier.cluster.wait;\n\tret;").replace("8.0", "7.0")
    fixed = fix_source(source(text), unsafe=True)
    assert fixed.result.diagnostics == ()
    assert fixed.source.text.startswith(".version 7.8\n.target sm_90\n")
    assert fix_source(source(text)).applied == ()


def test_an_unused_comment_is_removed() -> None:
    text = CLEAN.replace("ret;", "ret; // ptxkit: ignore[PTX401] why")
    assert fix_source(source(text)).source.text == CLEAN


def test_a_missing_semicolon_is_inserted() -> None:
    text = CLEAN.replace("%r1, 7;", "%r1, 7")
    assert [item.code for item in lint_source(source(text)).diagnostics] == ["PTX101"]
    assert fix_source(source(text), unsafe=True).source.text.split() == CLEAN.split()


def test_suppressed_findings_are_not_fixed() -> None:
    found, _ = fixture(RULES / "PTX401_bad_store_then_bulk_copy.ptx")
    assert fix_source(found, Settings.of([ConfigLayer("x", ignore=("PTX401",))])).applied == ()


def test_an_ineffective_fix_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proposals of a finding are wrong in turn: the first is not PTX, the next does not help, the third does."""
    text = CLEAN.replace("%r1, 7;", "%r1, %q;")
    place = text.index("%q")
    fixes = tuple(
        Fix(words, (Edit(Span(place, place + 2), words),), safe=True) for words in ("7 7", "%s", "%r0", "%r1")
    )

    def proposals(item: Diagnostic) -> tuple[Fix, ...]:
        return fixes if item.code == "PTX106" else ()

    monkeypatch.setattr("ptxkit.fixes.validate_fixes.propose_fixes", proposals)
    result = lint_source(source(text))
    [shown] = with_verified_fixes(source(text), result).diagnostics
    assert shown.fix is not None
    assert shown.fix.message == "%r0"
    assert fix_source(source(text)).source.text == text.replace("%q", "%r0")
    fixes = fixes[:2]
    assert [item.fix for item in with_verified_fixes(source(text), result).diagnostics] == [None]
    assert fix_source(source(text)).applied == ()


def test_the_size_of_a_text_limits_the_number_of_fixes_that_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    found, settings = fixture(RULES / "PTX504_bad_fewer_arrivals_than_the_count.ptx")
    result = lint_source(found, settings)
    assert [item.fix is not None for item in with_verified_fixes(found, result, settings).diagnostics] == [True]
    monkeypatch.setattr("ptxkit.fixes.validate_fixes.MAX_FIX_WORK", 0)
    monkeypatch.setattr("ptxkit.fixes.validate_fixes.MIN_FIX_ATTEMPTS", 0)
    assert [item.fix is not None for item in with_verified_fixes(found, result, settings).diagnostics] == [False]


def test_an_ineffective_fix_is_not_checked_completely(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a text with two faults, a change that settles neither is rejected after the first rule."""
    found, settings = fixture(RULES / "PTX504_bad_fewer_arrivals_than_the_count.ptx")
    before = lint_source(found, settings)
    events = []

    def count_calls(*given: object) -> Iterator[FileResult]:
        for result in lint_incremental(*given):  # type: ignore[arg-type]
            events.append(result)
            yield result

    monkeypatch.setattr("ptxkit.fixes.validate_fixes.lint_incremental", count_calls)
    checks = validate_fixes._FixValidator(settings)
    [item] = before.diagnostics
    same = SourceFile(found.path, found.text + "\n")
    assert checks.check(same, before, item) is None
    whole = lint_source(same, settings)
    assert [part.diagnostics for part in events] == [(), whole.diagnostics]
    assert checks.check(same, before, item) is None
    assert len(events) == 2


def test_a_fix_that_turns_a_finding_into_a_question_is_not_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    from ptxkit.diagnostics import Undecided
    from ptxkit.fixes.validate_fixes import _is_resolved

    here = source("x;")
    found = Diagnostic("PTX401", Severity.ERROR, "x", here, Span(0, 2))
    asked = Undecided("PTX401", "unknown", here, Span(0, 2))
    before = FileResult.of("k.ptx", Verdict((found,)))
    assert _is_resolved(before, FileResult.of("k.ptx", Verdict(())), found)
    assert not _is_resolved(before, FileResult.of("k.ptx", Verdict((), (asked,))), found)


def test_adjacent_edits_are_not_applied() -> None:
    def at(start: int, end: int, text: str) -> Edit:
        return Edit(Span(start, end), text)

    assert apply_edits("abcd", [at(2, 3, "X"), at(0, 1, "Y")]) == "YbXd"
    assert apply_edits("abcd", [at(1, 1, "X"), at(1, 2, "Y")]) == "aXYcd"
    assert apply_edits("abcd", [at(0, 2, "X"), at(1, 3, "Y")]) is None
    assert apply_edits("abcd", [at(3, 9, "X")]) is None
    assert apply_edits("abcd", [at(1, 1, "X"), at(1, 1, "X")]) == "aXbcd"
