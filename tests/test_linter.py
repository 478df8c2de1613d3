"""`ptxkit.lint`: one text through all stages, and failures of a stage."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import pytest

import ptxkit
from ptxkit.analysis.ir import budget
from ptxkit.baseline import baseline_entries
from ptxkit.diagnostics import Severity
from ptxkit.linter import lint_incremental, lint_source
from ptxkit.results import Status
from ptxkit.settings.model import DEFAULT
from ptxkit.source import SourceFile
from ptxkit.syntax import parse
from tests.cli.support import BROKEN, CLEAN

CORPUS = Path(__file__).resolve().parent.parent / "corpus"
KERNEL = (CORPUS / "kernels" / "bulk_add_one.sm_90.ptx").read_text("utf-8")
UNFENCED = "".join(line for line in KERNEL.splitlines(keepends=True) if "fence.proxy.async" not in line)


def test_a_correct_text_has_an_empty_verdict() -> None:
    assert ptxkit.lint(CLEAN) == ptxkit.Verdict(())


def test_a_syntax_error_is_a_diagnostic_and_not_an_exception() -> None:
    [found] = ptxkit.lint(BROKEN, path="k.ptx").diagnostics
    assert (found.code, found.severity, found.source.path) == ("PTX101", Severity.ERROR, "k.ptx")


def test_a_syntax_error_is_an_exception_of_parse_that_carries_the_same_diagnostics() -> None:
    with pytest.raises(ptxkit.PTXSyntaxError) as raised:
        ptxkit.parse(BROKEN, "k.ptx")
    assert raised.value.diagnostics == ptxkit.lint(BROKEN, path="k.ptx").diagnostics


def test_text_parsed_module_and_built_module_have_the_same_findings() -> None:
    parsed = ptxkit.parse(UNFENCED)
    built = ptxkit.Module(parsed.items)
    codes = [[found.code for found in ptxkit.lint(each).diagnostics] for each in (UNFENCED, parsed, built)]
    assert codes[0] == codes[1] == codes[2]
    assert "PTX401" in codes[0]


def test_diagnostics_are_in_the_order_of_the_text_without_duplicates() -> None:
    for path in sorted((CORPUS / "rules").glob("PTX40*_bad_*.ptx")):
        found = ptxkit.lint(path.read_text("utf-8")).diagnostics
        assert [each.span for each in found] == sorted(each.span for each in found)
        assert len({(each.code, each.span, each.message) for each in found}) == len(found)


def test_an_unknown_policy_is_rejected() -> None:
    with pytest.raises(ValueError, match="isa, strict"):
        ptxkit.lint(CLEAN, policy="lax")  # type: ignore[arg-type]


TWO = f"{UNFENCED}{UNFENCED[UNFENCED.index('.visible') :].replace('bulk_add_one', 'again')}"


@pytest.mark.parametrize("first", [("_Z12bulk_add_onePKjPjj", "PTX401"), ("again", "PTX401"), ("again", "PTX302")])
@pytest.mark.parametrize(
    "text", [KERNEL, TWO, TWO.replace("ld.param", "ld.parm"), BROKEN], ids=["clean", "two", "wrong", "broken"]
)
def test_an_incremental_result_ends_as_the_complete_one(text: str, first: tuple[str, str]) -> None:
    source = SourceFile("k.ptx", text)
    *parts, last = lint_incremental(source, DEFAULT, first)
    assert last == lint_source(source)
    found = [{(item.code, item.span.start) for item in part.diagnostics} for part in (*parts, last)]
    assert all(before <= after for before, after in pairwise(found))


def test_a_kernel_and_a_rule_may_be_reported_first() -> None:
    functions = [each.name for each in parse(TWO).functions() if each.kind == "entry"]
    for name in functions:
        found = next(
            part for part in lint_incremental(SourceFile("k.ptx", TWO), DEFAULT, (name, "PTX401")) if part.diagnostics
        )
        assert [(code, function) for code, function, _ in baseline_entries(found.diagnostics)] == [("PTX401", name)]


def test_hidden_findings_are_reported_only_at_the_end() -> None:
    line = next(line for line in UNFENCED.splitlines() if "cp.async.bulk.global" in line)
    text = UNFENCED.replace(line, f"{line} // ptxkit: ignore[PTX401] the host fences")
    [found] = lint_incremental(SourceFile("k.ptx", text), DEFAULT, ("", "PTX401"))
    assert (found.diagnostics, found.suppressed) == ((), 1)


def test_budget_exclusions_do_not_depend_on_the_order_of_reports(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_TOTAL_PAIR_CHECKS", 3)
    source = SourceFile("k.ptx", TWO)
    for code in ("PTX401", "PTX302", "PTX303"):
        *_, last = lint_incremental(source, DEFAULT, ("again", code))
        assert last == lint_source(source)
        assert any(item.code == "PTX300" for item in last.undecided)


@pytest.mark.parametrize("seed", range(8))
def test_a_mutilated_kernel_never_breaks_the_linter(seed: int) -> None:
    """Lines disappear, move, exchange words: the result is findings or none, and never a crash."""
    rng = random.Random(seed)
    paths = sorted((CORPUS / "kernels").glob("*.ptx"))
    for _ in range(6):
        lines = rng.choice(paths).read_text("utf-8").split("\n")
        for _ in range(rng.randrange(1, 4)):
            here, there = rng.randrange(len(lines)), rng.randrange(len(lines))
            match rng.randrange(4):
                case 0:
                    del lines[here]
                case 1:
                    lines[here], lines[there] = lines[there], lines[here]
                case 2:
                    lines.insert(here, lines[there])
                case _:
                    words = lines[here].split(" ")
                    words[rng.randrange(len(words))] = rng.choice(lines[there].split(" "))
                    lines[here] = " ".join(words)
        text = "\n".join(lines)
        result = lint_source(SourceFile("mutilated.ptx", text))
        assert result.status is not Status.FAILED, f"{result.diagnostics[0].message}\n{text}"
