"""Tree to text: the printed text parses to the same tree, and ptxas accepts it where it accepts the original."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from ptxkit.syntax import parse, print_module
from ptxkit.syntax.printer import print_instruction, print_operand
from ptxkit.syntax.tree import (
    Address,
    Binary,
    Conditional,
    Guard,
    Instruction,
    Integer,
    Module,
    Name,
    Not,
    Operand,
    Pair,
    Unary,
    Vector,
)
from tests.build.support import ptxas
from tests.syntax.support import CORPUS, HEADING, each_corpus_file, kernel, operand, text_of
from tests.syntax.test_agreement import EVERYTHING

ONE, TWO, THREE = (Integer(number, str(number)) for number in (1, 2, 3))


@each_corpus_file
def test_printed_text_parses_to_an_equal_tree(path: Path) -> None:
    module = parse(text_of(path))
    text = print_module(module)
    again = parse(text)
    assert again == module
    assert print_module(again) == text


def test_all_syntax_in_one_module_is_printed_and_parses_again() -> None:
    module = parse(EVERYTHING)
    assert parse(print_module(module)) == module
    assert str(module) == print_module(module)


def _is_accepted(text: str, folder: Path) -> tuple[bool, str]:
    """Returns whether ptxas parses and accepts the text, and its output."""
    target = re.search(r"\.target\s+sm_(\w+)", text)
    assert target is not None
    path = folder / "k.ptx"
    path.write_text(text, encoding="utf-8")
    command = [str(ptxas()), f"-arch=compute_{target[1]}", str(path), "-o", str(folder / "k.cubin")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return run.returncode == 0, (run.stdout + run.stderr).replace(str(path), "k.ptx")


@pytest.mark.parametrize(
    "path", sorted((CORPUS / "compilers").rglob("*.ptx")), ids=lambda path: str(path.relative_to(CORPUS / "compilers"))
)
def test_ptxas_accepts_the_printed_text_where_it_accepts_the_original(path: Path, tmp_path: Path) -> None:
    text = text_of(path).rstrip("\0")
    before, printed = _is_accepted(text, tmp_path)
    assert before, f"a file of the corpus that ptxas does not check proves nothing here: {printed}"
    after, printed = _is_accepted(print_module(parse(text)), tmp_path)
    assert after, printed


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (Binary("*", Binary("+", ONE, TWO), THREE), "(1 + 2) * 3"),
        (Binary("+", ONE, Binary("*", TWO, THREE)), "1 + 2 * 3"),
        (Binary("-", ONE, Binary("-", TWO, THREE)), "1 - (2 - 3)"),
        (Binary("-", Binary("-", ONE, TWO), THREE), "1 - 2 - 3"),
        (Binary("%", Integer(7, "7"), THREE), "7 % 3"),
        (Unary("-", Unary("-", ONE)), "- -1"),
        (Unary("-", Unary("+", ONE)), "- +1"),
        (Unary("-", Unary("~", Unary("-", ONE))), "-~-1"),
        (Unary("~", Binary("|", ONE, TWO)), "~(1 | 2)"),
        (Unary("(.s64)", ONE), "(.s64)1"),
        (Conditional(Conditional(ONE, TWO, THREE), TWO, THREE), "(1 ? 2 : 3) ? 2 : 3"),
        (Pair(Name("%p"), Name("_")), "%p|_"),
        (Not(Name("%p")), "!%p"),
        (Address(Name("%rd1"), -4), "[%rd1+-4]"),
        (Address(Integer(-16, "-16")), "[-16]"),
        (Address(Integer(16, "16"), -4), "[16+-4]"),
        (Address(Name("WARP_SZ")), "[WARP_SZ]"),
        (Address(Name("m"), 0, (Vector((Name("a"), Name("b"))),)), "[m, {a, b}]"),
    ],
)
def test_an_operand_is_printed_with_the_parentheses_it_needs(node: Operand, text: str) -> None:
    assert print_operand(node) == text
    assert operand(text) == node


def test_a_guard_is_printed_before_the_opcode() -> None:
    assert print_instruction(Instruction("bra", (Name("L"),), Guard("%p1", negated=True))) == "@!%p1 bra L;"
    assert print_instruction(Instruction("ret")) == "ret;"


def test_functions_are_separated_and_statements_are_indented() -> None:
    text = f"{HEADING}.global .b32 x;\n.entry k(.param .b32 a)\n.reqntid 32 {{ L: {{ ret; }} }} .func f;"
    assert print_module(parse(text)) == (
        f"{HEADING}.global .b32 x;\n"
        "\n"
        ".entry k(\n\t.param .b32 a\n)\n.reqntid 32\n{\nL:\n\t{\n\t\tret;\n\t}\n}\n"
        "\n"
        ".func f();\n"
    )


def test_a_tree_that_was_built_is_printed_like_one_that_was_parsed() -> None:
    module = parse(kernel("add.s32 a, b, c;"))
    assert print_module(Module(module.items)) == print_module(module)


def test_a_node_that_is_not_an_operand_is_an_error_of_the_caller() -> None:
    with pytest.raises(TypeError, match="is no operand"):
        print_operand("x")  # type: ignore[arg-type]
