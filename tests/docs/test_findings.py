"""The reproducers of docs/findings.md have the faults that the page describes, and their twins have none."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from ptxkit import Severity, lint
from tests.corpus.support import CORPUS, places, refusals, stated_codes
from tests.docs.markdown_blocks import ROOT, blocks_of
from tests.docs.shell_session import ShellSession

PAGE = ROOT / "docs" / "findings.md"
FILES = sorted((CORPUS / "findings").glob("*.ptx"))
TWINS = [path for path in FILES if path.stem.endswith("_repaired")]
FAULTY = [path for path in FILES if path not in TWINS]
each_reproducer = pytest.mark.parametrize("path", FAULTY, ids=lambda path: path.stem)


def twin_of(path: Path) -> Path:
    return path.with_name(f"{path.stem}_repaired.ptx")


def codes_of_comments(text: str) -> Counter[tuple[str, int]]:
    """Returns (code, line) of each code that `// expect: PTX302, PTX401` names."""
    comments = ((number, line.partition("// expect: ")[2]) for number, line in enumerate(text.splitlines(), 1))
    return Counter((code, number) for number, comment in comments for code in re.findall(r"PTX\d{3}", comment))


def runs() -> dict[str, str]:
    """Returns each run on the page, without what prints its beginning, by the reproducer that it executes."""
    lines = [line for block in blocks_of(PAGE) for line in block.text.splitlines()]
    commands = [line[2:].partition(" |")[0] for line in lines if line.startswith("$ ptxkit run ")]
    return {Path(command.split()[-1]).stem: command for command in commands}


def test_every_reproducer_has_a_twin_and_a_run_on_the_page() -> None:
    assert sorted(map(twin_of, FAULTY)) == TWINS
    assert sorted(runs()) == [path.stem for path in FAULTY]


@each_reproducer
def test_lint_finds_exactly_what_the_comments_name(path: Path) -> None:
    text = path.read_text("utf-8")
    found = lint(text, path=path.name).diagnostics
    assert places(found, *Severity) == codes_of_comments(text) != Counter()
    codes = {code for code, _ in codes_of_comments(text)}
    [row] = [row for row in PAGE.read_text("utf-8").split("\n## ")[1:] if f"findings/{path.name}" in row]
    number = row.partition(".")[0]
    [listed] = re.findall(rf"^\| \[{number}\].*$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert codes <= set(re.findall(r"PTX\d{3}", listed))


@pytest.mark.parametrize("path", TWINS, ids=lambda path: path.stem)
def test_lint_finds_nothing_in_a_twin_and_leaves_nothing_open(path: Path) -> None:
    verdict = lint(path.read_text("utf-8"), path=path.name)
    assert not stated_codes(verdict.diagnostics, *Severity)
    assert [(doubt.code, doubt.reason) for doubt in verdict.undecided] == []


@each_reproducer
def test_the_run_of_the_page_finds_nothing_in_the_twin(path: Path, tmp_path: Path) -> None:
    """The page itself shows what the run finds in the reproducer."""
    (tmp_path / "corpus").symlink_to(CORPUS, target_is_directory=True)
    session = ShellSession(tmp_path)
    printed = session.run(runs()[path.stem].replace(path.name, twin_of(path).name))
    assert session.status == 0, printed


def test_ptxas_accepts_every_file() -> None:
    assert refusals({path.name: path.read_text("utf-8") for path in FILES}) == {}
