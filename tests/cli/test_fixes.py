"""`ptxkit lint --fix`, `--diff`, `--show-fixes`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.support import CLEAN
from tests.inputs.building import entry, fatbin

Run = Callable[..., Result]
RULES = Path(__file__).resolve().parents[2] / "corpus" / "rules"
SAFE = (RULES / "PTX401_bad_store_then_bulk_copy.ptx").read_text()
UNSAFE = (RULES / "PTX301_bad_cp_async_without_commit.ptx").read_text()


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "safe.ptx").write_text(SAFE)
    (tmp_path / "unsafe.ptx").write_text(UNSAFE)
    (tmp_path / "clean.ptx").write_text(CLEAN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_fix_rewrites_the_file_and_reports_the_rest(files: Path, ptxkit: Run) -> None:
    result = ptxkit("lint", "--fix", ".")
    assert result.exit_code == 1
    assert "unsafe.ptx" in result.stdout
    assert "PTX401" not in result.stdout
    assert result.stdout.endswith("checked 3 files: 1 error, 0 warnings, 0 undecided, 1 fixed\n")
    assert "fence.proxy.async.shared::cta;" in (files / "safe.ptx").read_text()
    assert (files / "unsafe.ptx").read_text() == UNSAFE
    assert (files / "clean.ptx").read_text() == CLEAN
    assert ptxkit("lint", "--fix", "--unsafe-fixes", ".").exit_code == 0
    assert ptxkit("lint", ".").exit_code == 0


def test_diff_prints_the_changes_and_writes_nothing(files: Path, ptxkit: Run) -> None:
    result = ptxkit("lint", "--diff", ".")
    assert result.exit_code == 1
    assert [line for line in result.stdout.splitlines() if line.startswith(("---", "+++"))] == [
        "--- ./safe.ptx (unchanged)",
        "+++ ./safe.ptx (fixed)",
    ]
    assert "\n+\tfence.proxy.async.shared::cta;\n" in result.stdout.replace("+    ", "+\t")
    assert (files / "safe.ptx").read_text() == SAFE
    assert ptxkit("lint", "--diff", "unsafe.ptx", "clean.ptx").exit_code == 0
    assert ptxkit("lint", "--diff", "--unsafe-fixes", "unsafe.ptx").exit_code == 1
    assert ptxkit("lint", "--diff", "nowhere.ptx").exit_code == 2
    assert "+++ <stdin> (fixed)" in ptxkit("lint", "--diff", "-", input=SAFE).stdout


def test_fixes_are_shown_where_they_apply(files: Path, ptxkit: Run) -> None:
    assert "= fix:" not in ptxkit("lint", "safe.ptx").stdout
    assert (
        "  = fix: add `fence.proxy.async.shared::cta;` (`ptxkit lint --fix` does)\n"
        in ptxkit("lint", "--show-fixes", "safe.ptx").stdout
    )
    assert "(`ptxkit lint --fix --unsafe-fixes` does)" in ptxkit("lint", "--show-fixes", "unsafe.ptx").stdout
    document = json.loads(ptxkit("lint", "--show-fixes", "--format", "json", "safe.ptx").stdout)
    fix = document["files"][0]["diagnostics"][0]["fix"]
    assert (fix["safe"], len(fix["edits"])) == (True, 1)
    assert fix["edits"][0]["text"].startswith("fence.proxy.async.shared::cta;\n")
    assert (
        json.loads(ptxkit("lint", "--format", "json", "safe.ptx").stdout)["files"][0]["diagnostics"][0]["fix"] is None
    )
    [run] = json.loads(ptxkit("lint", "--show-fixes", "--format", "sarif", "safe.ptx").stdout)["runs"]
    assert run["results"][0]["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"]


def test_unverified_fixes_are_not_shown(files: Path, ptxkit: Run) -> None:
    (files / "k.ptx").write_text(CLEAN.replace("%r1, 7;", "%r1, 7"))
    [run] = json.loads(ptxkit("lint", "--format", "sarif", "k.ptx").stdout)["runs"]
    assert "fixes" not in run["results"][0]


def test_a_file_that_cannot_be_rewritten_is_reported_with_its_findings(files: Path, ptxkit: Run) -> None:
    (files / "one.fatbin").write_bytes(fatbin(entry(SAFE.encode(), 90)))
    result = ptxkit("lint", "--fix", "one.fatbin")
    assert result.exit_code == 1
    assert "cannot be rewritten: it is inside another file" in result.stderr
    assert "PTX401" in result.stdout
    refused = ptxkit("lint", "--fix", "-", input=SAFE)
    assert (refused.exit_code, "`--diff` prints" in refused.output) == (2, True)
    assert ptxkit("lint", "--unsafe-fixes", "safe.ptx").exit_code == 2
