"""Compiled copies: used when valid, made again when not, and never an obstacle."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ptxkit import compile_cache
from ptxkit.installation import checksum_key

ROOT = Path(__file__).resolve().parent.parent
DATA = {"names": ["a", "b"], "places": (1, (2, None), True)}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(compile_cache, "PACKAGE", str(tmp_path / "package"))
    return tmp_path / "home" / "ptxkit"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.isa"
    path.write_text("text", encoding="utf-8")
    return path


def make_one() -> object:
    return DATA


def not_made() -> object:
    pytest.fail("the copy was not used")


def copies(home: Path) -> list[Path]:
    return sorted(home.glob("thing.*.bin"))


def test_the_second_time_the_copy_is_read(home: Path, source: Path) -> None:
    assert compile_cache.load_or_compile("thing", [str(source)], make_one) == DATA
    assert len(copies(home)) == 1
    assert compile_cache.load_or_compile("thing", [str(source)], not_made) == DATA


@pytest.mark.parametrize("text", ["texT", "text ", ""])
def test_a_copy_of_another_text_is_not_used(home: Path, source: Path, text: str) -> None:
    compile_cache.load_or_compile("thing", [str(source)], make_one)
    source.write_text(text, encoding="utf-8")
    assert compile_cache.load_or_compile("thing", [str(source)], lambda: [text]) == [text]
    assert len(copies(home)) == 2
    source.write_text("text", encoding="utf-8")
    assert compile_cache.load_or_compile("thing", [str(source)], not_made) == DATA


def test_an_added_or_removed_source_makes_another_copy(home: Path, source: Path, tmp_path: Path) -> None:
    compile_cache.load_or_compile("thing", [str(source)], make_one)
    (tmp_path / "more.isa").write_text("", encoding="utf-8")
    assert compile_cache.load_or_compile("thing", [str(source), str(tmp_path / "more.isa")], lambda: 2) == 2
    assert compile_cache.load_or_compile("thing", [], lambda: 3) == 3


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
    compile_cache.load_or_compile("thing", [str(source)], make_one)
    (path,) = copies(home)
    path.write_bytes(DAMAGE[how](path.read_bytes()))
    assert compile_cache.load_or_compile("thing", [str(source)], make_one) == DATA
    assert compile_cache.load_or_compile("thing", [str(source)], not_made) == DATA


def test_valid_data_of_a_wrong_kind_is_made_again(home: Path, source: Path) -> None:
    compile_cache.load_or_compile("thing", [str(source)], make_one)
    (path,) = copies(home)
    compile_cache.prebuilt_store(str(home)).write(path.stem, (), "of other sources")
    assert compile_cache.load_or_compile("thing", [str(source)], make_one) == DATA


def test_the_copy_in_the_package_takes_precedence(home: Path, source: Path, tmp_path: Path) -> None:
    folder = tmp_path / "package" / compile_cache.PREBUILT
    folder.mkdir(parents=True)
    compile_cache.prebuilt_store(str(folder)).write("thing", checksum_key([str(source)]), ["brought along"])
    assert compile_cache.load_or_compile("thing", [str(source)], not_made) == ["brought along"]
    assert not home.exists()
    source.write_text("edited", encoding="utf-8")
    assert compile_cache.load_or_compile("thing", [str(source)], make_one) == DATA


def test_a_folder_that_others_can_write_is_not_trusted(home: Path, source: Path) -> None:
    home.mkdir(parents=True)
    home.chmod(0o777)
    assert compile_cache.load_or_compile("thing", [str(source)], make_one) == DATA
    assert copies(home) == []
    home.chmod(0o700)
    compile_cache.load_or_compile("thing", [str(source)], make_one)
    assert len(copies(home)) == 1


def test_an_impossible_folder_is_harmless(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_cache, "PACKAGE", str(tmp_path / "package"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(source))
    assert compile_cache.load_or_compile("thing", [str(source)], make_one) == DATA


def test_an_unwritable_copy_is_harmless(home: Path, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert compile_cache.load_or_compile("thing", [str(source)], make_one) == DATA
    assert list(home.iterdir()) == []


def test_an_error_in_a_source_is_not_hidden(home: Path, source: Path) -> None:
    def raise_error() -> object:
        raise ValueError("a mistake")

    for _ in range(2):
        with pytest.raises(ValueError, match="a mistake"):
            compile_cache.load_or_compile("thing", [str(source)], raise_error)


def test_old_copies_are_removed(home: Path, source: Path) -> None:
    home.mkdir(mode=0o700, parents=True)
    for number in range(9):
        (home / f"thing.old.{number}.bin").write_bytes(b"")
        (home / f"other.old.{number}.bin").write_bytes(b"")
    compile_cache.load_or_compile("thing", [str(source)], make_one)
    assert len(copies(home)) == 4
    assert len(list(home.glob("other.*"))) == 9
    assert compile_cache.load_or_compile("thing", [str(source)], not_made) == DATA


def test_processes_that_race_all_get_the_data(tmp_path: Path, source: Path) -> None:
    script = """if True:
        import glob, os, sys
        from contextlib import suppress
        from ptxkit import compile_cache
        compile_cache.PACKAGE = '/nowhere'
        for _ in range(60):
            found = compile_cache.load_or_compile('thing', [sys.argv[1]], lambda: list(range(5000)))
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
        _, printed = process.communicate(timeout=900)
        assert process.returncode == 0, printed
    assert [path.name for path in (tmp_path / "ptxkit").iterdir() if path.name.startswith(".part")] == []


def test_stored_data_belongs_to_one_state_of_the_installation(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_cache, "installation_stamp", lambda: "one")
    assert compile_cache.load_or_compute("thing", make_one) == DATA
    assert compile_cache.load_or_compute("thing", not_made) == DATA
    monkeypatch.setattr(compile_cache, "installation_stamp", lambda: "another")
    assert compile_cache.load_or_compute("thing", lambda: [1]) == [1]
