"""The syntactic context at a position, from the text only."""

from __future__ import annotations

import pytest

from ptxkit.lsp.cursor_context import context_at


@pytest.mark.parametrize(
    ("text", "kind", "word", "opcode", "operand"),
    [
        ("", "opcode", "", "", 0),
        ("\tcp", "opcode", "cp", "", 0),
        ("ret;\n\tcp", "opcode", "cp", "", 0),
        ("ret; cp.", "modifier", ".", "cp", 0),
        ("L: cp.async.b", "modifier", ".b", "cp.async", 0),
        ("mbarrier.shared::ct", "modifier", ".shared::ct", "mbarrier", 0),
        ("@!%p", "guard", "%p", "", 0),
        ("@%p1 bra DO", "operand", "DO", "bra", 0),
        ("add.s32 %r1, %", "operand", "%", "add.s32", 1),
        ("st.v2.u32 [%r1+4], {%r2, %r", "operand", "%r", "st.v2.u32", 1),
        ("{ .reg .b32 %r<2>; add.s32 ", "operand", "", "add.s32", 0),
        ("add.s32 %r1,\n\t%r2,\n\t%r", "operand", "%r", "add.s32", 2),
        ("{\n\t.re", "directive", ".re", "", 0),
        (".shared .align 16 .b", "type", ".b", "shared", 0),
        (".entry k(.param .u", "type", ".u", "param", 0),
        (".entry k(.param .u32 n)\n.req", "directive", ".req", "", 0),
        (".version 8", "heading", "8", "version", 0),
        (".version 8.0\n.target sm_9", "heading", "sm_9", "target", 0),
        (".target sm_90, de", "heading", "de", "target", 0),
        ("/* a */ cp", "opcode", "cp", "", 0),
        ("ret; // x\n\tcp", "opcode", "cp", "", 0),
    ],
)
def test_a_position_has_a_context(text: str, kind: str, word: str, opcode: str, operand: int) -> None:
    found = context_at(text, len(text))
    assert found is not None
    assert (found.kind, found.word, found.opcode, found.operand) == (kind, word, opcode, operand)
    assert text[found.start : found.end] == word


@pytest.mark.parametrize("text", ["// cp.", "ret; /* cp.", '.pragma "no', "add.s32 %r1, 12"])
def test_comments_strings_and_numbers_have_no_context(text: str) -> None:
    assert context_at(text, len(text)) is None
