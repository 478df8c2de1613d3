"""Actions are called after the import of modules, and imports are otherwise as they were."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

from ptxkit.compile_hooks.post_import import PostImportFinder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "hooked_package").mkdir()
    (tmp_path / "hooked_package" / "__init__.py").write_text("VALUE = 1\n")
    (tmp_path / "hooked_package" / "part.py").write_text("from hooked_package import VALUE\n")
    (tmp_path / "hooked_broken.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [each for each in sys.modules if each.startswith("hooked_")]:
        del sys.modules[name]


def install(*names: str) -> tuple[PostImportFinder, list[ModuleType]]:
    found: list[ModuleType] = []
    finder = PostImportFinder(dict.fromkeys(names, found.append))
    finder.install()
    return finder, found


def test_an_action_is_called_after_the_module_was_executed(folder: Path) -> None:
    finder, found = install("hooked_package.part", "hooked_package", "hooked_missing")
    try:
        assert found == []
        part = importlib.import_module("hooked_package.part")
        assert found == [sys.modules["hooked_package"], part]
        assert part.VALUE == 1
        importlib.reload(part)
        assert len(found) == 2
    finally:
        finder.remove()
    assert finder not in sys.meta_path


def test_the_module_keeps_its_loader_and_source(folder: Path) -> None:
    finder, _ = install("hooked_package")
    try:
        module = importlib.import_module("hooked_package")
    finally:
        finder.remove()
    assert module.__spec__ is not None
    assert type(module.__loader__) is type(module.__spec__.loader) is SourceFileLoader
    assert inspect.getsource(module) == "VALUE = 1\n"


def test_an_imported_module_is_acted_on_at_once(folder: Path) -> None:
    module = importlib.import_module("hooked_package")
    finder, found = install("hooked_package")
    finder.remove()
    assert found == [module]


def test_errors_of_imports_are_those_without_hooks(folder: Path) -> None:
    finder, found = install("hooked_broken", "hooked_missing")
    try:
        with pytest.raises(ZeroDivisionError):
            importlib.import_module("hooked_broken")
        with pytest.raises(ModuleNotFoundError, match="No module named 'hooked_missing'"):
            importlib.import_module("hooked_missing")
    finally:
        finder.remove()
    assert found == []
