"""The modules, classes, functions and files that the documentation names exist."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

CODE_SPAN = re.compile(r"`([^`\n]+)`")
DOTTED_NAME = re.compile(r"ptxkit(\.\w+)+")
TREE_PATH = re.compile(r"(ptxkit|tests|scripts|docs|grammars)/[\w./]*")
CLASS_NAME = re.compile(r"([A-Z][a-z0-9]+)+(\.\w+)?")
CLASS_DEFINITION = re.compile(r"^ *class (\w+)|^(\w+): TypeAlias|^(?:from|import) .*import (.*)$", re.MULTILINE)
FILE_NAME = re.compile(r"\w+\.(py|isa|lark)")
NOT_MODULES = {"ptxkit.toml", "ptxkit.command", "ptxkit.arguments", "ptxkit.documentation", "ptxkit.vsix"}
"""Names of files and of settings of an editor that have the form of a module's name."""
NOT_IN_THE_TREE = {"ptxkit/results"}
"""A folder of the user's cache."""


def code_spans(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """Yields the page, and the text, of each code span that a pattern matches as a whole."""
    for page in PAGES:
        for match in CODE_SPAN.finditer(page.read_text("utf-8")):
            if pattern.fullmatch(match[1]):
                yield page.relative_to(ROOT).as_posix(), match[1]


def is_defined(dotted: str) -> bool:
    """Returns whether a dotted name is that of a module, or of something in a module or in a class."""
    names = dotted.split(".")
    for length in range(len(names), 0, -1):
        try:
            value: object = importlib.import_module(".".join(names[:length]))
        except ModuleNotFoundError:
            continue
        for name in names[length:]:
            if not hasattr(value, name) and name not in getattr(value, "__annotations__", {}):
                return False
            value = getattr(value, name, None)
        return True
    return False


def test_the_names_of_code_in_the_documentation_are_defined() -> None:
    names = [(page, name) for page, name in code_spans(DOTTED_NAME) if name not in NOT_MODULES]
    assert len(names) > 150
    assert [f"{page}: {name}" for page, name in names if not is_defined(name)] == []


def test_the_paths_in_the_documentation_exist() -> None:
    paths = [(page, path) for page, path in code_spans(TREE_PATH) if path not in NOT_IN_THE_TREE]
    assert len(paths) > 40
    assert [f"{page}: {path}" for page, path in paths if not (ROOT / path).exists()] == []


def test_the_classes_in_the_documentation_of_the_code_are_defined() -> None:
    defined = {
        name.strip()
        for path in (ROOT / "ptxkit").rglob("*.py")
        for names in CLASS_DEFINITION.findall(path.read_text("utf-8"))
        for name in ",".join(names).split(",")
    }
    names = [
        (page, name) for page, name in code_spans(CLASS_NAME) if page.startswith(("docs/design", "docs/GL", "CONTR"))
    ]
    assert len(names) > 40
    assert [f"{page}: {name}" for page, name in names if name.partition(".")[0] not in defined] == []


def test_the_files_in_the_documentation_exist() -> None:
    files = {path.name for folder in ("ptxkit", "tests", "scripts", "grammars") for path in (ROOT / folder).rglob("*")}
    names = [(page, name) for page, name in code_spans(FILE_NAME) if page.startswith(("docs/design", "CONTRIBUTING"))]
    assert len(names) > 5
    assert [f"{page}: {name}" for page, name in names if name not in files] == []


@pytest.mark.parametrize(
    ("name", "defined"),
    [
        ("ptxkit.emulator.races.collective_checks", True),
        ("ptxkit.emulator.engine.collective_checks", False),
        ("ptxkit.analysis.symexec.group_state.GroupState.diverge", True),
        ("ptxkit.analysis.symexec.group_state.GroupState.part", False),
        ("ptxkit.rules.model.Finding", True),
    ],
)
def test_a_name_is_defined_where_it_can_be_imported(name: str, defined: bool) -> None:
    assert is_defined(name) == defined


def test_the_glossary_is_in_alphabetical_order() -> None:
    terms = re.findall(r"^- \*\*([^*]+)\*\*:", (ROOT / "docs" / "GLOSSARY.md").read_text("utf-8"), re.MULTILINE)
    assert len(terms) > 100
    assert terms == sorted(terms, key=str.lower)
