"""Text of the document is shown as text: no markup, no control characters, and no requests to other machines."""

from __future__ import annotations

import os

import pytest
from lsprotocol import types

from ptxkit.diagnostics import Diagnostic, Label, Severity
from ptxkit.lsp.diagnostics import ClientFeatures, to_lsp_diagnostic
from ptxkit.lsp.documents import TextSnapshot
from ptxkit.lsp.hover import code_block, code_span, hover_at
from ptxkit.source import SourceLine, Span

LINK = "```[press here](command:run)![](http://example.com/seen.png)<b>\x1b[2J"
TEXT = f"""\
.version 8.0
.target sm_90
.address_size 64
.global .b32 data /*
````{LINK}
*/ ;
.visible .entry kernel()
{{
\tbra DONE;
DONE:
\tret; // `{LINK}
}}
"""


def hover_text(word: str) -> str:
    text = TextSnapshot("untitled:a", 1, TEXT, "utf-16")
    found = hover_at(text, text.lines.position(TEXT.index(word)))
    assert found is not None
    assert isinstance(found.contents, types.MarkupContent)
    return found.contents.value


def test_a_declaration_remains_in_its_fence() -> None:
    shown = hover_text("data")
    fence = shown.splitlines()[2]
    assert fence == "`" * 8 + "ptx", "seven stand in the text"
    lines = shown.splitlines()[3:]
    assert [line for line in lines if line.startswith("`" * 8)] == [lines[-1]] == ["`" * 8]
    assert "\x1b" not in shown


def test_a_line_remains_in_its_code_marks() -> None:
    shown = hover_text("DONE;")
    assert shown.count("`" * 5) == 2, "four stand in the text"
    assert shown.endswith("`" * 5)
    assert "press here" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("text", ["a", "`", "``", "a`b``c```d", "`a", "a`", "\x1b`", "a\nb"])
def test_code_marks_are_longer_than_those_in_the_text(text: str) -> None:
    shown = code_span(text)
    marks = len(shown) - len(shown.lstrip("`"))
    inner = shown[marks:-marks]
    assert shown == "`" * marks + inner + "`" * marks
    assert "`" * marks not in inner
    assert not inner.startswith("`")
    assert not inner.endswith("`")
    assert inner.isprintable()
    first, *lines, last = code_block(f"```\n{text}").splitlines()
    assert first == f"{last}text"
    assert not [line for line in lines if line.startswith(last)]


def test_a_finding_sends_no_request_and_prints_no_control_character(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def is_file(path: str) -> bool:
        asked.append(path)
        return True

    monkeypatch.setattr(os.path, "isfile", is_file)
    monkeypatch.setattr(os.path, "isabs", lambda _: True)
    text = TextSnapshot("untitled:a", 1, TEXT, "utf-16")
    places = tuple(SourceLine(path, 3) for path in ("//host/share/a.cu", r"\\host\share\a.cu", "/here/a.cu"))
    label = Label(Span(0, 8), "\x1b[2J", places)
    item = Diagnostic(
        "PTX401", Severity.ERROR, "a\x1b[2J", text.source, Span(0, 8), (label,), help="b\r", origin=places
    )
    shown = to_lsp_diagnostic(item, text, ClientFeatures())
    assert asked == ["/here/a.cu", "/here/a.cu"]
    assert shown.message.startswith(r"a\x1b[2J")
    words = [shown.message, *(each.message for each in shown.related_information or ())]
    assert len(words) == 4
    assert all(line.isprintable() for each in words for line in each.split("\n"))
