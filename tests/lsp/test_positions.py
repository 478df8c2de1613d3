"""Positions as clients count them."""

from __future__ import annotations

import pytest
from lsprotocol.types import Position, Range

from ptxkit.lsp.positions import TextLines, units
from ptxkit.source import Span

TEXT = "a\r\nä😀b\n\x0cc\u2028d\r\ne\rf"


@pytest.mark.parametrize(
    ("encoding", "columns"), [("utf-16", [0, 1, 3, 4]), ("utf-32", [0, 1, 2, 3]), ("utf-8", [0, 2, 6, 7])]
)
def test_columns_are_counted_in_the_units_of_the_encoding(encoding: str, columns: list[int]) -> None:
    lines = TextLines(TEXT, encoding)
    start = TEXT.index("ä")
    for offset, column in enumerate(columns, start):
        assert lines.position(offset) == Position(1, column)
        assert lines.offset(Position(1, column)) == offset


def test_lines_end_only_where_the_protocol_specifies() -> None:
    lines = TextLines(TEXT)
    assert lines.position(TEXT.index("d")) == Position(2, 3)
    assert lines.position(TEXT.index("e")) == Position(3, 0)
    assert lines.position(TEXT.index("f")) == Position(4, 0)
    assert lines.position(TEXT.index("\r\n") + 1) == Position(0, 1)
    assert lines.position(len(TEXT)) == Position(4, 1)


def test_a_position_outside_of_the_text_is_clamped() -> None:
    lines = TextLines(TEXT)
    assert lines.offset(Position(0, 99)) == 1
    assert lines.offset(Position(99, 0)) == len(TEXT)
    assert lines.offset(Position(4, 9)) == len(TEXT)
    assert lines.offset(Position(1, 2)) == TEXT.index("😀")
    assert lines.span(Range(Position(4, 0), Position(0, 0))) == Span(TEXT.index("f"), TEXT.index("f"))
    assert TextLines("").position(0) == Position(0, 0)
    assert TextLines("").offset(Position(3, 3)) == 0


def test_half_of_a_pair_is_one_character() -> None:
    assert [units("\ud83d", each) for each in ("utf-8", "utf-16", "utf-32")] == [3, 1, 1]
