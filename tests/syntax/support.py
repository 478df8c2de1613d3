"""Shared by the tests of the syntax: the corpus, short modules, and the tree that only Lark builds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from ptxkit import PTXSyntaxError
from ptxkit.source import SourceFile
from ptxkit.syntax import parse
from ptxkit.syntax.constants import MalformedConstructError
from ptxkit.syntax.errors import UnexpectedTokenError
from ptxkit.syntax.reference_parser import parse_with_lark
from ptxkit.syntax.tree import Block, Body, Function, Instruction, Module, Operand, Statement

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "corpus"
HEADING = ".version 9.4\n.target sm_90a\n.address_size 64\n"


def corpus_files() -> list[Path]:
    """Returns every PTX file of the corpus; an empty corpus is an error of the test."""
    files = sorted(CORPUS.rglob("*.ptx"))
    if len(files) < 40:
        raise FileNotFoundError(f"{CORPUS} holds {len(files)} PTX files; the tests of the parser need them")
    return files


@cache
def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


_VARIES = re.compile(r"//.*|(?<![.\w])[%$A-Za-z_][\w$]*(?![.\w:])|\b\d\w*")


def _kind(line: str) -> str:
    """Returns a line without the names and numbers in it."""
    return _VARIES.sub(lambda found: "//" if found[0].startswith("//") else "n", line)


@cache
def representative_files() -> list[Path]:
    """Returns the files of the corpus with a line of a kind that no earlier file has: the others add nothing to checks
    of single statements."""
    known: set[str] = set()
    selected = []
    for path in corpus_files():
        kinds = set(map(_kind, text_of(path).splitlines()))
        if not kinds <= known:
            selected.append(path)
            known |= kinds
    return selected


each_corpus_file = pytest.mark.parametrize(
    "path", representative_files(), ids=lambda path: str(path.relative_to(CORPUS))
)


def kernel(body: str) -> str:
    """Returns a module with one kernel that contains these lines; the first of them is line 6."""
    return f"{HEADING}.visible .entry k()\n{{\n{body}\n}}\n"


def statements(body: str) -> tuple[Statement, ...]:
    """Returns these lines as statements."""
    held = parse(kernel(body)).function("k").body
    assert held is not None
    return held.statements


def statement(text: str) -> Statement:
    (only,) = statements(text)
    return only


def instruction(text: str) -> Instruction:
    found = statement(text)
    assert isinstance(found, Instruction)
    return found


def operand(text: str) -> Operand:
    """Returns the only operand of `op TEXT;`."""
    (only,) = instruction(f"op {text};").operands
    return only


def plainly(text: str) -> Module | None:
    """Returns the tree that Lark builds, without the fast parser's shortcuts, or None if Lark rejects the text."""
    try:
        return parse_with_lark(SourceFile("plain.ptx", text))
    except (UnexpectedTokenError, MalformedConstructError):
        return None


def bodies(module: Module) -> Iterator[Body]:
    """Yields every body, including nested ones."""
    held = [item.body for item in module.items if isinstance(item, Function) and item.body is not None]
    while held:
        body = held.pop()
        yield body
        held += [each.body for each in body.statements if isinstance(each, Block)]


def all_starts(module: Module) -> list[list[int]]:
    return [list(module.starts), *(list(body.starts) for body in bodies(module))]


def complaints(text: str) -> list[tuple[int, int, str, str | None]]:
    """Returns line, column, message and help of each syntax error."""
    with pytest.raises(PTXSyntaxError) as caught:
        parse(text, "k.ptx")
    found = []
    for each in caught.value.diagnostics:
        assert each.code == "PTX101"
        line, column = each.source.position(each.span.start)
        found.append((line, column, each.message, each.help))
    return found
