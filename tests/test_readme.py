"""The README and CONTRIBUTING are correct: commands, links, the tree. `tests/docs` runs the README's code blocks."""

from __future__ import annotations

import re
from pathlib import Path

from ptxkit.cli.commands import cli
from tests.cli.support import shell

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def test_the_finding_on_the_first_screen_is_an_error_and_fixed_by_its_fence() -> None:
    first = re.search(r"^\$ ptxkit lint (\S+)$", README, re.MULTILINE)
    assert first is not None
    assert README[: first.start()].count("\n") < 20
    broken = ROOT / first[1]
    assert shell("lint", broken).returncode == 1
    twin = broken.with_name("scale.ptx")
    assert shell("lint", twin).returncode == 0
    written, fenced = (path.with_suffix(".cu").read_text("utf-8").splitlines() for path in (broken, twin))
    assert [line for line in fenced if "fence_proxy_async" not in line] == written


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 200


def test_every_command_is_shown() -> None:
    assert {command.name for command in cli.commands.values() if f"ptxkit {command.name}" not in README} == set()


def test_links_lead_to_files() -> None:
    links = {link for text in (README, CONTRIBUTING) for link in re.findall(r"\]\(([^)#\s]+)(?:#[\w-]+)?\)", text)}
    assert len(links) > 20
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


def test_every_folder_of_the_package_is_in_the_tree() -> None:
    [tree] = re.findall(r"^```\n(grammars/.*?)^```$", CONTRIBUTING, re.MULTILINE | re.DOTALL)
    rooms = {path.parent.name for path in (ROOT / "ptxkit").glob("[a-z]*/__init__.py")}
    assert rooms
    assert {room for room in rooms if f"{room}/" not in tree} == set()
    named = re.findall(r"^ {0,2}([a-z_]+(?:\.py|/))", tree, re.MULTILINE)
    missing = [name for name in named if not (ROOT / name).exists() and not (ROOT / "ptxkit" / name).exists()]
    assert [name for name in missing if not (ROOT / "corpus" / name).exists()] == []
