"""Every command over a malicious folder: nothing outside of it changes, and nothing hangs or crashes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from ptxkit.cli.main import main
from tests.cli.support import CLEAN
from tests.cli.test_file_replacement import SAFE
from tests.cli.test_foreign_text import NAME, forged_lines
from tests.inputs.building import entry, fatbin, zip_members

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs pipes and devices")

COMMANDS = [
    ("fmt", "--check", "."),
    ("fmt", "--write", "."),
    ("fmt", "--write", "lib.ptx!1.sm_90.ptx"),
    ("lint", "--no-cache", "."),
    ("lint", "--no-cache", "--binaries", "--fix", "--unsafe-fixes", "."),
    ("lint", "--no-cache", "--add-ignores", "."),
    ("lint", "--no-cache", "--write-baseline", "."),
    ("lint", "--show-settings"),
    ("extract", "--force", "lib.ptx", "k.whl"),
    ("extract", "--force", "-o", "sub", "lib.ptx"),
    ("fuzz", "--replay", "."),
]
BASELINES = ["../home/.bashrc", "pipe", "zero", "deep.json", "link.json", "k.whl"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The user's own folder, next to the malicious one."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".bashrc").write_text(SAFE)
    return tmp_path / "home"


def prepare_folder(folder: Path, settings: str) -> None:
    """Fills the folder."""
    (folder / "sub").mkdir(parents=True)
    (folder / "ptxkit.toml").write_text(settings)
    (folder / "k.ptx").write_text(SAFE)
    (folder / NAME).write_text(SAFE + "// \x1b[2J\r::error::forged\n", newline="")
    (folder / "lib.ptx").write_bytes(fatbin(entry(SAFE.encode(), 90), entry(CLEAN.encode(), 80)))
    (folder / "k.whl").write_bytes(zip_members({"../../home/.bashrc.ptx": SAFE.encode(), NAME: CLEAN.encode()}))
    os.mkfifo(folder / "pipe")
    os.mkfifo(folder / "pipe.ptx")
    (folder / "zero").symlink_to("/dev/zero")
    (folder / "zero.ptx").symlink_to("/dev/zero")
    (folder / "loop.ptx").symlink_to("loop.ptx")
    (folder / "deep.json").write_text('{"version": 1, "files": ' + "[" * 50_000)
    (folder / "kernel.ptx").write_text("touch ../home/harm")
    (folder / "launch.json").write_text(json.dumps({"oracle": "os:system", "options": {}}))
    own = ("out.ptx", "link.json", "lib.ptx!1.sm_90.ptx", "k.whl!..!..!home!.bashrc.ptx", "lib.1.sm_90.ptx")
    for name in (*own, "sub/lib.1.sm_90.ptx", "sub/k.ptx"):
        (folder / name).symlink_to(Path("../" * (name.count("/") + 1)) / "home" / ".bashrc")


def state(home: Path) -> dict[str, tuple[bytes, int, float]]:
    return {each.name: (each.read_bytes(), each.stat().st_mode, each.stat().st_mtime) for each in home.iterdir()}


@pytest.mark.parametrize("baseline", BASELINES)
def test_no_command_changes_files_of_the_user(
    baseline: str,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    before = state(home)
    chosen = COMMANDS[BASELINES.index(baseline) % 2 :: 2]  # each command three times, with other settings each time
    for number, command in enumerate(chosen):
        folder = tmp_path / f"theirs{number}"
        prepare_folder(folder, f'baseline = "{baseline}"\n')
        monkeypatch.chdir(folder)
        with pytest.raises(SystemExit):
            main(command)
        output, errors = capfdbinary.readouterr()
        assert state(home) == before, command
        assert b"Traceback" not in output + errors, command
        assert (forged_lines(output), forged_lines(errors)) == ([], []), command
        assert (folder / "lib.ptx").read_bytes().startswith(b"\x50\xed\x55\xba"), command


@pytest.mark.parametrize(
    "settings",
    [
        f"x = {'[' * 5000}{']' * 5000}\n",
        f"x = {'9' * 5000}\n",
        "notes = 1e999\n",
        f"{'a.' * 100_000}a = 1\n",
        '"\\u001b[2J\\n::error::forged" = 1\n',
        "\x00",
    ],
    ids=["deep", "digits", "infinite", "long key", "forged", "NUL"],
)
def test_unusable_settings_are_one_message(
    settings: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "k.ptx").write_text(CLEAN)
    (tmp_path / "ptxkit.toml").write_text(settings)
    monkeypatch.chdir(tmp_path)
    for command in (("lint", "k.ptx"), ("lint", "--show-settings"), ("verify", "k.ptx"), ("view", "k.ptx", "-o", "-")):
        with pytest.raises(SystemExit) as ended:
            main(command)
        output, errors = capfdbinary.readouterr()
        assert (ended.value.code, output) == (2, b""), command
        assert errors.count(b"ptxkit.toml") == 1
        assert forged_lines(errors) == []
