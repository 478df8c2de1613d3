"""Errors in an .isa file are reported with file, line and caret; the same text without the error loads."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptxkit.isa import table
from ptxkit.isa.loader import load_instructions, load_texts
from ptxkit.isa.notation import NotationError

GOOD = """\
chapter "Test"
set widths = .b32 .b64
gate .wide ptx>=8.0 sm>=90
section "Instructions: frob"
summary "Frobs."
form frob{.<w>}.<t> d:t, [a in .global align m], n:.u32/#0..31{, p:.pred/!}
  w = .wide
  t = widths
  when w implies t == .b64
  let m = bytes(t)
  need n <= 16
  gate ptx>=8.6 sm_100a or ptx>=8.8 sm_100f when w
  effect read(.global, a, bytes(t))
  effect d = load(.global, a, bits(t))
"""

MISTAKES = [
    ("d:t, [a", "d:tt, [a", 6, "tt is no modifier"),
    ("  t = widths", "  t = breadths", 8, "no set breadths"),
    ("  t = widths\n", "", 6, "has no line `t = ...`"),
    ("t == .b64", "t == b64", 9, "b64 is no modifier"),
    ("= bytes(t)", "= bites(t)", 10, "no function bites"),
    ("effect read(", "effect raed(", 13, "no effect raed"),
    ("bytes(t))\n  effect", "color=1)\n  effect", 13, "read has no field color"),
    ("read(.global, a,", "read(.global, .a,", 13, "wants the role"),
    ("sm_100a or", "sam_100a or", 12, "sam_100a is no target"),
    ("/!}", "/narrow}", 6, "/narrow means nothing"),
    ("n:.u32", "a:.u32", 6, "two operands play the role a"),
    ("n:.u32", "w:.u32", 6, "w names both an operand and a modifier"),
    ("form frob", "from frob", 6, "'frob' does not fit here"),
    ("set widths = .b32 .b64", "set widths = .b32 .b64\nset widths = .b8", 3, "defined twice"),
    ("t == .b64", "t == .b46", 9, "t is never .b46; it is .b32 .b64"),
    ("w implies t == .b64", "w in .wide .long", 9, "w is never .long"),
    ("t == .b64", "n == 4", 9, "n is an operand"),
    ("gate ptx>=8.6 sm_100a or ptx>=8.8 sm_100f when w", "gate ptx>=8.6 when n > 4", 12, "n is an operand"),
    ("  gate ptx>=8.6", "  gate .narrow ptx>=8.6", 12, "no modifier here can be .narrow"),
    ("align m", "align bytes(t)", 10, "m is never used"),
    ("let m = bytes(t)", "let m = m * 2", 10, "m is defined by itself"),
    ("let m = bytes(t)", "let m = bytes(t)\n  let m = 8", 11, "m is given twice"),
    ("  w = .wide\n", "  w = .wide\n  w = .long\n", 8, "w is given twice"),
    ('summary "Frobs."', 'summary "Frobs."\n  v = .v2', 6, "no form has a modifier <v>"),
    ('summary "Frobs."', 'summary "Frobs."\nsummary "Again."', 6, "summary is given twice"),
    ("  w = .wide\n", "  w = .wide\n  once\n", 8, "`once` describes a part of a module"),
    ("  need n <= 16\n", "  need k <= 16\nform frob.other k:.u32/#\n", 11, "k belongs to another form"),
    (
        "  need n <= 16\n",
        '  need n <= 16\nsection "Empty"\n  when t\nsection "Instructions: more"\n',
        13,
        "no form follows",
    ),
    ("  need n <= 16\n", "  need n <= 16\n  need n <= 16\n", 12, "need is given twice"),
    ("set widths = .b32 .b64", "set widths = .b32 .b64 .b23", 6, "t can be .b23, which is no type"),
    ("set widths = .b32 .b64", "set widths = .b32 .b64 .b32", 2, ".b32 is given twice"),
    ("set widths = .b32 .b64", "set widths = .b{64..32 step 8} .b64", 2, "has no members"),
    ("n:.u32/#0..31", "n:.u32/#31..0", 6, "this range has no members"),
    ("n:.u32/#0..31", "n:.u32/#0..31 step 0", 6, "a step of 0"),
    ("n:.u32/#0..31", "n:.u31/#0..31", 6, ".u31 is no type"),
    ("in .global align", "in .globl align", 6, ".globl is no state space"),
    ("align m", "align 12", 6, "power of two"),
    ("/!}", "/!/!}", 6, "! is given twice"),
    ("ptx>=8.6 sm_100a", "ptx>=8.6 ptx<8.0 sm_100a", 12, "nothing is that new and that old"),
    ("ptx>=8.6 sm_100a", "ptx>=8.6 ptx>=8.0 sm_100a", 12, "given twice"),
    ("sm_100a or", "sm_100b or", 12, "sm_100b is no target"),
    ("= bytes(t)", "= bytes(t, 8)", 10, "bytes takes 1 argument, and has 2"),
    ("load(.global, a, bits(t))", "load(.global, a)", 14, "load takes 3 arguments, and has 2"),
    ("a, bytes(t))\n", "a, bytes(t), proxy=.asink)\n", 13, "proxy is never .asink"),
    ("a, bytes(t))\n", "a, bytes(t), order=w or .week)\n", 13, "order is never .week"),
    ("read(.global, a, bytes(t))", "read(.global, a, .b32)", 13, "size of read holds no such thing"),
    ("when w implies", "when .w implies", 9, "neither true nor false"),
    (
        'summary "Frobs."',
        'summary "Frobs."\ndirective .frob on entry\n  when w',
        7,
        "`when` has no meaning for a directive",
    ),
    ('chapter "Test"', 'chapter "Test"\nlet n = 1', 2, "`let` precedes all sections"),
    ("set widths = .b32 .b64", "set widths = .b32 .b64\nset others = .b8", 3, "the set others is never used"),
    ("gate .wide ptx>=8.0 sm>=90", "gate .wider ptx>=8.0 sm>=90", 3, "no form has a modifier .wider"),
    ("bits(t))\n", "bits(t))\nform a d:.b32\nform a d:.b32\n", 16, "bad.isa:15 once more"),
    ('summary "Frobs."', 'summary "Frobs."\ntarget sm_90 sm_10x\nform x d:.b32', 6, "sm_10x is no target"),
    (
        'summary "Frobs."',
        'summary "Frobs."\ndirective .d on entry\ndirective .d on func entry',
        7,
        ".d is described twice",
    ),
    ('summary "Frobs."', 'summary "Frobs."\nversions 8.0 8.8\nform x d:.b32', 14, "there is no PTX version 8.6"),
    (
        'summary "Frobs."',
        'summary "Frobs."\ntarget sm_90 sm_100 sm_100a\nform x d:.b32',
        14,
        "there is no target sm_100f",
    ),
    ("#0..31", "#0..031", 6, "031 is no number"),
    ("let m = bytes(t)", "let m = bytes(t) * .x", 10, "this is no number"),
    ("p:.pred/!}", "p:.pred/! ?.wide}", 6, "neither true nor false"),
    ("w = .wide", "w = .wide .wid\u00e9", 7, "a character that PTX does not know"),
    ('summary "Frobs."', 'summary "Frobs."\ndatatype .b8 in .reg .globl\nform x d:.b32', 6, ".globl is no state space"),
    ('summary "Frobs."', 'summary "Frobs."\ndirective .d on entri\nform x d:.b32', 6, "entri is no place"),
]


def test_the_text_without_an_error_loads() -> None:
    (form,) = load_texts({"good.isa": GOOD}).forms["frob"]
    assert [operand.role for operand in form.operands] == ["d", "a", "n", "p"]
    assert (form.section, form.line, form.file) == ("Instructions: frob", 6, "good.isa")


@pytest.mark.parametrize(("right", "wrong", "line", "message"), MISTAKES)
def test_an_error_is_reported_at_its_place(right: str, wrong: str, line: int, message: str) -> None:
    assert right in GOOD
    with pytest.raises(NotationError) as caught:
        load_texts({"bad.isa": GOOD.replace(right, wrong, 1)})
    assert caught.value.line == line
    assert message in caught.value.message
    assert str(caught.value).startswith(f"bad.isa:{line}:")
    assert str(caught.value).splitlines()[-1].strip() == "^"


def test_a_byte_that_is_not_utf_8_is_reported_at_its_place(tmp_path: Path) -> None:
    path = tmp_path / "bad.isa"
    path.write_bytes(GOOD.encode().replace(b"Frobs.", b"Frobs\xff."))
    with pytest.raises(NotationError, match=r"bad\.isa:5:15: this byte is not UTF-8") as caught:
        load_instructions([path])
    assert str(caught.value).splitlines()[-1] == " " * 18 + "^"
    path.write_bytes(GOOD.encode().replace(b"\n", b"\r\n"))
    assert load_instructions([path]).forms["frob"]


def test_the_caret_is_correct_after_tabs_too() -> None:
    with pytest.raises(NotationError) as caught:
        load_texts({"bad.isa": GOOD.replace("  need n <= 16", "\tneed\tnn <= 16")})
    assert str(caught.value).splitlines()[-2:] == ["    \tneed\tnn <= 16", "    \t    \t^"]


def test_a_series_of_values_is_written_once() -> None:
    text = "form frob.<s> d:.b32\n  s = .m64n{8..32 step 8}k16 .other\n"
    (form,) = load_texts({"series.isa": text}).forms["frob"]
    assert form.modifiers[0].values == ("m64n8k16", "m64n16k16", "m64n24k16", "m64n32k16", "other")


def test_every_form_of_the_project_names_its_section_and_has_a_summary() -> None:
    known = table()
    poor = [form.syntax for name in known.names for form in known.forms(name) if not form.section or not form.summary]
    assert poor == []
