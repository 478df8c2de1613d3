"""Small files of a folder: other kinds of files are reported, and nothing waits for them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ptxkit.limits import MAX_SETTINGS_BYTES
from ptxkit.small_files import UnsuitableFileError, is_inside, parse_json, read_small_file


def test_a_regular_file_is_read_up_to_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"x" * MAX_SETTINGS_BYTES)
    assert read_small_file(str(path)) == path.read_bytes()
    (tmp_path / "link").symlink_to("f")
    assert read_small_file(str(tmp_path / "link")) == path.read_bytes()
    path.write_bytes(b"x" * (MAX_SETTINGS_BYTES + 1))
    with pytest.raises(UnsuitableFileError, match="is longer than 1,048,576 bytes"):
        read_small_file(str(path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_or_a_device_is_rejected_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        with pytest.raises(UnsuitableFileError, match="is not a regular file"):
            read_small_file(str(tmp_path / name))


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    kinds = {tmp_path / "none": FileNotFoundError, tmp_path: IsADirectoryError, Path("a\0b"): UnsuitableFileError}
    for path, kind in kinds.items():
        with pytest.raises(kind):
            read_small_file(str(path))


def test_a_document_that_is_too_deep_is_a_value_error() -> None:
    assert parse_json(b"[[]]") == [[]]
    for text in (b"[" * 100_000, b'{"a":' * 100_000, b"9" * 5000, b"\xff", b""):
        with pytest.raises(ValueError, match=r"."):
            parse_json(text)


def test_a_path_in_a_folder_is_distinguished_from_one_outside(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "folder2").mkdir()
    (folder / "out").symlink_to("../folder2")
    (folder / "back").symlink_to("out/../folder/in")
    assert is_inside(str(folder / "a" / "b"), str(folder))
    assert is_inside(str(folder / "back"), str(folder))
    for path in (folder / "out", folder / "out" / "x", tmp_path / "folder2", folder / ".." / "x", Path("/"), "a\0b"):
        assert not is_inside(str(path), str(folder))
