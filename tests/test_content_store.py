"""Entries on disk: found by name and stamp, bounded, and never outside of their folder."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ptxkit.content_store import ContentStore, user_cache_folder


def store(folder: Path, **limits: int) -> ContentStore:
    return ContentStore(str(folder), "thing.", max_entries=limits.pop("max_entries", 9), **limits)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def fill(folder: Path, kept: ContentStore, count: int) -> None:
    """Stores entries whose last uses are one second apart."""
    for number in range(count):
        assert kept.put(str(number), "stamp", number)
        os.utime(folder / f"thing.{number}.bin", (1000 + number, 1000 + number))


def test_an_entry_is_found_by_its_name_and_stamp(tmp_path: Path) -> None:
    assert store(tmp_path).put("a", ("stamp", 1), {"data": [1, b"2", None]})
    assert store(tmp_path).get("a", ("stamp", 1)) == {"data": [1, b"2", None]}
    assert store(tmp_path).get("a", ("stamp", 2)) is None
    assert store(tmp_path).get("b", ("stamp", 1)) is None
    assert names(tmp_path) == ["thing.a.bin"]


def test_without_a_folder_nothing_is_stored() -> None:
    nowhere = ContentStore(None, max_entries=1)
    assert not nowhere.put("a", 1, 2)
    assert nowhere.get("a", 1) is None
    nowhere.evict()


@pytest.mark.parametrize("name", ["../a", "/a", "b/../../a", "a\0"])
def test_a_name_does_not_lead_out_of_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    assert not ContentStore(str(folder), max_entries=1).put(name, 1, 2)
    assert names(folder) == []
    assert names(tmp_path) == ["store"]


def test_other_objects_than_plain_data_are_not_stored(tmp_path: Path) -> None:
    assert not store(tmp_path).put("a", 1, object())
    assert names(tmp_path) == []


def test_the_newest_entries_are_kept(tmp_path: Path) -> None:
    (tmp_path / "other.9.bin").write_bytes(b"")
    kept = store(tmp_path, max_entries=2)
    fill(tmp_path, kept, 5)
    kept.evict()
    assert names(tmp_path) == ["other.9.bin", "thing.3.bin", "thing.4.bin"]


def test_the_size_of_all_entries_is_limited(tmp_path: Path) -> None:
    fill(tmp_path, store(tmp_path), 5)
    size = (tmp_path / "thing.4.bin").stat().st_size
    store(tmp_path, max_bytes=3 * size).evict()
    assert names(tmp_path) == ["thing.2.bin", "thing.3.bin", "thing.4.bin"]


def test_an_entry_that_is_marked_as_used_is_kept(tmp_path: Path) -> None:
    kept = store(tmp_path, max_entries=1)
    fill(tmp_path, kept, 2)
    kept.mark_used("0", 3600)
    kept.evict()
    assert names(tmp_path) == ["thing.0.bin"]


def test_files_of_a_killed_process_are_removed_after_a_day(tmp_path: Path) -> None:
    (tmp_path / ".part-old").write_bytes(b"")
    (tmp_path / ".part-new").write_bytes(b"")
    os.utime(tmp_path / ".part-old", (time.time() - 100_000,) * 2)
    store(tmp_path).evict()
    assert names(tmp_path) == [".part-new"]


def test_a_relative_cache_folder_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the XDG Base Directory Specification requires: it would be under the control of the author of the working
    directory."""
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "theirs" / "cache" / "ptxkit").mkdir(parents=True, mode=0o700)
    monkeypatch.chdir(tmp_path / "theirs")
    monkeypatch.setenv("HOME", str(home))
    for given in ("cache", "./cache", "", "../theirs/cache"):
        monkeypatch.setenv("XDG_CACHE_HOME", given)
        assert user_cache_folder() == str(home / ".cache" / "ptxkit")
    monkeypatch.setenv("HOME", "cache")
    assert user_cache_folder() is None
