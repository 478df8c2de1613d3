"""The compiled table: used when sound, rebuilt when not, never in the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.isa import compiled, loader
from ptxkit.isa.forms import Instructions
from ptxkit.isa.loader import load


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def same(left: Instructions, right: Instructions) -> bool:
    return dict(left.forms) == dict(right.forms) and dict(left.value_gates) == dict(right.value_gates)


def files(home: Path) -> list[Path]:
    return list((home / "ptxkit").glob("table-*.json"))


def test_the_second_load_reads_what_the_first_wrote(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compiled.load_cached()
    assert len(files(home)) == 1
    monkeypatch.setattr(loader, "load", lambda: pytest.fail("the cache was not used"))
    assert same(compiled.load_cached(), first)


def test_a_damaged_copy_is_made_again(home: Path) -> None:
    first = compiled.load_cached()
    (path,) = files(home)
    path.write_bytes(path.read_bytes()[:-7])
    assert same(compiled.load_cached(), first)
    path.write_bytes(b"")
    assert same(compiled.load_cached(), first)


def test_a_folder_that_others_can_write_is_not_trusted(home: Path) -> None:
    folder = home / "ptxkit"
    folder.mkdir()
    folder.chmod(0o777)
    assert same(compiled.load_cached(), load())
    assert files(home) == []


def test_a_folder_that_cannot_be_made_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert compiled.load_cached().forms


def test_old_copies_are_cleared_away(home: Path) -> None:
    folder = home / "ptxkit"
    folder.mkdir(mode=0o700)
    for number in range(9):
        (folder / f"table-{number}.json").write_text("", encoding="utf-8")
    compiled.load_cached()
    assert len(files(home)) == 4
