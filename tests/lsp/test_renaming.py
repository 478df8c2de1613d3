"""Renaming registers, including those that are declared by number."""

from __future__ import annotations

import pytest
from lsprotocol import types

from ptxkit import lint
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.renaming import renamable_range, rename_edits
from tests.lsp.session import KERNEL, apply_edits
from tests.lsp.test_questions import SCOPES


def rename_word(text: str, word: str, new: str, *, shift: int = 0) -> str:
    """Returns the text after the renaming at a word, or the reason why it is rejected."""
    shot = TextSnapshot("untitled:a", 1, text, "utf-16")
    place = shot.lines.position(text.index(word) + shift)
    found = rename_edits(shot, place, new)
    if not isinstance(found, types.WorkspaceEdit):
        return str(found)
    assert renamable_range(shot, place) is not None
    [change] = found.document_changes or []
    assert isinstance(change, types.TextDocumentEdit)
    return apply_edits(text, change.edits)


def test_one_of_the_numbered_registers_gets_a_separate_declaration() -> None:
    text = KERNEL.replace("st.shared.u32 [%r4]", "/* %r4 */ st.shared.u32 [%r04]").replace("%r<8>", "%y, %r<8>")
    changed = rename_word(text, "%r4,", "%address")
    assert changed == (
        text.replace("%r<8>", "%address, %r<8>").replace("%r4,", "%address,").replace("[%r04]", "[%address]")
    )
    assert [each.code for each in lint(changed).diagnostics] == [each.code for each in lint(text).diagnostics]
    assert rename_word(text, "%r<8>", "%address", shift=2) != changed


def test_the_numbered_registers_are_renamed_together_at_their_declaration() -> None:
    text = KERNEL.replace("%p<3>", "%p<3>, %q").replace("\tret;", "\tret; // %r1")
    changed = rename_word(text, "%r<8>", "%value")
    body = text.replace("%r<8>", "%value<8>")
    for number in range(8):
        body = body.replace(f"%r{number}", f"%value{number}")
    assert changed == body.replace("// %value1", "// %r1")
    assert [each.code for each in lint(changed).diagnostics] == ["PTX401"]


def test_only_the_registers_of_the_same_block_are_renamed() -> None:
    assert rename_word(SCOPES, "%r1, %r0", "%sum").count("%sum") == 3
    assert rename_word(SCOPES, "%r<2>", "%s").count("%r") == SCOPES.count("%r") - 6
    text = SCOPES.replace("\t.reg .b32 %x;", "\t.reg .b32 %x, %r<4>;").replace("%x, 2", "%r3, 2")
    assert rename_word(text, "%r3, %x", "%outer").count("%r3") == 1
    assert rename_word(SCOPES, "%x, 1", "%one").count("%one") == 3


@pytest.mark.parametrize(
    ("word", "new", "reason"),
    [
        ("%r4]", "%r5", "`%r5` is already declared"),
        ("%r4]", "tile", "`tile` is already declared"),
        ("%r4]", "%tid", "already declared"),
        ("%r4]", "a b", "`a b` is not a valid PTX name"),
        ("%r4]", "WARP_SZ", "WARP_SZ"),
        ("%r<8>", "%r9", "`%r9` ends with a digit"),
        ("%r<8>", "%rd", "`%rd0` is already declared"),
        ("%tid", "%x", "None"),
    ],
)
def test_a_renaming_that_would_change_the_meaning_is_rejected_with_a_reason(word: str, new: str, reason: str) -> None:
    assert reason in rename_word(KERNEL, word, new)
    assert "\n" not in rename_word(KERNEL, word, new)


def test_a_broken_text_rejects_renaming() -> None:
    broken = KERNEL.replace("\tbar.sync 0;", "\tbar.sync 0 0;")
    assert rename_word(broken, "%r4]", "%x") == "a text with syntax errors cannot be changed"
