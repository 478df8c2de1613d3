"""`ptxkit fmt`: prints, checks, shows differences, and rewrites in one step or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.support import BROKEN, CLEAN, shell

Run = Callable[..., Result]

UNTIDY = CLEAN.replace("mov.u32 \t%r1, 7;", "   mov.u32    %r1 ,7  ;   // seven")


@pytest.fixture
def untidy(tmp_path: Path) -> Path:
    path = tmp_path / "untidy.ptx"
    path.write_text(UNTIDY)
    return path


@pytest.fixture
def tidy(tmp_path: Path, ptxkit: Run) -> Path:
    path = tmp_path / "tidy.ptx"
    path.write_text(ptxkit("fmt", "-", input=UNTIDY).stdout)
    return path


def test_one_file_is_printed_and_not_changed(untidy: Path, ptxkit: Run) -> None:
    result = ptxkit("fmt", untidy)
    assert result.exit_code == 0
    assert "// seven" in result.stdout
    assert result.stdout != UNTIDY
    assert untidy.read_text() == UNTIDY


def test_formatting_twice_changes_nothing_more(tidy: Path, ptxkit: Run) -> None:
    assert ptxkit("fmt", tidy).stdout == tidy.read_text()


def test_check_names_the_files_that_would_change(untidy: Path, tidy: Path, ptxkit: Run) -> None:
    result = ptxkit("fmt", "--check", untidy, tidy)
    assert (result.exit_code, result.stdout) == (1, f"{untidy}\n")
    assert ptxkit("fmt", "--check", tidy).exit_code == 0
    assert untidy.read_text() == UNTIDY


def test_diff_shows_the_changes(untidy: Path, tidy: Path, ptxkit: Run) -> None:
    result = ptxkit("fmt", "--diff", untidy)
    assert result.exit_code == 1
    assert "-\t   mov.u32    %r1 ,7  ;   // seven\n" in result.stdout
    assert (ptxkit("fmt", "--diff", tidy).exit_code, ptxkit("fmt", "--diff", tidy).stdout) == (0, "")


def test_write_rewrites_in_place_and_keeps_the_mode(untidy: Path, tidy: Path, ptxkit: Run) -> None:
    untidy.chmod(0o640)
    result = ptxkit("fmt", "--write", untidy)
    assert (result.exit_code, result.output) == (0, "")
    assert untidy.read_text() == tidy.read_text()
    assert untidy.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in untidy.parent.iterdir()) == ["tidy.ptx", "untidy.ptx"]


def test_a_formatted_file_is_not_touched(tidy: Path, ptxkit: Run) -> None:
    os.utime(tidy, (1, 1))
    ptxkit("fmt", "--write", tidy)
    assert tidy.stat().st_mtime == 1


def test_a_link_remains_a_link(untidy: Path, ptxkit: Run) -> None:
    link = untidy.with_name("link.ptx")
    link.symlink_to(untidy.name)
    ptxkit("fmt", "--write", link)
    assert link.is_symlink()
    assert untidy.read_text() != UNTIDY


def test_a_failed_write_leaves_the_file_unchanged(untidy: Path, ptxkit: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    result = ptxkit("fmt", "--write", untidy)
    assert result.exit_code == 2
    assert "No space left on device" in result.stderr
    assert untidy.read_text() == UNTIDY
    assert [path.name for path in untidy.parent.iterdir()] == ["untidy.ptx"]


def test_a_syntax_error_is_reported_and_the_file_is_not_changed(tmp_path: Path, untidy: Path, ptxkit: Run) -> None:
    broken = tmp_path / "broken.ptx"
    broken.write_text(BROKEN)
    result = ptxkit("fmt", "--write", broken, untidy)
    assert result.exit_code == 2
    assert "PTX101" in result.stderr
    assert broken.read_text() == BROKEN
    assert untidy.read_text() != UNTIDY


def test_several_files_are_not_printed_together(untidy: Path, tidy: Path, ptxkit: Run) -> None:
    result = ptxkit("fmt", untidy, tidy)
    assert result.exit_code == 2
    assert "--write" in result.stderr


def test_check_and_diff_exclude_write(untidy: Path, ptxkit: Run) -> None:
    assert ptxkit("fmt", "--write", "--check", untidy).exit_code == 2
    assert ptxkit("fmt", "--write", "-", input=CLEAN).exit_code == 2


def test_bytes_that_are_not_utf_8_are_kept() -> None:
    comment = "// déjà\n".encode("latin-1")
    done = shell("fmt", "-", stdin=CLEAN.encode() + comment)
    assert done.returncode == 0
    assert comment.strip() in done.stdout
