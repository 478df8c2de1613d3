"""Rewriting in place: never of text inside another file, never through a link out of the given folder; other properties
of the file are kept."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from ptxkit.cli.file_replacement import replace_content
from ptxkit.source import TextOrigin
from tests.cli.support import CLEAN
from tests.inputs.building import entry, fatbin, zip_members

Run = Callable[..., Result]
RULES = Path(__file__).resolve().parents[2] / "corpus" / "rules"

SAFE = (RULES / "PTX401_bad_store_then_bulk_copy.ptx").read_text().replace("\tret;", "\t  ret ;")
"""A fix would change it, a comment would hide its finding, and fmt would print it differently."""
LOGIN = "alias ls=ls\n"
REWRITING = [
    ("fmt", "--write"),
    ("lint", "--fix", "--no-cache"),
    ("lint", "--add-ignores", "--no-cache"),
    ("lint", "--fix", "--binaries", "--no-cache"),
]
"""Every command that overwrites its inputs."""

needs_links = pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A file of the user next to the folder of another user."""
    (tmp_path / "home").mkdir()
    path = tmp_path / "home" / ".bashrc"
    path.write_text(LOGIN)
    (tmp_path / "theirs").mkdir()
    return path


def is_untouched(home: Path) -> bool:
    """Returns whether no file of the user was changed, and no file was added."""
    return home.read_text() in (LOGIN, SAFE) and os.listdir(home.parent) == [home.name] and not home.is_symlink()


