"""No request about any text raises, and results are inside of the text."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types

from ptxkit.lsp.completion import completions_at
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.folding import folding_ranges
from ptxkit.lsp.hover import hover_at
from ptxkit.lsp.inlay_hints import inlay_hints
from ptxkit.lsp.limits import MAX_COMPLETION_ITEMS
from ptxkit.lsp.renaming import rename_edits
from ptxkit.lsp.semantic_tokens import encoded_tokens, semantic_tokens
from ptxkit.lsp.signature_help import signature_help
from tests.lsp.session import KERNEL
from tests.lsp.test_questions import SCOPES

PIECES = st.sampled_from(
    [
        "",
        "\n",
        "{",
        "}",
        "/*",
        "*/",
        "//",
        '"',
        "[",
        "%r",
        "%r1",
        "%tid.x",
        ";",
        "<",
        "9",
        ".reg .b32 ",
        "😀",
        "\0",
        "\r",
    ]
)


@st.composite
def broken_texts(draw: st.DrawFn) -> tuple[str, int]:
    """Returns a text with a few parts replaced, and the offset of the last change."""
    text = draw(st.sampled_from([KERNEL, SCOPES]))
    end = 0
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        new = draw(PIECES)
        text = text[:start] + new + text[start + draw(st.integers(0, 12)) :]
        end = start + len(new)
    return text, min(end, len(text))


@given(broken_texts())
@settings(max_examples=60, deadline=None)
def test_no_request_about_a_broken_text_raises(case: tuple[str, int]) -> None:
    written, offset = case
    text = TextSnapshot("untitled:a", 1, written, "utf-16")
    position = text.lines.position(offset)
    hover = hover_at(text, position)
    assert hover is None or hover.range is not None
    offers = completions_at(text, position)
    assert offers is None or len(offers.items) <= MAX_COMPLETION_ITEMS
    for new in ("%x", "tile", "9"):
        assert isinstance(rename_edits(text, position, new), types.WorkspaceEdit | str | None)
    help_ = signature_help(text, position)
    assert help_ is None or (help_.active_signature or 0) < len(help_.signatures)
    whole = types.Range(types.Position(0, 0), text.lines.position(len(written)))
    last = whole.end.line
    assert all(0 <= each.start_line < each.end_line <= last for each in folding_ranges(text))
    spans = [each.span for each in semantic_tokens(text)]
    assert all(first.end <= second.start for first, second in pairwise(spans))
    assert not [span for span in spans if "\n" in written[span.start : span.end]]
    for part in (whole, types.Range(position, position)):
        assert len(encoded_tokens(text, part).data) % 5 == 0
        assert all(each.position.line <= last for each in inlay_hints(text, part))
