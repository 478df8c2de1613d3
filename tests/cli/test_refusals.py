"""The message of every command that cannot run: one format, whole sentences, with a remedy."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import Result

from ptxkit.cli.commands import cli
from tests.cli.support import BROKEN, CLEAN, shell

Run = Callable[..., Result]

COMMAND = re.compile(r"(?P<place>[^\s:]+(?::\d+)?): error: (?P<message>[^\n]+)\n  = help: (?P<remedy>[^\n]+)\n")
"""An error in the command line, in the settings or in writing a file."""
DIAGNOSTIC = re.compile(r"(?P<place>[^\s:]+(:\d+:\d+)?): PTX\d{3} error: (?P<message>[^\n]+)\n(?:  [^\n]*\n)*")
"""An error in an input."""

NEEDED = {"view": ["k.ptx", "-o", "k.html"], "isa": [], "explain": [], "rule": [], "fuzz": ["--count", "1"]}
NEEDED |= {"lsp": [], "watch": [], "litmus": ["t.litmus"]}
"""The arguments with which a command runs; `k.ptx` for the others."""

BAD = {
    "compile": [
        ["nowhere.ptx"],
        ["--target", "sm_91", "k.ptx"],
        ["--opt-level", "9", "k.ptx"],
        ["--maxrregcount", "0", "k.ptx"],
        ["k.ptx", "other.ptx"],
        ["k.ptx", "other.ptx", "--ptxas", "-o", "a.cubin"],
        ["k.ptx", "-o", "k.ptx"],
        ["k.ptx", "-o", "-"],
        ["k.ptx", "-o", "nowhere/a.cubin"],
        ["--launch", "other:block=8", "k.ptx"],
        ["--config", "wrong.toml", "k.ptx"],
        ["--baseline", "nowhere.json", "k.ptx"],
    ],
    "extract": [["k.ptx"], ["nowhere.so"], ["--target", "sm_90"]],
    "fmt": [
        ["nowhere.ptx"],
        ["broken.ptx"],
        ["--write", "--check", "k.ptx"],
        ["--write", "-"],
        ["k.ptx", "other.ptx"],
    ],
    "fuzz": [
        ["--oracle", "nope"],
        ["--oracle", "no.such:KIND"],
        ["--time", "soon"],
        ["--count", "0"],
        ["--seed", "x"],
        ["--corpus", "nowhere"],
        ["--oracle", "litmus", "--corpus", "."],
        ["--replay", "nowhere"],
        ["--target", "sm_91"],
        ["--hang", "0"],
        ["--cluster", "local:x", "--oracle", "linter", "--count", "1"],
    ],
    "isa": [["nope"], ["--format", "xml"]],
    "lint": [
        ["nowhere.ptx"],
        ["--format", "xml", "k.ptx"],
        ["--show", "all", "k.ptx"],
        ["--select", "PTX41", "k.ptx"],
        ["--severity", "PTX401", "k.ptx"],
        ["--ignore", "PTX101", "k.ptx"],
        ["--policy", "lax", "k.ptx"],
        ["--target", "sm_91", "k.ptx"],
        ["--ptx-version", "8.9", "k.ptx"],
        ["--launch", "k:block=0", "k.ptx"],
        ["--launch", "other:block=8", "k.ptx"],
        ["--jobs", "0", "k.ptx"],
        ["--jobs", "two", "k.ptx"],
        ["--timeout", "nan", "k.ptx"],
        ["--config", "nowhere.toml", "k.ptx"],
        ["--config", "wrong.toml", "k.ptx"],
        ["--config", ".", "k.ptx"],
        ["--config", "a.toml", "--isolated", "k.ptx"],
        ["--baseline", "nowhere.json", "k.ptx"],
        ["--baseline", "k.ptx", "k.ptx"],
        ["--write-baseline", "k.ptx"],
        ["--write-baseline", "--baseline", "nowhere/b.json", "k.ptx"],
        ["--write-baseline", "--add-ignores", "k.ptx"],
        ["--reason", "x", "k.ptx"],
        ["--diff-base", "HEAD", "k.ptx"],
        ["--diff-base", "HEAD", "-"],
        ["--write-baseline", "--baseline", "b.json", "--diff-base", "HEAD", "k.ptx"],
        ["--unsafe-fixes", "k.ptx"],
        ["--fix", "-"],
        ["--statistics", "--format", "sarif", "k.ptx"],
        ["--jobs", "2", "--cluster", "local:2", "k.ptx"],
        ["--cluster", "local:x", "k.ptx"],
        ["--no-cache", "--cache-dir", "c", "k.ptx"],
        ["--cache-dir", "k.ptx/c", "k.ptx"],
        ["--cache", "gcc"],
        ["--config", "wrong.toml", "--show-settings", "k.ptx"],
    ],
    "litmus": [
        ["nowhere.litmus"],
        ["k.ptx"],
        ["wrong.toml"],
        ["--policy", "lax", "t.litmus"],
        ["--format", "xml", "t.litmus"],
    ],
    "lsp": [],
    "watch": [["nowhere.py"], ["-m"], ["--timeout", "soon", "k.py"], ["--config"]],
    "explain": [["PTX41"], ["nope"], ["--all", "PTX401"], ["--format", "xml"]],
    "run": [
        ["nowhere.ptx"],
        ["broken.ptx"],
        ["k.ptx"],
        ["--entry", "other", "k.ptx"],
        ["--arg", "p", "k.ptx"],
        ["--arg", "q=1", "k.ptx"],
        ["--arg", "p=u32[8]", "k.ptx"],
        ["--arg", "p=u32[8]", "--block", "0", "k.ptx"],
        ["--arg", "p=u32[8]", "--block", "2000", "k.ptx"],
        ["--arg", "p=u32[8]", "--block", "1", "--out", "q", "k.ptx"],
        ["--arg", "p=u32[8]", "--block", "1", "--out", "p=nowhere/p.npy", "k.ptx"],
        ["--arg", "p=7", "--block", "1", "--out", "p", "k.ptx"],
        ["--policy", "lax", "k.ptx"],
        ["--shared", "-1", "k.ptx"],
        ["--config", "wrong.toml", "k.ptx"],
    ],
    "contract": [["nowhere.ptx"], ["--launch", "other:block=8", "k.ptx"], ["--launch", "k", "k.ptx"]],
    "stress": [
        ["nowhere.ptx"],
        ["broken.ptx"],
        ["k.ptx"],
        ["--entry", "other", "k.ptx"],
        ["--arg", "q=1", "k.ptx"],
        ["--arg", "p=u32[8]", "k.ptx"],
        ["--on", "machine", "--arg", "p=u32[8]", "--block", "2000", "k.ptx"],
        ["--on", "cpu", "k.ptx"],
        ["--seconds", "0", "k.ptx"],
        ["--runs", "0", "k.ptx"],
    ],
    "transfers": [["nowhere.ptx"], ["--launch", "other:block=8", "k.ptx"], ["--launch", "k", "k.ptx"]],
    "verify": [
        ["nowhere.ptx"],
        ["--entry", "other", "k.ptx"],
        ["--schedules", "0", "k.ptx"],
        ["--seconds", "0", "k.ptx"],
        ["--trace", "k.ptx", "k.ptx"],
        ["--trace", "nowhere/k.html", "--schedules", "1", "k.ptx"],
        ["--arg", "q=1", "--schedules", "1", "k.ptx"],
        ["--arg", "p=1", "--arg", "p=2", "k.ptx"],
        ["--arg", "p=f33[1]", "k.ptx"],
        ["--config", "wrong.toml", "k.ptx"],
    ],
    "view": [
        ["k.ptx"],
        ["k.ptx", "-o", "k.txt"],
        ["nowhere.ptx", "-o", "k.html"],
        ["k.ptx", "-o", "nowhere/k.html"],
        ["k.ptx", "-o", "k.html", "--config", "wrong.toml"],
        ["k.ptx", "-o", "k.html", "--launch", "other:block=8"],
    ],
}
"""Command lines that cannot run, each for one reason."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "k.ptx").write_text(CLEAN)
    (tmp_path / "broken.ptx").write_text(BROKEN)
    (tmp_path / "other.ptx").write_text(CLEAN.replace("entry k", "entry j"))
    (tmp_path / "t.litmus").write_text("PTX t\n{ x = 0; }\n P0@cta 0,gpu 0 ;\n st.weak x, 1 ;\nexists (x == 1)\n")
    (tmp_path / "wrong.toml").write_text('\nslect = ["PTX4"]\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def assert_refused(result: Result) -> None:
    """Asserts that the last lines are one error in either format, without the quotes and the sentences of click."""
    assert result.exit_code == 2, result.output
    assert result.stderr == "" or result.stderr.endswith("\n")
    errors = result.stderr or result.stdout
    found = COMMAND.fullmatch(errors)
    if found is None:
        assert DIAGNOSTIC.match(errors), errors
        return
    for part in (found["message"], found["remedy"]):
        outside = re.sub(r"`[^`]*`", "", part)
        assert outside.count("`") == 0, part
        assert "'" not in outside, part
        assert not part.endswith("."), part
        assert not part[0].isupper(), part


def test_the_bad_command_lines_cover_every_command() -> None:
    assert set(BAD) | {"rule"} == set(cli.commands)


@pytest.mark.parametrize(
    ("command", "arguments"), [(name, arguments) for name, several in BAD.items() for arguments in several]
)
def test_every_refusal_has_the_same_format(ptxkit: Run, command: str, arguments: list[str]) -> None:
    assert_refused(ptxkit(command, *arguments))


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_errors_of_click_have_the_same_format(ptxkit: Run, command: str) -> None:
    needed = NEEDED.get(command, ["k.ptx"])
    options = [each for each in cli.commands[command].params if isinstance(each, click.Option)]
    flags = [max(each.opts, key=len) for each in options if each.is_flag]
    valued = [max(each.opts, key=len) for each in options if not each.is_flag]
    assert flags or valued
    assert_refused(ptxkit(command, *needed, "--no-such-option"))
    for flag in flags:
        assert_refused(ptxkit(command, *needed, f"{flag}=1"))
    for option in valued:
        assert_refused(ptxkit(command, *needed, option))
    if command in ("isa", "explain", "rule"):
        needed = ["add"]
    if command in ("isa", "explain", "rule", "view", "run", "stress", "fuzz", "lsp"):
        assert_refused(ptxkit(command, *needed, "extra"))
    elif command != "lint":
        assert_refused(ptxkit(command))


@pytest.mark.parametrize("arguments", [["--no-such-option"], ["lnit"], ["qqq"], ["k.ptx"], ["lint"]])
def test_an_unknown_command_has_the_same_format(ptxkit: Run, arguments: list[str]) -> None:
    assert_refused(ptxkit(*arguments))


def test_without_arguments_the_help_is_printed_and_the_status_is_2() -> None:
    done = shell()
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"\n  lint " in done.stderr


def test_an_error_after_the_report_follows_it(folder: Path) -> None:
    done = shell("lint", "--launch", "other:block=8", "k.ptx", cwd=folder)
    assert done.returncode == 2
    assert done.stdout.decode().startswith("checked 1 file")
    assert COMMAND.fullmatch(done.stderr.decode())


def test_the_corrected_command_lines_run(ptxkit: Run) -> None:
    for command in sorted(set(cli.commands) - {"lsp", "fuzz", "run", "stress", "extract", "watch"}):
        assert ptxkit(command, *NEEDED.get(command, ["k.ptx"])).exit_code == 0, command
    assert ptxkit("run", "--arg", "p=u32[8]", "--block", "1", "k.ptx").exit_code == 0
