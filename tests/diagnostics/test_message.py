"""Texts of messages, with the lines of their labels filled in or left open."""

from __future__ import annotations

from ptxkit.diagnostics import LabelLine, OpenLinesText
from ptxkit.diagnostics.catalogue import ptx3xx
from ptxkit.diagnostics.message import MessageTemplate

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