@needs_links
@pytest.mark.parametrize("command", REWRITING)
@pytest.mark.parametrize("target", ["folder", "container", "member", "here"])
def test_a_member_is_not_written_to_the_file_of_its_displayed_name(
    command: tuple[str, ...], target: str, home: Path, ptxkit: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = home.parent.parent / "theirs"
    (theirs / "lib.ptx").write_bytes(fatbin(entry(SAFE.encode(), 90)))
    (theirs / "lib.ptx!1.sm_90.ptx").symlink_to("../home/.bashrc")
    (theirs / "k.whl").write_bytes(zip_members({"../../home/.bashrc.ptx": SAFE.encode(), "a.ptx": SAFE.encode()}))
    (theirs / "k.whl!a.ptx").symlink_to("../home/.bashrc")
    monkeypatch.chdir(theirs)
    given = {"folder": [theirs], "here": ["."], "container": ["lib.ptx", "k.whl"], "member": ["lib.ptx!1.sm_90.ptx"]}
    result = ptxkit(*command, *given[target])
    assert result.exit_code != 0
    assert is_untouched(home)
    assert (theirs / "lib.ptx").read_bytes() == fatbin(entry(SAFE.encode(), 90))


@needs_links
@pytest.mark.parametrize("command", REWRITING)
@pytest.mark.parametrize("named", ["theirs", "theirs/k.ptx", "theirs/sub/k.ptx", "theirs/*.ptx"])
def test_no_link_leads_out_of_the_given_folder(command: tuple[str, ...], named: str, home: Path, ptxkit: Run) -> None:
    home.write_text(SAFE)  # a file that would be rewritten if it belonged to the folder
    theirs = home.parent.parent / "theirs"
    (theirs / "sub").mkdir()
    (theirs / "k.ptx").symlink_to("../home/.bashrc")
    (theirs / "sub" / "k.ptx").symlink_to("../k.ptx")
    result = ptxkit(*command, home.parent.parent / named)
    assert result.exit_code != 0
    assert "is a link that leads out of its folder" in result.stderr
    assert str(home) in result.stderr
    assert home.read_text() == SAFE
    assert is_untouched(home)


@needs_links
@pytest.mark.parametrize("command", REWRITING)
def test_a_link_inside_the_given_folder_is_followed(command: tuple[str, ...], home: Path, ptxkit: Run) -> None:
    theirs = home.parent.parent / "theirs"
    (theirs / "sub").mkdir()
    (theirs / "k.txt").write_text(SAFE)
    (theirs / "sub" / "k.ptx").symlink_to("../k.txt")
    (home.parent.parent / "way").symlink_to("theirs")  # the folder may be a link
    ptxkit(*command, home.parent.parent / "way")
    assert (theirs / "k.txt").read_text() != SAFE
    assert (theirs / "sub" / "k.ptx").is_symlink()


@needs_links
def test_extract_writes_through_no_link_out_of_its_folder(home: Path, ptxkit: Run) -> None:
    theirs = home.parent.parent / "theirs"
    (theirs / "lib.fatbin").write_bytes(fatbin(entry(CLEAN.encode(), 90)))
    out = theirs / "lib.1.sm_90.ptx"
    out.symlink_to("../home/.bashrc")
    for options, printed in (
        ((), "already exists"),
        (("--force",), "cannot be written: it is a link that leads out of its folder"),
    ):
        result = ptxkit("extract", *options, "-o", theirs, theirs / "lib.fatbin")
        assert (result.exit_code, printed in result.stderr) == (2, True)
        assert is_untouched(home)
    out.unlink()
    out.write_text("old")
    assert ptxkit("extract", "--force", "-o", theirs, theirs / "lib.fatbin").exit_code == 0
    assert out.read_text() == CLEAN


def test_a_special_file_is_never_written(tmp_path: Path) -> None:
    path = tmp_path / "k.ptx"
    path.write_text("old")
    for origin in (TextOrigin(), TextOrigin(container=str(path)), TextOrigin(str(tmp_path))):
        assert replace_content(origin, b"new")
    assert path.read_text() == "old"
    assert replace_content(TextOrigin(str(path)), b"new") is None
    assert path.read_text() == "new"


@pytest.mark.skipif(not hasattr(os, "link"), reason="needs hard links")
@pytest.mark.parametrize("command", REWRITING[:3])
def test_a_hard_link_and_the_permissions_are_kept(command: tuple[str, ...], tmp_path: Path, ptxkit: Run) -> None:
    path, other = tmp_path / "k.ptx", tmp_path / "other"
    path.write_text(SAFE)
    path.chmod(0o640)
    os.link(path, other)
    before = path.stat()
    ptxkit(*command, path)
    assert path.read_text() != SAFE
    assert other.read_text() == path.read_text()
    after = path.stat()
    assert (after.st_ino, after.st_nlink, after.st_mode) == (before.st_ino, 2, before.st_mode)
    assert sorted(os.listdir(tmp_path)) == ["k.ptx", "other"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
@pytest.mark.parametrize("command", REWRITING[:3])
def test_the_owner_is_kept_where_root_rewrites(command: tuple[str, ...], tmp_path: Path, ptxkit: Run) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(SAFE)
    path.chmod(0o640)
    os.chown(path, 1234, 2345)
    ptxkit(*command, path)
    assert path.read_text() != SAFE
    assert (path.stat().st_uid, path.stat().st_gid, path.stat().st_mode & 0o7777) == (1234, 2345, 0o640)


def test_a_file_whose_owner_cannot_be_restored_is_changed_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "k.ptx"
    path.write_text("something longer")
    inode = path.stat().st_ino
    monkeypatch.setattr("ptxkit.cli.file_replacement._set_owner", lambda *_: False)
    assert replace_content(TextOrigin(str(path)), b"new") is None
    assert (path.read_text(), path.stat().st_ino) == ("new", inode)
    assert os.listdir(tmp_path) == ["k.ptx"]


def test_a_file_that_cannot_be_changed_completely_is_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "k.ptx"
    path.write_text("old")
    monkeypatch.setattr("ptxkit.cli.file_replacement._set_owner", lambda *_: False)
    fill = "ptxkit.cli.file_replacement._write_all"
    from ptxkit.cli import file_replacement

    whole, calls = file_replacement._write_all, []

    def tear_output(stream: object, content: bytes) -> None:
        calls.append(content)
        whole(stream, content[:1] if len(calls) == 1 else content)  # type: ignore[arg-type]
        if len(calls) == 1:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(fill, tear_output)
    failure = replace_content(TextOrigin(str(path)), b"new")
    assert failure is not None
    assert failure.reason == "No space left on device"
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["k.ptx"]


IDLE = CLEAN.replace("%r1, 7;", "%r1, 7; // ptxkit: ignore[PTX401] nothing")


@pytest.mark.parametrize("command", REWRITING[:3])
@pytest.mark.parametrize("text", [SAFE, SAFE.replace("\n", "\r\n"), IDLE, IDLE.replace("\n", "\r\n")])
def test_line_ends_are_kept(command: tuple[str, ...], text: str, tmp_path: Path, ptxkit: Run) -> None:
    path = tmp_path / "k.ptx"
    path.write_bytes(text.encode())
    ptxkit(*command, path)
    after = path.read_bytes().decode()
    assert after != text or text.startswith(IDLE[:9])
    assert len(re.findall(r"(?<!\r)\n", after)) == (0 if "\r" in text else after.count("\n"))
    assert "\r\r" not in after
