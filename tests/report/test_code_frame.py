"""Code frames: their rendering of ordinary lines, and of malicious ones."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from ptxkit.diagnostics import Label
from ptxkit.report import plain
from ptxkit.report.code_frame import LABELED_WIDTH, WIDTH, code_frame
from ptxkit.source import SourceFile, Span

KERNEL = """\
.visible .entry k()
{
\tst.shared.f32 \t[%r35], %f1;
\tbar.sync \t0;
\t@%p1 bra \t$L;
\tcp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r35], 16;
}
"""


def at(text: str, source: str = KERNEL) -> Span:
    """Returns the span of the first occurrence of `text`."""
    start = source.index(text)
    return Span(start, start + len(text))


def render_frame(span: Span, *labels: Label, text: str = KERNEL) -> str:
    return plain(code_frame(SourceFile("k.ptx", text), span, labels))


def test_labels_are_in_one_column_and_lines_in_the_order_of_the_file() -> None:
    store = Label(at("st.shared.f32 \t[%r35], %f1;"), "generic write of tile, every thread")
    barrier = Label(at("bar.sync \t0;"), "orders the threads, not the proxies")
    copy = at("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r35], 16;")
    assert render_frame(copy, barrier, store) == snapshot("""\
  3 |   st.shared.f32  [%r35], %f1;    generic write of tile, every thread
  4 |   bar.sync  0;                   orders the threads, not the proxies
  6 |   cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r35], 16;
""")


def test_a_finding_with_one_line_gets_carets() -> None:
    assert render_frame(at("$L")) == snapshot("""\
  5 |   @%p1 bra  $L;
    |             ^^
""")


def test_two_labels_on_one_line_are_below_each_other() -> None:
    assert render_frame(at("bar.sync \t0;"), Label(at("%f1"), "second"), Label(at("[%r35]"), "first")) == snapshot("""\
  3 |   st.shared.f32  [%r35], %f1;    first
    |                                  second
  4 |   bar.sync  0;
""")


def test_a_label_on_the_primary_line_shares_it() -> None:
    assert render_frame(at("$L"), Label(at("%p1"), "this predicate")) == snapshot("""\
  5 |   @%p1 bra  $L;    this predicate
    |             ^^
""")


def test_the_end_of_the_text_is_a_valid_location() -> None:
    assert render_frame(Span(len(KERNEL), len(KERNEL))) == snapshot("""\
  8 |
    |   ^
""")


def test_an_empty_text_has_a_frame() -> None:
    assert render_frame(Span(0, 0), text="") == snapshot("""\
  1 |
    |   ^
""")


def test_control_characters_are_escaped_and_carets_still_mark_the_location() -> None:
    assert render_frame(Span(10, 12), text="a\x00b\x1b[31m\u202ec%q0\udcff") == snapshot("""\
  1 |   a\\x00b\\x1b[31m\\u202ec%q0\\xff
    |                        ^^
""")


@pytest.mark.parametrize("offset", [0, 1, 50, 66, 67, 200_000, 467_940, 467_949])
def test_a_very_long_line_is_truncated_around_the_location(offset: int) -> None:
    text = "x" * 467_949
    line, carets = render_frame(Span(offset, offset + 3), text=text).splitlines()
    assert len(line) < WIDTH + 20
    assert 0 < len(carets) <= len(line) + 1
    assert set(line[carets.index("^") : len(carets)]) <= {"x"}


def test_the_marked_location_in_a_long_line_is_shown() -> None:
    text = "\t" * 5 + "y" * 5_000 + "HERE" + "z" * 5_000
    line, carets = render_frame(at("HERE", text), text=text).splitlines()
    assert line[carets.index("^") : len(carets)] == "HERE"


def test_a_line_of_control_characters_is_truncated_too() -> None:
    line, carets = render_frame(Span(5_000, 5_003), text="\x01" * 10_000).splitlines()
    assert len(line) < WIDTH + 20
    assert line[carets.index("^") : len(carets)] == r"\x01\x01\x01"


def test_a_long_labeled_line_leaves_room_for_its_label() -> None:
    text = "a" * 500 + "\n" + "b" * 20
    labeled, primary = render_frame(Span(501, 521), Label(Span(0, 500), "said"), text=text).splitlines()
    assert labeled.endswith("said")
    assert len(labeled) < LABELED_WIDTH + 30
    assert primary.endswith("b" * 20)
