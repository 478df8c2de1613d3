"""Untrusted text on one line of output: a terminal or a log reader interprets no part of it."""

from __future__ import annotations

import pytest

from ptxkit.untrusted_text import escape_lines, escape_path, escape_text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("k.ptx", "k.ptx"),
        ("déjà 日本", "déjà 日本"),
        ("a\tb", "a\tb"),
        ("\x1b[31m", r"\x1b[31m"),
        ("a\r\n::error::b", r"a\x0d\x0a::error::b"),
        ("\x9b2J\x85", r"\x9b2J\x85"),
        ("\u2028\u202e\u200b", r"\u2028\u202e\u200b"),
        ("\udcff", r"\xff"),
        ("\U000e0001", r"\U000e0001"),
    ],
)
def test_special_characters_are_escaped(text: str, shown: str) -> None:
    assert escape_text(text) == shown


def test_line_feeds_of_a_text_of_several_lines_are_kept() -> None:
    assert escape_lines("a\r\nb\x1b\n") == "a\\x0d\nb\\x1b\n"


def test_no_path_is_a_command_to_github() -> None:
    assert escape_path("::error::x.ptx") == "./::error::x.ptx"
    assert escape_path("##[error]x.ptx") == "./##[error]x.ptx"
    assert escape_path("dir/::x\n.ptx") == r"dir/::x\x0a.ptx"
