"""Compiled copies: used when sound, made again when not, never in the way."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ptxkit import cache

ROOT = Path(__file__).resolve().parent.parent
DATA = {"names": ["a", "b"], "places": (1, (2, None), True)}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(cache, "PACKAGE", str(tmp_path / "package"))
    return tmp_path / "home" / "ptxkit"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.isa"
    path.write_text("text", encoding="utf-8")
    return path


def made() -> object:
    return DATA


def not_made() -> object:
    pytest.fail("the copy was not used")


def copies(home: Path) -> list[Path]:
    return sorted(home.glob("thing.*.bin"))


def test_the_second_time_the_copy_is_read(home: Path, source: Path) -> None:
    assert cache.load_or_compile("thing", [str(source)], made) == DATA
    assert len(copies(home)) == 1
    assert cache.load_or_compile("thing", [str(source)], not_made) == DATA


@pytest.mark.parametrize("text", ["texT", "text ", ""])
def test_a_copy_of_another_text_is_not_used(home: Path, source: Path, text: str) -> None:
    cache.load_or_compile("thing", [str(source)], made)
    source.write_text(text, encoding="utf-8")
    assert cache.load_or_compile("thing", [str(source)], lambda: [text]) == [text]
    assert len(copies(home)) == 2
    source.write_text("text", encoding="utf-8")
    assert cache.load_or_compile("thing", [str(source)], not_made) == DATA


def test_a_source_more_or_less_makes_another_copy(home: Path, source: Path, tmp_path: Path) -> None:
    cache.load_or_compile("thing", [str(source)], made)
    (tmp_path / "more.isa").write_text("", encoding="utf-8")
    assert cache.load_or_compile("thing", [str(source), str(tmp_path / "more.isa")], lambda: 2) == 2
    assert cache.load_or_compile("thing", [], lambda: 3) == 3


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "cut off": lambda data: data[:-7],
    "empty": lambda data: b"",
    "garbage": lambda data: os.urandom(500),
    "a bit turned": lambda data: data[:-3] + bytes([data[-3] ^ 4]) + data[-2:],
    "another format": lambda data: data.replace(b"ptxkit 1", b"ptxkit 0"),
    "only the head": lambda data: data[:13],
    "nothing that marshal knows": lambda data: data[:9] + (0x88F83096).to_bytes(4, "big") + b"\xff\xfe",
}


@pytest.mark.parametrize("how", DAMAGE)
def test_a_damaged_copy_is_made_again(home: Path, source: Path, how: str) -> None:
    cache.load_or_compile("thing", [str(source)], made)
    (path,) = copies(home)
    path.write_bytes(DAMAGE[how](path.read_bytes()))
    assert cache.load_or_compile("thing", [str(source)], made) == DATA
    assert cache.load_or_compile("thing", [str(source)], not_made) == DATA


def test_sound_data_of_a_strange_kind_is_made_again(home: Path, source: Path) -> None:
    cache.load_or_compile("thing", [str(source)], made)
    (path,) = copies(home)
    cache.write_entry(str(path), (), "of other sources")
    assert cache.load_or_compile("thing", [str(source)], made) == DATA


def test_the_copy_beside_the_package_comes_first(home: Path, source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "package" / cache.PREBUILT
    folder.mkdir(parents=True)
    cache.write_entry(str(folder / "thing.bin"), cache.checksum_key([str(source)]), ["brought along"])
    assert cache.load_or_compile("thing", [str(source)], not_made) == ["brought along"]
    assert not home.exists()
    source.write_text("edited", encoding="utf-8")
    assert cache.load_or_compile("thing", [str(source)], made) == DATA


def test_a_folder_that_others_can_write_is_not_trusted(home: Path, source: Path) -> None:
    home.mkdir(parents=True)
    home.chmod(0o777)
    assert cache.load_or_compile("thing", [str(source)], made) == DATA
    assert copies(home) == []
    home.chmod(0o700)
    cache.load_or_compile("thing", [str(source)], made)
    assert len(copies(home)) == 1


def test_a_folder_that_cannot_be_made_does_no_harm(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "PACKAGE", str(tmp_path / "package"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(source))
    assert cache.load_or_compile("thing", [str(source)], made) == DATA


def test_a_copy_that_cannot_be_written_does_no_harm(home: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert cache.load_or_compile("thing", [str(source)], made) == DATA
    assert list(home.iterdir()) == []


def test_a_mistake_in_a_source_is_not_hidden(home: Path, source: Path) -> None:
    def broken() -> object:
        raise ValueError("a mistake")

    for _ in range(2):
        with pytest.raises(ValueError, match="a mistake"):
            cache.load_or_compile("thing", [str(source)], broken)


def test_old_copies_are_cleared_away(home: Path, source: Path) -> None:
    home.mkdir(mode=0o700, parents=True)
    for number in range(9):
        (home / f"thing.old.{number}.bin").write_bytes(b"")
        (home / f"other.old.{number}.bin").write_bytes(b"")
    cache.load_or_compile("thing", [str(source)], made)
    assert len(copies(home)) == 4
    assert len(list(home.glob("other.*"))) == 9
    assert cache.load_or_compile("thing", [str(source)], not_made) == DATA


def test_processes_that_race_all_get_the_data(tmp_path: Path, source: Path) -> None:
    script = """if True:
        import glob, os, sys
        from contextlib import suppress
        from ptxkit import cache
        cache.PACKAGE = '/nowhere'
        for _ in range(60):
            found = cache.load_or_compile('thing', [sys.argv[1]], lambda: list(range(5000)))
            assert found == list(range(5000)), found
            for path in glob.glob(sys.argv[2] + '/ptxkit/*.bin'):
                with suppress(FileNotFoundError):
                    os.unlink(path)
    """
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", script, str(source), str(tmp_path)]
    running = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(3)
    ]
    for process in running:
        _, said = process.communicate(timeout=900)
        assert process.returncode == 0, said
    assert [path.name for path in (tmp_path / "ptxkit").iterdir() if path.name.startswith(".part")] == []


def test_what_is_remembered_belongs_to_one_state_of_the_installation(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "installation_stamp", lambda: "one")
    assert cache.load_or_compute("thing", made) == DATA
    assert cache.load_or_compute("thing", not_made) == DATA
    monkeypatch.setattr(cache, "installation_stamp", lambda: "another")
    assert cache.load_or_compute("thing", lambda: [1]) == [1]


def test_a_file_that_vanishes_meanwhile_is_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here.py").write_text("1")
    monkeypatch.setattr(cache, "PACKAGE", str(tmp_path))
    before = cache._installation_state()
    (tmp_path / "gone.py").symlink_to("nowhere")
    assert cache._installation_state() == before


def test_an_installed_package_has_the_contents_of_its_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for package, grammars in (("checkout/ptxkit", "checkout/grammars"), ("site/ptxkit", "site/ptxkit/_grammars")):
        for path, text in ((f"{package}/__init__.py", "1"), (f"{package}/isa/a.py", "2"), (f"{grammars}/b.isa", "3")):
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        monkeypatch.setattr(cache, "PACKAGE", str(tmp_path / package))
        monkeypatch.setattr(cache, "grammar_folder", lambda folder=tmp_path / grammars: str(folder))
        found.append(cache.installation_checksum.__wrapped__())
    assert found[0] == found[1]
    (tmp_path / "site/ptxkit/isa/a.py").write_text("4")
    assert cache.installation_checksum.__wrapped__() != found[0]


def test_a_relative_cache_folder_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the XDG Base Directory Specification asks for: it would be a folder of whoever made the working directory."""
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "theirs" / "cache" / "ptxkit").mkdir(parents=True, mode=0o700)
    monkeypatch.chdir(tmp_path / "theirs")
    monkeypatch.setenv("HOME", str(home))
    for given in ("cache", "./cache", "", "../theirs/cache"):
        monkeypatch.setenv("XDG_CACHE_HOME", given)
        assert cache.user_cache_folder() == str(home / ".cache" / "ptxkit")
    monkeypatch.setenv("HOME", "cache")
    assert cache.user_cache_folder() is None
