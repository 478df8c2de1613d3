"""Texts of messages, with the lines of their labels filled in or left open."""

from __future__ import annotations

import pytest

from ptxkit.diagnostics import LabelLine, OpenLinesText
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.diagnostics.message import MessageTemplate, TextTemplate

INNER = MessageTemplate(ptx3xx.READ_BEFORE_WAIT, "as line {1} and {where} say")
OUTER = MessageTemplate(ptx3xx.READ_BEFORE_WAIT, "{{{name}}} at 0x{address:04x}, {reason}; see {line}, {text!r}")


def test_lines_are_filled_in_wherever_a_text_names_them() -> None:
    reason = INNER(where=LabelLine(2))
    message = OUTER(name="{0}", address=31, reason=reason, line=LabelLine(0), text="\0001\0")
    assert message.at_lines(7, "8 of k.cuh", 9) == (
        "{{0}} at 0x001f, as line 8 of k.cuh and 9 say; see 7, " + repr("\0001\0")
    )
    assert message.with_open_lines().pieces == (
        "{{0}} at 0x001f, as line ",
        1,
        " and ",
        2,
        " say; see ",
        0,
        ", " + repr("\0001\0"),
    )


def test_a_text_without_lines_is_one_piece() -> None:
    message = ptx3xx.ONLY_ISSUER_WAITED()
    assert message.with_open_lines() == OpenLinesText((str(message),))


@pytest.mark.parametrize(("count", "text"), [(1, "1 arrival of 0x1"), (2, "2 arrivals of 0x2")])
def test_a_noun_has_the_number_of_its_count(count: int, text: str) -> None:
    template = "{count:1 arrival} of {count:#x}"
    assert TextTemplate(template)(count=count) == text
    assert str(MessageTemplate(ptx3xx.READ_BEFORE_WAIT, template)(count=count)) == text


def test_a_noun_of_several_counts_is_plural() -> None:
    assert TextTemplate("not {sizes:1 thread}")(sizes="1, 96") == "not 1, 96 threads"
