"""The Python sources of the tree, for the tests of names, imports and English: a process parses each file once."""

from __future__ import annotations

import ast
import gc
from functools import cache
from pathlib import Path

from ptxkit.gc_control import pause_collection

ROOT = Path(__file__).resolve().parent.parent


@cache
def python_files(folder: str) -> tuple[Path, ...]:
    """Returns the Python files of a folder of the tree, those without a suffix included."""
    files = [path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return tuple(sorted(path for path in files if path.suffix == ".py" or path.read_bytes()[:30].find(b"python") > 0))


@cache
def _parse_folder(folder: str) -> dict[Path, tuple[ast.AST, ...]]:
    with pause_collection():
        nodes = {path: tuple(ast.walk(ast.parse(path.read_text("utf-8")))) for path in python_files(folder)}
        gc.freeze()  # a million objects that remain: traversing them costs more time than making them
    return nodes


def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Returns all nodes of a file, in the order of `ast.walk`. No test changes them."""
    return _parse_folder(path.relative_to(ROOT).parts[0])[path]


def tree_of(path: Path) -> ast.Module:
    """Returns the syntax tree of a file."""
    module = nodes_of(path)[0]
    assert isinstance(module, ast.Module)
    return module
