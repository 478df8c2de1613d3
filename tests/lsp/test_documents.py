"""Texts follow their changes, and findings follow the text."""

from __future__ import annotations

from random import Random

import pytest
from lsprotocol import types

from ptxkit.linter import lint_source
from ptxkit.lsp.documents import OpenDocument
from ptxkit.lsp.tolerant_parse import TolerantParse
from ptxkit.source import SourceFile, Span
from tests.lsp.session import KERNEL

PIECES = ("", "a", "ret;", "\n", "\r\n", "\r", "😀", "ä", "\u2028", "\t{\n\t}\n")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
def test_a_text_is_the_result_of_its_changes(encoding: str) -> None:
    random = Random(7)
    document = OpenDocument("untitled:a", 1, "", encoding)
    text = ""
    for version in range(2, 300):
        places = [place for place in range(len(text) + 1) if text[place - 1 : place + 1] != "\r\n"]
        start, end = sorted(random.choices(places, k=2)) if random.random() < 0.3 else [random.choice(places)] * 2
        new = random.choice(PIECES)
        place = document.snapshot.lines.range(Span(start, end))
        document.change(version, [types.TextDocumentContentChangePartial(place, new)])
        text = text[:start] + new + text[end:]
        assert document.snapshot.text == text
        assert document.snapshot.version == version
    document.change(300, [types.TextDocumentContentChangeWholeDocument("ret;")])
    assert document.snapshot.text == "ret;"


def test_several_changes_are_applied_in_sequence() -> None:
    document = OpenDocument("untitled:a", 1, "ab\ncd", "utf-16")

    def at(line: int, first: int, last: int, new: str) -> types.TextDocumentContentChangePartial:
        place = types.Range(types.Position(line, first), types.Position(line, last))
        return types.TextDocumentContentChangePartial(place, new)

    document.change(2, [at(0, 1, 1, "\n"), at(1, 0, 1, "x"), at(2, 1, 2, "")])
    assert document.snapshot.text == "a\nx\nc"


def test_findings_move_with_the_text_and_disappear_with_their_lines() -> None:
    document = OpenDocument("untitled:a", 1, KERNEL, "utf-16")
    document.diagnostics = lint_source(SourceFile("a", KERNEL)).diagnostics
    [before] = document.diagnostics

    def replace_text(old: str, new: str) -> None:
        start = document.snapshot.text.index(old)
        place = document.snapshot.lines.range(Span(start, start + len(old)))
        document.change(2, [types.TextDocumentContentChangePartial(place, new)])

    def show_document(span: Span) -> str:
        return document.snapshot.text[span.start : span.end]

    replace_text(".version 8.0", "// more\n.version 8.0")
    replace_text("\tret;", "\tret; // more")
    [after] = document.diagnostics
    assert show_document(after.span) == KERNEL[before.span.start : before.span.end]
    assert [show_document(label.span) for label in after.labels] == ["st.shared.u32 [%r4], %r1;", "bar.sync 0;"]
    replace_text("\tbar.sync 0;\n", "")
    assert len(document.diagnostics[0].labels) == 1
    replace_text("512;", "256;")
    assert not document.diagnostics


def test_a_text_with_broken_lines_is_read_without_them() -> None:
    reading = TolerantParse(SourceFile("a", KERNEL.replace("\tbar.sync 0;", "\tbar.sync 0 0;\n\tadd.\n\t@%p1")))
    assert reading.module is not None
    assert reading.module.source is not None
    assert len(reading.module.source.text) == len(reading.source.text)
    assert "bar" not in reading.module.source.text
    assert reading.module.source.text.index("cp.reduce") == reading.source.text.index("cp.reduce")
    assert TolerantParse(SourceFile("a", "")).module is None
    assert TolerantParse(SourceFile("a", KERNEL)).is_complete


def test_an_unfinished_instruction_removes_no_other_line() -> None:
    """The error is at the next line, which is correct; so are many more."""
    rest = "".join(f"\tadd.s32 %r1, %r1, {number};\n\t.loc 1 {number} 3\n" for number in range(1, 20))
    text = KERNEL.replace("\tbar.sync 0;\n", f"\tbar.sync 0;\n\tld.shared.u32 %r1, [_\n\t// a comment\n\n{rest}")
    reading = TolerantParse(SourceFile("a", text))
    assert reading.module is not None
    assert reading.module.source is not None
    assert [reading.source.text[each.start : each.end] for each in reading.blanked] == ["\tld.shared.u32 %r1, [_"]
    assert reading.module.source.text.count("add.s32") == text.count("add.s32")


def test_an_unclosed_body_is_read_as_if_it_were_closed() -> None:
    second = KERNEL.partition(".address_size 64\n\n")[2].replace("kernel(", "second(")
    for text in (KERNEL.replace("\tret;\n}\n", "\tret;\n"), KERNEL.replace("\tret;\n}\n", "\tret;\n\n") + second):
        reading = TolerantParse(SourceFile("a", text))
        assert not reading.is_complete
        assert reading.module is not None
        assert all(function.body is not None for function in reading.module.functions())
        assert len(list(reading.module.functions())) == text.count(".entry")
    nested = KERNEL.replace("\tret;\n}\n", "\t{\n\t{\n\tadd.s32 %r1, %r1, 1;\n")
    assert TolerantParse(SourceFile("a", nested)).module is not None
