"""One text through all stages for its picture, including failures of a stage."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.analysis.inventory.transfer_table import collect_transfers
from ptxkit.analysis.symexec.explorer import Explorer
from ptxkit.report.view_page import view_page
from ptxkit.results import Status
from ptxkit.settings.model import CodeSelection, Settings
from ptxkit.source import SourceFile, SourceLine
from ptxkit.syntax import parse
from ptxkit.view_builder import build_file_view
from tests.cli.support import BROKEN, CLEAN

RULES = Path(__file__).resolve().parent.parent / "corpus" / "rules"


def test_a_file_that_parses_has_functions_words_and_findings() -> None:
    seen = build_file_view(SourceFile("k.ptx", CLEAN))
    (function,) = seen.functions
    assert (function.name, function.kind, function.line, function.last) == ("k", "entry", 5, 14)
    assert (seen.version, seen.target, seen.missing_functions_reason) == ("8.0", "sm_80", "")
    assert seen.result.status is Status.CLEAN
    assert len(function.blocks) == 1
    assert function.transfers is not None


def test_a_file_that_does_not_parse_has_words_and_findings_only() -> None:
    seen = build_file_view(SourceFile("k.ptx", BROKEN))
    assert [item.code for item in seen.result.diagnostics] == ["PTX101"]
    assert (seen.functions, bool(seen.colored_spans)) == ((), True)
    assert "syntax errors" in seen.missing_functions_reason


def test_settings_apply_as_for_lint() -> None:
    text = CLEAN.replace("sm_80", "sm_800")
    assert build_file_view(SourceFile("k.ptx", text)).result.diagnostics
    assert not build_file_view(
        SourceFile("k.ptx", text), Settings(selections=(CodeSelection(None, (), ("PTX8",)),))
    ).result.diagnostics


def test_an_analysis_that_crashes_is_a_finding_and_the_text_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("ptxkit.analysis.inventory.transfer_table.collect_transfers", fail)
    seen = build_file_view(SourceFile("k.ptx", CLEAN))
    assert [item.code for item in seen.result.diagnostics] == ["PTX100"]
    assert "The analysis failed" in seen.missing_functions_reason
    page = view_page(seen)
    assert "the analysis of this file broke: KeyError" in page
    assert "cvta.to.global.u64" in page


def test_locations_are_where_the_source_line_changes() -> None:
    text = CLEAN.replace("\tmov.u32", "\t.loc 1 7 3\n\tmov.u32").replace("\tret;", "\t.loc 1 9 1\n\tret;")
    text = text.replace(".address_size 64", '.address_size 64\n.file 1 "k.cu"')
    seen = build_file_view(SourceFile("k.ptx", text))
    lines = {text.split("\n")[line - 1].split()[0]: places for line, places in seen.source_lines.items()}
    assert lines == {"mov.u32": (SourceLine("k.cu", 7),), "ret;": (SourceLine("k.cu", 9),)}


def test_a_kernel_is_executed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    executed: list[str] = []
    run = Explorer.run

    def count_calls(explorer: Explorer) -> None:
        executed.append(explorer.program.function.name)
        run(explorer)

    monkeypatch.setattr(Explorer, "run", count_calls)
    path = RULES / "PTX302_bad_bulk_copy_with_barrier_only.ptx"
    seen = build_file_view(SourceFile(path.name, path.read_text()))
    assert executed == [each.name for each in seen.functions]
    alone = collect_transfers(parse(path.read_text()), products=True)
    assert [each.transfers for each in seen.functions] == list(alone.kernels)
