"""`ptxkit view`: inputs, exit statuses, and that a page is written completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.support import BROKEN, CLEAN, shell
from tests.inputs.building import elf, entry, fatbin

Run = Callable[..., Result]


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "k.ptx"
    path.write_text(CLEAN)
    return path


def test_a_page_is_written_and_nothing_is_printed(ptxkit: Run, kernel: Path) -> None:
    page = kernel.parent / "out.html"
    result = ptxkit("view", kernel, "-o", page)
    assert (result.exit_code, result.output) == (0, "")
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>\n")
    assert sorted(path.name for path in kernel.parent.iterdir()) == ["k.ptx", "out.html"]


def test_findings_do_not_change_the_exit_status(ptxkit: Run, kernel: Path) -> None:
    kernel.write_text(BROKEN)
    assert ptxkit("lint", kernel).exit_code == 1
    result = ptxkit("view", kernel, "-o", kernel.parent / "out.html")
    assert result.exit_code == 0
    assert "PTX101 error" in (kernel.parent / "out.html").read_text("utf-8")


def test_a_minus_is_standard_input_and_output(kernel: Path) -> None:
    done = shell("view", "-", "-o", "-", "--stdin-filename", "named.ptx", stdin=kernel.read_bytes())
    assert done.returncode == 0, done.stderr
    assert b"<h1>named.ptx</h1>" in done.stdout
    assert b"<h1>&lt;stdin&gt;</h1>" in shell("view", "-", "-o", "-", stdin=kernel.read_bytes()).stdout


def test_an_unreadable_file_makes_no_page(ptxkit: Run, tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    page.write_text("before")
    result = ptxkit("view", tmp_path / "missing.ptx", "-o", page)
    assert result.exit_code == 2
    assert "cannot be read: no such file" in result.stderr
    assert page.read_text() == "before"


def test_an_output_is_required_and_must_be_named_as_a_page(ptxkit: Run, kernel: Path) -> None:
    assert "--output" in ptxkit("view", kernel).stderr
    result = ptxkit("view", kernel, "-o", kernel)
    assert result.exit_code == 2
    assert "does not end in .html\n  = help: name a page, so that no input is overwritten" in result.stderr
    assert kernel.read_text() == CLEAN


def test_an_unwritable_page_is_reported_and_leaves_nothing(ptxkit: Run, kernel: Path) -> None:
    result = ptxkit("view", kernel, "-o", kernel.parent / "nowhere" / "out.html")
    assert result.exit_code == 2
    assert "cannot be written: No such file or directory" in result.stderr
    assert [path.name for path in kernel.parent.iterdir()] == ["k.ptx"]


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_a_page_has_the_mode_of_a_new_file_or_keeps_its_own(ptxkit: Run, kernel: Path) -> None:
    page = kernel.parent / "out.html"
    before = os.umask(0o027)
    try:
        ptxkit("view", kernel, "-o", page)
    finally:
        os.umask(before)
    assert page.stat().st_mode & 0o777 == 0o640
    page.chmod(0o600)
    ptxkit("view", kernel, "-o", page)
    assert page.stat().st_mode & 0o777 == 0o600


def test_the_settings_of_lint_apply(ptxkit: Run, kernel: Path) -> None:
    kernel.write_text(CLEAN.replace("sm_80", "sm_800"))
    page = kernel.parent / "out.html"
    ptxkit("view", kernel, "-o", page)
    assert "PTX803 error" in page.read_text("utf-8")
    (kernel.parent / "ptxkit.toml").write_text('ignore = ["PTX803"]\n')
    ptxkit("view", kernel, "-o", page)
    assert "PTX803 error" not in page.read_text("utf-8")
    ptxkit("view", "--isolated", "--severity", "PTX803=note", kernel, "-o", page)
    assert "PTX803 note" in page.read_text("utf-8")


def test_a_name_with_an_exclamation_mark_is_a_file_if_it_exists(ptxkit: Run, tmp_path: Path) -> None:
    path = tmp_path / "a!b.ptx"
    path.write_text(CLEAN)
    assert ptxkit("view", path, "-o", tmp_path / "out.html").exit_code == 0
    result = ptxkit("view", tmp_path / "a!c.ptx", "-o", tmp_path / "out.html")
    assert result.exit_code == 2


def test_one_text_of_a_library_is_selected(ptxkit: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = fatbin(entry(CLEAN.encode()), entry(CLEAN.replace("sm_80", "sm_90a").encode(), 90))
    Path("libfoo.so").write_bytes(elf([(".nv_fatbin", texts)]))
    refused = ptxkit("view", "libfoo.so", "-o", "out.html")
    assert refused.exit_code == 2
    assert "holds 2 texts, but one is required: libfoo.so!1.sm_80.ptx, libfoo.so!2.sm_90.ptx" in refused.stderr
    assert ptxkit("view", "libfoo.so!3.sm_90.ptx", "-o", "out.html").exit_code == 2
    assert not Path("out.html").exists()
    assert ptxkit("view", "libfoo.so!2.sm_90.ptx", "-o", "out.html").exit_code == 0
    assert "<h1>libfoo.so!2.sm_90.ptx</h1>" in Path("out.html").read_text("utf-8")
    Path("one.so").write_bytes(elf([(".nv_fatbin", fatbin(entry(CLEAN.encode())))]))
    assert ptxkit("view", "one.so", "-o", "out.html").exit_code == 0
