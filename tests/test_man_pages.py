"""The manual pages have every command and option, and no text that roff interprets as a request."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import click
import pytest

from ptxkit.cli.commands import cli
from ptxkit.cli.option_groups import GroupedOptionsCommand

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = sorted({command.name or "" for command in cli.commands.values()})
MACROS = {"B", "BR", "PP", "SH", "SS", "TH", "TP"}


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = tmp_path_factory.mktemp("man")
    command = [sys.executable, str(ROOT / "scripts" / "man"), str(pages), "--date", "2026-11-23"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"{len(COMMANDS) + 1} pages in {pages}\n"
    return pages


@cache
def text_of(page: Path) -> str:
    """Returns the text of a page without macros and fonts."""
    text = re.sub(r"^\.(?:TP|PP|B|BR|SH|SS) ?", "", page.read_text("utf-8"), flags=re.MULTILINE)
    return re.sub(r"\\f[BRI]|\\&", "", text).replace("\\-", "-").replace("\\e", "\\")


def test_each_command_has_a_page(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == {"ptxkit.1", *(f"ptxkit-{name}.1" for name in COMMANDS)}
    for name in COMMANDS:
        assert f"ptxkit-{name}(1)" in text_of(folder / "ptxkit.1")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_has_every_option_example_and_exit_status(folder: Path, name: str) -> None:
    command, text = cli.commands[name], text_of(folder / f"ptxkit-{name}.1")
    assert isinstance(command, GroupedOptionsCommand)
    with cli.make_context("ptxkit", [name]) as context:
        options = [each for each in command.get_params(context) if isinstance(each, click.Option)]
    assert options
    for option in options:
        for spelling in option.opts:
            assert re.search(rf"^(?:\S+, )?{spelling}\b", text, re.MULTILINE), spelling
    for heading in command.option_groups:
        assert f"\n{heading}\n" in text
    for line, _ in command.examples:
        assert f"\n{line}\n" in text
    for number, meaning in command.exit_statuses.items():
        assert f"\n{number}\n{meaning.split()[0]}" in text


@pytest.mark.parametrize("name", ["ptxkit", *(f"ptxkit-{name}" for name in COMMANDS)])
def test_a_page_is_text_with_known_macros(folder: Path, name: str) -> None:
    lines = (folder / f"{name}.1").read_text("utf-8").splitlines()
    assert lines[0].startswith(f'.TH {name.upper().replace("-", chr(92) + "-")} 1 "2026-11-23" "ptxkit ')
    assert {line[1:].split()[0] for line in lines if line[:1] in ".'"} <= MACROS
    assert [line for line in lines if not line or line != line.rstrip()] == []
    assert re.findall(r"\\(?![-&e]|f[BR])", "\n".join(lines)) == []


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="needs mandoc")
def test_mandoc_reports_nothing(folder: Path) -> None:
    done = subprocess.run(["mandoc", "-Tlint", *folder.iterdir()], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
