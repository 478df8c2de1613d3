"""The compiled table: used when sound, rebuilt when not, never in the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.isa import compiled, loader
from ptxkit.isa.loader import load


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def files(home: Path) -> list[Path]:
    return list((home / "ptxkit").glob("table-*.pickle"))


def test_the_second_load_reads_what_the_first_wrote(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compiled.load_cached()
    assert len(files(home)) == 1
    monkeypatch.setattr(loader, "load", lambda: pytest.fail("the cache was not used"))
    assert compiled.load_cached() == first


def test_a_damaged_copy_is_made_again(home: Path) -> None:
    first = compiled.load_cached()
    (path,) = files(home)
    path.write_bytes(path.read_bytes()[:-7])
    assert compiled.load_cached() == first
    path.write_bytes(b"")
    assert compiled.load_cached() == first


def test_a_folder_that_others_can_write_is_not_trusted(home: Path) -> None:
    folder = home / "ptxkit"
    folder.mkdir()
    folder.chmod(0o777)
    assert compiled.load_cached() == load()
    assert files(home) == []


def test_a_folder_that_cannot_be_made_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert compiled.load_cached().forms
