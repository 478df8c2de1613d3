"""`format_source`: canonical and idempotent, and it keeps all comments."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ptxkit import PTXSyntaxError
from ptxkit.source import SourceFile
from ptxkit.syntax import format_source, parse
from tests.syntax.support import HEADING, each_corpus_file, kernel, text_of
from tests.syntax.test_agreement import EVERYTHING

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def format_text(text: str) -> str:
    return format_source(SourceFile("k.ptx", text))


def body_of(text: str) -> str:
    """Returns the formatted lines between the braces of `kernel(text)`."""
    return format_text(kernel(text)).partition("{\n")[2].removesuffix("}\n")


@each_corpus_file
def test_formatting_keeps_tree_and_comments_and_changes_nothing_the_second_time(path: Path) -> None:
    text = text_of(path)
    result = format_text(text)
    assert parse(result) == parse(text)
    assert format_text(result) == result
    assert len(_COMMENT.findall(result)) == len(_COMMENT.findall(text))


def test_all_syntax_in_one_module_is_formatted() -> None:
    result = format_text(EVERYTHING)
    assert parse(result) == parse(EVERYTHING)
    assert format_text(result) == result
    for comment in ("// first", "/* between */", "// behind", "// two"):
        assert comment in result


def test_a_comment_after_a_statement_remains_after_it() -> None:
    assert body_of("ret ;// why") == "\tret; // why\n"
    assert body_of("ret; /* a */ /* b */") == "\tret; /* a */ /* b */\n"
    assert body_of("L:// here\nret;") == "L: // here\n\tret;\n"


def test_a_comment_on_its_own_line_remains_before_the_next_statement() -> None:
    assert body_of("  // why\nret;") == "\t// why\n\tret;\n"
    assert body_of("ret;\n// last") == "\tret;\n\t// last\n"
    assert body_of("{\n// inner\nret;\n}") == "\t{\n\t\t// inner\n\t\tret;\n\t}\n"


def test_a_comment_inside_of_a_statement_moves_before_it() -> None:
    assert body_of("add.s32 a, // first\n b, /* second */ c;") == "\t// first\n\t/* second */\n\tadd.s32 a, b, c;\n"


def test_comments_of_a_brace_remain_with_it() -> None:
    assert body_of("{ // callseq 0, 0\nret;\n} // callseq 0") == "\t{ // callseq 0, 0\n\t\tret;\n\t} // callseq 0\n"


def test_several_blank_lines_become_one_and_none_remains_next_to_a_brace() -> None:
    assert body_of("\n\nret;\n\n\n\nret;\n\n") == "\tret;\n\n\tret;\n"


def test_one_statement_is_on_each_line() -> None:
    assert body_of("L: add.s32 a,b,c; @ %p  bra L ;") == "L:\n\tadd.s32 a, b, c;\n\t@%p bra L;\n"


def test_a_comment_at_the_start_of_the_text_remains_there() -> None:
    assert format_text(f"// made by hand\n\n{HEADING}") == f"// made by hand\n\n{HEADING}"


def test_comments_of_a_section_remain_on_their_lines() -> None:
    text = f"{HEADING}.section .debug_x\n{{\n.b8 1,2// two\n// alone\nL:\n}}\n"
    assert format_text(text) == f"{HEADING}.section .debug_x {{\n\t.b8 1, 2 // two\n\t// alone\nL:\n}}\n"


def test_text_that_is_not_ptx_is_rejected() -> None:
    with pytest.raises(PTXSyntaxError):
        format_text(kernel("add.s32 a b;"))
    format_text(kernel("add.s32 a, b;"))


@pytest.mark.parametrize("sign", ["- ", "+ ", "-+ ", "-~", "- !", "-(", "(-"])
def test_text_at_the_nesting_limit_is_read_again_when_it_is_formatted(sign: str) -> None:
    """The formatter accepts as many signs as the parser: the printed text must not nest deeper than the source."""

    def module(count: int) -> str:
        return f"{HEADING}.global .s32 x = {sign * count}1{')' * sign.count('(') * count};\n"

    most = 0
    for count in range(1, 210):
        try:
            parse(module(count))
        except PTXSyntaxError:
            break
        most = count
    assert most >= 20
    for count in (1, 2, most // 2, most - 1, most):
        text = format_source(SourceFile("k.ptx", module(count)))
        assert format_source(SourceFile("k.ptx", text)) == text


def test_line_ends_are_those_of_the_first_line() -> None:
    text = kernel("mov.u32 r1, 2; // x\n/* a\nb */\n")
    formatted = format_source(SourceFile("k.ptx", text))
    windows = text.replace("\n", "\r\n")
    assert format_source(SourceFile("k.ptx", windows)) == formatted.replace("\n", "\r\n")
    assert format_source(SourceFile("k.ptx", windows.replace("\r", "", 1))) == formatted
