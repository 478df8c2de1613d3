"""Fixes of mutants' findings: each offered fix satisfies its promises, and a violation is reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.diagnostics import Diagnostic, Edit, Fix
from ptxkit.results import FileResult
from ptxkit.source import SourceFile, Span
from ptxkit.testing.mutation import fix_trials
from ptxkit.testing.mutation.campaign import OPERATORS, CorpusKernel, filter_assemblable, generate_mutants
from ptxkit.testing.oracles.ptxas import installed_ptxas
from tests.testing.test_faults import KERNEL

HERE = CorpusKernel("k.ptx", Path("k.ptx"), KERNEL)
FIXED = {
    "delete-proxy-fence": "PTX401",
    "delete-commit": "PTX301",
    "expect-half": "PTX503",
    "init-count-more": "PTX504",
}


def try_fixes(*families: str, until: float | None = None) -> fix_trials.FixTrialBatch:
    wanted = [each for each in OPERATORS if each.family in families]
    return fix_trials.run_fix_trials(
        HERE, filter_assemblable(HERE, generate_mutants(HERE, wanted), installed_ptxas()[0]), until
    )


def trials(*families: str) -> tuple[fix_trials.FixTrial, ...]:
    return try_fixes(*families).trials


@pytest.mark.parametrize(("family", "code"), FIXED.items())
def test_the_finding_of_a_mutant_is_fixed_and_the_fix_satisfies_its_promises(family: str, code: str) -> None:
    found = trials(family)
    assert any(each.code == code and each.fix is not None for each in found)
    assert all(each.check is None or each.check.is_valid for each in found)


def test_a_fix_that_violates_its_promises_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def blind(source: SourceFile, result: FileResult, asked: object) -> FileResult:
        """Offers an invalid text, one without effect, and one that ptxas rejects, in turn."""
        place = source.text.index("ret;")
        words = Fix("guess", (Edit(Span(place, place), guess),))
        return FileResult(result.path, result.status, tuple(_with(each, words) for each in result.diagnostics))

    monkeypatch.setattr(fix_trials, "with_verified_fixes", blind)
    for guess, kept in {
        "%%;": fix_trials.FixCheck(parses=False, assembles=False, gone=False, quiet=False),
        "bar.sync 0;": fix_trials.FixCheck(parses=True, assembles=True, gone=False, quiet=True),
        "mov.u32 %t, %q;": fix_trials.FixCheck(parses=True, assembles=False, gone=False, quiet=False),
    }.items():
        found = trials("delete-commit")
        assert found[0].check == kept, guess
        lines, well = fix_trials.report_trials(found, listed=False)
        assert not well
        assert any(line.startswith("broken fix: PTX301: delete-commit: k.ptx:") for line in lines)


def test_fixes_that_the_time_limit_excluded_are_not_counted_as_tried() -> None:
    assert try_fixes("delete-commit", until=0.0) == fix_trials.FixTrialBatch(0, ())
    assert try_fixes("delete-commit").mutant_count > 0


def test_a_fix_that_restores_the_kernel_is_checked_once() -> None:
    fix_trials._lint_cached.cache_clear()
    found = trials("delete-proxy-fence")
    assert [each.check is not None and each.check.is_valid for each in found] == [True]
    assert fix_trials._lint_cached.cache_info().misses == 1


def test_the_tables_count_findings_with_a_fix_and_list_those_without_one() -> None:
    found = trials("delete-proxy-fence", "other-space")
    lines, well = fix_trials.report_trials(found, listed=True)
    assert well
    assert any(line.startswith("delete-proxy-fence") for line in lines)
    assert sum(line.startswith("no fix: ") for line in lines) == sum(each.fix is None for each in found)
    assert fix_trials.report_trials([], listed=True) == (fix_trials.report_trials([], listed=False)[0], True)


def _with(item: Diagnostic, fix: Fix) -> Diagnostic:
    from ptxkit.fast_dataclasses import replace

    return replace(item, fix=fix)
