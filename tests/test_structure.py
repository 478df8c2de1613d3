"""The names and packages of the tree, held by reading it: unique classes, the order of sub-packages, sizes of files."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "ptxkit"
MODULES = sorted(PACKAGE.rglob("*.py"))

SHARED_NAMES = {"Address", "Barrier", "Function", "Label", "Program", "TensorMap", "TensorMemory"}
"""Public classes of which there are two: one of them is the builder's or the device's, and users import it."""

ANALYSIS = (
    *("ir", "values", "cfg", "dataflow", "symexec", "sync", "context"),
    *("mbarrier", "cluster", "memory", "tensor", "registers", "inventory"),
)
"""The packages of `ptxkit.analysis`: each imports only those before it, for types as well."""

MAX_LINES = 500

LONGER = {"analysis/context/happens_before.py", "analysis/symexec/executor.py"}
"""Modules that are longer still."""


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def test_public_classes_have_names_of_their_own() -> None:
    homes = defaultdict(list)
    for path in MODULES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(path.relative_to(PACKAGE).as_posix())
    assert len(homes) > 600
    assert {name for name, paths in homes.items() if len(paths) > 1} == SHARED_NAMES
    assert len(SHARED_NAMES) <= 10


def test_the_packages_of_the_analysis_import_only_those_before_them() -> None:
    folder = PACKAGE / "analysis"
    assert {path.parent.name for path in folder.rglob("*.py") if path.parent != folder} == set(ANALYSIS)
    wrong, looked_at = [], 0
    for path in folder.rglob("*.py"):
        if path.parent == folder:
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ptxkit.analysis."):
                looked_at += 1
                other = (node.module or "").split(".")[2]
                if ANALYSIS.index(other) > ANALYSIS.index(path.parent.name):
                    wrong.append(f"{path.relative_to(PACKAGE)}:{node.lineno}: {node.module}")
    assert looked_at > 300
    assert wrong == []


def test_packages_say_what_they_are() -> None:
    packages = [path for path in MODULES if path.name == "__init__.py"]
    assert len(packages) > 40
    assert [path.relative_to(PACKAGE).as_posix() for path in packages if not ast.get_docstring(tree_of(path))] == []


def test_modules_are_of_a_size_that_can_be_read() -> None:
    long = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if len(path.read_text("utf-8").splitlines()) > MAX_LINES
    }
    assert long <= LONGER
