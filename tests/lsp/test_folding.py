"""Folding ranges, and the links of codes."""

from __future__ import annotations

import pytest
from lsprotocol import types

from ptxkit.diagnostics import Diagnostic, Severity
from ptxkit.lsp.diagnostics import ClientFeatures, to_lsp_diagnostic
from ptxkit.lsp.documentation import pages_address
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.folding import folding_ranges
from ptxkit.lsp.server import PtxLanguageServer
from ptxkit.source import Span
from tests.lsp.session import KERNEL

BLOCKS = """\
// first {
// second
.version 8.0
.target sm_90
.address_size 64
.visible .entry kernel()
{
\t.reg .b32 %r<2>; // one
\t.reg .b64 %rd<2>;
\t/* three
\t   lines
\t   } */
\t{
\t.reg .b32 %x;
\tmov.v2.b32 {%r0, %r1}, %rd1;
\t}
\tret;
}
"""


def fold_text(text: str, most: int | None = None) -> list[tuple[int, int, str]]:
    found = folding_ranges(TextSnapshot("untitled:a", 1, text, "utf-16"), most)
    return [(each.start_line, each.end_line, each.kind or "") for each in found]


def test_bodies_blocks_comments_and_registers_fold() -> None:
    wanted = [(0, 1, "comment"), (6, 16, ""), (7, 8, "region"), (9, 11, "comment"), (12, 14, "")]
    assert fold_text(BLOCKS) == wanted
    assert fold_text(BLOCKS, 2) == wanted[:2]
    assert fold_text(BLOCKS.replace("\n", "\r\n")) == wanted


def test_a_text_with_errors_folds_as_far_as_it_is_read() -> None:
    assert fold_text(BLOCKS.replace("ret;", "ret ret")) == fold_text(BLOCKS)
    assert (6, 17, "") not in fold_text(BLOCKS.removesuffix("}\n"))
    for text in ("", "{", "}\n}\n", "{\n{\n{\n", '"{\n', "/*\n", "//"):
        assert fold_text(text) == []


def test_the_server_declares_folding() -> None:
    assert types.TEXT_DOCUMENT_FOLDING_RANGE in PtxLanguageServer().protocol.fm.features


def link_of(code: str, options: object, *, able: bool = True) -> str | None:
    shown = types.PublishDiagnosticsClientCapabilities(code_description_support=able)
    document = types.TextDocumentClientCapabilities(publish_diagnostics=shown)
    features = ClientFeatures.of(types.ClientCapabilities(text_document=document), options)
    text = TextSnapshot("untitled:a", 1, KERNEL, "utf-16")
    item = Diagnostic(code, Severity.ERROR, "words", text.source, Span(0, 8))
    found = to_lsp_diagnostic(item, text, features).code_description
    return None if found is None else found.href


@pytest.mark.parametrize("given", ["https://example.org/ptxkit", "https://example.org/ptxkit/"])
def test_a_code_links_to_its_page_at_the_configured_address(given: str) -> None:
    options = {"documentation": given}
    assert link_of("PTX401", options) == "https://example.org/ptxkit/reference/codes/PTX401.html"
    assert link_of("PTX101", options) == "https://example.org/ptxkit/reference/codes/PTX101.html"
    assert link_of("PTX999", options) is None
    assert link_of("PTX401", options, able=False) is None


@pytest.mark.parametrize(
    "options",
    [None, {}, [], "x", {"documentation": 3}]
    + [
        {"documentation": text}
        for text in ("", "docs", "javascript:x", "file:///a", "https://", "https://[", "https://a/?b", "https://a/\n")
    ],
)
def test_a_code_has_no_link_where_no_page_is_known(options: object) -> None:
    assert pages_address(options) == ""
    assert link_of("PTX401", options) is None
