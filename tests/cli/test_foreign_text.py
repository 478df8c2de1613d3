"""Untrusted names and texts in the output of commands: no control characters, and no forged lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ptxkit.cli.main import main
from tests.cli.support import BROKEN, CLEAN
from tests.inputs.building import zip_members

FORGED = "\n::error file=a::forged\r::error::forged\x1b[2J\u202e\x9b1m"
"""In names of files and in texts."""
NAME = f"{FORGED.replace('/', '')}.ptx"
UNTIDY = CLEAN.replace("ret;", f"  ret  ; //{FORGED[1:].replace(chr(10), '')}")

COMMANDS = [
    ("fmt", "--check", "."),
    ("fmt", "--diff", "."),
    ("fmt", "--write", "."),
    ("fmt", "."),
    ("lint", "."),
    ("lint", "--format", "concise", "."),
    ("lint", "--format", "github", "."),
    ("lint", "--format", "gitlab", "."),
    ("lint", "--format", "junit", "."),
    ("lint", "--format", "sarif", "."),
    ("lint", "--fix", "."),
    ("lint", "--diff", "."),
    ("lint", "--add-ignores", "."),
    ("lint", "--show-settings", "."),
    ("lint", "--show-settings", NAME),
    ("lint", NAME),
    ("lint", "::error::x.ptx"),
    ("fmt", "--check", "::error::x.ptx"),
    ("lint", "--config", NAME, "."),
    ("lint", "--baseline", NAME, "."),
    ("lint", "--write-baseline", "--baseline", NAME, "."),
    ("lint", "--cluster", f"tcp:{FORGED}", "."),
    ("extract", "--list", "w.whl"),
    ("extract", "-o", "out", "w.whl"),
    ("extract", "--target", FORGED, NAME),
    ("run", NAME),
    ("verify", NAME),
    ("verify", "--launch", f"{FORGED}:block=1", "."),
    ("transfers", "."),
    ("contract", "."),
    ("view", NAME, "-o", FORGED),
    ("rule", FORGED),
    ("isa", FORGED),
    (FORGED,),
    ("fuzz", "--replay", FORGED),
]


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A folder of another user."""
    for name in (NAME, "::error::x.ptx", "k.ptx"):
        (tmp_path / name).write_text(UNTIDY, newline="")
    (tmp_path / f"broken{NAME}").write_text(BROKEN + FORGED, newline="")
    (tmp_path / "w.whl").write_bytes(zip_members({NAME: CLEAN.encode(), "::error::y.ptx": BROKEN.encode()}))
    return tmp_path


def forged_lines(output: bytes) -> list[str]:
    """Returns the control characters and workflow commands that are not part of the output."""
    text = output.decode("utf-8", "surrogateescape")
    found = re.findall(r"[^\n\t -~\xa0-\u2027\u202f-\uffff]", re.sub(r"\r$", "", text, flags=re.M))
    lines = [line for line in re.split(r"[\n\r]", text) if re.match(r"\s*(::|##\[)", line)]
    return found + [line for line in lines if not re.match(r"::(error|warning|notice) title=ptxkit ", line)]


Printed = Callable[..., tuple[bytes, bytes]]


@pytest.fixture
def run_command(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Printed:
    """Runs a command in a folder; returns its output."""

    def run(folder: Path, *arguments: str) -> tuple[bytes, bytes]:
        monkeypatch.chdir(folder)
        with pytest.raises(SystemExit):
            main(arguments)
        shown = capfdbinary.readouterr()
        return shown.out, shown.err

    return run


@pytest.mark.parametrize("number", range(len(COMMANDS)))
def test_names_and_texts_forge_nothing(number: int, theirs: Path, run_command: Printed) -> None:
    output, errors = run_command(theirs, *COMMANDS[number])
    assert output + errors or COMMANDS[number][:2] in (("fmt", "--write"), ("lint", "--diff"))
    assert (forged_lines(output), forged_lines(errors)) == ([], []), COMMANDS[number]


@pytest.mark.parametrize(
    "settings",
    [
        f'"{FORGED.encode("unicode_escape").decode().replace(chr(92) + "x", chr(92) + "u00")}" = 1\n',
        'launch = ["\\u001b[2J\\n::error::forged:block=1"]\n',
        'launch = ["\\u001b[2J\\n::error::forged"]\n',
        '[per-file-ignores]\n"\\u001b\\r\\n::error::forged" = ["PTX4"]\n',
        'baseline = "\\u001b\\r\\n::error::forged"\n',
        "\x1b\n::error::forged",
        "x = 1\r\n::error::forged",
    ],
)
@pytest.mark.parametrize("command", [("lint", "--no-cache"), ("lint", "--show-settings"), ("verify",), ("run",)])
def test_settings_forge_nothing(command: tuple[str, ...], settings: str, tmp_path: Path, run_command: Printed) -> None:
    folder = tmp_path / "\x1b]0;\n::error::forged"
    folder.mkdir()
    (folder / "k.ptx").write_text(CLEAN)
    (folder / "ptxkit.toml").write_text(settings, newline="")
    output, errors = run_command(tmp_path, *command, f"{folder.name}/k.ptx")
    assert output + errors
    assert forged_lines(output + errors) == []


def test_a_diff_can_still_be_applied(tmp_path: Path, run_command: Printed) -> None:
    """With the line ends of the text, including CR LF; the text has no special characters."""
    (tmp_path / "k.ptx").write_bytes(CLEAN.replace("\tret;", "  ret ;").replace("\n", "\r\n").encode() + b"// last")
    lines = run_command(tmp_path, "fmt", "--diff", "k.ptx")[0].decode().split("\n")
    assert "-  ret ;\r" in lines
    assert "+\tret;\r" in lines
    assert "-// last" in lines
    assert lines[lines.index("-// last") + 1] == "\\ No newline at end of file"
    assert "+// last\r" in lines
