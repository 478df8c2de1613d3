"""The table as a whole: real opcodes match, nothing else lists opcodes, and it is loaded only when required."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ptxkit.isa import table
from ptxkit.syntax import parse
from ptxkit.syntax.tree import Body, Instruction

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = sorted((ROOT / "corpus").rglob("*.ptx"))
READING_ROOMS = ("syntax", "isa", "validate", "analysis", "lsp")


def opcodes(body: Body) -> Iterator[str]:
    return (statement.opcode for statement, _ in body.flatten_blocks() if isinstance(statement, Instruction))


def test_every_opcode_of_the_corpus_has_a_form() -> None:
    assert len(PROGRAMS) > 10
    seen: set[str] = set()
    for path in PROGRAMS:
        module = parse(path.read_text(encoding="utf-8"), str(path))
        for function in module.functions():
            if function.body is not None:
                seen.update(opcodes(function.body))
    assert [opcode for opcode in sorted(seen) if not table().candidates(opcode)] == []


def literals(path: Path) -> Iterator[ast.Constant]:
    """Returns the strings of a file that are not docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node


@pytest.mark.parametrize("room", READING_ROOMS)
def test_no_package_that_analyzes_programs_names_an_opcode(room: str) -> None:
    named = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.value}"
        for path in sorted((ROOT / "ptxkit" / room).rglob("*.py"))
        for node in literals(path)
        if "." in str(node.value) and table().candidates(str(node.value))
    ]
    assert named == []


def test_an_opcode_in_a_string_would_be_detected(tmp_path: Path) -> None:
    path = tmp_path / "room.py"
    path.write_text('"""Prose about cp.async.wait_all."""\nKNOWN = {"cp.async.wait_all"}\n', encoding="utf-8")
    assert [node.value for node in literals(path) if table().candidates(str(node.value))] == ["cp.async.wait_all"]


def test_special_registers_are_known_with_their_components() -> None:
    found = table().special("%tid.x")
    assert found is not None
    assert (found.name, found.type, found.vector) == ("%tid", "u32", True)
    assert table().special("%laneid") is not None
    assert [table().special(name) for name in ("%laneid.x", "%tid.q", "%tids", "tid.x", "")] == [None] * 5


@pytest.mark.parametrize("package", ["ptxkit", "ptxkit.isa"])
def test_importing_a_package_does_not_load_the_table(package: str) -> None:
    code = (
        f"import sys, {package}; print('ptxkit.isa.loader' in sys.modules, 'ptxkit.isa.compiled_table' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]
