"""Semantic tokens and inlay hints."""

from __future__ import annotations

import pytest
from lsprotocol import types

from ptxkit.lsp import inlay_hints as hints
from ptxkit.lsp import semantic_tokens as tokens
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.inlay_hints import inlay_hints
from ptxkit.lsp.semantic_tokens import encoded_tokens, legend, semantic_tokens
from ptxkit.lsp.server import PtxLanguageServer
from tests.lsp.session import KERNEL

ALL = types.Range(types.Position(0, 0), types.Position(999, 0))


def snapshot(text: str) -> TextSnapshot:
    return TextSnapshot("untitled:a", 1, text, "utf-16")


def classes(text: str, part: types.Range | None = None) -> list[tuple[str, str]]:
    """Returns the words with their types and modifiers."""
    return [
        (text[each.span.start : each.span.end], " ".join((each.type.value, *each.modifiers)))
        for each in semantic_tokens(snapshot(text), part)
    ]


def test_the_words_of_a_kernel_have_their_classes() -> None:
    found = classes(KERNEL)
    for wanted in (
        (".visible", "macro"),
        ("kernel", "function declaration"),
        ("in", "parameter declaration param"),
        ("in", "parameter param"),
        ("tile", "variable declaration shared"),
        ("tile", "variable shared"),
        ("%rd", "variable declaration register"),
        ("%r4", "variable register"),
        ("%tid.x", "variable readonly defaultLibrary"),
        ("DONE", "label"),
        ("DONE", "label declaration"),
        ("cp", "keyword"),
        (".reduce", "modifier"),
        (".shared::cta", "modifier"),
    ):
        assert wanted in found, wanted
    assert found.count(("%r4", "variable register")) == 2
    assert {word for word, kind in found if kind == "function declaration"} == {"kernel"}


def test_a_broken_line_has_the_classes_of_its_declared_names_only() -> None:
    found = classes(KERNEL.replace("\tbar.sync 0;", "\tfoo.bar %r4 %r9999 tile tile;"))
    lost = [("bar", "keyword"), (".sync", "modifier")]
    added = [("%r4", "variable register"), ("tile", "variable shared")]
    assert all(each not in found for each in lost)
    assert all(found.count(each) > classes(KERNEL).count(each) for each in added)
    assert "%r9999" not in dict(found)
    assert ".bar" not in dict(found)


def test_tokens_are_encoded_relative_to_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    text = snapshot(KERNEL.replace("bra DONE", "/* 😀 */ bra DONE"))
    places: list[tuple[int, int, int]] = []
    line = character = 0
    data = list(encoded_tokens(text).data)
    for index in range(0, len(data), 5):
        lines, shift, length, kind, bits = data[index : index + 5]
        line, character = line + lines, shift if lines else character + shift
        places.append((line, character, length))
        assert kind < len(legend().token_types)
        assert bits < 1 << len(legend().token_modifiers)
    wanted = [text.lines.range(each.span) for each in semantic_tokens(text)]
    assert places == [
        (each.start.line, each.start.character, each.end.character - each.start.character) for each in wanted
    ]
    assert len(places) > 80
    monkeypatch.setattr(tokens, "MAX_SEMANTIC_TOKENS", 3)
    assert list(encoded_tokens(text).data) == data[:15]


def test_a_range_has_the_tokens_of_its_lines() -> None:
    line = KERNEL[: KERNEL.index("mov.u32 %r2")].count("\n")
    part = types.Range(types.Position(line, 0), types.Position(line + 1, 0))
    assert [word for word, _ in classes(KERNEL, part)] == ["mov", ".u32", "%r2", "tile"]


def hint_labels(text: str, part: types.Range = ALL) -> list[tuple[str, str]]:
    """Returns the text before each hint in its line, and the hint."""
    shot = snapshot(text)
    found = [(shot.lines.offset(each.position), str(each.label)) for each in inlay_hints(shot, part)]
    return [(text[:offset].rpartition("\n")[2].split()[-1], label) for offset, label in found]


def test_registers_of_addresses_show_their_state_space_and_value() -> None:
    assert hint_labels(KERNEL) == [
        ("[%r4", ": .shared tile + 4*%tid.x"),
        ("[%rd2", ": .global in"),
        ("[%r2", ": .shared tile"),
    ]
    generic = KERNEL.replace("st.shared.u32 [%r4]", "st.u32 [%rd1]")
    assert hint_labels(generic)[0] == ("[%rd1", ": generic .global in")
    loaded = KERNEL.replace("mov.u32 %r2, tile;", "ld.global.u32 %r2, [%rd2];")
    assert hint_labels(loaded)[1] == ("[%r4", ": %r2 + 4*%tid.x")
    assert [where for where, _ in hint_labels(loaded)] == ["[%rd2", "[%r4", "[%rd2"]


def test_hints_are_those_of_the_range_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    line = KERNEL[: KERNEL.index("st.shared")].count("\n")
    here = types.Range(types.Position(line, 0), types.Position(line, 30))
    assert hint_labels(KERNEL, here) == hint_labels(KERNEL)[:1]
    assert hint_labels(KERNEL.replace("\tbar.sync 0;", "\tbar.sync 0 0;")) == hint_labels(KERNEL)
    monkeypatch.setattr(hints, "MAX_HINT_CHARS", 8)
    assert hint_labels(KERNEL)[0] == ("[%r4", ": .shared tile ...")
    monkeypatch.setattr(hints, "MAX_INLAY_HINTS", 1)
    assert len(hint_labels(KERNEL)) == 1
    monkeypatch.setattr(hints, "MAX_HINT_SECONDS", -1.0)
    assert hint_labels(KERNEL) == []


def test_the_server_declares_its_capabilities() -> None:
    offered = PtxLanguageServer().protocol.fm.features
    assert types.TEXT_DOCUMENT_INLAY_HINT in offered
    assert types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL in offered
    assert types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE in offered
