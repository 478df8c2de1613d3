"""Signature help, and the completion of names in brackets."""

from __future__ import annotations

import pytest
from lsprotocol import types

from ptxkit.lsp.completion import TRIGGERS, completions_at
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.server import PtxLanguageServer
from ptxkit.lsp.signature_help import signature_help
from tests.lsp.session import KERNEL

MANGLED = KERNEL.replace("tile", "_ZZ4loadPKfE4tile").replace("\t.reg .pred", "\t.local .b32 slot;\n\t.reg .pred", 1)


def written_in(text: str, line: str) -> tuple[TextSnapshot, types.Position]:
    """Returns the text with a line before `ret`, and the position at its end."""
    text = text.replace("\tret;", f"\t{line}\n\tret;")
    shot = TextSnapshot("untitled:a", 1, text, "utf-16")
    return shot, shot.lines.position(text.index(f"\t{line}\n") + 1 + len(line))


def signature(line: str) -> tuple[str, str] | None:
    """Returns the active form, and its active operand with its kinds."""
    found = signature_help(*written_in(KERNEL, line))
    if found is None:
        return None
    active = found.signatures[found.active_signature or 0]
    assert isinstance(found.active_parameter, int)
    parameter = (active.parameters or ())[found.active_parameter]
    start, end = parameter.label
    assert isinstance(start, int)
    assert isinstance(end, int)
    return active.label, f"{active.label[start:end]}: {parameter.documentation}"


@pytest.mark.parametrize(
    ("line", "label", "parameter"),
    [
        ("add.s32 ", "add.s32 d, a, b", "d: a .s32 register"),
        ("add.s32 %r1, %r", "add.s32 d, a, b", "a: a .s32 register or a constant"),
        ("add.s32 %r1, %r1, 12", "add.s32 d, a, b", "b: a .s32 register or a constant"),
        ("st.shared.u32 [", "st.shared.u32 [a], b", "[a]: a shared::cta address in brackets, aligned to 4 bytes"),
        ("st.shared.v2.u32 [%r1], {%r1, ", "st.shared.v2.u32 [a], {b}", "{b}: 2 .u32 registers in braces"),
        ("@%p1 bra ", "bra target", "target: a label"),
    ],
)
def test_the_operands_of_an_instruction_are_shown(line: str, label: str, parameter: str) -> None:
    assert signature(line) == (label, parameter)


def test_the_form_with_the_same_number_of_operands_is_active() -> None:
    first, second = signature("bar.sync "), signature("bar.sync 0, ")
    assert first is not None
    assert first[0] == "bar.sync a"
    assert second is not None
    assert second[0] == "bar.sync a, b"


@pytest.mark.parametrize("line", ["", "add.s", "nonsense ", "// add.s32 ", ".reg .b32 ", "add.s32 %r1, %r1, %r1;"])
def test_there_is_no_signature_outside_of_operands(line: str) -> None:
    assert signature(line) is None


def test_the_server_offers_signatures() -> None:
    assert types.TEXT_DOCUMENT_SIGNATURE_HELP in PtxLanguageServer().protocol.fm.features


def offer_words(line: str) -> list[types.CompletionItem]:
    found = completions_at(*written_in(MANGLED, line))
    assert found is not None
    return sorted(found.items, key=lambda item: item.sort_text or item.label)


def test_variables_complete_in_brackets() -> None:
    assert "[" in TRIGGERS
    for line in ("st.shared.u32 [_", "st.shared.u32 [_ZZ4load", "ld.global.u32 %r1, [ _", "st.shared.v2.u32 [_"):
        [found] = offer_words(line)
        assert found.label == "_ZZ4loadPKfE4tile", line
        assert found.documentation == "tile"


def test_names_of_the_right_space_come_first_in_brackets() -> None:
    shared = [item.label for item in offer_words("st.shared.u32 [")]
    assert shared[0] == "_ZZ4loadPKfE4tile"
    assert shared[-3:] == ["count", "in", "slot"]
    assert {"%r0", "%rd7"} < set(shared)
    assert not {"DONE", "%p0", "%tid.x", "kernel"} & set(shared)
    assert [item.label for item in offer_words("ld.param.u64 %rd1, [")][:2] == ["count", "in"]
    generic = [item.label for item in offer_words("ld.u32 %r1, [")]
    assert set(generic[:4]) == {"_ZZ4loadPKfE4tile", "count", "in", "slot"}
    assert next(item.label for item in offer_words("ld.global.u32 %r1, [%r")) == "%r0"
