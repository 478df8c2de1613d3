"""Colors come from the grammar's tokens and the names that the tree declares."""

from __future__ import annotations

from itertools import pairwise

from ptxkit.model.view import TokenClass
from ptxkit.syntax import parse
from ptxkit.syntax.highlighting import highlight_spans

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"


def highlight_text(text: str, *, has_tree: bool = True) -> list[tuple[str, TokenClass]]:
    module = parse(text, "k.ptx") if has_tree else None
    return [(text[start:end], color) for start, end, color in highlight_spans(text, module)]


def body(statements: str) -> list[tuple[str, TokenClass]]:
    text = f"{HEAD}.func f()\n{{\n{statements}\n}}\n"
    found = highlight_text(text)
    head = highlight_text(f"{HEAD}.func f()\n{{\n}}\n")
    return found[len(head) :]


def test_an_instruction_has_an_opcode_registers_and_numbers() -> None:
    assert body(".reg .b32 %r<3>; add.u32 %r1, %r2, 0x1F;")[-4:] == [
        ("add.u32", TokenClass.OPCODE),
        ("%r1", TokenClass.REGISTER),
        ("%r2", TokenClass.REGISTER),
        ("0x1F", TokenClass.NUMBER),
    ]


def test_a_guard_is_a_register_and_the_opcode_follows_it() -> None:
    found = body(".reg .pred p; @!p bra L; L: @p ret;")
    assert found[-6:] == [
        ("p", TokenClass.REGISTER),
        ("bra", TokenClass.OPCODE),
        ("L", TokenClass.LABEL),
        ("L", TokenClass.LABEL),
        ("p", TokenClass.REGISTER),
        ("ret", TokenClass.OPCODE),
    ]


def test_a_declared_register_is_a_register_whatever_its_name() -> None:
    assert ("ret", TokenClass.REGISTER) in body(".reg .b32 ret; mov.u32 ret, 1; ret;")
    assert ("%tid.x", TokenClass.SPECIAL) in body(".reg .b32 %r1; mov.u32 %r1, %tid.x;")
    assert ("table", TokenClass.NAME) in body(".shared .b32 table; .reg .b32 %r1; mov.u32 %r1, table;")


def test_names_of_one_function_are_not_visible_in_another() -> None:
    one = ".func f()\n{\n.reg .b32 x;\nmov.u32 x, 1;\n}\n"
    other = ".func g(.param .b32 x)\n{\n.reg .b32 y;\nld.param.b32 y, [x];\n}\n"
    text = HEAD + one + other
    found = [(word, color) for word, color in highlight_text(text) if word == "x"]
    assert [color for _, color in found] == [
        TokenClass.REGISTER,
        TokenClass.REGISTER,
        TokenClass.NAME,
        TokenClass.NAME,
    ]


def test_comments_strings_and_directives_have_separate_colors() -> None:
    found = highlight_text(f'// one\n{HEAD}/* two\nlines */\n.file 1 "a/*b*/.cu"\n')
    assert ("// one", TokenClass.COMMENT) in found
    assert ("/* two\nlines */", TokenClass.COMMENT) in found
    assert ('"a/*b*/.cu"', TokenClass.STRING) in found
    assert (".version", TokenClass.DIRECTIVE) in found
    assert ("9.0", TokenClass.NUMBER) in found


def test_a_text_that_does_not_parse_is_colored_by_its_words() -> None:
    found = highlight_text("mov.u32 %r1, 5;\n@%p1 bra $L;\n#!\nadd.s32 ((", has_tree=False)
    assert ("%r1", TokenClass.REGISTER) in found
    assert ("mov.u32", TokenClass.OPCODE) in found
    assert ("bra", TokenClass.OPCODE) in found


def test_pieces_are_in_order_and_do_not_overlap() -> None:
    for text in ("", "\0\0", "\udcff ;", '"', "/*", f"{HEAD}.func f()\n{{\nret;\n}}\n// \u00e4"):
        pieces = list(highlight_spans(text, None))
        assert all(end <= start for (_, end, _), (start, _, _) in pairwise(pieces))
        assert all(0 <= start < end <= len(text) for start, end, _ in pieces)
