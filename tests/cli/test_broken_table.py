"""An error in an .isa file is reported with its file, its line and a caret, without a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ptxkit.cli.main import main
from ptxkit.isa import compiled_table, table
from ptxkit.isa.errors import NotationError
from ptxkit.isa.forms import InstructionSet
from ptxkit.isa.loader import load_texts
from ptxkit.isa.table import InstructionTable
from tests.cli.support import CLEAN


@pytest.fixture
def broken_table(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The table's files have an error."""

    def load() -> InstructionSet:
        return load_texts({"chapter.isa": 'section "A"\nform a{.<m>} d:.b32\n'})

    monkeypatch.setattr(compiled_table, "load_cached", load)
    table.cache_clear()
    yield
    monkeypatch.undo()
    table.cache_clear()


@pytest.mark.parametrize("command", [["isa", "add"], ["isa", "--json"], ["lint"]])
def test_every_command_reports_it_and_exits_with_2(
    broken_table: None,
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clean.ptx").write_text(CLEAN)
    with pytest.raises(SystemExit) as left:
        main([*command, str(tmp_path / "clean.ptx")] if command == ["lint"] else command)
    printed = capsys.readouterr().err
    assert left.value.code == 2
    assert "chapter.isa:2:8: the modifier m has no line `m = ...`" in printed
    assert printed.splitlines()[-1] == " " * 11 + "^"
    assert "Traceback" not in printed


def test_without_the_error_the_command_runs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["isa", "add"])
    assert left.value.code == 0


def test_an_unusable_form_is_an_error_too() -> None:
    text = 'section "A"\nsummary "s"\nform a.<m> d:(wide(m))\n  m = .x .b32\n'
    forms = InstructionTable(load_texts({"chapter.isa": text}))
    assert forms.candidates("a.b32")
    with pytest.raises(NotationError, match=r"chapter\.isa:3:1: this form cannot be used for `a\.x`: 'x' is no type"):
        forms.candidates("a.x")
